"""The operators of the graph methods, each against what it is said to be."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
import scipy.linalg
import torch
from scipy import sparse

from kg.lateral import RELATED, SAME_AS, LateralGraph
from retrieval.graph_methods import damped_hubs, linked, make_operator
from retrieval.methods import Methods, MethodsConfig
from retrieval.sections import GraphConfig, SectionScorer
from tests.conftest import HashEncoder

QUESTIONS = ["loss aversion", "What drives the equity premium?"]


def test_operators_are_the_functions_of_the_adjacency(sample_graph: LateralGraph) -> None:
    config = GraphConfig(alpha=0.4, long_alpha=0.1, damping=0.6, time=1.5, normalization="symmetric", tolerance=1e-8)
    weights = linked(sample_graph, config.link_weight).to_dense().double().numpy()
    degrees = weights.sum(axis=0)
    root = np.where(degrees > 0, np.where(degrees > 0, degrees, 1.0) ** -0.5, 0.0)
    s = root[:, None] * weights * root
    reached = np.flatnonzero(degrees > 0)
    p = np.zeros((len(weights), 2))
    p[reached[3], 0] = p[reached[40], 1] = 1.0
    one = np.eye(len(weights))
    bound = np.linalg.eigvalsh(weights).max()
    expected = {
        "lkg": p,
        "ppr": 0.4 * np.linalg.solve(one - 0.6 * s, p),
        "long_walk": 0.1 * np.linalg.solve(one - 0.9 * s, p),
        "katz": np.linalg.solve(one - 0.6 / bound * weights, p),
        "heat_kernel": scipy.linalg.expm(-1.5 * (np.diag((degrees > 0).astype(float)) - s)) @ p,
    }
    for name, exact in expected.items():
        found = make_operator(sample_graph, name, config)(torch.from_numpy(p).float()).numpy()  # type: ignore[arg-type]
        tolerance = 2e-2 if name == "katz" else 1e-4  # its bound is a little above the largest eigenvalue
        assert np.abs(found - exact).sum(axis=0).max() <= tolerance, name


def with_edges(graph: LateralGraph, related: np.ndarray, same_as: np.ndarray) -> LateralGraph:
    made = copy.copy(graph)
    made[RELATED].adj_t = torch.from_numpy(related).float().to_sparse_csr()
    made[SAME_AS].adj_t = torch.from_numpy(same_as).float().to_sparse_csr()
    return made


def test_links_weigh_by_probability_and_degrees(sample_graph: LateralGraph) -> None:
    related, same_as = np.zeros((4, 4)), np.zeros((4, 4))
    related[0, 1] = related[1, 0] = 4.0
    related[1, 2] = related[2, 1] = 5.0  # degrees 4, 9, 5, 0
    same_as[0, 2] = same_as[2, 0] = 0.5
    same_as[0, 1] = same_as[1, 0] = 0.25
    same_as[1, 3] = same_as[3, 1] = 0.9  # nothing leaves a concept without edges, a link carries none of it
    found = linked(with_edges(sample_graph, related, same_as), 0.2).to_dense().numpy()
    expected = related.copy()
    expected[0, 2] = expected[2, 0] = 0.2 * 0.5 * 20**0.5
    expected[0, 1] = expected[1, 0] = 4.0 + 0.2 * 0.25 * 36**0.5
    assert np.allclose(found, expected, rtol=1e-6)


def test_links_are_added_to_the_graph_as_scipy_adds_them(sample_graph: LateralGraph) -> None:
    related = sample_graph.adjacency.to_dense().double().numpy()
    rng = np.random.default_rng(0)
    same_as = np.triu(rng.random(related.shape) * (rng.random(related.shape) < 0.001), 1)
    same_as += same_as.T
    graph = with_edges(sample_graph, related, same_as)
    found = linked(graph, 0.7)
    root = sparse.diags(np.sqrt(related.sum(axis=1)))
    expected = sparse.csr_matrix(related) + 0.7 * (root @ sparse.csr_matrix(same_as) @ root)
    assert np.allclose(found.to_dense().numpy(), expected.toarray(), rtol=1e-5)
    assert found.values().dtype == torch.float32
    starts, columns = found.crow_indices().tolist(), found.col_indices().tolist()
    assert all(columns[a:b] == sorted(set(columns[a:b])) for a, b in pairwise(starts))
    assert linked(graph, 0.0) is graph.adjacency
    unlinked = with_edges(sample_graph, related, np.zeros_like(related))
    assert linked(unlinked, 0.7) is unlinked.adjacency


def test_hubs_are_damped_by_their_degrees(sample_graph: LateralGraph) -> None:
    weights = sample_graph.adjacency.to_dense().double()
    degrees = weights.sum(dim=0)
    scale = torch.where(degrees > 0, torch.where(degrees > 0, degrees, 1.0) ** -0.3, 0.0)
    found = damped_hubs(sample_graph.adjacency, 0.3).to_dense().double()
    assert torch.allclose(found, scale[:, None] * weights * scale, rtol=1e-5)
    assert damped_hubs(sample_graph.adjacency, 0.0) is sample_graph.adjacency


@pytest.mark.parametrize("method", ["lkg", "ppr", "long_walk", "katz", "heat_kernel"])
def test_a_method_is_seeds_operator_section_scores(
    method: str, sample_graph: LateralGraph, hash_encoder: HashEncoder
) -> None:
    config = GraphConfig(size_exponent=0.3)
    methods = Methods(sample_graph, hash_encoder, MethodsConfig(graph=config))
    seeds = methods.seeder.personalization(QUESTIONS, hash_encoder.encode_queries(QUESTIONS))
    spread = make_operator(sample_graph, method, config)(seeds)  # type: ignore[arg-type]
    expected = SectionScorer(sample_graph, config)(spread).T
    found = methods.scorer(method).score(QUESTIONS)
    assert torch.equal(found > -torch.inf, expected > 0)
    assert torch.allclose(found.clamp(min=0), expected, rtol=1e-5, atol=1e-9)


def test_a_question_is_encoded_once_for_all_parts_of_a_fusion(
    sample_graph: LateralGraph, hash_encoder: HashEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Sequence[str]] = []
    encode = hash_encoder.encode_queries
    monkeypatch.setattr(hash_encoder, "encode_queries", lambda texts: (asked.append(texts), encode(texts))[1])
    methods = Methods(sample_graph, hash_encoder)
    whole = ["How large is loss aversion in qqqq?", "What drives the equity premium?"]  # none is a mere name
    first = methods.scorer("hybrid").score(whole)
    assert asked == [whole]
    methods.scorer("hybrid").score(whole[:1])
    assert torch.equal(methods.scorer("hybrid").score(whole), first)
    assert asked == [whole, whole[:1], whole]
    asked.clear()
    methods.scorer("hybrid").score(QUESTIONS)  # a name and a question go to two fusions
    assert sorted(text for texts in asked for text in texts) == sorted(QUESTIONS)
