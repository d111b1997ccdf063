from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg.errors import InputError
from retrieval.fusion import reciprocal_rank_fusion

ids = st.lists(st.text("abcdefgh", min_size=1, max_size=1), unique=True)


def test_two_rankings_by_hand():
    fused = reciprocal_rank_fusion([["a", "b", "c"], ["c", "a", "d"]])
    expected = [("a", 1 / 61 + 1 / 62), ("c", 1 / 63 + 1 / 61), ("b", 1 / 62), ("d", 1 / 63)]
    assert [item for item, _ in fused] == [item for item, _ in expected]
    assert [score for _, score in fused] == pytest.approx([score for _, score in expected])


def test_ties_go_by_id_and_weights_decide():
    assert [item for item, _ in reciprocal_rank_fusion([["b", "x"], ["a", "x"]], k=0)] == ["a", "b", "x"]
    fused = reciprocal_rank_fusion([["b"], ["a"]], k=1, weights=[3.0, 1.0])
    assert fused == [("b", 1.5), ("a", 0.5)]


@given(st.lists(ids, max_size=5), st.integers(0, 100))
def test_exact_sums_whatever_the_order_of_rankings(rankings, k):
    fused = reciprocal_rank_fusion(rankings, k)
    assert fused == reciprocal_rank_fusion(rankings[::-1], k)
    exact: dict[str, Fraction] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            exact[item] = exact.get(item, Fraction(0)) + Fraction(1, k + rank)
    assert {item: pytest.approx(float(score)) for item, score in exact.items()} == dict(fused)
    assert [score for _, score in fused] == sorted((score for _, score in fused), reverse=True)


def test_nothing_to_fuse():
    assert reciprocal_rank_fusion([]) == []
    assert reciprocal_rank_fusion([[], []]) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"rankings": [["a"], ["b", "a", "b"]]}, "Ranking 2 holds 'b' twice"),
        ({"rankings": [["a"]], "k": -1}, "k is -1"),
        ({"rankings": [["a"]], "weights": [1.0, 1.0]}, "2 weights for 1 rankings"),
        ({"rankings": [["a"]], "weights": [-1.0]}, "weights"),
        ({"rankings": [["a"]], "weights": [float("nan")]}, "weights"),
    ],
)
def test_refuses(arguments, words):
    with pytest.raises(InputError, match=words):
        reciprocal_rank_fusion(**arguments)
