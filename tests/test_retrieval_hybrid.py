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
from retrieval.hybrid import Fusion, HybridScorer, Rooted, reciprocal_ranks, standardised

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
    ranks = HybridScorer(parts, {"a": 0.5, "b": 1.0}, "rank").score(["q"])[0]
    assert ranks.tolist() == pytest.approx([0.5 / 62, 0.5 / 61 + 1 / 61, 1 / 62, nothing])
    fused = HybridScorer(parts, {"a": 0.5, "b": 1.0}).score(["q"])[0]
    expected = 0.5 * scipy.stats.zscore([1, 2, 1, 1]) + scipy.stats.zscore([4, 5, 4, 4])
    assert fused[:3].tolist() == pytest.approx(expected[:3], rel=1e-5)
    assert fused[3] == nothing


def test_weights_that_do_not_fit_are_refused() -> None:
    for weights in ({}, {"a": -1.0}, {"a": 0.0}, {"b": 1.0}, {"a": float("nan")}, {"a": float("inf")}):
        with pytest.raises(InputError, match="weights"):
            HybridScorer({"a": Fixed([1.0])}, weights)


def test_what_is_not_positive_has_no_root_and_is_not_found() -> None:
    given_scores = Fixed([4.0, 1.0, 0.0, -torch.inf, -2.0])
    assert Rooted(given_scores).score(["q"])[0].tolist() == [2.0, 1.0] + [-np.inf] * 3


PARTS = {"a": Fixed([1.0, 2.5, -1.0, 0.0]), "b": Fixed([0.1, 5.0, 4.0, -torch.inf]), "c": Fixed([3.0, 0.0, 9.0, 1.0])}


@pytest.mark.parametrize("fusion", ["zscore", "rank"])
@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e-30, 2.0, 1e30, 1e308])
def test_weights_act_by_their_ratio_at_any_scale(scale: float, fusion: Fusion) -> None:
    expected = HybridScorer(PARTS, {"a": 1.0, "b": 0.0, "c": 1.0}, fusion).score(["q"])
    assert HybridScorer(PARTS, {"a": scale, "b": 0.0, "c": scale}, fusion).score(["q"]).tolist() == expected.tolist()


def test_a_weight_too_small_beside_another_vanishes() -> None:
    alone = HybridScorer(PARTS, {"a": 1.0, "b": 0.0, "c": 0.0}).score(["q"])
    for small, large in ((1e-300, 1.0), (1.0, 1e308), (1e-300, 1e308)):
        assert HybridScorer(PARTS, {"a": large, "b": small, "c": 0.0}).score(["q"]).tolist() == alone.tolist()


@given(st.lists(st.floats(0, 1), min_size=2, max_size=2))
def test_weights_whose_largest_is_one_are_used_to_the_last_bit(others: list[float]) -> None:
    weights = dict(zip("abc", [1.0, *others], strict=True))
    total = sum(weight * standardised(PARTS[name].scores) for name, weight in weights.items())
    assert torch.equal(HybridScorer(PARTS, weights).score(["q"]), torch.as_tensor(total))


@pytest.mark.parametrize("fusion", ["zscore", "rank"])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_part_that_gives_no_number_is_named(value: float, fusion: Fusion) -> None:
    parts = {"fine": Fixed([1.0, 2.0]), "broken": Fixed([1.0, value]), "rooted": Rooted(Fixed([value, 4.0]))}
    for name in ("broken", "rooted"):
        with pytest.raises(ValueError, match=f"the method {name} gives NaN or infinity"):
            HybridScorer({"fine": parts["fine"], name: parts[name]}, {"fine": 1.0, name: 0.0}, fusion).score(["q"])
