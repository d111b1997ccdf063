"""Many weightings of one fusion on the same judged queries, each part asked once per batch."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product

import torch
from torch import Tensor

from kg.errors import InputError
from kg.lateral import LateralGraph
from kg.protocols import Track, no_track
from retrieval.hybrid import HybridScorer
from retrieval.measures import WSS, Qrels, cutoff, evaluate, parse_measure
from retrieval.queries import Query
from retrieval.retriever import Retriever, Scorer, Unit

BATCH = 64
LONGEST = 1000
"""Ranks that a measure without a cut-off sees."""

MOST = 10_000
"""Settings that are tried at the most."""

LEAST, GREATEST = 1e-6, 1e6
"""Of a weight that is not 0: sums of 32-bit scores times weights keep away from 0 and infinity."""

Weights = Mapping[str, float]


def combinations(weights: Mapping[str, Sequence[float]]) -> list[dict[str, float]]:
    """All settings with one of the ``weights`` of each part, the first weights first; none all zero, none twice.

    Raises:
        InputError: no part, a weight that is neither 0 nor between ``LEAST`` and ``GREATEST``, nothing but zeros, or
            more than ``MOST`` settings.
    """
    if not weights:
        raise InputError("There is nothing to fuse; name at least one method with its weights.")
    distinct = {name: list(dict.fromkeys(own)) for name, own in weights.items()}
    for name, own in distinct.items():
        for weight in own:
            if weight != 0 and not LEAST <= weight <= GREATEST:
                raise InputError(
                    f"A weight of {name} is {weight:g}; it must be 0 or between {LEAST:g} and {GREATEST:,.0f}, as only "
                    "what weights are to each other counts."
                )
    if (number := math.prod(map(len, distinct.values()))) > MOST:
        raise InputError(
            f"The weights make {number:,} settings, and at most {MOST:,} are tried; give fewer weights to each method."
        )
    settings = [dict(zip(distinct, chosen, strict=True)) for chosen in product(*distinct.values())]
    if not (settings := [setting for setting in settings if any(setting.values())]):
        raise InputError("All weights are 0; give at least one that is not.")
    if not any(own[0] for own in distinct.values()):
        raise InputError("The first weights are all 0, and make the setting to compare with; put another one first.")
    return settings


def fusion_values(
    graph: LateralGraph,
    parts: Mapping[str, Scorer],
    settings: Sequence[Weights],
    queries: Sequence[Query],
    qrels: Qrels,
    measures: Sequence[str],
    unit: Unit = "document",
    track: Track = no_track,
) -> dict[str, list[dict[str, float]]]:
    """Measure -> per setting: query -> value, of queries with a document that every measure counts as relevant.

    ``settings``: weights of ``parts`` by name, as ``HybridScorer`` has them.

    Raises:
        InputError: weights that a fusion cannot have, no measure, an unknown one, work saved over sampling, or measures
            that no query has a relevant document for.
    """
    if not measures:
        raise InputError("There is nothing to choose by; name at least one measure.")
    asked = {name: _AsksOnce(part) for name, part in parts.items()}
    fusion = _Weighted(asked)
    retriever = Retriever(graph, fusion)
    for measure in measures:
        if isinstance(parse_measure(measure), WSS):
            raise InputError(f"{measure} looks at all candidates, not at a ranking; take one such as R@200 or AP.")
    depth = max(cutoff(measure) or LONGEST for measure in measures)
    values: dict[str, list[dict[str, float]]] = {measure: [{} for _ in settings] for measure in measures}
    batches = [queries[start : start + BATCH] for start in range(0, len(queries), BATCH)]
    for batch in track(batches, len(batches), "weighing"):
        judged = {query.query_id: qrels[query.query_id] for query in batch}
        for number, weights in enumerate(settings):
            fusion.weights = weights
            found = evaluate(retriever.retrieve(batch, depth, unit), judged, measures)
            for measure, own in found.items():
                values[measure][number].update(own)
    return _of_common_queries(values)


def _of_common_queries(values: dict[str, list[dict[str, float]]]) -> dict[str, list[dict[str, float]]]:
    """Values of the queries that every measure has one for: those with a document that it counts as relevant."""
    for measure, own in values.items():
        if not own[0]:
            raise InputError(f"{measure} counts no document of these queries as relevant; take another measure.")
    common = set.intersection(*(set(own[0]) for own in values.values()))
    if not common:
        raise InputError(f"No query has a document that each of {', '.join(values)} counts as relevant; take fewer.")
    return {
        measure: [{query: value for query, value in setting.items() if query in common} for setting in own]
        for measure, own in values.items()
    }


class _AsksOnce:
    """A scorer that remembers its answer to the texts and mask it was asked last."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer
        self._last: tuple[tuple[str, ...], Tensor | None, Tensor] | None = None

    def score(self, texts: Sequence[str], usable: Tensor | None = None) -> Tensor:
        """As ``Scorer``."""
        if self._last is None or self._last[0] != tuple(texts) or not _same(self._last[1], usable):
            self._last = tuple(texts), usable, self._scorer.score(texts, usable)
        return self._last[2]


def _same(one: Tensor | None, other: Tensor | None) -> bool:
    if one is None or other is None:
        return one is other
    return torch.equal(one, other)


class _Weighted:
    """A fusion whose weights may be changed between questions."""

    def __init__(self, parts: Mapping[str, Scorer]) -> None:
        self._parts = parts
        self.weights: Weights = dict.fromkeys(parts, 1.0)

    def score(self, texts: Sequence[str], usable: Tensor | None = None) -> Tensor:
        """As ``Scorer``; parts of weight 0 are not asked."""
        weights = {name: weight for name, weight in self.weights.items() if weight}
        return HybridScorer({name: self._parts[name] for name in weights}, weights).score(texts, usable)
