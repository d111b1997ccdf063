"""Ranges of pages, told from the numbers of articles that hold a hyphen."""

from __future__ import annotations

import re

_NUMBER = r"[A-Za-z]{0,2}[0-9]{1,9}[A-Za-z]?"
_ROMAN = r"(?=[ivxlc])c{0,3}(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})"
_RANGE = re.compile(
    rf"(?<![\w\-‐‑–—])(?<![0-9]\.)(?:({_NUMBER})\s*(?:-{{1,3}}|[‐‑–—])\s*({_NUMBER})|({_ROMAN})(?:-{{1,3}}|[‐‑–—])({_ROMAN}))"
    r"(?![\w\-‐‑–—]|\.\w)",
    re.ASCII,
)
_PARTS = re.compile(r"([A-Za-z]*)([0-9]+)([A-Za-z]?)")


def join_pages(text: str, dash: str) -> str:
    """``text`` with ``dash`` in every range of pages, whatever hyphens or dashes the source writes it with.

    488-500, 488-90, S1-S9, 12a-14b and xi-xx are ranges: two numbers of one kind, the second greater (what it leaves
    out is that of the first). L12-4a, 045101-8 and 1-1 are not; where it cannot be told, the text stays as it is.
    """
    return _RANGE.sub(lambda match: _joined(match, dash), text)


def _joined(match: re.Match[str], dash: str) -> str:
    first, last, roman_first, roman_last = match.groups()
    if roman_first:
        return f"{roman_first}{dash}{roman_last}"
    return f"{first}{dash}{last}" if _is_range(first, last) else match[0]


def _is_range(first: str, last: str) -> bool:
    (before, start, after), (before_last, end, after_last) = (
        found.groups() for page in (first, last) if (found := _PARTS.fullmatch(page))
    )
    if before.casefold() != before_last.casefold() or bool(after) != bool(after_last):
        return False
    if start.startswith("0") and len(start) > 1:  # articles are numbered so, pages are not
        return False
    whole = start[: max(0, len(start) - len(end))] + end
    return (int(whole), after_last.casefold()) > (int(start), after.casefold())
