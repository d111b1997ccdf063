"""What a setting chosen on some queries is worth on others: cross-fitting over random halves of clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kg.errors import InputError


@dataclass(frozen=True)
class CrossFit:
    """``held_out``: mean of each measure over queries that took no part in choosing, over all halves; ``best``: the
    highest mean of each measure by itself when chosen and reported on all queries; ``fixed``: means of the setting
    given; ``chosen``: setting -> in how many of the halves it was chosen, most often first."""

    held_out: Mapping[str, float]
    best: Mapping[str, float]
    fixed: Mapping[str, float]
    chosen: Mapping[int, int]
    halves: int


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
        InputError: no setting, fewer than two clusters, or less than one halving.
    """
    measures = list(values)
    if not measures or not values[measures[0]]:
        raise InputError("There is nothing to choose from; give at least one setting and one measure.")
    queries = sorted(values[measures[0]][0])
    table = np.array([[[own[query] for query in queries] for own in values[name]] for name in measures])
    number = {cluster: n for n, cluster in enumerate(sorted({clusters[query] for query in queries}))}
    owner = np.array([number[clusters[query]] for query in queries])
    if len(number) < 2 or halvings < 1:
        raise InputError(f"There are {len(number)} clusters and {halvings} halvings; take 2 and 1, or more.")
    rng = np.random.default_rng(seed)
    totals = np.zeros(len(measures))
    chosen: Counter[int] = Counter()
    for _ in range(halvings):
        side = np.zeros(len(number), dtype=bool)
        side[rng.permutation(len(number))[: len(number) // 2]] = True
        for part in (side[owner], ~side[owner]):
            setting = int(table[:, :, part].mean(axis=2).sum(axis=0).argmax())
            chosen[setting] += 1
            totals += table[:, setting, ~part].mean(axis=1)
    means = table.mean(axis=2)
    return CrossFit(
        dict(zip(measures, (totals / (2 * halvings)).tolist(), strict=True)),
        dict(zip(measures, means.max(axis=1).tolist(), strict=True)),
        dict(zip(measures, means[:, fixed].tolist(), strict=True)),
        dict(sorted(chosen.items(), key=lambda item: (-item[1], item[0]))),
        2 * halvings,
    )
