"""Katz diffusion against the linear system it solves, and against networkx."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kg.errors import InputError
from retrieval.diffusion import KatzOperator, katz


def random_graph(seed: int, n: int = 12, density: float = 0.3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) * 10.0 ** rng.integers(-2, 3, (n, n)) * (rng.random((n, n)) < density), 1)
    return upper + upper.T


def csr(weights: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(weights).float().to_sparse_csr()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.0, 0.95), st.floats(0.05, 0.9))
def test_scores_solve_the_linear_system(seed: int, damping: float, density: float) -> None:
    weights = random_graph(seed, density=density).astype(np.float32).astype(float)
    operator = KatzOperator.of(csr(weights))
    assert operator.bound >= np.abs(np.linalg.eigvalsh(weights)).max() * (1 - 1e-9)
    seeds = np.random.default_rng(seed + 1).random((12, 3))
    found = katz(operator, torch.from_numpy(seeds).float(), damping=damping, tolerance=1e-7)
    exact = np.linalg.solve(np.eye(12) - damping / operator.bound * weights, seeds / seeds.sum(axis=0))
    error = np.abs(found.scores.numpy() - exact).sum(axis=0)
    assert found.converged
    assert (error <= found.residual.numpy() + 1e-5 * exact.sum(axis=0)).all()


def test_the_bound_is_tight_on_connected_and_bipartite_graphs() -> None:
    for graph in (networkx.karate_club_graph(), networkx.star_graph(9), networkx.path_graph(15)):
        weights = networkx.to_numpy_array(graph)
        largest = np.linalg.eigvalsh(weights).max()
        assert largest <= KatzOperator.of(csr(weights)).bound <= 1.1 * largest


def test_with_uniform_seeds_it_is_networkx_s_centrality() -> None:
    graph = networkx.karate_club_graph()
    weights = networkx.to_numpy_array(graph, weight=None)
    operator = KatzOperator.of(csr(weights))
    n = len(weights)
    ours = katz(operator, torch.ones(n), damping=0.7, tolerance=1e-9).scores.numpy() * n
    theirs = networkx.katz_centrality_numpy(graph, alpha=0.7 / operator.bound, beta=1.0, normalized=False, weight=None)
    np.testing.assert_allclose(ours, [theirs[node] for node in graph], rtol=1e-5)


def test_a_graph_without_edges_keeps_its_seeds_and_bad_input_is_refused() -> None:
    empty = csr(np.zeros((3, 3)))
    assert katz(empty, torch.tensor([1.0, 3.0, 0.0])).scores.tolist() == [0.25, 0.75, 0.0]
    with pytest.raises(InputError, match=r"damping is 1\.0"):
        katz(empty, torch.ones(3), damping=1.0)
    with pytest.raises(InputError, match="Column 0"):
        katz(empty, torch.zeros(3))
    cut = katz(csr(random_graph(3)), torch.ones(12), damping=0.9, max_iterations=2)
    assert (cut.iterations, cut.converged) == (2, False)
