"""`evigraph build` and `add` with --triples and --names: what is told, exit codes, what is refused before any work."""

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


# --names


def papers(folder: Path, **texts: str) -> Path:
    path = folder / f"{'_'.join(texts)}.jsonl"
    rows = [json.dumps({"id": name, "title": f"Paper {name}", "text": text}) for name, text in texts.items()]
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


def names(folder: Path, *lines: str, head: str = "verdict,name,other") -> Path:
    path = folder / "names.csv"
    path.write_text("\n".join([head, *lines]), encoding="utf-8")
    return path


A = "Loss aversion shapes portfolio choice. Portfolio choice is hard."
B = "Mental accounting explains the equity premium."


def concept(graph: Path, capsys: pytest.CaptureFixture[str], name: str) -> dict[str, Any]:
    capsys.readouterr()
    assert run("info", graph, "--concept", name, "--json") == 0
    value: dict[str, Any] = json.loads(capsys.readouterr().out)
    return value


def test_names_are_joined_as_the_file_says_and_stay_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph, list_of_names = tmp_path / "g", names(tmp_path, "same,portfolio choice,equity premium", "same,a b,c d")
    assert run("build", graph, papers(tmp_path, a=A, b=B), "--names", list_of_names) == 0
    told = capsys.readouterr().out
    assert "2 names of the list that no concept has (what is said of them waits until one does):\n    a b\n" in told
    joined = concept(graph, capsys, "portfolio choice")
    assert {"portfolio choice", "equity premium"} <= {alias.lower() for alias in joined["aliases"]}
    assert run("add", graph, papers(tmp_path, c="Minimum wages matter.")) == 0
    assert run("remove", graph, "c") == 0
    assert concept(graph, capsys, "equity premium") == joined


def test_names_alone_are_added_without_a_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = tmp_path / "g"
    assert run("build", graph, papers(tmp_path, a=A, b=B)) == 0
    plain = concept(graph, capsys, "portfolio choice")
    assert "equity premium" not in plain["aliases"]
    list_of_names = names(tmp_path, "same,portfolio choice,equity premium")
    capsys.readouterr()
    assert run("add", graph, "--names", list_of_names) == 0
    assert f"{graph}: the list of names replaced\n" in capsys.readouterr().out
    assert len(concept(graph, capsys, "portfolio choice")["aliases"]) > len(plain["aliases"])
    assert run("add", graph, "--names", list_of_names) == 0
    assert capsys.readouterr().out == f"{graph}: nothing to do\n"
    more = papers(tmp_path, c="Minimum wages matter.")
    assert run("add", graph, more, "--names", names(tmp_path), "--json") == 0
    value = json.loads(capsys.readouterr().out)
    assert (value["overruled"], value["added"], value["unknown_names"], value["unheeded"]) == (True, ["c"], [], [])
    assert concept(graph, capsys, "portfolio choice")["aliases"] == plain["aliases"]


def test_names_of_a_graph_of_triples_need_no_triples(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph, triples = tmp_path / "g", openie_file(tmp_path, list(ROWS.values()))
    assert run("build", graph, corpus(tmp_path, "Rome", "Oslo"), "--triples", triples) == 0
    assert run("add", graph, "--names", names(tmp_path, "same,Rome,Oslo")) == 0
    assert set(concept(graph, capsys, "Rome")["aliases"]) == {"Rome", "Oslo"}


def test_a_wrong_file_of_names_is_refused_before_any_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph, source = tmp_path / "g", papers(tmp_path, a=A)
    assert run("build", graph, source, "--names", names(tmp_path, "equal,a,b")) == 2
    assert "names.csv, line 2: verdict is 'equal'; write same or different." in capsys.readouterr().err
    assert not graph.exists()
    assert run("build", graph, source) == 0
    before = (graph / "CURRENT").read_bytes()
    both = names(tmp_path, "same,loss aversion,portfolio choice", "different,Portfolio Choices,loss aversion")
    capsys.readouterr()
    assert run("add", graph, "--names", both) == 2
    assert "line 3: 'Portfolio Choices' and 'loss aversion' are said to be different" in capsys.readouterr().err
    assert run("add", graph, "--names", names(tmp_path), "--limit", 3) == 2
    assert "--limit needs papers; name a SOURCE, or leave --limit out" in capsys.readouterr().err
    assert run("add", graph) == 2
    assert "No source was named" in capsys.readouterr().err
    assert (graph / "CURRENT").read_bytes() == before
