"""Boosted trees: the record holds what was fitted, shares and weights count as they should, calibration is exact."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import starmap

import numpy as np
import pytest

from kg.errors import InputError
from kg.pair_features import FEATURES
from kg.pair_scorer import PairScorer
from training.boosting import BoostingConfig, Pairs, as_record, calibrate, fit

FEW = BoostingConfig(trees=12)


def pairs_of(features: np.ndarray, same: np.ndarray, weight: np.ndarray | None = None) -> Pairs:
    entities = np.empty(len(same), dtype=object)
    entities[:] = [(f"e{row}",) for row in range(len(same))]
    return Pairs(features.astype(np.float32), same, np.ones(len(same)) if weight is None else weight, entities)


@pytest.fixture
def pairs() -> Pairs:
    """Two in three pairs are one where the first feature is large, one in three elsewhere."""
    rng = np.random.default_rng(3)
    features = rng.random((600, len(FEATURES)))
    return pairs_of(features, (rng.random(600) < np.where(features[:, 0] > 0.5, 2 / 3, 1 / 3)).astype(np.float64))


def test_the_record_gives_the_probabilities_of_the_model(pairs: Pairs) -> None:
    model = fit(pairs, FEW)
    scorer = PairScorer.of(json.loads(json.dumps(as_record(model, FEATURES, 0.8, -0.3))), "")
    expected = 1 / (1 + np.exp(-(0.8 * model.decision_function(pairs.features) - 0.3)))
    assert np.ptp(expected) > 0.2
    assert np.abs(scorer.probabilities(pairs.features) - expected).max() < 1e-4


def test_pairs_whose_features_hardly_differ_go_to_their_own_leaves() -> None:
    # Neighbouring float32 values: what lies between them needs nine digits.
    low, high = np.float32(3 + 2 * 2**-22), np.float32(3 + 3 * 2**-22)
    features = np.zeros((200, len(FEATURES)), dtype=np.float32)
    features[:, 7] = np.where(np.arange(200) < 100, low, high)
    same = (np.arange(200) < 100).astype(np.float64)
    same[::10] = 0.5  # or the fit has no finite end
    scorer = PairScorer.of(as_record(fit(pairs_of(features, same), FEW), FEATURES, 1.0, 0.0), "")
    one, two = scorer.probabilities(features[[0, 199]])
    assert one > 0.6 > 0.4 > two


def test_the_start_is_the_weighted_share_of_what_is_one() -> None:
    # 2 of weight 3, .25 of weight 2, none of weight 1: 6.5 of 9.
    pairs = pairs_of(np.zeros((4, 2)), np.array([1.0, 1.0, 0.25, 0.0]), np.array([3.0, 3.0, 2.0, 1.0]))
    record = as_record(fit(pairs, replace(FEW, trees=1, rows=1.0)), ["a", "b"], 1.0, 0.0)
    assert record["start"] == pytest.approx(np.log(6.5 / 2.5), abs=1e-6)
    assert record["trees"][0]["feature"] == [-1]  # nothing tells the four apart


def test_log_odds_that_are_too_sure_are_drawn_back() -> None:
    # Cross entropy against exact shares is least at the line that they were made of.
    log_odds = np.linspace(-4, 4, 81)
    same = 1 / (1 + np.exp(-(0.6 * log_odds - 0.4)))
    weight = np.random.default_rng(1).random(81)
    assert calibrate(log_odds, pairs_of(np.zeros((81, 1)), same, weight)) == pytest.approx((0.6, -0.4), abs=1e-3)


def test_the_seed_decides(pairs: Pairs) -> None:
    def text(seed: int) -> str:
        return json.dumps(as_record(fit(pairs, replace(FEW, seed=seed)), FEATURES, 1.0, 0.0))

    assert text(1) == text(1) != text(2)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_pairs_of_one_class_are_refused(share: float) -> None:
    with pytest.raises(InputError, match="The 5 pairs to fit on are all of one class"):
        fit(pairs_of(np.zeros((5, 2)), np.full(5, share)))


def test_sets_are_joined_and_masked_row_by_row(pairs: Pairs) -> None:
    odd = np.arange(len(pairs)) % 2 == 1
    both = Pairs.joined([pairs.where(~odd), pairs.where(odd)])
    order = np.argsort(np.concatenate([np.flatnonzero(~odd), np.flatnonzero(odd)]))
    columns = zip(vars(both).values(), vars(pairs).values(), strict=True)
    assert all(starmap(np.array_equal, ((one[order], other) for one, other in columns)))
