"""What a graph says of itself."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from kg.build import Tools, build_graph, open_graph
from kg.errors import InputError
from kg.inspect import describe_concept, describe_graph, find_concept, papers_per_concept, row_of, section_rows
from kg.lateral import LateralGraph
from tests.conftest import paper


@pytest.fixture(scope="module")
def graph(tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> LateralGraph:
    directory = tmp_path_factory.mktemp("inspect") / "graph"
    papers = [
        paper(
            "a",
            "The capital asset pricing model (CAPM) prices beta risk. Beta risk is priced.",
            "On pricing",
            year=1964,
        ),
        paper("b", "The CAPM and beta risk. 量子计算是新的。 The supply-chain is long.", "Supply"),
        paper("c", "", "Empty-handed"),
        paper("d", " "),
    ]
    build_graph(directory, papers, tools)
    return open_graph(directory)


@pytest.fixture(scope="module")
def empty(tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> LateralGraph:
    directory = tmp_path_factory.mktemp("nothing") / "graph"
    build_graph(directory, [], tools)
    return open_graph(directory)


def test_the_description_names_papers_counts_and_the_most_widespread_concepts(graph: LateralGraph) -> None:
    found = describe_graph(graph, 3)
    assert found["counts"] == graph.manifest["counts"]
    assert found["empty"] == ["d"]
    assert [row["doc_id"] for row in found["documents"]] == ["a", "b", "c", "d"]
    assert found["documents"][0]["year"] == 1964
    spread = graph.concepts["n_sections"].to_pylist()
    assert [row["n_sections"] for row in found["concepts"]] == sorted(spread, reverse=True)[:3]
    assert found["lateral_concepts"] == sum(1 for n in by_hand(graph) if n > 1) >= 2
    json.dumps(found)
    assert describe_graph(graph, 0)["concepts"] == describe_graph(graph, -1)["concepts"] == []


def by_hand(graph: LateralGraph) -> list[int]:
    papers: list[set[int]] = [set() for _ in range(graph.n_concepts)]
    for row in graph.mentions.to_pylist():
        papers[row["concept"]].add(graph.sections["document"][row["section"]].as_py())
    return [len(own) for own in papers]


def test_papers_per_concept_counts_each_paper_once(graph: LateralGraph, sample_graph: LateralGraph) -> None:
    for any_graph in (graph, sample_graph):
        assert papers_per_concept(any_graph).tolist() == by_hand(any_graph)


def test_a_concept_is_found_by_id_and_by_any_of_its_names(graph: LateralGraph) -> None:
    row = find_concept(graph, "CAPM")
    names = ["Capital Asset Pricing Models", "capital-asset pricing model", graph.concepts["concept_id"][row].as_py()]
    assert {find_concept(graph, name) for name in names} == {row}
    assert find_concept(graph, "Supply chains") == find_concept(graph, "supply-chain")
    assert graph.concepts["label"][find_concept(graph, "量子计算")].as_py() == "量子计算"
    for number, aliases in enumerate(graph.concepts["aliases"].to_pylist()):
        assert all(find_concept(graph, alias) == number for alias in aliases)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("beta risc", "near names are .*beta risk"),
        ("zzzz", "evigraph info"),
        ("", "evigraph info"),
        ("\u200b", "evigraph info"),
    ],
)
def test_an_unknown_concept_is_told_with_what_is_near(graph: LateralGraph, name: str, hint: str) -> None:
    with pytest.raises(InputError, match=hint):
        find_concept(graph, name)


def test_a_concept_is_described_with_neighbours_and_sections_best_first(graph: LateralGraph) -> None:
    found = describe_concept(graph, "beta risk", 10)
    row = find_concept(graph, "beta risk")
    weights = graph.adjacency.to_dense()[row]
    assert {n["label"]: n["weight"] for n in found["neighbours"]} == pytest.approx(
        {graph.concepts["label"][i].as_py(): float(weights[i]) for i in weights.nonzero().flatten().tolist()}
    )
    assert [n["weight"] for n in found["neighbours"]] == sorted((float(w) for w in weights if w), reverse=True)
    assert [s["section_id"] for s in found["sections"]] == ["a#0", "b#0"]
    assert found["n_mentions"] == 3
    assert len(describe_concept(graph, "beta risk", 1)["sections"]) == 1
    json.dumps(found)


def test_rows_of_a_matrix() -> None:
    matrix = torch.tensor([[0.0, 2.0, 3.0], [0.0, 0.0, 0.0]]).to_sparse_csr()
    assert [part.tolist() for part in row_of(matrix, 0)] == [[1, 2], [2.0, 3.0]]
    assert [part.tolist() for part in row_of(matrix, 1)] == [[], []]


def test_sections_come_in_the_order_asked_for_and_may_repeat(graph: LateralGraph) -> None:
    rows = section_rows(graph, ["c#0", "a#0", "c#0"])
    assert [row["section_id"] for row in rows] == ["c#0", "a#0", "c#0"]
    assert rows[1]["title"] == "On pricing"
    assert rows[1]["text"].startswith("The capital asset")
    assert rows[0]["text"] == "Empty-handed"
    assert section_rows(graph, []) == []


def test_an_unknown_section_is_named(graph: LateralGraph) -> None:
    with pytest.raises(InputError, match="'zz#0'"):
        section_rows(graph, ["a#0", "zz#0"])


def test_an_empty_graph_describes_itself(empty: LateralGraph) -> None:
    found = describe_graph(empty, 5)
    assert (found["concepts"], found["documents"], found["lateral_concepts"]) == ([], [], 0)
    assert np.array_equal(papers_per_concept(empty), np.zeros(0))
    assert section_rows(empty, []) == []
    with pytest.raises(InputError, match="no concept 'risk'"):
        find_concept(empty, "risk")
