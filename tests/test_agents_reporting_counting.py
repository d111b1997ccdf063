"""Counts of a report in words, the same in every format."""

from __future__ import annotations

import hashlib

import pytest

from agents.reporting.body import VERBATIM
from agents.reporting.counting import cited_sections, count, uncited
from agents.reporting.model import Citation, Paragraph, Passage, Report, ReportSection, Sentence, number_references
from kg.records import Document

TEXT = "Bad cars drive out good ones."


def cite(section_id: str) -> Citation:
    return Citation(section_id, hashlib.sha256(TEXT.encode()).hexdigest(), TEXT, 0, len(TEXT))


def report(*sentences: Sentence, passages: tuple[str, ...] = ()) -> Report:
    sections = (ReportSection("A", (Paragraph(sentences),)),) if sentences else ()
    documents = {name: Document(name, name) for name in ("a", "b#1")}
    made = tuple(Passage(section_id, "", TEXT) for section_id in passages)
    return Report("T", "Q?", "en", sections, number_references(sections, documents), passages=made)


def quoted(number: int, *sections: str) -> Sentence:
    return Sentence(f"q{number}", "claim", TEXT, tuple(map(cite, sections)), "supported", 1.0, VERBATIM)


def test_quotations_stand_apart_from_claims_that_were_judged() -> None:
    judged = Sentence("s1", "claim", "x", (), "supported", 0.9, "judge")
    open_ = Sentence("s2", "claim", "x")
    plan = Sentence("s3", "proposal", "x")
    link = Sentence("s4", "connective", "x")
    counts = count(report(quoted(1, "a#0"), quoted(2, "b#1#2"), judged, open_, plan, link))
    assert counts.line == (
        "4 claims: 2 quoted word for word, 1 supported, 1 not checked · 1 proposal of the writer · 2 papers cited"
    )
    assert [verdict for verdict, _ in counts.verdicts] == ["supported", "supported", "unchecked"]


@pytest.mark.parametrize(
    ("sentences", "line"),
    [
        ((), "No claims · 0 papers cited"),
        ((quoted(1, "a#0"),), "1 quotation: copied word for word · 1 paper cited"),
        ((Sentence("s", "proposal", "x"), Sentence("t", "proposal", "x")),
         "No claims · 2 proposals of the writer · 0 papers cited"),
    ],
)  # fmt: skip
def test_one_and_none_read_well(sentences: tuple[Sentence, ...], line: str) -> None:
    assert count(report(*sentences)).line == line


def test_sections_are_listed_once_in_the_order_of_their_paper() -> None:
    value = report(quoted(1, "b#1#10", "a#3"), quoted(2, "b#1#2", "b#1#10"))
    assert cited_sections(value) == {"a": ["a#3"], "b#1": ["b#1#2", "b#1#10"]}


def test_what_was_found_and_is_not_cited_is_said() -> None:
    assert uncited(report(quoted(1, "a#0"), passages=("a#0",))) == ""
    assert uncited(report(quoted(1, "a#0"), passages=("a#0", "a#1"))) == (
        "1 further passage was found but not cited; the report’s data hold it."
    )
    assert uncited(report(passages=("a#0", "a#1"))) == (
        "2 passages were found but not cited; the report’s data hold them."
    )
