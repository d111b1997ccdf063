"""`scripts/tune_fusion.py`: what it prints, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import scripts.tools
from kg.build import Tools
from kg.errors import InputError
from retrieval.cells import p_cell
from retrieval.crossfit import CrossFit, advantage
from retrieval.experiment import corpus_graph
from scripts import tune_fusion
from scripts.tune_fusion import main, read_settings
from tests.beir_folder import PAPERS, write_beir
from tests.conftest import HashEncoder, paper

Run = Callable[..., int]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(scripts.tools, "load_encoder", lambda given, manifest=None: HashEncoder())
    return lambda *arguments: main([str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_beir(tmp_path_factory.mktemp("beir") / "tiny")


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory, tools: Tools) -> Path:
    directory = tmp_path_factory.mktemp("graphs") / "graph"
    corpus_graph(directory, [paper(key, text, f"Paper {key}") for key, text in PAPERS.items()], tools)
    return directory


def test_settings_are_all_combinations_the_first_weights_first() -> None:
    assert read_settings(["dense=1", "bm25=.5,0,.5"]) == [{"dense": 1.0, "bm25": 0.5}, {"dense": 1.0, "bm25": 0.0}]
    assert read_settings(["bm25=2,0"]) == [{"bm25": 2.0}]


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (["bm25"], "names no weights"),
        (["bm25=a"], "names no weights"),
        (["bm25=-1"], "names no weights"),
        (["bm25=1", "bm25=2"], "names bm25 twice"),
        (["bm25=0", "dense=0"], "All weights"),
        (["bm25=0,1", "dense=0,1"], "first weights are all 0"),
        ([], "nothing to fuse"),
        (["bm25=1e308"], r"A weight of bm25 is 1e\+308; it must be 0 or between 1e-06 and 1,000,000"),
        (["bm25=1,1e-300"], "A weight of bm25 is 1e-300"),
        ([f"part{n}=1,2,3,4" for n in range(10)], "make 1,048,576 settings, and at most 10,000"),
    ],
)
def test_weights_that_cannot_be_are_refused(parts: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_settings(parts)


def test_what_is_chosen_and_what_it_is_worth(
    run: Run, folder: Path, graph: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = (
        graph,
        folder,
        "--split",
        "dev",
        "--parts",
        "dense=1",
        "bm25=0.5,0",
        "ppr=1,0",
        "--measures",
        "R@2",
        "RR",
    )
    assert run(*command, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["settings"] == 4
    assert sum(one["halves"] for one in found["chosen"]) == found["halves"] == 200
    for measure in ("R@2", "RR"):
        assert 0 <= found["held_out"][measure] <= 1
        assert found["first"][measure] <= found["best_in_sample"][measure] <= 1
    assert found["first_weights"] == {"dense": 1, "bm25": 0.5, "ppr": 1}
    difference = found["difference"]["RR"]
    assert difference["mean"] == pytest.approx(found["held_out"]["RR"] - found["first"]["RR"])
    assert (difference["n"], difference["n_clusters"], difference["low"]) == (5, 4, None)
    assert run(*command) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("## tiny (dev)\n\n5 queries in 4 clusters by shared relevant documents. 4 settings; ")
    assert "200 halves (100 divisions)" in printed
    held_out, p = found["held_out"]["R@2"], found["difference"]["R@2"]["p"]
    first = f"| first setting (dense 1, bm25 0.5, ppr 1) | {found['first']['R@2']:.3f} | {found['first']['RR']:.3f} |"
    assert f"|  | R@2 | RR |\n| --- | ---: | ---: |\n{first}\n" in printed
    assert f"| chosen on one half, reported on the other | {held_out:.3f} |" in printed
    assert f"| difference from the first setting | {held_out - found['first']['R@2']:+.3f} |" in printed
    assert f"| p of this difference | {p_cell(p)} |" in printed
    assert "| chosen | halves |\n| --- | ---: |\n| dense 1, bm25 0" in printed


def test_the_example_of_the_docstring_is_a_command(
    run: Run, folder: Path, graph: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    [line] = [line.split() for line in str(tune_fusion.__doc__).splitlines() if "python scripts/" in line]
    assert line[:2] == ["python", "scripts/tune_fusion.py"]
    given = {"GRAPH": graph, "FOLDER": folder}
    assert run(*(given.get(word, word) for word in line[2:])) == 0
    assert "16 settings" in capsys.readouterr().out


def test_what_was_chosen_least_often_is_summed_up() -> None:
    settings = [{"bm25": float(n)} for n in range(1, 8)]
    values = {"RR": {f"q{n}": 0.5 for n in range(25)}}
    means = {"RR": 0.5}
    chosen = {2: 60, 0: 50, 1: 40, 3: 30, 4: 10, 5: 6, 6: 4}
    found = CrossFit(values, means, means, values, means, chosen, 200)
    clusters = {query: n for n, query in enumerate(values["RR"])}
    tuned = tune_fusion.Tuned("tiny (dev)", settings, found, advantage(found, clusters), 25, 25, "nothing")
    lines = list(tune_fusion._lines(tuned))
    assert lines[2].startswith("25 queries. 7 settings; 200 halves (100 divisions)")
    assert "| difference from the first setting | +0.000 [+0.000, +0.000] |" in lines
    assert lines[-7:] == [
        "| --- | ---: |", "| bm25 3 | 60 |", "| bm25 1 | 50 |", "| bm25 2 | 40 |", "| bm25 4 | 30 |",
        "| bm25 5 | 10 |", "| 2 others | 10 |",
    ]  # fmt: skip


def test_every_option_has_a_sentence_of_help(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help") == 0
    told = " ".join(capsys.readouterr().out.replace("│", " ").split())
    for name in tune_fusion.Arguments.__dataclass_fields__:
        option = {"graph": "GRAPH", "folder": "FOLDER"}.get(name, f"--{name}")
        after = told.split(f" {option} ", 2)[-1]
        assert len(after.split(" --")[0].split("(default")[0].split()) > 4, option


def test_what_is_too_late_is_not_seen(
    run: Run, tmp_path: Path, tools: Tools, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_beir(tmp_path / "dated", q1={"latest_year": 2001})
    (folder / "qrels" / "dev.tsv").write_text("q1\td1\t1\nq2\td3\t1\n")
    papers = [paper(key, text, f"Paper {key}", year=2010 if key == "d1" else 2000) for key, text in PAPERS.items()]
    corpus_graph(tmp_path / "graph", papers, tools)
    command = (tmp_path / "graph", folder, "--split", "dev", "--parts", "dense=1", "--measures", "R@20", "--json")
    first = []
    for flags in ((), ("--years",)):
        assert run(*command, *flags) == 0
        first.append(json.loads(capsys.readouterr().out)["first"]["R@20"])
    assert first == [1.0, 0.5]


def test_what_cannot_be_done_is_said(run: Run, folder: Path, graph: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(graph, folder, "--parts", "dense=1") == 2
    assert "name one with --split" in capsys.readouterr().err
    assert run(graph, folder, "--split", "dev", "--parts", "nothing=1") == 2
    assert "There is no method 'nothing'" in capsys.readouterr().err
    assert run(graph, folder, "--split", "dev", "--parts", "dense=1", "--measures", "WSS@95") == 2
    assert "WSS@95" in capsys.readouterr().err
    assert run(graph, folder, "--split", "dev", "--parts", "dense=1", "--halvings", 0) == 2
    assert "divided 0 times" in capsys.readouterr().err
    assert run(graph, folder, "--split", "dev", "--parts", "dense=1", "--years") == 2
    assert "has a latest_year; leave --years out" in capsys.readouterr().err
    missing = folder / "no graph, no folder: refused before any work"
    assert run(missing, missing, "--parts", *(f"part{n}=1,2,3,4" for n in range(10))) == 2
    told = capsys.readouterr()
    assert "The weights make 1,048,576 settings" in told.err
    assert (told.err.count("\n"), told.out) == (1, "")


def test_a_graph_of_another_corpus_or_unit_is_refused(
    run: Run, folder: Path, graph: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(graph, folder, "--split", "dev", "--parts", "dense=1", "--unit", "section") == 2
    assert "The graph holds none of the" in capsys.readouterr().err


def test_a_measure_is_named_as_ir_measures_spells_it(
    run: Run, folder: Path, graph: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = (graph, folder, "--split", "dev", "--parts", "bm25=1", "--measures", "NDCG@10", "nDCG@10", "--json")
    assert run(*command) == 0
    assert list(json.loads(capsys.readouterr().out)["held_out"]) == ["nDCG@10"]
