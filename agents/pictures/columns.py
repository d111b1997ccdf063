"""Layered drawing: what stands above what in each column, so that few links cross and most run level.

Order by barycentre sweeps (Sugiyama, Tagawa & Toda 1981), heights by isotonic regression: of all positions that keep
order and distances, those nearest in the least-squares sense to where the neighbours are.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)
Segment = tuple[Key, Key, float]
"""Two items of neighbouring columns (left first), or of the same, and the weight of what joins them."""

_SWEEPS = 12
_SAME_COLUMN = 0.3
"""Weight of a neighbour in the same column, against one beside it."""


def order_columns(columns: Sequence[Sequence[Key]], segments: Sequence[Segment[Key]]) -> list[list[Key]]:
    """The columns with their items in an order of few crossings; the given order decides between equals."""
    best = [list(column) for column in columns]
    if sum(map(len, columns)) < 2:
        return best
    beside, within = _neighbours(columns, segments)
    least = crossings(best, segments)
    current = [list(column) for column in best]
    for sweep in range(_SWEEPS):
        rightwards = sweep % 2 == 0
        sequence = range(1, len(current)) if rightwards else range(len(current) - 2, -1, -1)
        for number in sequence:
            other = number - 1 if rightwards else number + 1
            place = {key: (n + 0.5) / len(current[other]) for n, key in enumerate(current[other])}
            own = {key: (n + 0.5) / len(current[number]) for n, key in enumerate(current[number])}
            target = {}
            for key in current[number]:
                pulls = [(place[k], w) for k, w in beside[key] if k in place]
                pulls += [(own[k], w * _SAME_COLUMN) for k, w in within[key]]
                weight = sum(w for _, w in pulls)
                target[key] = sum(p * w for p, w in pulls) / weight if weight else own[key]
            current[number].sort(key=lambda key: (target[key], own[key]))
        found = crossings(current, segments)
        if found < least:
            best, least = [list(column) for column in current], found
    return best


def crossings(columns: Sequence[Sequence[Key]], segments: Sequence[Segment[Key]]) -> int:
    """Pairs of segments between the same two columns that cross."""
    place = {key: (number, n) for number, column in enumerate(columns) for n, key in enumerate(column)}
    total = 0
    for number in range(len(columns) - 1):
        own = sorted(
            (place[left][1], place[right][1])
            for left, right, _ in segments
            if place[left][0] == number and place[right][0] == number + 1
        )
        total += sum(a[0] < b[0] and a[1] > b[1] for i, a in enumerate(own) for b in own[i + 1 :])
    return total


def place_columns(
    columns: Sequence[Sequence[Key]],
    segments: Sequence[Segment[Key]],
    heights: Mapping[Key, float],
    gap: float,
    height: float,
) -> dict[Key, float]:
    """The vertical middle of each item in [0, height], items of a column at least ``gap`` apart, in the given order.

    ``height`` must hold every column (``column_height``).
    """
    beside, _ = _neighbours(columns, segments)
    middle: dict[Key, float] = {}
    for column in columns:  # evenly, to begin with
        slack = (height - column_height(column, heights, gap)) / (len(column) + 1)
        top = slack
        for key in column:
            middle[key] = top + heights[key] / 2
            top += heights[key] + gap + slack
    for sweep in range(_SWEEPS):
        sequence = range(len(columns)) if sweep % 2 == 0 else range(len(columns) - 1, -1, -1)
        for number in sequence:
            column = columns[number]
            targets = []
            for key in column:
                weight = sum(w for _, w in beside[key])
                pulled = sum(middle[k] * w for k, w in beside[key]) / weight if weight else middle[key]
                targets.append(pulled)
            weights = [max(sum(w for _, w in beside[key]), 0.01) for key in column]
            middle |= zip(column, _fit(column, targets, weights, heights, gap, height), strict=True)
    return middle


def column_height(column: Sequence[Key], heights: Mapping[Key, float], gap: float) -> float:
    """Least height that holds the items of a column."""
    return sum(heights[key] for key in column) + gap * max(len(column) - 1, 0)


def _fit(
    column: Sequence[Key],
    targets: Sequence[float],
    weights: Sequence[float],
    heights: Mapping[Key, float],
    gap: float,
    height: float,
) -> list[float]:
    """Middles nearest to ``targets`` that keep order and gaps within [0, height]."""
    if not column:
        return []
    steps = [(heights[a] + heights[b]) / 2 + gap for a, b in pairwise(column)]
    offsets = [0.0, *accumulate(steps)]
    low = heights[column[0]] / 2
    high = height - heights[column[-1]] / 2 - offsets[-1]
    free = isotonic([t - o for t, o in zip(targets, offsets, strict=True)], weights)
    return [min(max(z, low), max(high, low)) + o for z, o in zip(free, offsets, strict=True)]


def isotonic(values: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The non-decreasing sequence nearest to ``values`` by weighted least squares (pool adjacent violators)."""
    blocks: list[tuple[float, float, int]] = []  # mean, weight, length
    for value, weight in zip(values, weights, strict=True):
        block = (value, weight, 1)
        while blocks and blocks[-1][0] > block[0]:
            mean, before, length = blocks.pop()
            total = before + block[1]
            block = ((mean * before + block[0] * block[1]) / total, total, length + block[2])
        blocks.append(block)
    return [mean for mean, _, length in blocks for _ in range(length)]


def _neighbours(
    columns: Sequence[Sequence[Key]], segments: Sequence[Segment[Key]]
) -> tuple[dict[Key, list[tuple[Key, float]]], dict[Key, list[tuple[Key, float]]]]:
    """(beside, within): of each item its neighbours in the columns beside, and in its own, with weights."""
    number = {key: n for n, column in enumerate(columns) for key in column}
    beside: dict[Key, list[tuple[Key, float]]] = {key: [] for key in number}
    within: dict[Key, list[tuple[Key, float]]] = {key: [] for key in number}
    for left, right, weight in segments:
        lists = within if number[left] == number[right] else beside
        lists[left].append((right, weight))
        lists[right].append((left, weight))
    return beside, within
