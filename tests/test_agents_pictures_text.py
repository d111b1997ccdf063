"""Text in pictures: never wider than reckoned, never cut within a character, safe in XML."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from agents.pictures.text import ELLIPSIS, clean_label, is_right_to_left, shorten, text_width, wrap, wrap_evenly
from kg.records import Document, clean_text

FAMILY = "👩‍👩‍👧"
TEXTS = st.text(max_size=80) | st.sampled_from(
    ["", FAMILY * 9, "é" * 40, "a\u0301" * 30, "量子计算" * 10, "שוק ההון " * 8]
)
WIDTHS = st.floats(20, 300)


@cache
def advances(name: str) -> tuple[dict[int, str], dict[str, tuple[int, int]], int]:
    """Characters to glyphs, their advance widths, and the units of an em, of a DejaVu face."""
    from fontTools.ttLib import TTFont

    spec = find_spec("matplotlib")
    assert spec is not None
    assert spec.submodule_search_locations
    font = TTFont(Path(spec.submodule_search_locations[0]) / "mpl-data" / "fonts" / "ttf" / name)
    return font.getBestCmap(), font["hmtx"].metrics, font["head"].unitsPerEm


def true_width(text: str, name: str) -> float:
    glyphs, widths, em = advances(name)
    return sum(widths[glyphs[ord(ch)]][0] for ch in text) / em


def test_no_name_or_title_of_the_sample_is_wider_than_reckoned(sample_documents: list[Document]) -> None:
    texts = [d.title for d in sample_documents] + [p.heading for d in sample_documents for p in d.parts]
    texts += [word for d in sample_documents for p in d.parts for word in p.text.split() if len(word) > 4]
    glyphs, _, _ = advances("DejaVuSans.ttf")
    known = {text for text in texts if all(ord(ch) in glyphs for ch in text)}
    assert len(known) > 1000
    for text in known:
        true = true_width(text, "DejaVuSans.ttf")
        assert 0.99 * true <= text_width(text, 1.0) <= 1.3 * true + 0.2, text
        bold = true_width(text, "DejaVuSans-Bold.ttf")
        assert 0.96 * bold <= text_width(text, 1.0, bold=True), text


@given(TEXTS, WIDTHS, st.booleans())
def test_a_shortened_text_fits_and_is_a_beginning(text: str, width: float, bold: bool) -> None:
    short = shorten(text, width, 12.0, bold)
    assert text_width(short, 12.0, bold) <= width
    if short != text:
        assert text_width(text, 12.0, bold) > width
        kept = short.removeprefix(ELLIPSIS) if is_right_to_left(text) else short.removesuffix(ELLIPSIS)
        assert kept != short
        assert text.startswith(kept)
        clusters = regex.findall(r"\X", text)
        assert kept in {"".join(clusters[:n]).rstrip() for n in range(len(clusters) + 1)}


@given(TEXTS.map(clean_label), WIDTHS, st.integers(1, 4), st.booleans())
@example("Why do markets with asymmetric information fail?", 170.0, 4, True)
def test_wrapped_lines_fit_and_together_are_the_text(text: str, width: float, most: int, bold: bool) -> None:
    for lines in (wrap(text, width, 12.0, most, bold), wrap_evenly(text, width, 12.0, most, bold)):
        assert len(lines) <= most
        assert all(lines)
        assert all(text_width(line, 12.0, bold) <= width for line in lines)
        if not any(ELLIPSIS in line for line in lines):
            assert "".join("".join(lines).split()) == "".join(text.split())


def test_lines_break_at_spaces_then_hyphens_then_anywhere() -> None:
    assert wrap("asymmetric information", 90, 12, 2) == ["asymmetric", "information"]
    assert wrap("book-to-marketequity", 100, 12, 2) == ["book-to-", "marketequity"]
    assert len(wrap("hyperparameteroptimisation", 90, 12, 9)) > 1
    assert wrap_evenly("Why do markets with asymmetric information fail?", 190, 17, 9, True)[-1] != "fail?"


@pytest.mark.parametrize(
    ("text", "backwards"), [("שוק a", True), ("a שוק", False), ("", False), ("12 السوق", True), ("量子", False)]
)
def test_direction_is_that_of_the_first_letter(text: str, backwards: bool) -> None:
    assert is_right_to_left(text) is backwards


def test_the_ellipsis_of_a_text_from_the_right_stands_at_its_left() -> None:
    assert shorten("שוק ההון והסיכון הגדול", 60, 12).startswith(ELLIPSIS)


@given(st.text(st.characters(codec=None), max_size=60).map(clean_text))
def test_a_label_may_stand_in_xml(text: str) -> None:
    label = clean_label(text)
    assert ET.fromstring(f"<a>{escape(label)}</a>").text == (label or None)
    assert not set(label) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\n\t\x00")
