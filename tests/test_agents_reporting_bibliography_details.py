"""What a source says of the publication goes into its reference; a collection's own remarks do not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.reporting.bibliography import bibtex, csl
from agents.reporting.bibliography.bibtex import render_bibtex
from agents.reporting.bibliography.csl import render_csl_json
from agents.reporting.bibliography.details import is_bibliographic
from agents.reporting.model import Reference
from kg.ingest import read_all
from tests.conftest import SAMPLE


@pytest.mark.parametrize(
    ("name", "belongs"),
    [
        ("pages", True), ("Volume", True), (" ISSN ", True), ("article_number", True), ("Publisher Place", True),
        ("checked", False), ("source", False), ("kind", False), ("crossref", False), ("file", False), ("", False),
        ("质量", False), ("x-checked", False),
    ],
)  # fmt: skip
def test_names(name: str, belongs: bool) -> None:
    assert is_bibliographic(name) is belongs


def test_every_detail_that_a_format_has_a_place_for_is_one() -> None:
    assert all(map(is_bibliographic, [*bibtex._FIELDS, *csl._VARIABLES]))


@settings(max_examples=100)
@given(st.text(min_size=1, max_size=12).filter(lambda name: not is_bibliographic(name)))
def test_other_details_change_neither_file(name: str) -> None:
    plain = Reference(1, "d", "On Things", ("Berg, A.",), 2001, details=(("volume", "3"),))
    noted = Reference(1, "d", "On Things", ("Berg, A.",), 2001, details=(("volume", "3"), (name, "remark")))
    assert render_bibtex([noted]) == render_bibtex([plain])
    assert render_csl_json([noted]) == render_csl_json([plain])


def test_the_sample_corpus_keeps_its_own_remarks_to_itself() -> None:
    references = [Reference.of(document, number) for number, document in enumerate(read_all([SAMPLE])[0], start=1)]
    remarks = {name for reference in references for name, _ in reference.details if not is_bibliographic(name)}
    assert remarks == {"checked", "kind"}
    text = render_bibtex(references)
    assert "x-" not in "".join(line.partition("=")[0] for line in text.splitlines() if " = " in line)
    assert not any("custom" in item for item in json.loads(render_csl_json(references)))
