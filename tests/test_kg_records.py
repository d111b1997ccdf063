"""Ids, hashes and clean text of the records."""

from __future__ import annotations

import dataclasses
import hashlib
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg.records import (
    Document,
    Part,
    Section,
    clean_text,
    content_hash,
    document_id,
    encode_id,
    normalise_doi,
    split_section_id,
)

ANY_TEXT = st.text(st.characters(exclude_categories=[]))
"""Lone surrogates, NUL and unassigned characters included."""


@given(ANY_TEXT)
def test_clean_text_can_be_stored_and_stays_as_it_is(text: str) -> None:
    clean = clean_text(text)
    assert clean.encode("utf-8").decode("utf-8") == clean
    assert "\x00" not in clean
    assert "\r" not in clean
    assert unicodedata.is_normalized("NFC", clean)
    assert clean_text(clean) == clean


def test_clean_text_replaces_what_no_file_can_hold() -> None:
    assert clean_text("a\ud800b\x00c\r\nd\re") == "a\ufffdb\ufffdc\nd\ne"
    assert clean_text("\ud83d\ude42") == "🙂"  # two halves of one character, as JSON writes it
    assert clean_text("Mu\u0308ller") == "Müller"
    assert clean_text("量子计算 β") == "量子计算 β"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"declared": "4983", "doi": "10.1/A"}, "4983"),
        ({"declared": " a b\tc%d "}, "a%20b%09c%25d"),
        ({"declared": "量子#1"}, "量子#1"),
        ({"declared": " ", "doi": "https://doi.org/10.1257/AER.89.1", "pmid": "7"}, "10.1257/aer.89.1"),
        ({"pmid": " 123 ", "arxiv": "1706.03762"}, "pmid:123"),
        ({"arxiv": "arXiv:1706.03762V2", "title": "Attention"}, "arxiv:1706.03762v2"),
    ],
)
def test_document_id_takes_the_first_identifier_there_is(fields: dict[str, str], expected: str) -> None:
    assert document_id(**fields) == expected  # type: ignore[arg-type]


def test_a_paper_without_identifiers_is_known_by_title_year_and_first_author() -> None:
    known = document_id(title="The Market for “Lemons”", year=1970, authors=["Akerlof", "Nobody"])
    assert known == document_id(title="the market for lemons", year=1970, authors=["", "AKERLOF "])
    assert known.startswith("h")
    others = [
        document_id(title="The Market for Lemons", year=1971, authors=["Akerlof"]),
        document_id(title="The Market for Lemons", year=1970, authors=["Spence"]),
        document_id(title="The Market for Melons", year=1970, authors=["Akerlof"]),
        document_id(title="柠檬市场", year=1970, authors=["Akerlof"]),
        document_id(title="量子计算", year=1970, authors=["Akerlof"]),
    ]
    assert len({known, *others}) == 6


@given(ANY_TEXT)
def test_encoded_ids_hold_no_white_space(raw: str) -> None:
    encoded = encode_id(raw)
    assert encoded.split() == ([encoded] if encoded else [])
    assert bool(encoded) == bool(clean_text(raw).strip())


@pytest.mark.parametrize(
    "doi", ["10.1/A", "doi:10.1/a", "https://doi.org/10.1/A", "http://dx.doi.org/10.1/a", " DOI: 10.1/a"]
)
def test_spellings_of_a_doi_are_one(doi: str) -> None:
    assert normalise_doi(doi) == "10.1/a"


@given(st.text(min_size=1), st.integers(0, 10**6))
def test_section_ids_are_split_from_the_right(doc_id: str, ordinal: int) -> None:
    assert split_section_id(f"{doc_id}#{ordinal}") == (doc_id, ordinal)


def test_a_document_id_may_hold_the_mark() -> None:
    assert split_section_id("10.1/a#b#12") == ("10.1/a#b", 12)


@pytest.mark.parametrize("wrong", ["", "10.1/a", "#3", "a#", "a#b", "a#-1", "a#1.5", "a# 1"])
def test_what_is_no_section_id_is_named(wrong: str) -> None:
    with pytest.raises(ValueError, match="is not a section id"):
        split_section_id(wrong)


def test_content_hash_tells_fields_apart() -> None:
    assert content_hash("ab", "c") != content_hash("a", "bc")
    assert content_hash(["a"], "b") != content_hash("a", ["b"])
    assert content_hash(None) != content_hash("null") != content_hash("")


def test_the_hash_of_a_document_covers_all_but_where_it_was_read() -> None:
    document = Document("d", "T", (Part("h", "t"),), ("A",), 1999, "V", "10.1/a", "economics", (("k", "v"),), "here")
    assert document.content_hash == dataclasses.replace(document, origin="elsewhere").content_hash
    assert document == dataclasses.replace(document, origin="elsewhere")
    other: dict[str, object] = {
        "doc_id": "e", "title": "U", "parts": (Part("ht", ""),), "authors": ("B",), "year": None, "venue": "W",
        "doi": "10.1/b", "field": "medicine", "details": (("k", "w"),),
    }  # fmt: skip
    assert other.keys() == {f.name for f in dataclasses.fields(Document)} - {"origin"}
    hashes = {dataclasses.replace(document, **{name: value}).content_hash for name, value in other.items()}  # type: ignore[arg-type]
    assert len(hashes | {document.content_hash}) == len(other) + 1


def test_a_section_is_read_whole_and_quoted_by_its_text() -> None:
    section = Section("d#0", "d", "Methods", "We count.", "A title")
    assert section.full_text() == "A title\nMethods\nWe count."
    assert Section("d#1", "d", "", "We count.").full_text() == "We count."
    assert section.sha256 == hashlib.sha256(b"We count.").hexdigest()
    moved = dataclasses.replace(section, section_id="e#7", doc_id="e")
    assert moved.content_hash == section.content_hash
    assert len({s.content_hash for s in (section, dataclasses.replace(section, lead=""), moved)}) == 2


def test_records_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Part("a", "b").text = "c"  # type: ignore[misc]


def test_long_runs_of_combining_marks_are_divided_and_cost_no_more_than_their_length() -> None:
    text = "a" + "\u0301\u0323" * 50_000  # takes over ten seconds undivided
    cleaned = clean_text(text)
    assert cleaned == clean_text(cleaned)
    assert len(cleaned.replace("\u034f", "")) >= len(text) - 2
    short = "e" + "\u0301\u0323" * 10
    assert clean_text(short) == unicodedata.normalize("NFC", short)
