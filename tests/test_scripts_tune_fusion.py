"""`scripts/tune_fusion.py`: what it prints, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import scripts.tools
from kg.build import Tools
from kg.errors import InputError
from retrieval.experiment import corpus_graph
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
    assert read_settings(["bm25=0,2"]) == [{"bm25": 2.0}]


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (["bm25"], "names no weights"),
        (["bm25=a"], "names no weights"),
        (["bm25=-1"], "names no weights"),
        (["bm25=1", "bm25=2"], "names bm25 twice"),
        (["bm25=0", "dense=0"], "All weights"),
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
    assert run(*command) == 0
    printed = capsys.readouterr().out
    assert f"| chosen on one half, reported on the other | {found['held_out']['R@2']:.3f} |" in printed
    assert "dense 1, bm25 0.5" in printed or "dense 1, bm25 0" in printed


def test_what_cannot_be_done_is_said(run: Run, folder: Path, graph: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(graph, folder, "--parts", "dense=1") == 2
    assert "name one with --split" in capsys.readouterr().err
    assert run(graph, folder, "--split", "dev", "--parts", "nothing=1") == 2
    assert "There is no method 'nothing'" in capsys.readouterr().err
    assert run(graph, folder, "--split", "dev", "--parts", "dense=1", "--measures", "WSS@95") == 2
    assert "WSS@95" in capsys.readouterr().err
