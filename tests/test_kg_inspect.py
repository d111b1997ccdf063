"""What a graph says of itself."""

from __future__ import annotations

import dataclasses
import json
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch

from kg.build import BuildConfig, Tools, build_graph, open_graph
from kg.errors import InputError
from kg.homonyms import HomonymConfig
from kg.inspect import (
    Group,
    Grouping,
    describe_concept,
    describe_graph,
    find_concept,
    group_documents,
    papers_per_concept,
    row_of,
    section_rows,
)
from kg.lateral import LateralGraph
from kg.merge import MergeConfig
from kg.overrules import Overrules, Said
from kg.papers import DOCUMENT_SCHEMA, SECTION_SCHEMA
from kg.venues import field_of_venue
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


def test_a_concept_is_described_with_why_its_names_are_one_and_what_is_nearly_the_same(
    tools: Tools, tmp_path: Path
) -> None:
    papers = [
        paper("a", "The BLEU score is reported. The capital asset pricing model (CAPM) prices beta risk. CAPM holds."),
        paper(
            "b", "BLEU is reported. Supply chains and the supply-chain are long. Tower bridge and river bridge stand."
        ),
    ]
    rules = MergeConfig(rungs="rules", join=0.7, homonyms=HomonymConfig(scope="none"))
    said = Overrules.of([Said("same", "tower bridge", "supply chain"), Said("different", "river bridge", "BLEU")])
    ruled = dataclasses.replace(tools, config=BuildConfig(merge=rules)).under(said)
    build_graph(tmp_path / "g", papers, ruled)
    held = open_graph(tmp_path / "g")
    chain = describe_concept(held, "supply chain", 5)
    assert chain["joins"][0]["evidence"] is None
    assert {name for join in chain["joins"] for name in join["spellings"]} == set(chain["aliases"])
    assert [(join["evidence"], join["probability"]) for join in chain["joins"][1:]] == [("overruled", 1.0)]
    [*_, acronym] = describe_concept(held, "CAPM", 5)["joins"]
    assert acronym == {"spellings": ("CAPM",), "other": None, "probability": None, "evidence": "defined acronym"}
    bleu = describe_concept(held, "BLEU", 5)
    [join] = bleu["joins"][1:]
    assert (join["evidence"], join["probability"]) == ("type words", 0.9)
    assert bleu["kept_apart"] == ["river bridge"]
    build_graph(tmp_path / "strict", papers, dataclasses.replace(
        tools, config=BuildConfig(merge=dataclasses.replace(rules, join=0.95))
    ))  # fmt: skip
    strict = open_graph(tmp_path / "strict")
    near = describe_concept(strict, "BLEU", 5)
    assert near["n_near_misses"] == 1
    [miss] = near["near_misses"]
    assert (miss["name"], miss["other"], miss["uncertain"]) == ("BLEU", "BLEU score", True)
    assert describe_concept(strict, miss["concept_id"], 0)["near_misses"] == []
    assert describe_concept(strict, miss["concept_id"], 0)["n_near_misses"] == 1
    json.dumps([chain, bleu, near])


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


# Groups of papers


@pytest.fixture(scope="module")
def shelves(tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> LateralGraph:
    directory = tmp_path_factory.mktemp("shelves") / "graph"
    text = "Beta risk is priced. Supply chains amplify orders."
    papers = [
        paper("a", text, "One", venue="The Journal of Finance", year=1964),
        paper("b", text, "Two", venue="Journal of Finance", year=1970),
        paper("c", "Liquidity risk premia.", "Three", venue="J. Finance"),
        paper("d", text, "Four", venue="Journal of Finance", field="Corporate  FINANCE", year=1964),
        paper("e", text, "Five", venue="Nature & Nurture", year=-44),
        paper("f", text, "Six", venue="NATURE AND NURTURE.", field="  Finance ", year=0),
        paper("g", text, "Seven", field="corporate finance", year=1970),
        paper("h", "", ""),
        paper("i", text, "Eight", venue="***", year=1964),
        paper("j", text, "Nine", venue="The"),
    ]
    build_graph(directory, papers, tools)
    return open_graph(directory)


def named(groups: list[Group]) -> list[tuple[str | None, int]]:
    return [(group.name, group.papers) for group in groups]


def test_venues_are_grouped_whatever_their_spelling_under_the_most_frequent(shelves: LateralGraph) -> None:
    assert named(group_documents(shelves, "venue")) == [
        ("Journal of Finance", 4), ("NATURE AND NURTURE.", 2), (None, 2), ("***", 1), ("The", 1),
    ]  # fmt: skip


def test_a_field_is_the_paper_s_own_else_its_journal_s(shelves: LateralGraph) -> None:
    assert named(group_documents(shelves, "field")) == [
        ("finance", 3 + 1), (None, 4), ("Corporate  FINANCE", 2),
    ]  # fmt: skip


def test_years_run_from_the_newest_back_and_undated_papers_close_the_list(shelves: LateralGraph) -> None:
    groups = group_documents(shelves, "year")
    assert named(groups) == [("1970", 2), ("1964", 3), ("0", 1), ("-44", 1), (None, 3)]
    assert [(g.first_year, g.last_year) for g in groups] == [
        (1970, 1970),
        (1964, 1964),
        (0, 0),
        (-44, -44),
        (None, None),
    ]


@pytest.mark.parametrize("by", ["venue", "field", "year"])
def test_groups_count_what_a_count_by_hand_gives(
    shelves: LateralGraph, sample_graph: LateralGraph, by: Grouping
) -> None:
    for graph in (shelves, sample_graph):
        groups = group_documents(graph, by)
        documents = graph.documents.to_pylist()
        assert sum(group.papers for group in groups) == len(documents)
        assert sum(group.sections for group in groups) == graph.n_sections
        exact: dict[str, list[int]] = defaultdict(list)
        for row, document in enumerate(documents):
            own = document["field"] or field_of_venue(document["venue"]) or ""
            value = {"venue": document["venue"], "field": own, "year": str(document["year"] or "")}[by]
            exact[value.casefold()].append(row)
        for group in groups:
            rows = exact.get((group.name or "").casefold(), [])
            if len(rows) != group.papers:  # several spellings: counted above
                continue
            sections = {n for n, row in enumerate(graph.sections["document"].to_pylist()) if row in rows}
            concepts = {m["concept"] for m in graph.mentions.to_pylist() if m["section"] in sections}
            years = [documents[row]["year"] for row in rows if documents[row]["year"] is not None]
            assert (group.sections, group.concepts) == (len(sections), len(concepts))
            assert (group.first_year, group.last_year) == (min(years, default=None), max(years, default=None))


def test_a_concept_counts_once_in_a_group(shelves: LateralGraph) -> None:
    [same_text] = [group for group in group_documents(shelves, "year") if group.name == "1970"]
    of_one = {
        m["concept"]
        for m in shelves.mentions.to_pylist()
        if shelves.sections["section_id"][m["section"]].as_py() == "b#0"
    }
    assert same_text.papers == 2
    assert same_text.concepts == len(of_one) > 0


def test_an_empty_graph_has_no_groups(empty: LateralGraph) -> None:
    for by in ("venue", "field", "year"):
        assert group_documents(empty, by) == []


def test_a_hundred_thousand_papers_are_grouped_in_little_time() -> None:
    n, n_concepts = 100_000, 5_000
    rng = np.random.default_rng(7)
    venues = [f"Venue {i}" for i in range(2_000)] + ["Econometrica", "ECONOMETRICA"]
    text = pa.array([""] * n)
    documents = pa.table(
        {
            "doc_id": pa.array([f"p{i:06d}" for i in range(n)]), "title": text,
            "authors": pa.array([[]] * n, pa.list_(pa.string())),
            "year": pa.array(rng.integers(1920, 2026, n), pa.int32()),
            "venue": pa.array(venues).take(pa.array(rng.integers(0, len(venues), n))), "doi": text, "field": text,
            "details": text, "content_hash": text, "n_sections": pa.array(np.ones(n), pa.int32()),
        },
        schema=DOCUMENT_SCHEMA,
    )  # fmt: skip
    sections = pa.table([text, pa.array(np.arange(n), pa.int32()), text, text, text], schema=SECTION_SCHEMA)
    mentions = pa.table(
        {
            "section": pa.array(np.repeat(np.arange(n), 10), pa.int32()),
            "concept": pa.array(rng.integers(0, n_concepts, 10 * n), pa.int32()),
        }
    )
    concepts = pa.table({"concept_id": pa.array(np.arange(n_concepts))})
    empty_rows = {"rows": torch.zeros(n_concepts + 1, dtype=torch.int32), "columns": torch.zeros(0, dtype=torch.int32)}
    tensors = {"section_x": torch.zeros(n, 1), "concept_x": torch.zeros(n_concepts, 1)}
    for name, size in (("adjacency", n_concepts), ("incidence", n), ("holders", n_concepts), ("same_as", n_concepts)):
        tensors |= {f"{name}_{part}": value for part, value in empty_rows.items()} | {f"{name}_values": torch.zeros(0)}
        tensors[f"{name}_rows"] = torch.zeros(size + 1, dtype=torch.int32)
    tables = {"documents": documents, "sections": sections, "concepts": concepts, "mentions": mentions}
    graph = LateralGraph.of(tables | {"relations": mentions, "links": mentions}, tensors, {})
    start = time.process_time()
    groups = {by: group_documents(graph, by) for by in ("venue", "field", "year")}
    assert time.process_time() - start < 5
    assert [len(groups[by]) for by in ("venue", "field", "year")] == [2_001, 2, 106]
    assert all(sum(group.papers for group in found) == n for found in groups.values())
    assert groups["venue"][0].name in ("Econometrica", "ECONOMETRICA")
