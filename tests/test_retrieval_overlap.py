from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg.errors import InputError
from retrieval.overlap import rank_biased_overlap

LISTS = st.lists(st.sampled_from("abcdefghij"), unique=True)
P = st.floats(0.05, 0.95)


@pytest.mark.parametrize(
    ("a", "b", "p", "expected"),
    [
        # (1-p)/p * sum of (overlap / depth) p^depth + overlap / length * p^length
        ("abc", "cba", 0.9, 1 / 9 * (0 + 1 / 2 * 0.81 + 0.729) + 0.729),
        ("ab", "ba", 0.5, 1 * (0 + 0.25) + 0.25),
        ("abcd", "abxy", 0.9, 1 / 9 * (0.9 + 0.81 + 2 / 3 * 0.729 + 0.5 * 0.6561) + 0.5 * 0.6561),
        # Lengths 1 and 3: after depth 1 the shorter list is taken to agree as at its end, 1 of 1.
        ("a", "abc", 0.5, 1 * (0.5 + 0.25 + 0.125) + 0.125),
        # The shorter list agrees 0 of 1 at its end; its item comes at depth 2 of the longer list.
        ("b", "ab", 0.5, 1 * (0 + 1 / 2 * 0.25) + 1 / 2 * 0.25),
        ("", "", 0.9, 1.0),
        ("", "ab", 0.9, 0.0),
    ],
)
def test_hand_worked_values(a, b, p, expected):
    assert rank_biased_overlap(a, b, p) == pytest.approx(expected)
    assert rank_biased_overlap(b, a, p) == pytest.approx(expected)


@given(a=LISTS, b=LISTS, p=P)
def test_equals_the_infinite_sum_with_agreement_carried_on(a, b, p):
    shorter, longer = sorted((a, b), key=len)
    if not shorter:
        return
    s, n = len(shorter), len(longer)

    def common(depth):
        return len(set(shorter[:depth]) & set(longer[:depth]))

    def agreement(depth):
        if depth <= s:
            return common(depth) / depth
        return (common(min(depth, n)) + common(s) / s * (min(depth, n) - s)) / min(depth, n)

    expected = sum((1 - p) * p ** (depth - 1) * agreement(depth) for depth in range(1, 1000))
    assert rank_biased_overlap(a, b, p) == pytest.approx(expected)


@given(a=LISTS, b=LISTS, p=P)
def test_is_symmetric_and_between_0_and_1(a, b, p):
    value = rank_biased_overlap(a, b, p)
    assert value == rank_biased_overlap(b, a, p)
    assert -1e-12 <= value <= 1 + 1e-12
    assert rank_biased_overlap(a, a, p) == pytest.approx(1)
    assert rank_biased_overlap(a, [x.upper() for x in a], p) == (0 if a else 1)


@pytest.mark.parametrize(("a", "b", "p"), [("aa", "b", 0.9), ("b", "aa", 0.9), ("a", "a", 0), ("a", "a", 1.0)])
def test_what_has_no_overlap_is_refused(a, b, p):
    with pytest.raises(InputError):
        rank_biased_overlap(a, b, p)
