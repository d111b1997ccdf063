"""Retrieval quality per query: ir_measures' measures, work saved over sampling, recall curves."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kg.errors import InputError
from retrieval.ranking import Ranking

if TYPE_CHECKING:
    import ir_measures

    from retrieval.trec import Run

Qrels = Mapping[str, Mapping[str, int]]
"""Query id -> document id -> judgement; 0 and less mean not relevant, as does no judgement."""

_GREATEST = 10**9
"""Of a cut-off or a judgement that counts; more does not fit into trec_eval's numbers."""

_WSS = re.compile(r"WSS(?:\(rel=(\d+)\))?@(\d+)")


@dataclass(frozen=True)
class WSS:
    """Work saved over sampling (Cohen et al., JAMIA 2006): ``(N - k) / N - (1 - R)``.

    k is the first rank at which recall reaches R = ``recall`` percent, N the number of candidates; the first term
    is their (TN + FN) / N, the part that nobody has to read. Documents that the run does not rank come last in
    unknown order: if recall R needs one of them, all is read (k = N), which gives -(1 - R), the least value.
    ``rel``: the least judgement that counts as relevant.
    """

    recall: int = 95
    rel: int = 1

    def __str__(self) -> str:
        return f"WSS@{self.recall}" if self.rel == 1 else f"WSS(rel={self.rel})@{self.recall}"

    def value(self, ranking: Ranking, relevant: Collection[str], n_candidates: int) -> float:
        """The value for one query; 0 without a relevant document. ``InputError`` as in ``recall_curve``."""
        if not relevant:
            return 0.0
        places = _places(ranking, relevant, n_candidates)
        needed = self.needed(relevant)
        read = places[needed - 1] if needed <= len(places) else n_candidates
        return (n_candidates - read) / n_candidates - (100 - self.recall) / 100

    def needed(self, relevant: Collection[str]) -> int:
        """How many of the relevant documents make up the recall."""
        return -(-self.recall * len(set(relevant)) // 100)  # in whole numbers, as a float may be just above one

    def unreached(self, run: Run, qrels: Qrels) -> dict[str, bool]:
        """Of each query with a relevant document, whether its ranking ends before the recall is reached, so that all
        counts as read."""
        relevant = {query: found for query, own in qrels.items() if (found := _relevant(own, self))}
        ranked = {query: set(run[query].ids) if query in run else set() for query in relevant}
        return {query: len(ranked[query] & found) < self.needed(found) for query, found in relevant.items()}


def parse_measure(name: str) -> ir_measures.Measure | WSS:
    """The measure that ``name`` means: ``R@20``, ``P@10``, ``nDCG@10``, ``RR``, ``RR@10``, ``AP``, ``WSS@95``.

    The spelling is ir_measures' and so, but for ``WSS``, are the measures, as far as trec_eval computes them (and
    ``RR@k``). ``P(rel=2)@10``: only judgements of 2 and more count as relevant. nDCG is trec_eval's, its gains the
    judgements themselves.

    Raises:
        InputError: another name, a missing or wrong cut-off or parameter.
    """
    import ir_measures

    if match := _WSS.fullmatch(name):
        wss = WSS(int(match[2]), int(match[1] or 1))
        if 1 <= wss.recall <= 100 and wss.rel >= 1:
            return wss
    try:
        measure = ir_measures.parse_measure(name)
        known = ir_measures.pytrec_eval.supports(measure) or ir_measures.msmarco.supports(measure)
        # Counts are no quality, other gains may be negative (see ``_by_ir_measures``), True is a number to Python.
        supported = known and not (str(measure).startswith("Num") or "gains" in measure.params)
        limits = [measure.params.get(key, 1) for key in ("cutoff", "rel")]
        supported = supported and all(not isinstance(limit, bool) and 1 <= limit <= _GREATEST for limit in limits)
    except (ValueError, NameError, AssertionError, TypeError):
        supported = False
    if not supported:
        raise InputError(
            f"{name!r} is no measure known here; take one such as R@20, P(rel=2)@10, nDCG@10, RR@10, AP or WSS@95."
        )
    return measure


def applies(qrels: Qrels, name: str) -> bool:
    """Whether any query has a document that the measure counts as relevant. Raises as ``parse_measure``."""
    measure = parse_measure(name)
    return any(_relevant(own, measure) for own in qrels.values())


def canonical(name: str) -> str:
    """The one spelling of a measure: ``nDCG@10`` for ``NDCG@10``, ``RR`` for ``MRR``. Raises as ``parse_measure``."""
    return str(parse_measure(name))


def cutoff(name: str) -> int | None:
    """The rank where the measure ``name`` ends; None where it looks at whole rankings. Raises as ``parse_measure``."""
    measure = parse_measure(name)
    return None if isinstance(measure, WSS) else measure.params.get("cutoff")


def evaluate(
    run: Run,
    qrels: Qrels,
    measures: Sequence[str],
    queries: Iterable[str] | None = None,
    *,
    n_candidates: int | Mapping[str, int] | None = None,
) -> dict[str, dict[str, float]]:
    """Measure, named as in ``measures``, -> query -> value, queries in the order given.

    Without ``queries`` each measure takes those of ``qrels`` that have a document relevant to it (judged at least
    its ``rel``, 1 where it has none); the others are left out. Given ``queries`` are all taken, and one without a
    relevant document counts 0. In both cases one without results counts 0, queries that only the run has are left
    out, and the order is that of each ``Ranking``: scores are not looked at, so ties are not broken anew.
    ``n_candidates`` (of all queries, or per query) is needed by ``WSS`` alone.

    Raises:
        InputError: an unknown measure, a given query that ``qrels`` does not hold, a document twice in a ranking,
            ``WSS`` without a number of candidates or with one below the documents ranked or relevant.
    """
    if isinstance(measures, str):
        raise InputError(f"Measures are one string, {measures!r}; give a list of names.")
    parsed = {name: parse_measure(name) for name in measures}
    given = None if queries is None else list(dict.fromkeys(queries))
    for query in given or ():
        if query not in qrels:
            raise InputError(f"Query {query} has no judgements; leave it out, or read the judgements of its split.")
    chosen = {
        name: given if given is not None else [query for query in qrels if _relevant(qrels[query], measure)]
        for name, measure in parsed.items()
    }
    wanted = dict.fromkeys(query for some in chosen.values() for query in some)
    for query in wanted:
        if query in run and len(set(run[query].ids)) < len(run[query]):
            raise InputError(f"The ranking of query {query} holds a document twice; keep its best place.")
    judged = {query: qrels[query] for query in wanted}
    others = dict.fromkeys(measure for measure in parsed.values() if not isinstance(measure, WSS))
    by_trec_eval = _by_ir_measures(run, judged, others)
    values: dict[str, dict[str, float]] = {}
    for name, measure in parsed.items():
        if isinstance(measure, WSS):
            values[name] = {
                query: measure.value(
                    run.get(query, Ranking((), ())), _relevant(qrels[query], measure), _size(n_candidates, query)
                )
                for query in chosen[name]
            }
        else:
            values[name] = {query: by_trec_eval.get((measure, query), 0.0) for query in chosen[name]}
    return values


def recall_curve(ranking: Ranking, relevant: Collection[str], n_candidates: int) -> NDArray[np.float64]:
    """Recall after each rank, [n_candidates]; index 0 is rank 1.

    Relevant documents that ``ranking`` lacks count as found at the last rank only, as for ``WSS``: the curve is a
    lower bound for every order in which the rest might be read.

    Raises:
        InputError: nothing relevant, a document twice, or fewer candidates than documents ranked or relevant.
    """
    if not relevant:
        raise InputError("Recall is undefined, as no document is relevant; leave the query out.")
    curve = np.zeros(n_candidates)
    for place in _places(ranking, relevant, n_candidates):
        curve[place - 1] = 1
    curve = np.cumsum(curve) / len(set(relevant))
    curve[-1] = 1
    return curve


def _places(ranking: Ranking, relevant: Collection[str], n_candidates: int) -> list[int]:
    """Ranks, from 1, of the relevant documents that are ranked."""
    ids, wanted = set(ranking.ids), set(relevant)
    if len(ids) < len(ranking):
        raise InputError("The ranking holds a document twice; keep its best place.")
    if len(ids | wanted) > n_candidates:
        raise InputError(
            f"There are {n_candidates} candidates, but {len(ids | wanted)} documents are ranked or relevant; "
            "give the number of all that could be found."
        )
    return [place for place, document in enumerate(ranking.ids, start=1) if document in wanted]


def _relevant(judgements: Mapping[str, int], measure: ir_measures.Measure | WSS) -> set[str]:
    rel = measure.rel if isinstance(measure, WSS) else measure.params.get("rel", 1)
    return {document for document, judgement in judgements.items() if judgement >= rel}


def _size(n_candidates: int | Mapping[str, int] | None, query: str) -> int:
    size = n_candidates.get(query) if isinstance(n_candidates, Mapping) else n_candidates
    if size is None:
        raise InputError(f"WSS needs the number of candidates of query {query}; give n_candidates.")
    return size


def _by_ir_measures(
    run: Run, qrels: Qrels, measures: Collection[ir_measures.Measure]
) -> dict[tuple[ir_measures.Measure, str], float]:
    """(measure, query) -> value; without those queries whose value is 0 for want of documents, found or relevant."""
    import ir_measures

    # pytrec_eval hangs on a query judged below 0 only, and gives wrong values after one without judgements.
    judged = {
        query: {document: max(judgement, 0) for document, judgement in some.items()}
        for query, some in qrels.items()
        if query in run and run[query].ids and any(judgement > 0 for judgement in some.values())
    }
    if not measures or not judged:
        return {}
    # trec_eval sorts by score as a 32-bit float, exact for whole numbers below 2^24.
    scored = {query: dict(zip(run[query].ids, range(len(run[query]), 0, -1), strict=True)) for query in judged}
    results = ir_measures.iter_calc(list(measures), judged, scored)
    return {(metric.measure, metric.query_id): float(metric.value) for metric in results}
