"""What a setting chosen on some queries is worth on others: cross-fitting over random halves of clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kg.errors import InputError
from retrieval.significance import Interval, cluster_bootstrap, paired_randomisation


@dataclass(frozen=True)
class CrossFit:
    """``held_out_values``: measure -> query -> mean value of what was chosen on the half without it, over all
    divisions; ``held_out``: their mean over queries; ``best``: the highest mean of each measure by itself when chosen
    and reported on all queries; ``fixed_values`` and ``fixed``: of the setting given; ``chosen``: setting -> in how
    many of the halves it was chosen, most often first."""

    held_out_values: Mapping[str, Mapping[str, float]]
    held_out: Mapping[str, float]
    best: Mapping[str, float]
    fixed_values: Mapping[str, Mapping[str, float]]
    fixed: Mapping[str, float]
    chosen: Mapping[int, int]
    halves: int


@dataclass(frozen=True)
class Advantage:
    """Mean over queries of what was held out less the fixed setting; ``p`` of the paired randomisation test."""

    difference: Interval
    p: float


def advantage(found: CrossFit, clusters: Mapping[str, int]) -> dict[str, Advantage]:
    """Measure -> of the choice over the fixed setting. ``clusters``: query id -> number, as in ``cross_fit``."""
    made = {}
    for measure, own in found.held_out_values.items():
        fixed = found.fixed_values[measure]
        difference = cluster_bootstrap({query: own[query] - fixed[query] for query in own}, clusters)
        made[measure] = Advantage(difference, paired_randomisation(own, fixed, clusters))
    return made


MOST = 10_000
"""Divisions at the most; a hundred tell nearly as much."""


def check_divisible(n_clusters: int, halvings: int) -> None:
    """Raise ``InputError`` for fewer than two clusters, less than one halving, or more than ``MOST``."""
    if halvings > MOST:
        raise InputError(f"The queries are to be divided {halvings:,} times; divide them {MOST:,} times at the most.")
    if n_clusters < 2 or halvings < 1:
        raise InputError(
            f"The number of clusters of queries is {n_clusters}, to be divided {halvings} times; halves need 2 "
            "clusters and 1 division, or more."
        )


def cross_fit(
    values: Mapping[str, Sequence[Mapping[str, float]]],
    clusters: Mapping[str, int],
    fixed: int = 0,
    *,
    halvings: int = 100,
    seed: int = 0,
) -> CrossFit:
    """Choose a setting by the sum of all measures on one half of the clusters, report on the other, and vice versa.

    ``values``: measure -> per setting: query -> value, all over the same queries. Clusters are divided whole, at
    random, ``halvings`` times; equal sums go to the earlier setting, so the one to prefer should come first.

    Raises:
        InputError: no setting; as ``check_divisible``.
    """
    measures = list(values)
    if not measures or not values[measures[0]]:
        raise InputError("There is nothing to choose from; give at least one setting and one measure.")
    queries = sorted(values[measures[0]][0])
    table = np.array([[[own[query] for query in queries] for own in values[name]] for name in measures])
    number = {cluster: n for n, cluster in enumerate(sorted({clusters[query] for query in queries}))}
    owner = np.array([number[clusters[query]] for query in queries])
    check_divisible(len(number), halvings)
    rng = np.random.default_rng(seed)
    ahead = table - table[:, [fixed]]  # so that a choice no better or worse than the fixed one adds nothing at all
    gained = np.zeros((len(measures), len(queries)))
    chosen: Counter[int] = Counter()
    for _ in range(halvings):
        side = np.zeros(len(number), dtype=bool)
        side[rng.permutation(len(number))[: len(number) // 2]] = True
        for part in (side[owner], ~side[owner]):
            setting = int(table[:, :, part].mean(axis=2).sum(axis=0).argmax())
            chosen[setting] += 1
            gained[:, ~part] += ahead[:, setting, ~part]
    held_out = table[:, fixed] + gained / halvings
    means = table.mean(axis=2)

    def by_measure(numbers: NDArray[np.float64]) -> dict[str, float]:
        return dict(zip(measures, numbers.tolist(), strict=True))

    def by_query(numbers: NDArray[np.float64]) -> dict[str, dict[str, float]]:
        return {
            name: dict(zip(queries, own.tolist(), strict=True)) for name, own in zip(measures, numbers, strict=True)
        }

    return CrossFit(
        by_query(held_out),
        by_measure(held_out.mean(axis=1)),
        by_measure(means.max(axis=1)),
        by_query(table[:, fixed]),
        by_measure(means[:, fixed]),
        dict(sorted(chosen.items(), key=lambda item: (-item[1], item[0]))),
        2 * halvings,
    )
