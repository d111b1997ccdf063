"""Judges, metric families and benchmark builders."""
