"""`evigraph build` and `add` with --triples: what is told, what the exit code says, what is refused before any work."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import scripts.tools
from scripts.cli import main
from tests.conftest import HashEncoder
from tests.test_kg_openie import doc, openie_file

ROWS = {
    "Rome": doc("Rome\nRome lies in Italy.", ["Rome", "lies in", "Italy"], ["Rome", "lies"]),
    "Oslo": doc("Oslo\nOslo is in Norway.", ["Oslo", "is in", "Norway"]),
}


@pytest.fixture(autouse=True)
def hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripts.tools, "load_encoder", lambda given, manifest=None: HashEncoder())


def corpus(folder: Path, *titles: str) -> Path:
    path = folder / "corpus.json"
    texts = {"Rome": "Rome lies in Italy.", "Oslo": "Oslo is in Norway.", "Lima": "Lima is in Peru."}
    path.write_text(json.dumps([{"title": title, "text": texts[title]} for title in titles]), encoding="utf-8")
    return path


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def test_what_was_read_and_left_out_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    triples = openie_file(tmp_path, list(ROWS.values()))
    assert run("build", tmp_path / "g", corpus(tmp_path, "Rome"), "--triples", triples) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "3 triples of 2 passages, 1 malformed and skipped" in told
    assert "1 triple not of three entries, first in passage 1: ['Rome', 'lies']" in told
    assert "1 passages with ready triples that are in no paper here: Oslo Oslo is in Norway." in told
    assert "1 documents, 1 sections, 2 concepts, 1 edges" in told


def test_sections_without_triples_are_named_and_the_exit_code_says_partly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    triples = openie_file(tmp_path, list(ROWS.values()))
    sources = corpus(tmp_path, "Rome", "Lima")
    assert run("build", tmp_path / "g", sources, "--triples", triples, "--json") == 1
    value: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert len(value["without_triples"]) == 1
    assert value["triples"] == {
        "read": 3, "passages": 2, "repeated": 0, "loops": 0, "left_out": {"triples": 1, "entities": 0, "passages": 0},
        "reasons": [{
            "what": "triples", "reason": "not of three entries", "count": 1, "first": "in passage 1: ['Rome', 'lies']",
        }],
    }  # fmt: skip
    assert run("build", tmp_path / "h", sources, "--triples", triples) == 1
    assert "1 sections without ready triples" in capsys.readouterr().out


def test_a_passage_that_cannot_be_read_makes_the_exit_code_say_partly(tmp_path: Path) -> None:
    triples = openie_file(tmp_path, [*ROWS.values(), doc("")])
    assert run("build", tmp_path / "g", corpus(tmp_path, "Rome"), "--triples", triples) == 1


def test_papers_are_added_with_a_longer_file_and_removed_without(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = tmp_path / "g"
    assert run("build", graph, corpus(tmp_path, "Rome"), "--triples", openie_file(tmp_path, [ROWS["Rome"]])) == 0
    more = corpus(tmp_path, "Oslo")
    capsys.readouterr()
    assert run("add", graph, more) == 2
    assert "was built from ready triples; name the file with them by --triples" in capsys.readouterr().err
    longer = openie_file(tmp_path, list(ROWS.values()))
    assert run("add", graph, more, "--triples", longer, "--json") == 0
    added = json.loads(capsys.readouterr().out)
    assert (added["counts"]["edges"], added["unused_passages"]) == (2, [])
    assert run("remove", graph, *added["added"]) == 0


def test_a_file_of_another_kind_is_refused_before_anything_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = corpus(tmp_path, "Rome")
    assert run("build", tmp_path / "g", source, "--triples", source) == 2
    assert 'hold no list named "docs"' in capsys.readouterr().err
    assert not (tmp_path / "g").exists()
