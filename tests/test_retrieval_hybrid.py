"""Fusion against scipy's z-scores and reciprocal ranks by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import scipy.stats
import torch
from hypothesis import given
from hypothesis import strategies as st

from kg.errors import InputError
from retrieval.hybrid import HybridScorer, Rooted, reciprocal_ranks, standardised

rows = st.lists(st.floats(-100, 100, width=32), min_size=2, max_size=12)


class Fixed:
    def __init__(self, *scores: Sequence[float]) -> None:
        self.scores = torch.tensor(scores)

    def score(self, texts: Sequence[str], usable: torch.Tensor | None = None) -> torch.Tensor:
        return self.scores


@given(rows)
def test_standardised_scores_are_scipy_s(values: list[float]) -> None:
    found = standardised(torch.tensor([values]))[0].numpy()
    if np.std(values) < 1e-3:
        assert np.isfinite(found).all()
    else:
        np.testing.assert_allclose(found, scipy.stats.zscore(np.asarray(values)), rtol=1e-3, atol=1e-3)


def test_what_is_not_found_counts_as_the_least_and_equal_scores_as_nothing() -> None:
    scores = torch.tensor([[3.0, 1.0, -torch.inf], [2.0, 2.0, 2.0], [-torch.inf] * 3])
    expected = scipy.stats.zscore([3.0, 1.0, 1.0])
    found = standardised(scores)
    np.testing.assert_allclose(found[0], expected, rtol=1e-6)
    assert found[1:].tolist() == [[0.0] * 3] * 2


@given(rows)
def test_reciprocal_ranks_by_hand(values: list[float]) -> None:
    order = sorted(range(len(values)), key=lambda i: (-values[i], i))
    found = reciprocal_ranks(torch.tensor([values]))[0].tolist()
    assert found == pytest.approx([1 / (61 + order.index(i)) for i in range(len(values))])


def test_a_fusion_is_the_weighted_sum_and_finds_what_any_part_finds() -> None:
    nothing = -torch.inf
    parts = {"a": Fixed([1.0, 2.0, nothing, nothing]), "b": Fixed([nothing, 5.0, 4.0, nothing])}
    ranks = HybridScorer(parts, {"a": 1.0, "b": 2.0}, "rank").score(["q"])[0]
    assert ranks.tolist() == pytest.approx([1 / 62, 1 / 61 + 2 / 61, 2 / 62, nothing])
    fused = HybridScorer(parts, {"a": 1.0, "b": 2.0}).score(["q"])[0]
    expected = scipy.stats.zscore([1, 2, 1, 1]) + 2 * scipy.stats.zscore([4, 5, 4, 4])
    assert fused[:3].tolist() == pytest.approx(expected[:3], rel=1e-5)
    assert fused[3] == nothing


def test_weights_that_do_not_fit_are_refused() -> None:
    for weights in ({}, {"a": -1.0}, {"a": 0.0}, {"b": 1.0}, {"a": float("nan")}):
        with pytest.raises(InputError, match="weights"):
            HybridScorer({"a": Fixed([1.0])}, weights)


def test_what_is_not_positive_has_no_root_and_is_not_found() -> None:
    given_scores = Fixed([4.0, 1.0, 0.0, -torch.inf, -2.0])
    assert Rooted(given_scores).score(["q"])[0].tolist() == [2.0, 1.0] + [-np.inf] * 3
