"""How well a partition of mentions into entities fits the gold one: pairwise, B-cubed, CEAF-e, false merges, chains.

Everything is read off the contingency table of predicted against gold clusters, of which only the cells that hold a
mention are kept: time and memory grow with the number of mentions, not with its square. CEAF-e alone solves an
assignment, one for each set of clusters that share mentions.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from kg.errors import InputError
from retrieval.significance import FEW, Interval, bca

CHAIN = 3
"""A predicted cluster with mentions of so many gold clusters or more is a chain: it was not one wrong step."""

_BLOCK = 4_000_000
Labels = Sequence[Hashable]
"""The cluster of each mention, [n]; what the labels are does not matter, only which are equal."""
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Score:
    """Precision, recall and their harmonic mean, each in [0, 1]."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True)
class ClusterScores:
    """All measures of one partition.

    ``false_merge_rate``: share of the pairs of mentions of different gold clusters that are joined, 0 if there are no
    such pairs. ``chains``: predicted clusters with mentions of ``CHAIN`` or more gold clusters; ``chained_mentions``:
    mentions in them.
    """

    pairwise: Score
    bcubed: Score
    ceafe: Score
    false_merge_rate: float
    chains: int
    chained_mentions: int


@dataclass(frozen=True)
class F1Intervals:
    """F1, or a difference of two, with its interval; ``n`` counts mentions and ``n_clusters`` gold clusters."""

    pairwise: Interval
    bcubed: Interval


def cluster_scores(predicted: Labels, gold: Labels) -> ClusterScores:
    """The measures of ``predicted`` [n] against ``gold`` [n], n of one or more.

    - pairwise: over pairs of mentions in one cluster; precision is 1 where no pair is predicted, recall where gold has
      none.
    - B-cubed (Bagga and Baldwin, LREC 1998): for a mention, the share of its predicted cluster, and of its gold one,
      that is in both; the mean over mentions.
    - CEAF-e (Luo, HLT/EMNLP 2005): clusters aligned one to one such that the sum of phi4(K, R) = 2 |K & R| / (|K| +
      |R|) is largest; that sum over the number of predicted clusters, and of gold ones.

    Raises:
        InputError: no mentions, or sequences of different lengths.
    """
    table = _contingency(predicted, gold)
    sizes, gold_sizes = _sizes(table)
    pairwise, bcubed = (Score(*map(float, values)) for values in _ratios(_shares(table).sum(axis=0)))
    false = _pairs(sizes).sum() - _pairs(table.data).sum()
    apart = _pairs(gold_sizes.sum()) - _pairs(gold_sizes).sum()
    chained = sizes[np.diff(table.indptr) >= CHAIN]
    return ClusterScores(
        pairwise,
        bcubed,
        _ceafe(table),
        float(false / apart) if apart else 0.0,
        len(chained),
        int(chained.sum()),
    )


def f1_intervals(
    predicted: Labels, gold: Labels, *, level: float = 0.95, samples: int = 10_000, seed: int = 0
) -> F1Intervals:
    """Pairwise and B-cubed F1 with BCa bootstrap intervals, gold clusters resampled whole.

    A resample weighs what each gold cluster contributes: its pairs, its joins with others (half of each, the other half
    being the other cluster's: Binette et al., The American Statistician 2023), and its mentions' precision and recall.
    Fewer than ``FEW`` gold clusters give no interval.

    Raises:
        InputError: as ``cluster_scores``; a level outside (0, 1); no samples.
    """
    return _intervals([_shares(_contingency(predicted, gold))], level, samples, seed)


def f1_differences(
    predicted: Labels, other: Labels, gold: Labels, *, level: float = 0.95, samples: int = 10_000, seed: int = 0
) -> F1Intervals:
    """F1 of ``predicted`` less that of ``other``, with intervals as ``f1_intervals``; both see the same resamples."""
    shares = [_shares(_contingency(labels, gold)) for labels in (predicted, other)]
    return _intervals(shares, level, samples, seed)


def _contingency(predicted: Labels, gold: Labels) -> csr_array:
    """Mentions of each predicted cluster (row) that are of each gold cluster (column), as they first appear."""
    if len(predicted) != len(gold):
        raise InputError(
            f"{len(predicted):,} mentions have a predicted cluster and {len(gold):,} a gold one; give both for each."
        )
    if not len(gold):
        raise InputError("There are no mentions to score; at least one is needed.")
    rows, columns = _numbers(predicted), _numbers(gold)
    shape = (int(rows.max()) + 1, int(columns.max()) + 1)
    table = coo_array((np.ones(len(rows), dtype=np.int64), (rows, columns)), shape=shape).tocsr()
    table.sum_duplicates()
    return table


def _numbers(labels: Labels) -> NDArray[np.int64]:
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.int64)


def _sizes(table: csr_array) -> tuple[Floats, Floats]:
    """Mentions of each predicted and of each gold cluster, as floats: their squares must not overflow."""
    return table.sum(axis=1).astype(np.float64), table.sum(axis=0).astype(np.float64)


def _pairs(sizes: Floats) -> Floats:
    return sizes * (sizes - 1) / 2


def _shares(table: csr_array) -> Floats:
    """What each gold cluster adds to the sums that the measures are ratios of, [gold clusters, 6]: pairs joined
    rightly, pairs joined, pairs to join, sum of the precisions of its mentions and of their recalls, mentions."""
    sizes, gold_sizes = _sizes(table)
    cells = table.tocoo()
    own, held, column = cells.data.astype(np.float64), sizes[cells.row], cells.col
    right = _pairs(own)
    parts = (right, right + own * (held - own) / 2, own**2 / held, own**2 / gold_sizes[column])
    sums = [np.bincount(column, weights=part, minlength=len(gold_sizes)) for part in parts]
    return np.column_stack([sums[0], sums[1], _pairs(gold_sizes), sums[2], sums[3], gold_sizes])


def _ratios(sums: Floats) -> Floats:
    """Precision, recall and F1 of pairwise and B-cubed, [2, 3, ...], from sums [..., 6] of ``_shares``."""
    right, joined, together, precisions, recalls, n = np.moveaxis(sums, -1, 0)
    pairwise = _ratio(right, joined), _ratio(right, together)
    bcubed = precisions / n, recalls / n
    return np.stack([np.stack([p, r, _harmonic(p, r)]) for p, r in (pairwise, bcubed)])


def _ratio(part: Floats, whole: Floats) -> Floats:
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1), 1.0)


def _harmonic(precision: Floats, recall: Floats) -> Floats:
    return 2 * precision * recall / np.where(precision + recall > 0, precision + recall, 1)


def _ceafe(table: csr_array) -> Score:
    sizes, gold_sizes = _sizes(table)
    cells = table.tocoo()
    phi = 2 * cells.data / (sizes[cells.row] + gold_sizes[cells.col])
    # Clusters that share no mention have phi 0, so that each connected set of clusters is a problem of its own.
    rows, columns = table.shape
    graph = coo_array((phi, (cells.row, rows + cells.col)), shape=(rows + columns, rows + columns))
    _, part = connected_components(graph, directed=False)
    order = np.argsort(part[cells.row], kind="stable")
    bounds = np.flatnonzero(np.diff(part[cells.row][order])) + 1
    total = 0.0
    for own in np.split(order, bounds):
        left, right = (np.unique(numbers[own], return_inverse=True)[1] for numbers in (cells.row, cells.col))
        matrix = np.zeros((left.max() + 1, right.max() + 1))
        matrix[left, right] = phi[own]
        total += float(matrix[linear_sum_assignment(matrix, maximize=True)].sum())
    return Score(total / rows, total / columns, 2 * total / (rows + columns))


def _intervals(shares: Sequence[Floats], level: float, samples: int, seed: int) -> F1Intervals:
    """Of the F1 that ``shares`` give; of two of them, of the first less the second."""
    if not 0 < level < 1 or samples < 1:
        raise InputError(f"The level is {level} with {samples} samples; it must be in (0, 1), with 1 sample or more.")

    def values(sums: Sequence[Floats]) -> Floats:  # [2, ...], of sums [..., 6]
        first, *second = (_ratios(one)[:, 2] for one in sums)
        return first - second[0] if second else first

    totals = [one.sum(axis=0) for one in shares]
    means, n, size = values(totals), int(totals[0][5]), len(shares[0])
    if size < FEW:
        return F1Intervals(*(Interval(float(mean), None, None, n, size) for mean in means))
    drawn = np.concatenate([values([c @ one for one in shares]) for c in _counts(samples, size, seed)], axis=1)
    left_out = values([total - one for total, one in zip(totals, shares, strict=True)])
    bounds = (bca(drawn[row], float(means[row]), left_out[row], level) for row in range(2))
    return F1Intervals(*(Interval(float(m), *b, n, size) for m, b in zip(means, bounds, strict=True)))


def _counts(samples: int, size: int, seed: int) -> Iterator[Floats]:
    """How often each resample draws each of ``size`` clusters, [resamples of one block, size]; blocks bound memory."""
    rng = np.random.default_rng(seed)
    block = max(1, _BLOCK // size)
    for start in range(0, samples, block):
        rows = min(block, samples - start)
        drawn = rng.integers(size, size=(rows, size)) + size * np.arange(rows)[:, None]
        yield np.bincount(drawn.ravel(), minlength=rows * size).reshape(rows, size).astype(np.float64)
