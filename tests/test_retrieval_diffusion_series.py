"""Every kernel, operator and normalisation against a float64 solve, on graphs that are hard for a series."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, get_args

import networkx
import numpy as np
import psutil
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kg.errors import InputError
from retrieval.diffusion import (
    Diffusion,
    KatzOperator,
    Normalization,
    Transition,
    heat_kernel,
    katz,
    long_walk_pagerank,
    personalized_pagerank,
)  # fmt: skip
from retrieval.diffusion.series import _widths
from retrieval.kernels import available_kernels
from retrieval.kernels.native import WIDTHS

USABLE = [name for name, reason in available_kernels().items() if reason is None]
NORMALIZATIONS = get_args(Normalization)


pytestmark = pytest.mark.usefixtures("one_thread")


def symmetric(pairs: np.ndarray, weights: np.ndarray, n: int) -> sp.csr_matrix:
    matrix = sp.coo_matrix((weights.astype(np.float32), pairs), shape=(n, n)).tocsr()
    matrix = matrix.maximum(matrix.T).tocsr()
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix


def of_networkx(graph: networkx.Graph) -> sp.csr_matrix:
    return sp.csr_matrix(networkx.to_scipy_sparse_array(graph, dtype=np.float32))


def random_graph(n: int = 400, decades: float = 1.0, seed: int = 0) -> sp.csr_matrix:
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, n, (2, 3 * n))
    return symmetric(pairs, 10.0 ** rng.uniform(-decades / 2, decades / 2, 3 * n), n)


def hub_graph(n: int = 700) -> sp.csr_matrix:
    """A hub that touches 30 % of the nodes."""
    leaves = np.random.default_rng(1).choice(n - 1, int(0.3 * n), replace=False)
    spokes = symmetric(np.stack([np.full(len(leaves), n - 1), leaves]), np.ones(len(leaves)), n)
    return random_graph(n).maximum(spokes).tocsr()


GRAPHS: dict[str, Callable[[], sp.csr_matrix]] = {
    "random": random_graph,
    "hub": hub_graph,
    "path": lambda: of_networkx(networkx.path_graph(300)),
    "bipartite": lambda: of_networkx(networkx.complete_bipartite_graph(12, 40)),
    "star": lambda: of_networkx(networkx.star_graph(600)),
    "twelve orders of magnitude": lambda: random_graph(decades=12.0, seed=2),
    "isolated nodes": lambda: sp.block_diag([random_graph(60), sp.csr_matrix((40, 40))], format="csr"),
    "two components": lambda: sp.block_diag([random_graph(50), of_networkx(networkx.cycle_graph(8))], format="csr"),
    "one node": lambda: sp.csr_matrix((1, 1), dtype=np.float32),
    "no edges": lambda: sp.csr_matrix((5, 5), dtype=np.float32),
}


def tensor(matrix: sp.csr_matrix) -> torch.Tensor:
    parts = (torch.from_numpy(part) for part in (matrix.indptr, matrix.indices, matrix.data.astype(np.float32)))
    return torch.sparse_csr_tensor(*parts, size=matrix.shape, check_invariants=True)


def some_seeds(n: int, batch: int, seed: int = 3) -> np.ndarray:
    """float32 values; the first column has one seed, the last has all."""
    rng = np.random.default_rng(seed)
    seeds = (rng.random((n, batch)) * (rng.random((n, batch)) < 5 / n)).astype(np.float32)
    seeds[rng.integers(0, n, batch), np.arange(batch)] += np.float32(0.5)
    seeds[:, -1] = 1.0
    return seeds


def scalings(matrix: sp.csr_matrix, normalization: str) -> tuple[sp.csr_matrix, np.ndarray]:
    """M in float64, and which nodes have no edges."""
    exact = matrix.astype(np.float64)
    degrees = np.asarray(exact.sum(axis=1)).ravel()
    inverse = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)
    left, right = {
        "column": (np.ones_like(inverse), inverse),
        "row": (inverse, np.ones_like(inverse)),
        "symmetric": (np.sqrt(inverse), np.sqrt(inverse)),
    }[normalization]
    return (sp.diags(left) @ exact @ sp.diags(right)).tocsc(), degrees == 0


def exact_pagerank(matrix: sp.csr_matrix, p: np.ndarray, alpha: float, normalization: str) -> np.ndarray:
    """pi = alpha p + (1 - alpha) (M pi + p times what lies on isolated nodes), solved for each column."""
    transition, isolated = scalings(matrix, normalization)
    n = len(isolated)
    plain = scipy.sparse.linalg.splu((sp.eye(n) - (1 - alpha) * transition).tocsc()).solve(p)
    # x = plain (alpha + (1 - alpha) s) with s = sum of x over isolated nodes: a line to solve for s.
    share = plain[isolated].sum(axis=0)
    return plain * alpha / (1 - (1 - alpha) * share)


def l1(found: Diffusion, exact: np.ndarray) -> np.ndarray:
    return np.abs(found.scores.double().numpy() - exact).sum(axis=0)


def weighed(matrix: sp.csr_matrix, p: np.ndarray, normalization: str) -> np.ndarray:
    """|p|_w, which float32 rounding is relative to: w is 1, the degrees, or their root over the least."""
    degrees = np.asarray(matrix.sum(axis=1), dtype=np.float64).ravel()
    least = degrees[degrees > 0].min() if (degrees > 0).any() else 1.0
    power = {"column": 0.0, "row": 1.0, "symmetric": 0.5}[normalization]
    return np.maximum(1.0, (np.maximum(degrees / least, 1.0)[:, None] ** power * p).sum(axis=0))


@pytest.mark.parametrize("kernel", USABLE)
@pytest.mark.parametrize("normalization", NORMALIZATIONS)
@pytest.mark.parametrize("name", GRAPHS)
def test_pagerank_and_heat_agree_with_a_solve(name: str, normalization: Normalization, kernel: str) -> None:
    matrix = GRAPHS[name]()
    seeds = some_seeds(matrix.shape[0], 5)
    p = seeds.astype(np.float64) / seeds.sum(axis=0, dtype=np.float64)
    held = Transition.of(tensor(matrix), normalization, kernel=kernel)
    for alpha in (1.0, 0.5, 0.15, 0.05):
        found = personalized_pagerank(held, torch.from_numpy(seeds), alpha=alpha)
        exact = exact_pagerank(matrix, p, alpha, normalization)
        assert found.converged
        assert (found.residual.numpy() <= 1e-6 * alpha * (1 + 1e-12)).all()
        # 1e-5 wherever scores sum to 1; row normalization may sum to more.
        assert (l1(found, exact) <= 1e-5 * np.maximum(1.0, exact.sum(axis=0))).all()
    transition, isolated = scalings(matrix, normalization)
    laplacian = sp.diags((~isolated).astype(float)) - transition
    for time in (0.5, 8.0):
        found = heat_kernel(held, torch.from_numpy(seeds), time=time)
        exact = scipy.sparse.linalg.expm_multiply(-time * laplacian.tocsc(), p)
        assert found.converged
        assert (l1(found, exact) <= 1e-5 * np.maximum(1.0, exact.sum(axis=0))).all()


@pytest.mark.parametrize("kernel", USABLE)
@pytest.mark.parametrize("name", GRAPHS)
def test_katz_agrees_with_a_solve(name: str, kernel: str) -> None:
    matrix = GRAPHS[name]()
    seeds = some_seeds(matrix.shape[0], 5)
    p = seeds.astype(np.float64) / seeds.sum(axis=0, dtype=np.float64)
    held = KatzOperator.of(tensor(matrix), kernel=kernel)
    for damping in (0.0, 0.5, 0.9):
        found = katz(held, torch.from_numpy(seeds), damping=damping)
        system = sp.eye(matrix.shape[0]) - damping / held.bound * matrix.astype(np.float64)
        exact = scipy.sparse.linalg.splu(system.tocsc()).solve(p)
        assert found.converged
        assert (l1(found, exact) <= 1e-5 * np.maximum(1.0, exact.sum(axis=0))).all()


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
@pytest.mark.parametrize("name", ["random", "hub", "path", "star", "twelve orders of magnitude"])
def test_the_bound_holds_wherever_a_series_is_cut(name: str, normalization: Normalization) -> None:
    matrix = GRAPHS[name]()
    seeds = some_seeds(matrix.shape[0], 4)
    p = seeds.astype(np.float64) / seeds.sum(axis=0, dtype=np.float64)
    held = Transition.of(tensor(matrix), normalization)
    transition, isolated = scalings(matrix, normalization)
    laplacian = (sp.diags((~isolated).astype(float)) - transition).tocsc()
    rounding = 1e-5 * weighed(matrix, p, normalization)
    for steps in (0, 1, 2, 5, 9):
        for alpha in (0.5, 0.1):
            cut = personalized_pagerank(held, torch.from_numpy(seeds), alpha=alpha, max_iterations=steps)
            assert cut.iterations == steps
            error = l1(cut, exact_pagerank(matrix, p, alpha, normalization))
            assert (error <= cut.residual.numpy() / alpha + rounding).all()
        cut = heat_kernel(held, torch.from_numpy(seeds), time=6.0, max_iterations=steps)
        error = l1(cut, scipy.sparse.linalg.expm_multiply(-6.0 * laplacian, p))
        assert (error <= cut.residual.numpy() + rounding).all()
        assert not cut.converged


def test_the_bound_is_not_far_from_the_error() -> None:
    # Long after the first steps; a bound ten times too large would cost four products at alpha .5.
    matrix = random_graph(1000)
    seeds = some_seeds(1000, 4)
    p = seeds / seeds.sum(axis=0)
    for alpha, steps in ((0.5, 8), (0.15, 16)):
        cut = personalized_pagerank(tensor(matrix), torch.from_numpy(seeds), alpha=alpha, max_iterations=steps)
        error = l1(cut, exact_pagerank(matrix, p, alpha, "column"))
        assert (cut.residual.numpy()[:3] / alpha <= 12 * error[:3]).all()


def test_it_takes_the_root_of_the_products_that_powers_take() -> None:
    matrix, seeds = random_graph(4000), some_seeds(4000, 3)
    for alpha, most in ((0.5, 15), (0.15, 34), (0.05, 66)):  # powers: 20, 85, 269
        assert personalized_pagerank(tensor(matrix), torch.from_numpy(seeds), alpha=alpha).iterations <= most
    assert heat_kernel(tensor(matrix), torch.from_numpy(seeds), time=100.0).iterations <= 75  # powers: 157
    long_walk = long_walk_pagerank(tensor(matrix), torch.from_numpy(seeds))
    same = personalized_pagerank(tensor(matrix), torch.from_numpy(seeds), alpha=0.05)
    assert torch.equal(long_walk.scores, same.scores)


@pytest.mark.parametrize("kernel", USABLE)
def test_small_teleport_probabilities_converge_on_bipartite_graphs(kernel: str) -> None:
    matrix = of_networkx(networkx.path_graph(40))
    seeds = some_seeds(40, 3)
    found = personalized_pagerank(Transition.of(tensor(matrix), kernel=kernel), torch.from_numpy(seeds), alpha=0.001)
    assert found.converged
    assert l1(found, exact_pagerank(matrix, seeds / seeds.sum(axis=0), 0.001, "column")).max() <= 1e-4


OPERATORS: dict[str, Callable[..., Diffusion]] = {
    "pagerank": lambda matrix, p, **options: personalized_pagerank(matrix, p, alpha=0.2, **options),
    "heat": lambda matrix, p, **options: heat_kernel(matrix, p, time=3.0, **options),
    "katz": lambda matrix, p, **options: katz(matrix, p, damping=0.8, **options),
}


@pytest.mark.parametrize("kernel", USABLE)
@pytest.mark.parametrize("operator", OPERATORS)
def test_bits_do_not_depend_on_batch_place_threads_or_memory(operator: str, kernel: str) -> None:
    matrix = tensor(GRAPHS["hub"]())
    held: Any = (KatzOperator if operator == "katz" else Transition).of(matrix, kernel=kernel)
    seeds = torch.from_numpy(some_seeds(700, 37))
    whole = OPERATORS[operator](held, seeds)
    for start, stop in ((0, 1), (3, 9), (20, 37), (36, 37)):
        part = OPERATORS[operator](held, seeds[:, start:stop])
        assert torch.equal(part.scores, whole.scores[:, start:stop])
        assert torch.equal(part.residual, whole.residual[start:stop])
    torch.set_num_threads(3)
    small = OPERATORS[operator](held, seeds, panel_bytes=700 * 12 * 8)
    assert torch.equal(small.scores, whole.scores)
    assert small.bytes_moved >= whole.bytes_moved > 0
    for layout in (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc):
        assert torch.equal(OPERATORS[operator](held, seeds.to_sparse(layout=layout)).scores, whole.scores)


def test_eight_callers_at_once_get_what_one_gets() -> None:
    held = Transition.of(tensor(GRAPHS["hub"]()))
    seeds = torch.from_numpy(some_seeds(700, 16))
    torch.set_num_threads(2)
    alone, found = personalized_pagerank(held, seeds).scores, []
    threads = [
        threading.Thread(target=lambda: found.extend(personalized_pagerank(held, seeds).scores for _ in range(10)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 80
    assert all(torch.equal(scores, alone) for scores in found)


def test_memory_does_not_grow_over_calls() -> None:
    held = Transition.of(tensor(random_graph(2000)))
    seeds = torch.from_numpy(some_seeds(2000, 64))
    for _ in range(20):
        personalized_pagerank(held, seeds, alpha=0.8)
    before = psutil.Process().memory_info().rss
    for _ in range(200):  # a panel has 512 KB
        personalized_pagerank(held, seeds, alpha=0.8)
    assert psutil.Process().memory_info().rss - before < 20e6


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.05, 1.0), st.floats(0.0, 20.0), st.sampled_from(USABLE))
def test_mass_is_kept_symmetry_is_kept_and_p_may_be_mixed(seed: int, alpha: float, time: float, kernel: str) -> None:
    matrix = tensor(random_graph(30, seed=seed))
    column = Transition.of(matrix, "column", kernel=kernel)
    both = Transition.of(matrix, "symmetric", kernel=kernel)
    each = torch.eye(30)
    for conserving in (personalized_pagerank(column, each, alpha=alpha), heat_kernel(column, each, time=time)):
        torch.testing.assert_close(conserving.scores.sum(dim=0), torch.ones(30), atol=1e-5, rtol=0.0)
    kernels = [heat_kernel(both, each, time=time).scores, katz(KatzOperator.of(matrix, kernel=kernel), each).scores]
    if not len(both.isolated):  # what teleports from there makes PageRank of a column depend on its p
        kernels.append(personalized_pagerank(both, each, alpha=alpha).scores)
        mixed = personalized_pagerank(both, torch.ones(30), alpha=alpha).scores
        torch.testing.assert_close(mixed, kernels[-1].mean(dim=1), atol=2e-6, rtol=1e-5)
    for found in kernels:
        torch.testing.assert_close(found, found.T, atol=1e-5, rtol=1e-4)


def test_panels_fit_the_memory_and_cost_least() -> None:
    def widths(batch: int, panel_bytes: int = 1 << 30, allowed: tuple[int, ...] | None = WIDTHS) -> list[int]:
        return list(_widths(batch, 1000, allowed, panel_bytes))

    assert widths(64) == [64]
    assert widths(130) == [64, 64, 4]
    assert widths(2) == [4]
    assert widths(17) == [16, 1]
    assert widths(30) == [32]
    assert widths(64, 12 * 1000 * 20) == [16] * 4
    assert widths(3, 1) == [1, 1, 1]
    assert widths(20, 12 * 1000 * 8, None) == [8, 8, 4]
    assert widths(20, allowed=(8,)) == [8, 8, 8]
    assert widths(0) == widths(0, allowed=None) == []


def test_sparse_personalizations_are_checked_as_dense_ones() -> None:
    held = Transition.of(tensor(random_graph(10)))
    for values, words in (([1.0, -1.0], "negative"), ([1.0, float("nan")], "not finite"), ([1.0, 0.0], "Column 1")):
        p = torch.sparse_coo_tensor(torch.tensor([[2, 5], [0, 1]]), values, (10, 2), check_invariants=True)
        with pytest.raises(InputError, match=words):
            personalized_pagerank(held, p)
    with pytest.raises(InputError, match="shape"):
        personalized_pagerank(held, torch.sparse_coo_tensor(size=(9, 2), check_invariants=True))
    twice = torch.sparse_coo_tensor(torch.tensor([[2, 2, 5]]), [1.0, 1.0, 2.0], (10,), check_invariants=True)
    once = torch.zeros(10)
    once[[2, 5]] = 2.0
    assert torch.equal(personalized_pagerank(held, twice).scores, personalized_pagerank(held, once).scores)


def test_a_column_that_does_not_exist_is_refused_before_it_is_read() -> None:
    bad = torch.sparse_csr_tensor(
        torch.tensor([0, 1, 2]), torch.tensor([1, 7]), torch.ones(2), size=(2, 2), check_invariants=False
    )
    for of in (Transition.of, KatzOperator.of):
        with pytest.raises(InputError, match="column 7, but 2"):
            of(bad)
