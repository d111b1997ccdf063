"""Layered drawing: orders with few crossings, positions that keep order and distance."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.pictures.columns import column_height, crossings, isotonic, order_columns, place_columns

Columns = list[list[str]]
Segments = list[tuple[str, str, float]]


@st.composite
def layered(draw: st.DrawFn) -> tuple[Columns, Segments]:
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    columns = [[f"{number}.{n}" for n in range(size)] for number, size in enumerate(sizes)]
    segments: Segments = []
    for left, right in pairwise(columns):
        pairs = st.tuples(st.sampled_from(left), st.sampled_from(right))
        segments += [(a, b, draw(st.floats(0.1, 2))) for a, b in draw(st.sets(pairs, max_size=8))]
    for column in columns:
        pairs = st.tuples(st.sampled_from(column), st.sampled_from(column)).filter(lambda pair: pair[0] < pair[1])
        if len(column) > 1:
            segments += [(a, b, 1.0) for a, b in draw(st.sets(pairs, max_size=2))]
    return columns, segments


@given(layered())
def test_ordering_keeps_columns_and_never_adds_crossings(drawing: tuple[Columns, Segments]) -> None:
    columns, segments = drawing
    ordered = order_columns(columns, segments)
    assert [sorted(column) for column in ordered] == [sorted(column) for column in columns]
    assert crossings(ordered, segments) <= crossings(columns, segments)
    assert order_columns(columns, segments) == ordered


def test_two_columns_are_ordered_as_well_as_can_be() -> None:
    columns = [list("abcd"), list("wxyz")]
    segments = [("a", "z", 1.0), ("b", "y", 1.0), ("c", "x", 1.0), ("d", "w", 1.0), ("a", "y", 1.0), ("d", "x", 1.0)]
    best = min(crossings([list(p), list(q)], segments) for p in permutations("abcd") for q in permutations("wxyz"))
    assert crossings(columns, segments) > best
    assert crossings(order_columns(columns, segments), segments) == best == 0


@pytest.mark.parametrize(("segments", "count"), [([("a", "x"), ("b", "y")], 0), ([("a", "y"), ("b", "x")], 1)])
def test_crossings_are_counted(segments: list[tuple[str, str]], count: int) -> None:
    assert crossings([["a", "b"], ["x", "y"]], [(u, v, 1.0) for u, v in segments]) == count


@given(st.lists(st.tuples(st.floats(-100, 100), st.floats(0.01, 10)), min_size=1, max_size=12))
def test_isotonic_regression_is_that_of_scikit_learn(points: list[tuple[float, float]]) -> None:
    from sklearn.isotonic import IsotonicRegression

    values, weights = zip(*points, strict=True)
    expected = IsotonicRegression().fit_transform(np.arange(len(values)), values, sample_weight=weights)
    assert isotonic(values, weights) == pytest.approx(expected.tolist(), abs=1e-6)


@given(layered(), st.floats(1, 20), st.floats(0, 200), st.data())
def test_positions_keep_order_distance_and_bounds(
    drawing: tuple[Columns, Segments], gap: float, room: float, data: st.DataObject
) -> None:
    columns, segments = drawing
    heights = {key: data.draw(st.floats(1, 60)) for column in columns for key in column}
    height = max(column_height(column, heights, gap) for column in columns) + room
    middle = place_columns(columns, segments, heights, gap, height)
    for column in columns:
        for one, other in pairwise(column):
            assert middle[other] - middle[one] >= (heights[one] + heights[other]) / 2 + gap - 1e-6
        assert middle[column[0]] - heights[column[0]] / 2 >= -1e-6
        assert middle[column[-1]] + heights[column[-1]] / 2 <= height + 1e-6


def test_a_lone_item_stands_where_its_neighbours_pull_it() -> None:
    columns = [["a"], ["x", "y"]]
    middle = place_columns(columns, [("a", "x", 1.0), ("a", "y", 1.0)], dict.fromkeys("axy", 10.0), 10.0, 100.0)
    assert middle["a"] == pytest.approx((middle["x"] + middle["y"]) / 2)
