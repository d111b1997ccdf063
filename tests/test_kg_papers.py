"""Papers to tables and back: what a graph stores is enough to assemble it again."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg.papers import DOCUMENT_SCHEMA, SECTION_SCHEMA, Paper, clean_document, paper_tables, read_papers, sorted_papers
from kg.records import Document, Part
from kg.sectioning import SectioningConfig
from tests.conftest import paper

CONFIG = SectioningConfig(max_words=12, min_words=2)
WORDS = st.lists(st.sampled_from(["Loss", "aversion", "βeta", "量子", "\n\n", ".", "Title"]), max_size=30).map(" ".join)
DOCUMENTS = st.builds(
    Document,
    doc_id=st.text("ab#1量%", min_size=1, max_size=4),
    title=st.sampled_from(["", "Title", "Loss aversion", "  "]),
    parts=st.lists(st.builds(Part, st.sampled_from(["", "Intro", "References", "Title"]), WORDS), max_size=3).map(
        tuple
    ),
    authors=st.lists(st.text(max_size=4), max_size=2).map(tuple),
    year=st.one_of(st.none(), st.integers(1600, 2100)),
    venue=st.text(max_size=4),
    doi=st.text(max_size=4),
    field=st.text(max_size=4),
    details=st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=3).map(
        lambda d: tuple(sorted(d.items()))
    ),
)


@settings(max_examples=150)
@given(st.lists(DOCUMENTS, max_size=4, unique_by=lambda d: d.doc_id))
def test_reading_is_the_inverse_of_writing(documents: list[Document]) -> None:
    papers = sorted_papers(Paper.of(document, CONFIG) for document in documents)
    tables = paper_tables(papers)
    assert read_papers(*tables) == papers
    assert paper_tables(read_papers(*tables)) == tables
    assert [p.content_hash for p in papers] == [
        clean_document(d).content_hash for d in sorted(documents, key=lambda d: d.doc_id)
    ]


@pytest.mark.parametrize(
    "document",
    [
        paper("a", "The same words", "The same words"),
        paper("a", "", "The same words"),
        Document("a", "The same words", (Part("", "The same words"), Part("", "and more"))),
        Document("a", "The same words", (Part("The same words", "The same words"),)),
    ],
)
def test_a_title_that_is_the_text_is_read_back_as_it_was(document: Document) -> None:
    papers = [Paper.of(document, CONFIG)]
    (back,) = read_papers(*paper_tables(papers))
    assert back == papers[0]
    assert [s.content_hash for s in back.sections] == [s.content_hash for s in papers[0].sections]
    assert back.sections[0].full_text().count("The same words") == 1 + (document.parts[0].heading != "")


def test_what_has_no_text_is_kept() -> None:
    empty, title = Paper.of(paper("e", " \n"), CONFIG), Paper.of(paper("t", "", "Only a title"), CONFIG)
    assert (empty.sections, empty.title_only) == ((), False)
    assert ([s.text for s in title.sections], title.title_only) == (["Only a title"], True)
    documents, sections = paper_tables([empty, title])
    assert documents["n_sections"].to_pylist() == [0, 1]
    assert sections["document"].to_pylist() == [1]
    assert Paper.of(paper("f", "Text.", "Title"), CONFIG).title_only is False


def test_tables_have_their_schema_and_owners() -> None:
    for papers in ([], [Paper.of(paper(i, "One. Two."), CONFIG) for i in ("b", "a#1", "量")]):
        documents, sections = paper_tables(sorted_papers(papers))
        assert documents.schema == DOCUMENT_SCHEMA
        assert sections.schema == SECTION_SCHEMA
    assert documents["doc_id"].to_pylist() == ["a#1", "b", "量"]
    assert sections["section_id"].to_pylist() == ["a#1#0", "b#0", "量#0"]
    owners = [documents["doc_id"][row].as_py() for row in sections["document"].to_pylist()]
    assert owners == [section_id.rpartition("#")[0] for section_id in sections["section_id"].to_pylist()]


def test_text_is_clean_whoever_made_the_document() -> None:
    unclean = Document(
        "a\ud800", "Ti\x00tle", (Part("He\ud800ad", "Mu\u0308ller\r\nsays \ud800."),), ("A\ud800",), 1999, "V\x00",
        details=(("k\ud800", "v\x00"),),
    )  # fmt: skip
    made = Paper.of(unclean, CONFIG)
    documents, sections = paper_tables([made])
    row = {name: documents[name][0].as_py() for name in ("doc_id", "title", "authors", "venue", "details")}
    assert row == {
        "doc_id": "a\ufffd", "title": "Ti\ufffdtle", "authors": ["A\ufffd"], "venue": "V\ufffd",
        "details": json.dumps({"k\ufffd": "v\ufffd"}, ensure_ascii=False),
    }  # fmt: skip
    assert sections["text"].to_pylist() == ["Müller\nsays \ufffd."]
    assert sections["heading"].to_pylist() == ["He\ufffdad"]
    clean = Document(
        "a\ufffd", "Ti\ufffdtle", (Part("He\ufffdad", "Müller\nsays \ufffd."),), ("A\ufffd",), 1999, "V\ufffd",
        details=(("k\ufffd", "v\ufffd"),),
    )  # fmt: skip
    assert made == Paper.of(clean, CONFIG)
