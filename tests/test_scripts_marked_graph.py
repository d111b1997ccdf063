"""Graphs from the names that people marked: which names, in which sections."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
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


def spoil(**fields: object) -> bytes:
    """The paper of ``papers`` with some fields changed, as bytes; None leaves a field out."""
    paper = paper_of([("On Nets", "Nets beat SVMs ."), ("section : Methods", "We use a SVM .")])
    paper["ner"] = [[0, 2, "Method"]]
    return json.dumps({key: value for key, value in (paper | fields).items() if value is not None}).encode()


LENGTH = 14
BAD = [
    (b"{", "is not JSON in UTF-8"),
    (b"", "is not JSON in UTF-8"),
    (b'{"doc_id": "\xff"}', "is not JSON in UTF-8"),
    (b"[" * 200_000, "is not JSON in UTF-8 (nested too deeply)"),
    (b"[1]", "a list and no object"),
    (b"null", "a NoneType and no object"),
    *((spoil(**{key: None}), f"field {key} is missing") for key in ("doc_id", "words", "sections", "ner", "coref")),
    (spoil().replace(b'"ner": [[0, 2, "Method"]]', b'"ner": null'), "field ner is a NoneType"),
    (spoil(doc_id=3), "field doc_id is a int"),
    (spoil(doc_id=" "), "field doc_id is empty"),
    (spoil(words="On Nets"), "field words is a str"),
    (spoil(words=["On", 3]), "field words holds something else"),
    (spoil(coref={"a": 3}), "field coref holds something else"),
    (spoil(coref={"a": [[3]]}), "field coref holds [3]"),
    *(
        (spoil(ner=[[0, 1, "Method"], span]), "field ner holds ")
        for span in (
            [], [0], [0, 1], [1, 0, "M"], [2, 2, "M"], [-1, 1, "M"], [LENGTH - 1, LENGTH + 1, "M"], [99, 100, "M"],
            ["0", "1", "M"], [0.0, 1.0, "M"], [False, True, "M"], [None, 1, "M"], 3, "ab", {"0": 1}, None,
            [0, 10**400, "M"], [5, 8, "across"],
        )
    ),
    *(
        (spoil(sections=sections), "field sections holds ")
        for sections in (
            [[0]], [[0, 1, 2]], [[0, LENGTH + 1]], [[6, 0]], [[0, 0]], [[-1, 6]], [["0", 6]], [[0, 7], [6, LENGTH]],
            [[6, LENGTH], [0, 7]], [[0, 6], [0, 6]], [3],
        )
    ),
    (spoil(sections=[[3, LENGTH]]), "field ner holds [0, 2, 'Method'], which lies in no section"),
    (spoil(sections=[]), "field ner holds [0, 2, 'Method'], which lies in no section"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "words"), BAD, ids=range(len(BAD)))
def test_a_paper_that_is_not_whole_is_named(
    papers: Path, sections: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, words: str
) -> None:
    (papers / "q.json").write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_marked(papers)
    assert str(caught.value).startswith(f"{papers / 'q.json'}")
    assert words in str(caught.value)
    assert main([str(papers), str(sections), str(tmp_path / "graph")]) == 2
    told = capsys.readouterr().err
    assert told.startswith("marked_graph.py: ")
    assert told.count("\n") == 1
    assert not (tmp_path / "graph").exists()


def test_the_paper_that_is_spoilt_above_is_whole(papers: Path) -> None:
    (papers / "q.json").write_bytes(spoil(doc_id="q 1"))
    assert len(json.loads(spoil())["words"]) == LENGTH
    assert {key: names for key, names in read_marked(papers).items() if key[0] == "q"} == {
        "q%201#0": ("On Nets",), "q%201#1": ()
    }  # fmt: skip


def test_two_papers_of_one_id_are_refused(papers: Path) -> None:
    (papers / "q.json").write_bytes(spoil(doc_id=" p"))
    with pytest.raises(InputError, match=r"q\.json: field doc_id is that of .*p\.json too"):
        read_marked(papers)


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_is_no_file_is_named(papers: Path, make: Callable[[Path], None]) -> None:
    make(papers / "x.json")
    with pytest.raises(InputError, match=r"x\.json is no file"):
        read_marked(papers)


@pytest.mark.parametrize("lost", [False, True])
def test_a_graph_that_is_there_is_kept_unless_its_own_flag_says_otherwise(
    papers: Path, sections: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], lost: bool
) -> None:
    arguments = [str(papers), str(sections), str(tmp_path / "graph")]
    for more in ([], ["--overwrite"]):
        assert main([*arguments, *more]) == 0
    if lost:
        (tmp_path / "graph" / "CURRENT").unlink()
    capsys.readouterr()
    assert main(arguments) == 2
    told = capsys.readouterr().err
    assert "already holds a graph" in told
    assert "replace it with --overwrite." in told
    assert "evigraph" not in told.replace(str(tmp_path), "")
    assert main([*arguments, "--overwrite"]) == 0


@pytest.mark.data
def test_every_section_of_the_lateral_test_is_one_of_a_paper_of_scirex(data: Path) -> None:
    marked = read_marked(data / "scirex")
    with (data / "scirex_lateral" / "corpus.jsonl").open(encoding="utf-8") as file:
        sections = [json.loads(line)["_id"] for line in file]
    assert len({name.rpartition("#")[0] for name in marked}) == 187
    assert set(sections) <= marked.keys()
    assert sum(bool(marked[section]) for section in sections) > 0.9 * len(sections)
