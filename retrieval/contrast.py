"""A run beside another: by how much it changes the order, and on which questions it gains."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from retrieval.measures import Qrels
from retrieval.overlap import rank_biased_overlap
from retrieval.significance import Interval, cluster_bootstrap, holm, paired_randomisation
from retrieval.trec import Run

PERSISTENCE = 0.9
"""p of the rank-biased overlap."""

BUCKETS = {"1": 1, "2": 2, "3-5": 3, "6-20": 6, "21+": 21}
"""Numbers of relevant documents that are taken together -> the least of them."""


@dataclass(frozen=True)
class Order:
    """A run beside a reference.

    Means over queries: ``overlap``, rank-biased, of whole rankings; ``shared``, the part of the first documents that
    both have. Sums over queries: of the ``of_reference`` relevant documents among the reference's first, ``lost`` are
    not among the run's; of the run's ``of_method``, ``gained`` are not among the reference's.
    """

    overlap: Interval
    shared: Interval
    lost: int
    of_reference: int
    gained: int
    of_method: int


@dataclass(frozen=True)
class Gain:
    """Means of a measure over some queries, and the mean difference, method less reference; ``p`` of the paired
    randomisation test, ``adjusted`` by Holm.
    """

    reference: float
    method: float
    difference: Interval
    p: float
    adjusted: float


def order(run: Run, reference: Run, qrels: Qrels, clusters: Mapping[str, int], depth: int) -> Order:
    """``run`` beside ``reference`` on the queries of ``qrels``; a query that a run lacks has an empty ranking there.

    ``clusters``: query id -> number. Two empty rankings are equal. ``InputError`` without a query.
    """
    overlap: dict[str, float] = {}
    shared: dict[str, float] = {}
    lost = of_reference = gained = of_method = 0
    for query, judged in qrels.items():
        own, others = (list(some[query].ids) if query in some else [] for some in (run, reference))
        overlap[query] = rank_biased_overlap(own, others, PERSISTENCE)
        top, base = set(own[:depth]), set(others[:depth])
        shared[query] = len(top & base) / max(len(top), len(base)) if top or base else 1.0
        relevant = {document for document, judgement in judged.items() if judgement > 0}
        lost += len(base & relevant - top)
        of_reference += len(base & relevant)
        gained += len(top & relevant - base)
        of_method += len(top & relevant)
    return Order(
        cluster_bootstrap(overlap, clusters),
        cluster_bootstrap(shared, clusters),
        lost,
        of_reference,
        gained,
        of_method,
    )


def gains(
    values: Mapping[str, Mapping[str, float]],
    reference: Mapping[str, float],
    qrels: Qrels,
    clusters: Mapping[str, int],
) -> dict[str, dict[str, Gain]]:
    """Bucket -> method -> gain over the queries with so many relevant documents; Holm's correction is over them all.

    Queries without any, and buckets without a query, are left out. ``values``: method -> query -> measure,
    ``reference`` over the same queries, ``clusters``: query id -> number.
    """
    queries: dict[str, list[str]] = {bucket: [] for bucket in BUCKETS}
    for query in reference:
        n_relevant = sum(judgement > 0 for judgement in qrels[query].values())
        if n_relevant:
            queries[[bucket for bucket, least in BUCKETS.items() if n_relevant >= least][-1]].append(query)
    base = {bucket: {query: reference[query] for query in some} for bucket, some in queries.items() if some}
    own = {
        (bucket, method): {query: by_query[query] for query in some}
        for bucket, some in base.items()
        for method, by_query in values.items()
    }
    p = {key: paired_randomisation(some, base[key[0]], clusters) for key, some in own.items()}
    adjusted = holm(p)
    found: dict[str, dict[str, Gain]] = {bucket: {} for bucket in base}
    for (bucket, method), some in own.items():
        difference = cluster_bootstrap({query: some[query] - base[bucket][query] for query in some}, clusters)
        found[bucket][method] = Gain(
            math.fsum(base[bucket].values()) / len(some),
            math.fsum(some.values()) / len(some),
            difference,
            p[bucket, method],
            adjusted[bucket, method],
        )
    return found
