"""Graphs from the names that people marked: which names, in which sections."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kg.build import open_graph
from kg.errors import InputError
from scripts.marked_graph import MarkedNames, main, read_marked
from tests.test_scripts_labelled_sections import paper_of, spans_of


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    paper = paper_of([("On Image Nets", "Image Nets beat SVMs ."), ("section : Methods", "We use a SVM , not CRFs .")])
    words = paper["words"]
    names = [span for name in ("Image Nets", "SVMs", "SVM", "CRFs") for span in spans_of(words, name)]
    paper["ner"] = [[*span, "Method"] for span in names]
    folder = tmp_path / "scirex"
    folder.mkdir()
    (folder / "p.json").write_text(json.dumps(paper))
    return folder


@pytest.fixture
def sections(tmp_path: Path) -> Path:
    folder = tmp_path / "sections"
    folder.mkdir()
    rows = [
        {"_id": "p#0", "title": "On Image Nets", "text": "Image Nets beat SVMs."},
        {"_id": "p#1", "title": "Methods", "text": "We use a SVM, not CRFs, and a forest."},
        {"_id": "other#0", "title": "CRFs", "text": "CRFs stand here, in a paper that nobody marked."},
    ]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_names_go_by_the_section_that_they_are_marked_in(papers: Path) -> None:
    assert read_marked(papers) == {"p#0": ("Image Nets", "SVMs"), "p#1": ("CRFs", "SVM")}


def test_the_graph_holds_the_marked_names_and_no_others(papers: Path, sections: Path, tmp_path: Path) -> None:
    assert main([str(papers), str(sections), str(tmp_path / "graph")]) == 0
    graph = open_graph(tmp_path / "graph")
    section, concept = (graph.mentions[name].to_pylist() for name in ("section", "concept"))
    ids, labels = graph.sections["section_id"].to_pylist(), graph.concepts["label"].to_pylist()
    held: dict[str, set[str]] = {}
    for row, number in zip(section, concept, strict=True):
        held.setdefault(ids[row], set()).add(labels[number].lower().rstrip("s"))
    assert held == {"p#0#0": {"image net", "svm"}, "p#1#0": {"svm", "crf"}}
    assert graph.adjacency.values().numel() > 0


def test_the_fingerprint_is_that_of_the_names() -> None:
    names = {"p#0": ("SVM",)}
    assert MarkedNames(names).fingerprint == MarkedNames(dict(names)).fingerprint
    assert MarkedNames(names).fingerprint != MarkedNames({"p#0": ("SVMs",)}).fingerprint


def test_what_does_not_fit_is_said(
    papers: Path, sections: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError, match="holds no papers of SciREX"):
        read_marked(sections)
    (sections / "corpus.jsonl").write_text('{"_id": "x", "title": "On nets", "text": "Nets."}\n')
    assert main([str(papers), str(sections), str(tmp_path / "graph")]) == 2
    assert "holds no section of the papers" in capsys.readouterr().err
