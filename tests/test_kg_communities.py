"""Communities: modularity as networkx counts it, planted groups found, connected, and a function of the graph alone."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from kg import communities as module
from kg.build import Tools, build_graph, open_graph
from kg.communities import Communities, CommunityConfig, concept_weights, contract, find_communities, partition
from kg.lateral import LateralGraph
from tests.conftest import ROOT, paper


def matrix(graph: nx.Graph) -> sparse.csr_matrix:
    weights = nx.to_scipy_sparse_array(graph, nodelist=sorted(graph), weight="weight", dtype=np.float64, format="csr")
    weights = sparse.csr_matrix(weights)
    weights.sort_indices()
    return weights


def ids(n: int) -> list[str]:
    """Like concept ids: in no order of the rows."""
    return [hashlib.sha256(str(i).encode()).hexdigest()[:16] for i in range(n)]


def members(found: Communities) -> list[set[int]]:
    return [set(np.flatnonzero(found.of == number).tolist()) for number in range(len(found))]


def random_graph(n: int, edges: Sequence[tuple[int, int, float]]) -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_weighted_edges_from((u % n, v % n, w) for u, v, w in edges if u % n != v % n)
    return graph


graphs = st.builds(
    random_graph,
    st.integers(1, 24),
    st.lists(st.tuples(st.integers(0, 23), st.integers(0, 23), st.floats(0.125, 4.0, width=32)), max_size=60),
)


@given(graphs)
@settings(max_examples=60)
def test_every_partition_is_connected_canonical_and_counted_right(graph: nx.Graph) -> None:
    weights, names = matrix(graph), ids(len(graph))
    found = partition(weights, names)
    groups = members(found)
    assert found.of.dtype == np.int64
    assert found.of.shape == (len(graph),)
    assert {node for node, degree in graph.degree() if degree == 0} == set(np.flatnonzero(found.of < 0).tolist())
    assert found.n_isolated + found.sizes.sum() == len(graph)
    assert found.sizes.tolist() == [len(group) for group in groups]
    assert all(nx.is_connected(graph.subgraph(group)) for group in groups)
    keys = [(-len(group), min(names[node] for node in group)) for group in groups]
    assert keys == sorted(keys)
    if groups:
        whole = [*groups, *({node} for node in nx.isolates(graph))]
        assert found.modularity == pytest.approx(nx.community.modularity(graph, whole), abs=1e-9)
        one = nx.community.modularity(graph, [set(graph)])
        assert found.modularity >= one - 1e-9
    else:
        assert found.modularity == 0.0


@given(graphs)
@settings(max_examples=30)
def test_weights_between_communities_are_sums_of_edges(graph: nx.Graph) -> None:
    found = partition(matrix(graph), ids(len(graph)))
    expected = np.zeros((len(found), len(found)))
    for u, v, weight in graph.edges(data="weight"):
        expected[found.of[u], found.of[v]] += weight
        expected[found.of[v], found.of[u]] += weight
    np.testing.assert_allclose(found.weights.toarray(), expected, rtol=1e-12)


@pytest.mark.parametrize(("groups", "size", "inside", "outside"), [(6, 20, 0.6, 0.02), (12, 15, 0.7, 0.01)])
def test_planted_groups_are_found(groups: int, size: int, inside: float, outside: float) -> None:
    graph = nx.planted_partition_graph(groups, size, inside, outside, seed=7)
    shuffled = nx.relabel_nodes(graph, dict(zip(graph, np.random.default_rng(3).permutation(len(graph)), strict=True)))
    found = partition(matrix(shuffled), ids(len(graph)))
    planted = [set(range(start, start + size)) for start in range(0, groups * size, size)]
    place = np.random.default_rng(3).permutation(len(graph))
    assert sorted(map(sorted, members(found))) == sorted(sorted(int(place[i]) for i in group) for group in planted)


def test_the_karate_club_gets_its_best_known_modularity() -> None:
    graph = nx.karate_club_graph()
    nx.set_edge_attributes(graph, 1.0, "weight")
    found = partition(matrix(graph), ids(34), CommunityConfig(runs=8))
    assert found.modularity == pytest.approx(0.4198, abs=5e-5)  # the optimum (Brandes et al. 2008, Table 1)
    assert len(found) == 4
    assert partition(matrix(graph), ids(34)).modularity > 0.4198 - 0.002


def test_it_comes_near_leiden_and_above_networkx_louvain() -> None:
    igraph = pytest.importorskip("igraph")
    graph = nx.powerlaw_cluster_graph(1500, 4, 0.5, seed=5)
    found = partition(matrix(graph), ids(1500)).modularity
    louvain = nx.community.modularity(graph, nx.community.louvain_communities(graph, seed=1))
    igraph.set_random_number_generator(random.Random(1))
    leiden = igraph.Graph.from_networkx(graph).community_leiden(objective_function="modularity", n_iterations=2)
    assert found > louvain
    assert found > leiden.modularity - 0.01


def test_parts_that_no_edge_joins_are_communities_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_louvain", lambda weights, *_: np.zeros(weights.shape[0], dtype=np.int64))
    graph = nx.disjoint_union_all([nx.complete_graph(4), nx.complete_graph(3), nx.path_graph(2)])
    assert [sorted(group) for group in members(partition(matrix(graph), ids(9)))] == [[0, 1, 2, 3], [4, 5, 6], [7, 8]]


def test_a_higher_resolution_divides_more() -> None:
    weights = matrix(nx.connected_caveman_graph(12, 6))
    coarse, usual, fine = (
        len(partition(weights, ids(72), CommunityConfig(resolution=resolution))) for resolution in (0.1, 1.0, 40.0)
    )
    assert coarse < usual < fine
    assert usual == 12


def test_rows_in_another_order_give_the_same_groups_where_they_are_clear() -> None:
    graph = nx.connected_caveman_graph(9, 7)
    order = np.random.default_rng(1).permutation(63)
    weights, names = matrix(graph), ids(63)
    turned = weights[order][:, order]
    turned.sort_indices()
    found, again = partition(weights, names), partition(turned, [names[i] for i in order])
    assert again.of.tolist() == found.of[order].tolist()


def test_contract_leaves_out_what_is_in_no_group() -> None:
    weights = matrix(nx.complete_graph(4))
    np.testing.assert_array_equal(contract(weights, np.array([0, 0, 1, -1]), 2).toarray(), [[2, 2], [2, 0]])


@pytest.mark.parametrize("n", [0, 3])
def test_no_edges_no_communities(n: int) -> None:
    found = partition(sparse.csr_matrix((n, n), dtype=np.float64), ids(n))
    assert (len(found), found.n_isolated, found.modularity, found.weights.shape) == (0, n, 0.0, (0, 0))


def test_a_graph_s_communities_join_concepts_of_related_papers(sample_graph: LateralGraph) -> None:
    found = find_communities(sample_graph)
    weights = concept_weights(sample_graph)
    assert (weights != weights.T).nnz == 0
    assert weights.nnz == 2 * sample_graph.n_edges
    assert found.weights.sum() == pytest.approx(weights.sum())
    assert found.modularity > 0.6
    assert 0 < found.n_isolated < sample_graph.n_concepts / 2


def test_an_empty_graph_has_none(tools: Tools, tmp_path: Path) -> None:
    build_graph(tmp_path / "g", [], tools)
    assert len(find_communities(open_graph(tmp_path / "g"))) == 0
    build_graph(tmp_path / "h", [paper("a", "The lasso.")], tools)
    alone = find_communities(open_graph(tmp_path / "h"))
    assert (len(alone), alone.n_isolated, alone.modularity) == (0, 1, 0.0)


_PROGRAM = """
import hashlib, sys
from pathlib import Path
from kg.build import open_graph
from kg.communities import find_communities
found = find_communities(open_graph(Path(sys.argv[1])))
print(hashlib.sha256(found.of.tobytes()).hexdigest(), repr(found.modularity))
"""


def test_other_processes_and_threads_find_the_same(sample_directory: Path) -> None:
    found = find_communities(open_graph(sample_directory))
    here = f"{hashlib.sha256(found.of.tobytes()).hexdigest()} {found.modularity!r}"
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "4")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _PROGRAM, str(sample_directory)],
        capture_output=True, check=True, text=True, cwd=ROOT, env={**os.environ, **threads, "PYTHONHASHSEED": "4"},
    )  # fmt: skip
    assert done.stdout.strip() == here
