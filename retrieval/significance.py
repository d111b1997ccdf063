"""How sure a mean or a difference is, when queries that share relevant documents are not independent.

Values are per query (``retrieval.measures.evaluate``); the independent units are clusters of queries. Whatever the
order of a mapping, the result is the same; ``seed`` decides all chance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from kg.errors import InputError
from retrieval.measures import Qrels

FEW = 20
"""Below so many independent units no interval is given, and tests are exact."""

_BLOCK = 4_000_000
_Key = TypeVar("_Key")


@dataclass(frozen=True)
class Interval:
    """A mean over ``n`` queries in ``n_clusters`` clusters; ``low`` and ``high`` are None where these are too few."""

    mean: float
    low: float | None
    high: float | None
    n: int
    n_clusters: int


def clusters(qrels: Qrels, rel: int = 1) -> dict[str, int]:
    """Query id -> number of its cluster: queries linked, over any number of steps, by shared relevant documents.

    A document is relevant if judged ``rel`` or more. Clusters are numbered from 0 by their least query id; a query
    without a relevant document is a cluster of its own.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    queries = sorted(qrels)
    documents: dict[str, int] = {}
    pairs = [
        (row, len(queries) + documents.setdefault(document, len(documents)))
        for row, query in enumerate(queries)
        for document, judgement in qrels[query].items()
        if judgement >= rel
    ]
    size = len(queries) + len(documents)
    rows, columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    graph = coo_array((np.ones(len(pairs)), (rows, columns)), shape=(size, size))
    _, labels = connected_components(graph, directed=False)
    numbers: dict[int, int] = {}
    return {query: numbers.setdefault(int(labels[row]), len(numbers)) for row, query in enumerate(queries)}


def cluster_bootstrap(
    values: Mapping[str, float],
    clusters: Mapping[str, int] | None = None,
    *,
    level: float = 0.95,
    samples: int = 10_000,
    seed: int = 0,
) -> Interval:
    """Mean of ``values`` over queries, with the BCa bootstrap interval of whole clusters resampled.

    Each resample draws as many clusters as there are and takes the ratio of the sum of their values to the number
    of their queries. Bias-corrected and accelerated (Efron, JASA 1987), with the jackknife over clusters, since
    measures near 0 or 1 are skewed: percentile intervals there miss mostly on one side. Fewer than ``FEW`` clusters,
    hence also fewer queries, give no interval. ``clusters`` may hold further queries; None: each query is its own.

    Raises:
        InputError: no values, one that is not finite, a query without a cluster, a level outside (0, 1).
    """
    if not 0 < level < 1 or samples < 1:
        raise InputError(f"The level is {level} with {samples} samples; it must be in (0, 1), with 1 sample or more.")
    sums, sizes = _cluster_sums(values, clusters)
    mean, n = math.fsum(values.values()) / len(values), len(values)
    if len(sums) < FEW:
        return Interval(mean, None, None, n, len(sums))
    if len(set(values.values())) == 1:
        mean = next(iter(values.values()))
        return Interval(mean, mean, mean, n, len(sums))
    rng = np.random.default_rng(seed)
    blocks = []
    for block in _blocks(samples, len(sums)):
        drawn = rng.integers(len(sums), size=(block, len(sums)))
        blocks.append(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))
    low, high = bca(np.concatenate(blocks), mean, (sums.sum() - sums) / (sizes.sum() - sizes), level)
    return Interval(mean, low, high, n, len(sums))


def paired_randomisation(
    a: Mapping[str, float],
    b: Mapping[str, float],
    clusters: Mapping[str, int] | None = None,
    *,
    samples: int = 10_000,
    seed: int = 0,
) -> float:
    """Two-sided p that the means of ``a`` and ``b`` differ: for each cluster as a whole, which is which is drawn.

    p = (1 + k) / (1 + samples), k of the draws being as extreme as what was observed (Smucker, Allan and Carterette,
    CIKM 2007). If fewer than ``FEW`` clusters differ, all ways are counted instead (``sign_flip_exact``).

    Raises:
        InputError: no values, one that is not finite, other queries in ``a`` than in ``b``, a query without cluster.
    """
    if a.keys() != b.keys():
        query = min(a.keys() ^ b.keys())
        raise InputError(f"Query {query} has a value on one side only; compare over the same queries.")
    if samples < 1:
        raise InputError(f"There are {samples} samples; take 1 or more.")
    sums, _ = _cluster_sums({query: a[query] - b[query] for query in a}, clusters)
    sums = sums[sums != 0]
    if len(sums) < FEW:
        return sign_flip_exact(sums.tolist())
    rng = np.random.default_rng(seed)
    least = _least_extreme(sums)
    extreme = 0
    for block in _blocks(samples, len(sums)):
        kept = rng.integers(0, 2, size=(block, len(sums)), dtype=np.int8)
        extreme += int((np.abs(2 * (kept @ sums) - sums.sum()) >= least).sum())
    return (1 + extreme) / (1 + samples)


def sign_flip_exact(differences: Sequence[float]) -> float:
    """Two-sided p of a mean difference of zero, from all 2^n ways to give the n ``differences`` a sign.

    Differences of zero change nothing and are left aside; sums that differ by rounding alone count as equal; without
    any difference p is 1.

    Raises:
        InputError: a difference that is not finite; ``FEW`` or more that are not zero.
    """
    nonzero = np.array([d for d in differences if d != 0], dtype=np.float64)
    if not np.isfinite(nonzero).all():
        raise InputError("A difference is not finite; give one number per query or cluster.")
    if len(nonzero) >= FEW:
        raise InputError(
            f"There are {len(nonzero)} differences, too many to try all signs; from {FEW} on use paired_randomisation."
        )
    totals = np.zeros(1)
    for difference in nonzero:
        totals = np.concatenate([totals + difference, totals - difference])
    return float((np.abs(totals) >= _least_extreme(nonzero)).mean())


def holm(p_values: Mapping[_Key, float]) -> dict[_Key, float]:
    """p values adjusted for their number (Holm, Scand. J. Statist. 1979), in the order given.

    Those at most a level may be called significant together: the chance of any false one is at most the level.
    ``InputError`` for a p outside [0, 1].
    """
    for key, p in p_values.items():
        if not 0 <= p <= 1:
            raise InputError(f"The p value of {key} is {p}; it must be in [0, 1].")
    adjusted: dict[_Key, float] = {}
    highest = 0.0
    for rank, key in enumerate(sorted(p_values, key=lambda key: p_values[key])):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[key]))
        adjusted[key] = highest
    return {key: adjusted[key] for key in p_values}


def _cluster_sums(
    values: Mapping[str, float], clusters: Mapping[str, int] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum of values and number of queries of each cluster, clusters in the order of their least query id."""
    if not values:
        raise InputError("There are no values; at least one query is needed.")
    queries = sorted(values)
    for query in queries:
        if not math.isfinite(values[query]):
            raise InputError(f"The value of query {query} is {values[query]}; it must be finite.")
        if clusters is not None and query not in clusters:
            raise InputError(f"Query {query} has no cluster; make the clusters from judgements that hold it.")
    numbers: dict[int, int] = {}
    rows = [
        row if clusters is None else numbers.setdefault(clusters[query], len(numbers))
        for row, query in enumerate(queries)
    ]
    sums = np.bincount(rows, weights=[values[query] for query in queries])
    return sums.astype(np.float64), np.bincount(rows).astype(np.float64)


def _blocks(samples: int, width: int) -> list[int]:
    """Numbers of samples that are drawn at once, so that memory stays bounded."""
    block = max(1, _BLOCK // width)
    return [min(block, samples - start) for start in range(0, samples, block)]


def bca(means: NDArray[np.float64], mean: float, jackknife: NDArray[np.float64], level: float) -> tuple[float, float]:
    """Bounds of the bias-corrected and accelerated interval (Efron 1987) of a ``mean``, from bootstrap ``means`` and
    the leave-one-out values ``jackknife``."""
    from scipy.special import ndtr, ndtri

    below = ((means < mean).mean() + (means <= mean).mean()) / 2
    bias = ndtri(np.clip(below, 0.5 / len(means), 1 - 0.5 / len(means)))
    spread = jackknife.mean() - jackknife
    square = (spread**2).sum()
    acceleration = (spread**3).sum() / (6 * square**1.5) if square > 0 else 0.0
    z = bias + ndtri([(1 - level) / 2, (1 + level) / 2])
    low, high = np.quantile(means, ndtr(bias + z / np.maximum(1 - acceleration * z, 1e-9)))
    return float(low), float(high)


def _least_extreme(differences: NDArray[np.float64]) -> float:
    """The absolute sum observed, less what the order of adding may change in it."""
    return float(abs(differences.sum()) - 1e-10 * np.abs(differences).sum())
