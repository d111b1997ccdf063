"""Measures of partitions against published values, values by hand, brute force, and scipy's bootstrap."""

from __future__ import annotations

import random
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap

from evaluation.clusters import ClusterScores, Score, cluster_scores, f1_differences, f1_intervals
from kg.errors import InputError

GOLD = "aaaaabbccccc"
"""The twelve mentions that Bagga and Baldwin (1998) and Luo (2005) score four responses to, one letter a cluster."""


@pytest.mark.parametrize(
    ("response", "bcubed", "ceafe"),
    [
        ("111112222222", 0.865, 0.733),  # b and c joined
        ("111112211111", 0.737, 0.667),  # a and c joined
        ("111111111111", 0.545, 0.294),
        ("1234567890xy", 0.400, 0.178),
    ],
)
def test_published_values(response: str, bcubed: float, ceafe: float) -> None:
    scores = cluster_scores(response, GOLD)  # Luo 2005, table 1
    assert (round(scores.bcubed.f1, 3), round(scores.ceafe.f1, 3)) == (bcubed, ceafe)


def test_values_by_hand() -> None:
    # Predicted {a1 a2 b1 c1} {b2} {c2}; gold pairs: aa bb cc. One of the 6 pairs predicted is right; of the 12 pairs
    # across gold clusters 5 are joined. B-cubed precision: (2/4 + 2/4 + 1/4 + 1/4 + 1 + 1) / 6 = 7/12; recall: (1 + 1 +
    # 4 * 1/2) / 6 = 2/3. phi4: a 2*2/6; b 2/3; c 2/3; the sum 2 of 3 clusters each.
    scores = cluster_scores([1, 1, 1, 2, 1, 3], ["a", "a", "b", "b", "c", "c"])
    assert scores.pairwise == Score(1 / 6, 1 / 3, pytest.approx(2 / 9))
    assert scores.bcubed == Score(pytest.approx(7 / 12), pytest.approx(2 / 3), pytest.approx(28 / 45))
    assert scores.ceafe == Score(*(pytest.approx(2 / 3),) * 3)
    assert scores.false_merge_rate == pytest.approx(5 / 12)
    assert (scores.chains, scores.chained_mentions) == (1, 4)


def test_two_gold_clusters_in_one_are_no_chain() -> None:
    assert cluster_scores("1111", "aabb").chains == 0


labels = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=9)


def slowly(pairs: list[tuple[int, int]]) -> tuple[float, ...]:
    """Pairwise, B-cubed and CEAF-e precision and recall, and the false-merge rate, straight from their definitions."""
    n = len(pairs)
    both = [(p == q, g == h) for (p, g), (q, h) in combinations(pairs, 2)]
    joined, together = [g for p, g in both if p], [p for p, g in both if g]
    apart = [p for p, g in both if not g]

    def cluster(side: int, label: int) -> set[int]:
        return {i for i in range(n) if pairs[i][side] == label}

    shared = [(cluster(0, p), cluster(1, g)) for p, g in pairs]
    predicted, gold = ([cluster(side, label) for label in {pair[side] for pair in pairs}] for side in (0, 1))
    few, many = sorted((predicted, gold), key=len)
    total = max(
        sum(2 * len(k & r) / (len(k) + len(r)) for k, r in zip(few, chosen, strict=True))
        for chosen in permutations(many, len(few))
    )
    return (
        sum(joined) / len(joined) if joined else 1.0,
        sum(together) / len(together) if together else 1.0,
        sum(len(k & r) / len(k) for k, r in shared) / n,
        sum(len(k & r) / len(r) for k, r in shared) / n,
        total / len(predicted),
        total / len(gold),
        sum(apart) / len(apart) if apart else 0.0,
    )


def flat(scores: ClusterScores) -> tuple[float, ...]:
    parts = (scores.pairwise, scores.bcubed, scores.ceafe)
    return (*(value for part in parts for value in (part.precision, part.recall)), scores.false_merge_rate)


@given(labels)
def test_brute_force_gives_the_same(pairs: list[tuple[int, int]]) -> None:
    predicted, gold = zip(*pairs, strict=True)
    assert flat(cluster_scores(predicted, gold)) == pytest.approx(slowly(pairs))


@given(labels, st.randoms(use_true_random=False))
def test_neither_labels_nor_order_matter(pairs: list[tuple[int, int]], chance: random.Random) -> None:
    predicted, gold = zip(*pairs, strict=True)
    shuffled = chance.sample(pairs, len(pairs))
    renamed = cluster_scores([("x", -p) for p, _ in shuffled], [str(g) for _, g in shuffled])
    assert flat(renamed) == pytest.approx(flat(cluster_scores(predicted, gold)))


@given(labels)
def test_precision_and_recall_change_places_with_the_partitions(pairs: list[tuple[int, int]]) -> None:
    predicted, gold = zip(*pairs, strict=True)
    one, other = cluster_scores(predicted, gold), cluster_scores(gold, predicted)
    for measure in ("pairwise", "bcubed", "ceafe"):
        a, b = getattr(one, measure), getattr(other, measure)
        assert (a.precision, a.recall, a.f1) == pytest.approx((b.recall, b.precision, b.f1))


def noisy(clusters: int, seed: int, wrong: float) -> tuple[list[int], list[int]]:
    """Gold clusters of one to five mentions, and a prediction that moves some mentions to a neighbour's cluster."""
    rng = np.random.default_rng(seed)
    gold = np.repeat(np.arange(clusters), rng.integers(1, 6, size=clusters))
    moved = rng.random(len(gold)) < wrong
    return (gold + moved * rng.integers(1, 3, size=len(gold))).tolist(), gold.tolist()


def test_large_partitions_take_no_square_of_memory() -> None:
    predicted, gold = noisy(40_000, 1, 0.1)  # dense tables of the clusters would hold 1.6e9 cells
    scores = cluster_scores(predicted, gold)
    assert 0.7 < scores.ceafe.f1 < 1
    assert scores.false_merge_rate < 1e-4


def test_intervals_are_those_of_scipy() -> None:
    predicted, gold = noisy(60, 2, 0.2)
    found = f1_intervals(predicted, gold, seed=4)
    scores = cluster_scores(predicted, gold)
    assert (found.pairwise.mean, found.bcubed.mean) == pytest.approx((scores.pairwise.f1, scores.bcubed.f1))
    assert (found.bcubed.n, found.bcubed.n_clusters) == (len(gold), 60)

    same, cross, own = np.zeros(60), np.zeros(60), np.zeros(60)
    for (p, g), (q, h) in combinations(zip(predicted, gold, strict=True), 2):
        if g == h:
            own[g] += 1
            same[g] += p == q
        elif p == q:
            cross[g] += 0.5
            cross[h] += 0.5

    def f1(drawn: np.ndarray, axis: int) -> np.ndarray:
        right, joined, together = (part[drawn].sum(axis=axis) for part in (same, same + cross, own))
        return 2 * right / (joined + together)

    theirs = bootstrap(
        (np.arange(60),), f1, n_resamples=10_000, method="BCa", vectorized=True, rng=np.random.default_rng(9)
    ).confidence_interval
    assert (found.pairwise.low, found.pairwise.high) == pytest.approx((theirs.low, theirs.high), abs=0.005)


def test_a_difference_is_paired() -> None:
    worse, gold = noisy(80, 5, 0.2)
    better = [p if i % 9 else g for i, (p, g) in enumerate(zip(worse, gold, strict=True))]
    difference = f1_differences(better, worse, gold)
    alone = f1_intervals(better, gold)
    assert difference.bcubed.mean == pytest.approx(
        cluster_scores(better, gold).bcubed.f1 - cluster_scores(worse, gold).bcubed.f1
    )
    for paired, single in ((difference.pairwise, alone.pairwise), (difference.bcubed, alone.bcubed)):
        assert None not in (paired.low, paired.high, single.low, single.high)
        assert 0 < paired.low < paired.mean < paired.high
        assert paired.high - paired.low < (single.high - single.low) / 2  # what both have in common falls away
    mirrored = f1_differences(worse, better, gold)
    assert (mirrored.bcubed.low, mirrored.bcubed.high) == pytest.approx(
        (-difference.bcubed.high, -difference.bcubed.low), abs=1e-3
    )


def test_intervals_are_seeded_and_need_enough_clusters() -> None:
    predicted, gold = noisy(30, 6, 0.3)
    assert f1_intervals(predicted, gold, samples=200, seed=1) == f1_intervals(predicted, gold, samples=200, seed=1)
    assert f1_intervals(predicted, gold, samples=200, seed=1) != f1_intervals(predicted, gold, samples=200, seed=2)
    few = f1_intervals(*noisy(19, 6, 0.3))
    assert (few.pairwise.low, few.bcubed.high, few.pairwise.n_clusters) == (None, None, 19)


def test_a_perfect_partition_has_no_spread() -> None:
    gold = list(range(25)) * 2
    for interval in (f1_intervals(gold, gold).pairwise, f1_intervals(gold, gold).bcubed):
        assert (interval.mean, interval.low, interval.high) == (1.0, 1.0, 1.0)
    assert f1_differences(gold, gold, gold).bcubed.low == 0.0


@pytest.mark.parametrize(
    ("predicted", "gold", "words"),
    [([1, 2], [1], "2 mentions have a predicted cluster and 1 a gold one"), ([], [], "There are no mentions")],
)
def test_what_cannot_be_scored_is_said(predicted: list[int], gold: list[int], words: str) -> None:
    for score in (cluster_scores, f1_intervals):
        with pytest.raises(InputError, match=words):
            score(predicted, gold)


@pytest.mark.parametrize(("level", "samples"), [(0.0, 1), (1.0, 1), (0.95, 0)])
def test_an_interval_without_level_or_samples_is_refused(level: float, samples: int) -> None:
    with pytest.raises(InputError, match="The level is"):
        f1_intervals([1], [1], level=level, samples=samples)
