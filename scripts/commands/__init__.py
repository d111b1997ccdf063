"""The commands of `evigraph`, one module each, imported when called."""
