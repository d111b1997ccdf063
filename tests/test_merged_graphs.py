"""What merging makes of the names in papers: acronyms and their senses, spellings, scripts, opposites."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kg.build import Tools, build_graph, open_graph
from kg.inspect import describe_concept
from kg.lateral import LateralGraph
from kg.names import name_key
from kg.records import Document
from tests.conftest import paper

GraphOf = Callable[..., LateralGraph]


@pytest.fixture
def graph_of(tools: Tools, tmp_path: Path) -> GraphOf:
    def build(*documents: Document) -> LateralGraph:
        build_graph(tmp_path / "graph", documents, tools, overwrite=True)
        return open_graph(tmp_path / "graph")

    return build


def holders(graph: LateralGraph, name: str) -> dict[str, set[str]]:
    """concept_id -> papers, of the concepts that have ``name`` among their aliases."""
    paper_of = graph.documents["doc_id"].take(graph.sections["document"]).to_pylist()
    found: dict[str, set[str]] = {}
    for row in graph.mentions.to_pylist():
        if name_key(row["surface"]) == name_key(name):
            concept = graph.concepts["concept_id"][row["concept"]].as_py()
            found.setdefault(concept, set()).add(paper_of[row["section"]])
    return found


def concept_count(graph: LateralGraph, *names: str) -> int:
    return len({concept for name in names for concept in holders(graph, name)})


def test_an_acronym_and_its_expansion_are_one_concept_in_all_papers(graph_of: GraphOf) -> None:
    graph = graph_of(
        paper("a", "The capital asset pricing model (CAPM) prices risk. We test the CAPM on stocks."),
        paper("b", "The CAPM fails. Tests of the CAPM reject it."),
        paper("c", "A capital asset pricing model with habits is solved."),
    )
    assert concept_count(graph, "CAPM", "capital asset pricing model") == 1
    (papers,) = holders(graph, "CAPM").values()
    assert papers == {"a", "b"}
    (papers,) = holders(graph, "capital asset pricing model").values()
    assert papers == {"a", "c"}


def two_senses(graph_of: GraphOf) -> LateralGraph:
    return graph_of(
        paper("a", "A conditional random field (CRF) labels words. The CRF is trained."),
        paper("b", "The case report form (CRF) is signed. Each CRF is archived."),
        paper("c", "A CRF is used here without a word on what it is."),
    )


def test_an_acronym_of_two_senses_stays_two(graph_of: GraphOf) -> None:
    graph = two_senses(graph_of)
    (field,) = holders(graph, "conditional random field")
    (form,) = holders(graph, "case report form")
    assert field != form
    found = holders(graph, "CRF")
    assert found[field] & {"a", "b"} == {"a"}
    assert found[form] & {"a", "b"} == {"b"}


def test_an_acronym_that_nothing_decides_stays_its_own(graph_of: GraphOf) -> None:
    assert sorted(map(sorted, holders(two_senses(graph_of), "CRF").values())) == [["a"], ["b"], ["c"]]


def test_all_concepts_of_one_name_are_told(graph_of: GraphOf) -> None:
    graph = two_senses(graph_of)
    told = describe_concept(graph, "CRF", 3)
    others = {other["concept_id"] for other in told["namesakes"]}
    assert {told["concept_id"], *others} == set(holders(graph, "CRF"))
    assert len(others) == 2
    assert describe_concept(graph, "conditional random field", 3)["namesakes"] == []
    assert describe_concept(graph, sorted(others)[0], 3)["concept_id"] == sorted(others)[0]


def test_spellings_are_one_concept_and_other_scripts_stay_their_own(graph_of: GraphOf) -> None:
    graph = graph_of(
        paper("a", "The supply chain is long. A β-VAE is trained. We cite Müller."),
        paper("b", "The supply-chain is short. 量子计算是新的。 We use naïve Bayes."),
        paper("c", "Supply chains are fragile. The ResNet-50 and the ResNet-101 differ; GPT-2 is no GPT-3."),
    )
    assert [sorted(p) for p in holders(graph, "supply chain").values()] == [["a", "b", "c"]]
    names = ["量子计算", "β-VAE", "naïve Bayes", "Müller", "ResNet-50", "ResNet-101", "GPT-2", "GPT-3"]
    assert all(len(holders(graph, name)) == 1 for name in names)
    assert concept_count(graph, *names) == len(names)
    assert "" not in graph.concepts["form"].to_pylist()
    assert "" not in graph.concepts["label"].to_pylist()


def test_opposites_in_papers_stay_apart(graph_of: GraphOf) -> None:
    graph = graph_of(
        paper("a", "The supervised learning task is solved. Patients with hypotension recover."),
        paper("b", "The unsupervised learning task is open. Patients with hypertension suffer."),
    )
    assert concept_count(graph, "supervised learning", "unsupervised learning") == 2
    assert concept_count(graph, "hypotension", "hypertension") == 2


def test_a_thousand_spellings_of_one_name_are_one_concept(graph_of: GraphOf) -> None:
    words = "supply chain risk sharing".split()
    spellings = []
    for number in range(1000):
        cased = [w.upper() if number >> i & 1 else w for i, w in enumerate(words[:3])]
        text = "".join(w + " -"[number >> 3 + i & 1] for i, w in enumerate(cased)) + "sharing"
        spellings.append(text.capitalize() if number & 64 else text)
    graph = graph_of(*(paper(f"p{i:04d}", f"The {spelling} is studied.") for i, spelling in enumerate(spellings)))
    ((_, papers),) = holders(graph, "supply chain risk sharing").items()
    assert len(papers) == 1000
