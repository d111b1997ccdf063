"""Heat-kernel diffusion against scipy's matrix exponential."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
import scipy.linalg
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kg.errors import InputError
from retrieval.diffusion import Transition, heat_kernel
from tests.test_retrieval_diffusion_katz import csr, random_graph


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.0, 30.0), st.sampled_from(["symmetric", "column", "row"]))
def test_scores_are_the_matrix_exponential(seed: int, time: float, normalization: str) -> None:
    weights = random_graph(seed, density=0.25).astype(np.float32).astype(float)
    degrees = weights.sum(axis=0)
    with np.errstate(divide="ignore"):
        inverse = np.where(degrees > 0, 1.0 / degrees, 0.0)
    scaled = {
        "column": weights * inverse,
        "row": inverse[:, None] * weights,
        "symmetric": np.sqrt(inverse)[:, None] * weights * np.sqrt(inverse),
    }[normalization]
    laplacian = np.diag((degrees > 0).astype(float)) - scaled
    seeds = np.random.default_rng(seed).random((12, 3))
    exact = scipy.linalg.expm(-time * laplacian) @ (seeds / seeds.sum(axis=0))
    transition = Transition.of(csr(weights), normalization)  # type: ignore[arg-type]
    found = heat_kernel(transition, torch.from_numpy(seeds).float(), time=time, tolerance=1e-7)
    error = np.abs(found.scores.numpy() - exact).sum(axis=0)
    assert found.converged
    assert (error <= found.residual.numpy() + 1e-5 * (1 + np.abs(exact).sum(axis=0))).all()


def test_it_is_symmetric_normalized_unless_told_otherwise() -> None:
    graph = networkx.karate_club_graph()
    laplacian = networkx.normalized_laplacian_matrix(graph).toarray()
    seeds = torch.zeros(len(graph))
    seeds[0] = 1.0
    found = heat_kernel(csr(networkx.to_numpy_array(graph)), seeds, time=2.0)
    np.testing.assert_allclose(found.scores.numpy(), scipy.linalg.expm(-2.0 * laplacian)[:, 0], atol=2e-6)


def test_no_time_changes_nothing_and_bad_input_is_refused() -> None:
    weights, seeds = csr(random_graph(5)), torch.arange(1.0, 13.0)
    torch.testing.assert_close(heat_kernel(weights, seeds, time=0.0).scores, seeds / seeds.sum())
    for time in (-1.0, float("nan"), 1000.0):
        with pytest.raises(InputError, match="time is"):
            heat_kernel(weights, seeds, time=time)
    cut = heat_kernel(weights, seeds, time=9.0, max_iterations=2)
    assert (cut.iterations, cut.converged) == (2, False)
