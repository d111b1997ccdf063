"""Spans of characters: several quotes of one passage may overlap, and each character is marked once."""

from __future__ import annotations

from collections.abc import Iterable


def union(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Disjoint [start, end) spans in order that cover the same characters; spans that touch become one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if start >= end:
            continue
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined
