"""A graph assembled of real papers: its tables and its tensors say the same."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import torch

from kg.lateral import LateralGraph
from kg.merge import EVIDENCE, MergeConfig
from kg.names import name_key


def test_adjacency_is_symmetric_sorted_and_without_diagonal(sample_graph: LateralGraph) -> None:
    adjacency = sample_graph.adjacency
    rows, columns = adjacency.crow_indices(), adjacency.col_indices()
    for start, end in zip(rows[:-1].tolist(), rows[1:].tolist(), strict=True):
        own = columns[start:end].tolist()
        assert own == sorted(set(own))
    whole = adjacency.to_dense()
    assert torch.equal(whole, whole.T)
    assert not whole.diagonal().any()
    assert (adjacency.values() > 0).all()
    assert 0 < sample_graph.n_edges == sample_graph.manifest["counts"]["edges"]


def test_weights_are_those_of_the_relations_table(sample_graph: LateralGraph) -> None:
    total: dict[tuple[int, int], float] = defaultdict(float)
    for row in sample_graph.relations.to_pylist():
        total[min(row["subject"], row["object"]), max(row["subject"], row["object"])] += row["weight"]
    found = sample_graph.adjacency.to_dense()
    expected = torch.zeros_like(found)
    for (u, v), value in total.items():
        expected[u, v] = expected[v, u] = math.log(1 + value)
    assert torch.allclose(found, expected, rtol=1e-5, atol=0)


def test_evidence_lies_in_the_text_and_holds_both_names(sample_graph: LateralGraph) -> None:
    texts = sample_graph.sections["text"].to_pylist()
    surfaces: dict[tuple[int, int], list[str]] = defaultdict(list)
    for row in sample_graph.mentions.to_pylist():
        surfaces[row["section"], row["concept"]].append(row["surface"])
    found = sample_graph.relations.to_pylist()
    in_text = [row for row in found if row["start"] >= 0]
    assert len(in_text) > 100
    for row in in_text:
        assert 0 <= row["start"] < row["end"] <= len(texts[row["section"]])
        sentence = " ".join(texts[row["section"]][row["start"] : row["end"]].split())
        for end in ("subject", "object"):
            assert any(surface in sentence for surface in surfaces[row["section"], row[end]])
    assert {(row["start"], row["end"]) for row in found if row["start"] < 0} <= {(-1, -1)}


def test_mentions_incidence_and_counts_agree(sample_graph: LateralGraph) -> None:
    expected = torch.zeros(sample_graph.n_sections, sample_graph.n_concepts)
    for row in sample_graph.mentions.to_pylist():
        expected[row["section"], row["concept"]] += row["count"]
    assert torch.equal(sample_graph.incidence.to_dense(), expected)
    assert torch.equal(sample_graph.holders.to_dense(), expected.T)
    concepts = sample_graph.concepts
    assert concepts["n_sections"].to_pylist() == (expected > 0).sum(0).tolist()
    assert concepts["n_mentions"].to_pylist() == expected.sum(0).int().tolist()
    assert all(
        own[0] == label
        for own, label in zip(concepts["aliases"].to_pylist(), concepts["label"].to_pylist(), strict=True)
    )
    norms = sample_graph["concept"].x.norm(dim=1)
    assert torch.allclose(norms, torch.ones_like(norms), atol=1e-5)


def test_same_as_is_the_greatest_link_of_two_concepts_where_it_is_uncertain(sample_graph: LateralGraph) -> None:
    n = sample_graph.n_concepts
    expected = np.zeros((n, n), dtype=np.float32)
    for row in sample_graph.links.to_pylist():
        u, v, probability = row["left"], row["right"], row["probability"]
        if u != v and probability >= np.float32(MergeConfig().same_as):
            expected[u, v] = expected[v, u] = max(expected[u, v], probability)
    found = sample_graph.same_as.to_dense().numpy()
    assert np.array_equal(found, expected)
    assert np.array_equal(found, found.T)
    assert np.count_nonzero(found) > 0


def test_links_name_what_their_concepts_hold(sample_graph: LateralGraph) -> None:
    aliases = [{name_key(alias) for alias in own} for own in sample_graph.concepts["aliases"].to_pylist()]
    types = sample_graph.concepts["type"].to_pylist()
    rows = sample_graph.links.to_pylist()
    assert len(rows) > 100
    for row in rows:
        assert 0 <= row["probability"] <= 1
        assert row["evidence"] in EVIDENCE
        assert types[row["left"]] == types[row["right"]]
        for side in ("left", "right"):
            assert name_key(row[f"{side}_name"]) in aliases[row[side]]
    joined = [(row["left_name"], row["right_name"]) for row in rows if row["left"] == row["right"]]
    assert len(joined) == len(set(joined)) > 0


def test_the_order_of_nodes_keeps_neighbours_near(sample_graph: LateralGraph) -> None:
    def spread(matrix: torch.Tensor) -> float:
        i, j = matrix.nonzero().T
        return float((i - j).abs().double().mean())

    whole = sample_graph.adjacency.to_dense()
    shuffled = torch.randperm(len(whole), generator=torch.Generator().manual_seed(0))
    assert spread(whole) < 0.7 * spread(whole[shuffled][:, shuffled])
