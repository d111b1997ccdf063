"""The bench of diffusion: its generated graph, the peers it compares with, and what it prints."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse.linalg
from scipy import sparse

from scripts.bench_diffusion import Arguments, main
from scripts.diffusion_peers import igraph_pagerank, scikit_network_pagerank, series, transition
from scripts.power_law_graph import as_coo, as_tensor, power_law_graph, seeds_at_random


def test_the_graph_is_symmetric_connected_and_has_hubs() -> None:
    graph = power_law_graph(4000, 10_000, seed=1)
    assert graph.dtype == np.float32
    assert (graph != graph.T).nnz == 0
    assert graph.diagonal().sum() == 0
    assert sparse.csgraph.connected_components(graph)[0] == 1
    assert 8500 <= graph.nnz / 2 <= 10_000
    degrees = np.sort(np.diff(graph.indptr))[::-1]
    assert degrees[0] > 20 * degrees.mean()
    assert degrees[400] < 8 * degrees[2000]  # but for the hubs, not far apart
    assert (power_law_graph(4000, 10_000, seed=1) != graph).nnz == 0
    distance = [np.abs(np.subtract(*each.nonzero())).mean() for each in (graph, _shuffled(graph))]
    assert distance[0] < 0.8 * distance[1]  # neighbours have near numbers


def _shuffled(graph: sparse.csr_matrix) -> sparse.csr_matrix:
    order = np.random.default_rng(0).permutation(graph.shape[0])
    return graph[order][:, order]


def test_tensors_hold_the_same_matrix() -> None:
    graph, seeds = power_law_graph(200, 500), seeds_at_random(200, 3)
    np.testing.assert_array_equal(as_tensor(graph).to_dense().numpy(), graph.toarray())
    np.testing.assert_allclose(as_coo(seeds).to_dense().numpy(), seeds.toarray())


def test_peers_solve_what_they_are_asked() -> None:
    graph = power_law_graph(300, 800)
    p = np.zeros(300)
    p[[3, 100]] = 0.25, 0.75
    matrix = transition(graph, "ppr")
    exact = 0.2 * scipy.sparse.linalg.spsolve(sparse.eye(300, format="csc") - 0.8 * matrix.tocsc(), p)
    for answer in (series(matrix, "ppr", 0.2, 1e-10), igraph_pagerank(graph, 0.2)):
        np.testing.assert_allclose(answer(p), exact, atol=1e-9)
    np.testing.assert_allclose(scikit_network_pagerank(graph, 0.2)(p), exact, atol=1e-4)
    katz = transition(graph, "katz", bound=50.0)
    exact = scipy.sparse.linalg.spsolve(sparse.eye(300, format="csc") - 0.4 * katz.tocsc(), p)
    np.testing.assert_allclose(series(katz, "katz", 0.4, 1e-10)(p), exact, atol=1e-9)
    heat = transition(graph, "heat_kernel")
    exact = scipy.sparse.linalg.expm_multiply(-3.0 * (sparse.eye(300) - heat), p)
    np.testing.assert_allclose(series(heat, "heat_kernel", 3.0, 1e-10)(p), exact, atol=1e-9)


def test_series_stop_where_they_were_told_to() -> None:
    graph, p = power_law_graph(300, 800), np.full(300, 1 / 300)
    for operator, parameter in (("ppr", 0.3), ("katz", 0.5), ("heat_kernel", 4.0)):
        matrix = transition(graph, operator, bound=20.0)
        close, exact = (series(matrix, operator, parameter, tolerance)(p) for tolerance in (1e-4, 1e-13))
        assert 0 < np.abs(close - exact).sum() <= 1e-4


def test_the_rows_of_the_bench(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = Arguments(
        nodes=300,
        edges=800,
        operators=("ppr", "heat_kernel"),
        batches=(1, 4),
        kernels=("torch",),
        repeats=1,
        copy_mb=1,
        json=True,
    )
    assert main(arguments) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {(row["operator"], row["implementation"], row["batch"]) for row in rows} == {
        *(("ppr", name, 1) for name in ("torch", "igraph", "scipy", "scikit-network")),
        *(("heat_kernel", name, 1) for name in ("torch", "scipy")),
        ("ppr", "torch", 4),
        ("heat_kernel", "torch", 4),
    }
    ours = next(row for row in rows if row["implementation"] == "torch" and row["batch"] == 4)
    assert ours["l1"] <= 1e-5
    assert ours["precision_at_100"] >= 0.99
    assert ours["ratio_to_igraph"] > 0
    assert ours["seconds_per_query"] > 0
    assert ours["share_of_copy_bandwidth"] > 0
