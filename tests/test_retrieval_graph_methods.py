"""The operators of the graph methods, each against what it is said to be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import scipy.linalg
import torch

from kg.lateral import LateralGraph
from retrieval.graph_methods import damped_hubs, make_operator
from retrieval.methods import Methods, MethodsConfig
from retrieval.sections import GraphConfig, SectionScorer
from tests.conftest import HashEncoder

QUESTIONS = ["loss aversion", "What drives the equity premium?"]


def test_operators_are_the_functions_of_the_adjacency(sample_graph: LateralGraph) -> None:
    config = GraphConfig(alpha=0.4, long_alpha=0.1, damping=0.6, time=1.5, normalization="symmetric", tolerance=1e-8)
    weights = sample_graph.adjacency.to_dense().double().numpy()
    degrees = weights.sum(axis=0)
    root = np.where(degrees > 0, np.where(degrees > 0, degrees, 1.0) ** -0.5, 0.0)
    s = root[:, None] * weights * root
    linked = np.flatnonzero(degrees > 0)
    p = np.zeros((len(weights), 2))
    p[linked[3], 0] = p[linked[40], 1] = 1.0
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
    first = methods.scorer("hybrid").score(QUESTIONS)
    assert asked == [QUESTIONS]
    methods.scorer("hybrid").score(QUESTIONS[:1])
    assert torch.equal(methods.scorer("hybrid").score(QUESTIONS), first)
    assert asked == [QUESTIONS, QUESTIONS[:1], QUESTIONS]
