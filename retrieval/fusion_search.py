"""Many weightings of one fusion on the same judged queries, each part asked once per batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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

Weights = Mapping[str, float]


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
    """Measure -> per setting: query -> value. ``settings``: weights of ``parts`` by name, as ``HybridScorer`` has them.

    Raises:
        InputError: weights that a fusion cannot have, an unknown measure, or work saved over sampling.
    """
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
            found = evaluate(retriever.retrieve(batch, depth, unit), judged, measures, judged)
            for measure, own in found.items():
                values[measure][number].update(own)
    return values


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
    return one.shape == other.shape and bool((one == other).all())


class _Weighted:
    """A fusion whose weights may be changed between questions."""

    def __init__(self, parts: Mapping[str, Scorer]) -> None:
        self._parts = parts
        self.weights: Weights = dict.fromkeys(parts, 1.0)

    def score(self, texts: Sequence[str], usable: Tensor | None = None) -> Tensor:
        """As ``Scorer``; parts of weight 0 are not asked."""
        weights = {name: weight for name, weight in self.weights.items() if weight}
        return HybridScorer({name: self._parts[name] for name in weights}, weights).score(texts, usable)
