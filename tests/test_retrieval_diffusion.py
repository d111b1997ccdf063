from __future__ import annotations

import igraph
import networkx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from kg.errors import InputError
from retrieval.diffusion import MAX_ITERATIONS, TILE, Transition, personalized_pagerank

NORMALIZATIONS = ("column", "row", "symmetric")


pytestmark = pytest.mark.usefixtures("one_thread")


def csr(matrix: sp.spmatrix | np.ndarray) -> Tensor:
    matrix = sp.csr_matrix(matrix)
    return torch.sparse_csr_tensor(
        torch.tensor(matrix.indptr, dtype=torch.int64),
        torch.tensor(matrix.indices, dtype=torch.int64),
        torch.tensor(matrix.data, dtype=torch.float32),
        size=matrix.shape,
        check_invariants=True,
    )


def random_graph(seed: int, n: int = 120, edges: int = 90, decades: float = 2.0) -> sp.csr_matrix:
    """Sparse enough for several components and nodes without edges; weights over ``decades`` powers of ten."""
    rng = np.random.default_rng(seed)
    u, v = rng.integers(0, n, (2, edges))
    weights = (10.0 ** rng.uniform(-decades / 2, decades / 2, edges)).astype(np.float32)
    matrix = sp.coo_matrix((weights[u != v], (u[u != v], v[u != v])), shape=(n, n)).tocsr()
    matrix = matrix.maximum(matrix.T).tocsr()
    matrix.sort_indices()
    return matrix


def random_seeds(seed: int, n: int, batch: int, share: float = 0.1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    seeds = rng.random((n, batch)) * (rng.random((n, batch)) < share)
    seeds[rng.integers(0, n, batch), np.arange(batch)] += 0.5
    return seeds


def power_iteration(matrix: sp.csr_matrix, seeds: np.ndarray, alpha: float, normalization: str) -> np.ndarray:
    """The definition, in float64: what lies on nodes without edges returns to p in each step."""
    matrix = sp.csr_matrix(matrix, dtype=np.float64)
    degrees = np.asarray(matrix.sum(axis=1)).ravel()
    isolated = degrees == 0
    inverse = np.where(isolated, 0.0, 1.0 / np.where(isolated, 1.0, degrees))
    left, right = {
        "column": (np.ones_like(inverse), inverse),
        "row": (inverse, np.ones_like(inverse)),
        "symmetric": (np.sqrt(inverse), np.sqrt(inverse)),
    }[normalization]
    transition = sp.diags(left) @ matrix @ sp.diags(right)
    p = seeds / seeds.sum(axis=0)
    pi = p.copy()
    for _ in range(int(40 / alpha) + 60):
        pi = alpha * p + (1 - alpha) * (transition @ pi + p * pi[isolated].sum(axis=0))
    return pi


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
@pytest.mark.parametrize("alpha", [0.05, 0.15, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("batch", [1, 7, 64])
def test_agrees_with_power_iteration_in_float64(normalization, alpha, batch):
    matrix = random_graph(seed=batch)
    assert sp.csgraph.connected_components(matrix)[0] > 10
    assert (matrix.sum(axis=1) == 0).sum() > 5
    seeds = random_seeds(batch, 120, batch)
    found = personalized_pagerank(csr(matrix), torch.tensor(seeds), alpha=alpha, normalization=normalization)
    expected = power_iteration(matrix, seeds, alpha, normalization)
    assert found.scores.dtype == torch.float32
    assert np.abs(found.scores.double().numpy() - expected).sum(axis=0).max() <= 1e-5
    assert found.converged
    assert bool((found.residual <= 1e-6 * alpha).all())


@pytest.mark.parametrize("alpha", [0.05, 0.5])
@pytest.mark.parametrize("batch", [1, 7, 64])
def test_agrees_with_igraph(alpha, batch):
    matrix = random_graph(seed=100 + batch)
    seeds = random_seeds(batch, 120, batch)
    isolated = np.flatnonzero(np.asarray(matrix.sum(axis=1)).ravel() == 0)
    seeds[:, 0] = 0
    seeds[isolated[:2], 0] = 1.0  # a column with seeds on nodes without edges only
    upper = sp.triu(matrix).tocoo()
    graph = igraph.Graph(n=120, edges=list(zip(upper.row.tolist(), upper.col.tolist(), strict=True)))
    found = personalized_pagerank(csr(matrix), torch.tensor(seeds, dtype=torch.float32), alpha=alpha).scores
    for b in range(batch):
        expected = graph.personalized_pagerank(
            damping=1 - alpha, reset=seeds[:, b].tolist(), weights=upper.data.tolist(), directed=False
        )
        assert np.abs(found[:, b].double().numpy() - np.array(expected)).sum() <= 1e-5


def test_agrees_with_networkx():
    graph = networkx.Graph()
    graph.add_nodes_from(range(6))
    graph.add_weighted_edges_from([(0, 1, 2.0), (1, 2, 0.5), (2, 0, 1.0), (3, 4, 3.0)])
    seeds = {0: 0.5, 3: 0.25, 5: 0.25}
    expected = networkx.pagerank(graph, alpha=0.7, personalization=seeds, dangling=seeds, tol=1e-12, max_iter=1000)
    p = torch.tensor([seeds.get(node, 0.0) for node in range(6)])
    found = personalized_pagerank(csr(networkx.to_scipy_sparse_array(graph)), p, alpha=0.3).scores
    assert found.tolist() == pytest.approx([expected[node] for node in range(6)], abs=1e-6)


@pytest.mark.parametrize(
    ("normalization", "expected"),
    [("column", [2 / 3, 1 / 3]), ("row", [2 / 3, 1 / 3]), ("symmetric", [2 / 3, 1 / 3])],
)
def test_two_nodes_by_hand(normalization, expected):
    # x = a + (1-a) y, y = (1-a) x with a = 1/2: x = 2/3, y = 1/3
    found = personalized_pagerank(
        csr(np.array([[0, 5.0], [5.0, 0]])), torch.tensor([1.0, 0.0]), normalization=normalization
    )
    assert found.scores.tolist() == pytest.approx(expected, abs=1e-6)


def test_normalizations_treat_a_hub_as_they_promise():
    leaves = 30
    star = np.zeros((leaves + 1, leaves + 1))
    star[0, 1:] = star[1:, 0] = 1.0
    p = torch.zeros(leaves + 1)
    p[1:] = 1.0
    hub = {name: float(personalized_pagerank(csr(star), p, normalization=name).scores[0]) for name in NORMALIZATIONS}
    assert hub["column"] == pytest.approx(1 / 3, abs=1e-5)
    assert hub["row"] == pytest.approx(1 / 3 / leaves, abs=1e-6)
    assert hub["row"] < hub["symmetric"] < hub["column"]


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
def test_error_bound_holds_on_stars_and_uneven_weights(normalization):
    # Row normalization spreads what a hub holds to each leaf in full: the plain |r|_1 / alpha is no bound there.
    n = 400
    star = sp.lil_matrix((n, n))
    star[0, 1:] = star[1:, 0] = 1.0
    star[1, 2] = star[2, 1] = 1e4
    seeds = np.zeros((n, 1))
    seeds[1] = 1.0
    for alpha, tolerance in ((0.5, 1e-2), (0.5, 1e-4), (0.15, 1e-3)):
        found = personalized_pagerank(
            csr(star), torch.tensor(seeds), alpha=alpha, normalization=normalization, tolerance=tolerance
        )
        error = np.abs(found.scores.double().numpy() - power_iteration(star, seeds, alpha, normalization)).sum()
        assert error <= float(found.residual) / alpha + 1e-5
        assert float(found.residual) / alpha <= tolerance


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
def test_weights_over_twelve_orders_of_magnitude(normalization):
    matrix = random_graph(seed=5, decades=12.0)
    seeds = random_seeds(5, 120, 9)
    found = personalized_pagerank(csr(matrix), torch.tensor(seeds), normalization=normalization)
    expected = power_iteration(matrix, seeds, 0.5, normalization)
    total = np.maximum(1.0, expected.sum(axis=0))
    assert (np.abs(found.scores.double().numpy() - expected).sum(axis=0) / total).max() <= 1e-5


def test_weights_and_seeds_at_the_ends_of_float32():
    big, small = 3e38, 1e-45
    found = personalized_pagerank(csr(np.array([[0, big, 0], [big, 0, small], [0, small, 0]])), torch.ones(3) * big)
    assert float(found.scores.sum()) == pytest.approx(1.0, abs=1e-6)
    same = personalized_pagerank(csr(np.array([[0, 1.0], [1.0, 0]])), torch.tensor([small, 0.0])).scores
    assert same.tolist() == pytest.approx([2 / 3, 1 / 3], abs=1e-6)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), n=st.integers(1, 12), batch=st.integers(1, 10))
def test_properties_on_random_graphs(data, n, batch):
    edges = data.draw(
        st.lists(
            st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.floats(1 / 1024, 1024, width=32)), max_size=30
        )
    )
    matrix = np.zeros((n, n), dtype=np.float32)
    for u, v, weight in edges:
        matrix[u, v] = matrix[v, u] = weight
    seeds = np.zeros((n, batch))
    for b in range(batch):
        seeds[data.draw(st.integers(0, n - 1)), b] = 1.0
        seeds[data.draw(st.integers(0, n - 1)), b] += data.draw(st.floats(0.0, 10.0))
    alpha = data.draw(st.floats(0.05, 1.0))
    normalization = data.draw(st.sampled_from(NORMALIZATIONS))
    found = personalized_pagerank(csr(matrix), torch.tensor(seeds), alpha=alpha, normalization=normalization)
    expected = power_iteration(sp.csr_matrix(matrix), seeds, alpha, normalization)
    assert np.abs(found.scores.double().numpy() - expected).sum(axis=0).max() <= 1e-5 * max(1.0, expected.sum())
    assert bool((found.scores >= 0).all())
    if normalization == "column":
        assert found.scores.sum(dim=0).tolist() == pytest.approx([1.0] * batch, abs=1e-5)
    order = np.random.default_rng(n).permutation(n)
    permuted = personalized_pagerank(
        csr(matrix[order][:, order]), torch.tensor(seeds[order]), alpha=alpha, normalization=normalization
    )
    assert torch.allclose(permuted.scores, found.scores[order], atol=1e-5)


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
def test_a_column_is_the_same_bits_alone_and_in_any_batch(normalization):
    matrix = random_graph(seed=7, n=900, edges=1600)
    torch.set_num_threads(2)
    transition = Transition.of(csr(matrix), normalization)
    seeds = torch.tensor(random_seeds(7, 900, 64), dtype=torch.float32)
    seeds[:, 3] = 0
    seeds[int(transition.isolated[0]), 3] = 1.0  # converges at once
    whole = personalized_pagerank(transition, seeds)
    assert 3 * TILE < 64
    for batch in (1, 4, 7, 16):
        for start in (0, 64 - batch):
            part = personalized_pagerank(transition, seeds[:, start : start + batch])
            assert torch.equal(part.scores, whole.scores[:, start : start + batch])
            assert torch.equal(part.residual, whole.residual[start : start + batch])
    backwards = personalized_pagerank(transition, seeds.flip(1))
    assert torch.equal(backwards.scores.flip(1), whole.scores)
    assert torch.equal(personalized_pagerank(transition, seeds[:, 3]).scores, whole.scores[:, 3])


def test_scale_of_weights_and_seeds_is_immaterial():
    matrix, seeds = random_graph(seed=8), torch.tensor(random_seeds(8, 120, 5), dtype=torch.float32)
    plain = personalized_pagerank(csr(matrix), seeds).scores
    assert torch.equal(personalized_pagerank(csr(matrix * np.float32(1024)), seeds * 2048).scores, plain)


def test_a_transition_serves_many_queries():
    adjacency, p = csr(random_graph(seed=9)), torch.ones(120)
    transition = Transition.of(adjacency, "row")
    once = personalized_pagerank(adjacency, p, normalization="row").scores
    assert torch.equal(personalized_pagerank(transition, p).scores, once)
    assert torch.equal(personalized_pagerank(transition, p, normalization="row").scores, once)
    assert transition.size == 120
    with pytest.raises(InputError, match="row-normalized"):
        personalized_pagerank(transition, p, normalization="column")


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
def test_small_and_empty_graphs(normalization):
    one = personalized_pagerank(csr(np.zeros((1, 1))), torch.tensor([4.0]), normalization=normalization)
    assert one.scores.tolist() == [1.0]
    assert one.iterations == 0
    no_edges = personalized_pagerank(csr(np.zeros((3, 3))), torch.tensor([1.0, 3.0, 0.0]), normalization=normalization)
    assert no_edges.scores.tolist() == pytest.approx([0.25, 0.75, 0.0])
    for n in (0, 4):
        nothing = personalized_pagerank(csr(np.zeros((n, n))), torch.empty(n, 0), normalization=normalization)
        assert nothing.scores.shape == (n, 0)
        assert nothing.residual.shape == (0,)
        assert nothing.converged
        assert nothing.iterations == 0


def test_an_explicit_zero_is_no_edge():
    adjacency = torch.sparse_csr_tensor(
        torch.tensor([0, 1, 2, 2]), torch.tensor([1, 0]), torch.tensor([0.0, 0.0]), size=(3, 3), check_invariants=True
    )
    found = personalized_pagerank(adjacency, torch.tensor([1.0, 0.0, 1.0]))
    assert found.scores.tolist() == pytest.approx([0.5, 0.0, 0.5])


def test_shapes_types_and_input_left_alone():
    adjacency = csr(random_graph(seed=10))
    p = torch.zeros(120, dtype=torch.int64)
    p[[1, 5]] = 2
    flat = personalized_pagerank(adjacency, p)
    column = personalized_pagerank(adjacency, p.double().unsqueeze(1))
    assert flat.scores.shape == (120,)
    assert column.scores.shape == (120, 1)
    assert flat.residual.shape == column.residual.shape == (1,)
    assert torch.equal(flat.scores, column.scores[:, 0])
    assert p.sum() == 4


def test_iterations_follow_from_alpha_and_tolerance():
    adjacency, p = csr(random_graph(seed=11)), torch.ones(120)
    for alpha, tolerance in ((0.5, 1e-6), (0.15, 1e-6), (0.5, 1e-3)):
        found = personalized_pagerank(adjacency, p, alpha=alpha, tolerance=tolerance)
        assert found.iterations <= np.ceil(np.log(tolerance) / np.log(1 - alpha))
        assert found.converged
    cut = personalized_pagerank(adjacency, p, alpha=0.15, max_iterations=3)
    assert cut.iterations == 3
    assert not cut.converged
    exact = power_iteration(random_graph(seed=11), np.ones((120, 1)), 0.15, "column")[:, 0]
    error = np.abs(cut.scores.double().numpy() - exact).sum()
    assert error <= float(cut.residual) / 0.15 + 1e-6
    assert error >= 0.1 * float(cut.residual) / 0.15
    endless = personalized_pagerank(csr(np.array([[0, 1.0], [1.0, 0]])), torch.ones(2), alpha=1e-12, max_iterations=50)
    assert endless.iterations == 50 <= MAX_ITERATIONS
    assert not endless.converged


def test_isolated_seeds_are_exact_for_tiny_alpha():
    found = personalized_pagerank(csr(np.zeros((3, 3))), torch.tensor([0.3, 0.3, 0.1]), alpha=1e-9)
    assert found.scores.tolist() == pytest.approx([3 / 7, 3 / 7, 1 / 7], rel=1e-6)


PAIR = np.array([[0, 1.0], [1.0, 0]])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"personalization": torch.ones(3)}, "shape"),
        ({"personalization": torch.ones(2, 1, 1)}, "shape"),
        ({"personalization": torch.tensor(1.0)}, "shape"),
        ({"personalization": torch.tensor([1.0, float("nan")])}, "negative or not finite"),
        ({"personalization": torch.tensor([1.0, float("inf")])}, "negative or not finite"),
        ({"personalization": torch.tensor([1.0, -1e-9])}, "negative or not finite"),
        ({"personalization": torch.tensor([[1.0, 0.0], [1.0, 0.0]])}, "Column 1"),
        ({"personalization": torch.ones(2, 2).to_mkldnn()}, "dense"),
        ({"personalization": torch.tensor([[1.0, 0.0], [1.0, 0.0]]).to_sparse_csr()}, "Column 1"),
        ({"adjacency": csr(PAIR).to_dense()}, "not CSR"),
        ({"adjacency": csr(np.ones((2, 3)))}, "square"),
        ({"adjacency": csr(np.array([[0, np.nan], [np.nan, 0]]))}, "not finite"),
        ({"adjacency": csr(np.array([[0, np.inf], [np.inf, 0]]))}, "not finite"),
        ({"adjacency": csr(-PAIR)}, "negative"),
        ({"adjacency": csr(np.array([[0, 1.0], [0, 0]]))}, "not symmetric"),
        ({"adjacency": csr(np.zeros((0, 0))), "personalization": torch.ones(0, 2)}, "no positive entry"),
        ({"alpha": 0.0}, "alpha"),
        ({"alpha": 1.1}, "alpha"),
        ({"alpha": float("nan")}, "alpha"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"max_iterations": -1}, "max_iterations"),
        ({"normalization": "rows"}, "normalization"),
    ],
)
def test_refuses_what_has_no_answer(change, words):
    arguments = {"adjacency": csr(PAIR), "personalization": torch.ones(2)} | change
    with pytest.raises(InputError, match=words) as caught:
        personalized_pagerank(**arguments)
    assert "\n" not in str(caught.value)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("normalization", NORMALIZATIONS)
def test_cuda_agrees_with_the_cpu(normalization):
    matrix = random_graph(seed=12)
    seeds = torch.tensor(random_seeds(12, 120, 64), dtype=torch.float32)
    here = personalized_pagerank(csr(matrix), seeds, normalization=normalization)
    there = personalized_pagerank(csr(matrix).cuda(), seeds.cuda(), normalization=normalization)
    assert there.scores.is_cuda
    assert float((there.scores.cpu() - here.scores).abs().sum(dim=0).max()) <= 1e-5
    assert there.iterations == here.iterations
