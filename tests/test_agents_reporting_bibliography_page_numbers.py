"""Ranges of pages get their dash; numbers of articles, and what is no range, stay as they are."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.reporting.bibliography.page_numbers import join_pages


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("488-500", "488–500"),
        ("488--500", "488–500"),
        ("488 – 500", "488–500"),
        ("488—500", "488–500"),
        ("488‑500", "488–500"),
        ("488-90", "488–90"),
        ("1234-5", "1234–5"),
        ("99-101", "99–101"),
        ("0-20", "0–20"),
        ("e12-e19", "e12–e19"),
        ("S1-S9", "S1–S9"),
        ("S1-s9", "S1–s9"),
        ("12a-14b", "12a–14b"),
        ("12a-12c", "12a–12c"),
        ("xi-xxiv", "xi–xxiv"),
        ("pp.5-9", "pp.5–9"),
        ("1-9, 15-20; 31", "1–9, 15–20; 31"),
        ("12:1-12:9", "12:1–12:9"),
        # one number, a number that cannot be told from one, or no range at all
        ("L12-4a", "L12-4a"),
        ("L12-4", "L12-4"),
        ("e12-19", "e12-19"),
        ("12-S19", "12-S19"),
        ("12-4a", "12-4a"),
        ("045101-8", "045101-8"),
        ("045101-1-045101-8", "045101-1-045101-8"),
        ("104-1", "104-1"),
        ("12-12", "12-12"),
        ("500-488", "500-488"),
        ("1-2-3", "1-2-3"),
        ("1.12-15", "1.12-15"),
        ("bmj-2020-12", "bmj-2020-12"),
        ("well-civil", "well-civil"),
        ("-5", "-5"),
        ("", ""),
    ],
)
def test_what_is_a_range_of_pages(written: str, shown: str) -> None:
    assert join_pages(written, "–") == shown
    assert join_pages(shown, "--") == shown.replace("–", "--")


@settings(max_examples=300)
@given(st.text(st.sampled_from("0123456789aeLSxiv-–—,. :"), max_size=16), st.sampled_from(["-", "--", "–"]))
def test_nothing_but_dashes_changes_and_that_once(text: str, dash: str) -> None:
    def bare(value: str) -> str:
        return re.sub(r"[\s–—-]", "", value)

    joined = join_pages(text, dash)
    assert bare(joined) == bare(text)
    assert join_pages(joined, dash) == joined


@given(st.integers(1, 10**6), st.integers(1, 10**4), st.sampled_from(["", "e", "S"]))
def test_any_two_numbers_in_order_are_a_range(first: int, more: int, letter: str) -> None:
    last = first + more
    assert join_pages(f"{letter}{first}-{letter}{last}", "–") == f"{letter}{first}–{letter}{last}"
    assert join_pages(f"{letter}{last}-{letter}{first}", "–").count("–") == (len(str(first)) < len(str(last))) * (
        int(str(last)[: len(str(last)) - len(str(first))] + str(first)) > last
    )
