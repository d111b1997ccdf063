"""The sample papers: true to their form, summaries in words of their own, and the same words nowhere twice."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from kg.ingest import read_all
from kg.records import Document
from tests.conftest import SAMPLE

FIELDS = {"economics", "finance", "operations management", "statistics"}
FILES = sorted(path for path in SAMPLE.glob("*.md") if path.name != "README.md")
RUN = 12
"""Words in a row that no two sections may share."""


def read(path: Path) -> Document:
    [document], report = read_all([path])
    assert (report.rejected, report.duplicates, report.skipped) == ([], [], [])
    return document


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def shared_runs(texts: dict[str, str], length: int) -> list[tuple[str, str, str]]:
    """(place, place, words) for every run of ``length`` words that stands in two texts, or twice in one."""
    first: dict[tuple[str, ...], str] = {}
    found = []
    for place, text in texts.items():
        own = words(text)
        for start in range(len(own) - length + 1):
            run = tuple(own[start : start + length])
            if run in first:
                found.append((first[run], place, " ".join(run)))
            else:
                first[run] = place
    return found


def test_the_folder_reads_as_ten_papers_of_each_field_and_a_readme() -> None:
    documents, report = read_all([SAMPLE])
    assert (report.rejected, report.duplicates) == ([], [])
    assert [Path(place).name for place in report.skipped] == ["README.md"]
    assert len({document.doc_id for document in documents}) == len(documents) == len(FILES)
    assert Counter(document.field for document in documents) == dict.fromkeys(FIELDS, 10)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_paper_has_its_bibliographic_facts_and_says_where_they_were_checked(path: Path) -> None:
    document = read(path)
    assert len(document.title) > 10
    assert document.authors
    for author in document.authors:
        assert re.fullmatch(r"[^\W\d_][^,\d]+, [^\W\d_][^,\d]*", author), author
    assert document.year is not None
    assert 1900 <= document.year <= 2020
    assert str(document.year) in path.stem
    assert document.authors[0].split(",")[0].casefold() in path.stem
    assert document.venue
    if document.doi:
        assert re.fullmatch(r"10\.\d{4,9}/\S+[^\s.,;]", document.doi)
        assert document.doc_id == document.doi
    details = dict(document.details)
    checked = details["checked"]
    assert re.search(r"https?://\S+", checked)
    if "all fields" not in checked.casefold():
        for fact in ("title", "author", "year"):
            assert fact in checked.casefold()
    for name in ("volume", "issue"):
        assert re.fullmatch(r"\d+(?:[-/]\d+)?", details.get(name, "1")), name
    assert re.fullmatch(r"\d+[-–]\d+", details.get("pages", "1-2"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_paper_has_four_to_six_sections_of_sixty_to_190_words(path: Path) -> None:
    parts = read(path).parts
    assert 4 <= len(parts) <= 6
    headings = [part.heading for part in parts]
    assert all(headings)
    assert len(set(headings)) == len(headings)
    for part in parts:
        assert 60 <= len(part.text.split()) <= 190, part.heading
        assert part.text.rstrip().endswith("."), part.heading


def test_no_two_sections_share_a_run_of_twelve_words(sample_documents: list[Document]) -> None:
    texts = {f"{d.doc_id} {part.heading}": part.text for d in sample_documents for part in d.parts}
    assert len(texts) >= 160
    assert shared_runs(texts, RUN) == []


def test_a_shared_run_is_seen_whatever_its_case_and_punctuation() -> None:
    run = "one two three four five six seven eight nine ten eleven twelve"
    texts = {"a": f"Here: {run}.", "b": f"There, {run.replace(' ', ', ').upper()}!", "c": run.removesuffix(" twelve")}
    assert shared_runs(texts, RUN) == [("a", "b", run)]


def test_the_readme_says_what_these_texts_are_and_lists_each(sample_documents: list[Document]) -> None:
    readme = " ".join((SAMPLE / "README.md").read_text(encoding="utf-8").split())
    assert "summaries written for this project" in readme
    assert "not the text of the papers" in readme
    rows = re.findall(r"`(\w+\.md)` \| ([^|]+) \| (\d{4}) \| ([a-z ]+) \|", readme)
    assert sorted(name for name, *_ in rows) == [path.name for path in FILES]
    for name, paper, year, field in rows:
        document = read(SAMPLE / name)
        assert (document.year, document.field) == (int(year), field)
        assert document.title in paper
        assert document.authors[0].split(",")[0] in paper


def test_no_paper_speaks_of_what_surrounds_it(sample_documents: list[Document]) -> None:
    text = " ".join(part.text for document in sample_documents for part in document.parts).casefold()
    for word in ("evigraph", "this summary", "language model", "sample corpus", "](", "```"):
        assert word not in text
