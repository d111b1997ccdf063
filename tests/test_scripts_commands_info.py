"""`evigraph info --concept`: why names are one, what is nearly the same, in words for people and as data."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from kg.build import BuildConfig, Tools, build_graph
from kg.homonyms import HomonymConfig
from kg.merge import MergeConfig
from kg.overrules import Overrules, Said
from scripts.cli import main
from tests.conftest import paper

PAPERS = [
    paper("a", "The BLEU score is reported. The capital asset pricing model (CAPM) prices beta risk. CAPM holds."),
    paper("b", "BLEU is reported, and BLEU is good. Supply chains and the supply-chain. Every Tower bridge stands."),
    paper("c", "A BLEU metric is reported. River crossings are rare. Beta risks are priced."),
]
WHOLE = HomonymConfig(scope="none")
"""The encoder of these tests finds nothing in common in any two texts."""
SAID = [
    Said("same", "tower bridge", "supply chain"),
    Said("different", "BLEU", "river crossing"),
    Said("same", "tower bridge", "Nelson Mandela"),
]


@pytest.fixture(scope="module")
def graph(tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Joined by rules, so that every figure is known: "type words" gives .9, a word that two names share nothing."""
    directory = tmp_path_factory.mktemp("info") / "graph"
    config = BuildConfig(merge=MergeConfig(rungs="rules", overrules=Overrules.of(SAID), homonyms=WHOLE))
    build_graph(directory, PAPERS, dataclasses.replace(tools, config=config))
    return directory


@pytest.fixture(scope="module")
def strict(tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nothing is joined that has not one key."""
    directory = tmp_path_factory.mktemp("strict") / "graph"
    build_graph(
        directory,
        PAPERS,
        dataclasses.replace(tools, config=BuildConfig(merge=MergeConfig(rungs="rules", join=0.99, homonyms=WHOLE))),
    )
    return directory


def shown(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["info", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def test_each_name_is_shown_with_the_pair_that_ties_it_in(graph: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, graph, "--concept", "BLEU")
    assert (
        "  why these are one:\n"
        "    BLEU metric  type words, .90 with 'BLEU'\n"
        "  perhaps the same:\n"
        "    BLEU score  type words, .90 with 'BLEU'\n"
        "  not the same, by the list of names: river crossing\n"
    ) in text


def test_spellings_of_one_name_stand_together_and_verdicts_of_people_are_told(
    graph: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = shown(capsys, graph, "--concept", "supply chain").splitlines()
    start = lines.index("  why these are one:")
    spellings, said = (line.strip().split("  ") for line in lines[start + 1 : start + 3])
    assert [spellings[0], spellings[-1].strip()] == [
        "Supply chains, supply-chain",
        "one name, spelled in different ways",
    ]
    assert [said[0], said[-1].strip()] == ["Tower bridge", "one by the list of names, with 'Supply chains'"]
    assert "the papers define it as an acronym" in shown(capsys, graph, "--concept", "CAPM")


def test_near_misses_are_shown_and_counted(strict: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, strict, "--concept", "BLEU")
    assert "why these are one" not in text
    assert "  perhaps the same:\n    BLEU " in text
    assert "type words, .90 with 'BLEU'\n" in text
    cut = shown(capsys, strict, "--concept", "BLEU", "--top_n", 1)
    assert "  perhaps the same (1 of 2; --top_n N shows more):\n" in cut
    assert "perhaps the same" not in shown(capsys, strict, "--concept", "BLEU", "--top_n", 0)


def test_as_json_it_is_the_same_data(graph: Path, strict: Path, capsys: pytest.CaptureFixture[str]) -> None:
    value = json.loads(shown(capsys, graph, "--concept", "BLEU", "--json"))
    assert value["joins"][0] == {"spellings": ["BLEU"], "other": None, "probability": None, "evidence": None}
    pair = {"probability": 0.9, "evidence": "type words"}
    assert value["joins"][1:] == [{"spellings": ["BLEU metric"], "other": "BLEU", **pair}]
    [miss] = value["near_misses"]
    names = {"name": "BLEU", "other": "BLEU score", "concept": "BLEU score", "concept_id": miss["concept_id"]}
    assert miss == {**names, **pair, "pairs": 1, "uncertain": True, "told_apart": False}
    assert (value["n_near_misses"], value["kept_apart"]) == (1, ["river crossing"])
    near = json.loads(shown(capsys, strict, "--concept", "BLEU", "--json", "--top_n", 1))
    assert (len(near["near_misses"]), near["n_near_misses"]) == (1, 2)
    assert near["near_misses"][0]["evidence"] == "type words"


def test_a_name_that_goes_by_another_label_is_shown_with_it(
    tools: Tools, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    papers = [*PAPERS, paper("d", "ROUGE holds. ROUGE stands. ROUGE falls. ROUGE rises. ROUGE stays.")]
    overrules = Overrules.of([Said("same", "BLEU", "ROUGE")])
    config = BuildConfig(merge=MergeConfig(rungs="rules", overrules=overrules))
    build_graph(tmp_path / "g", papers, dataclasses.replace(tools, config=config))
    text = shown(capsys, tmp_path / "g", "--concept", "BLEU score")
    assert "  perhaps the same:\n    BLEU (under ROUGE)  type words, .90 with 'BLEU score'\n" in text


def test_names_that_are_not_shown_are_counted(graph: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, graph, "--concept", "Supply chain", "--top_n", 1)
    assert "  why these are one (1 of 2; --top_n N shows more):\n    Supply chains, supply-chain  one name" in text


def test_the_list_of_names_is_counted_with_the_settings(
    graph: Path, strict: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "  pairs in the list of names: 2 same, 1 different\n" in shown(capsys, graph)
    assert "list of names" not in shown(capsys, strict)
