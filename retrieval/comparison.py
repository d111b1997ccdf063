"""Methods beside each other on one set of judgements: means with intervals, and tests against a baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kg.errors import InputError
from retrieval.measures import WSS, Qrels, evaluate, parse_measure
from retrieval.significance import Interval, cluster_bootstrap, clusters, holm, paired_randomisation
from retrieval.trec import Run

TEXT_METHODS = ("bm25", "bm25_okapi", "bm25_metasyn", "dense")
"""Methods that use nothing but texts, each alone; the best of them is the baseline unless another is named."""

SHARED = "shared relevant documents"

RANKS = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000)
"""Where recall curves are read."""


@dataclass(frozen=True)
class Difference:
    """Mean of a method less that of the baseline; ``p`` of the paired randomisation test, ``adjusted`` by Holm."""

    mean: float
    p: float
    adjusted: float


@dataclass(frozen=True)
class Quality:
    """One method on one set of judgements: measure -> query -> value, and mean recall at each of ``RANKS``.

    ``ended``: of each ``WSS`` measure, the lengths of the rankings that end before its recall is reached.
    """

    values: Mapping[str, Mapping[str, float]]
    recall: Mapping[int, float]
    ended: Mapping[str, Sequence[int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """All methods on one set of judgements.

    ``values``: method -> measure -> query -> value; ``intervals``: method -> measure -> mean with interval;
    ``differences``: measure -> method (all but ``baseline``) -> difference, empty without a baseline;
    ``recall``: method -> rank of ``RANKS`` -> mean recall. ``n_clusters`` of queries that are
    drawn together, by what ``clustered_by`` says.
    """

    name: str
    measures: tuple[str, ...]
    values: Mapping[str, Mapping[str, Mapping[str, float]]]
    intervals: Mapping[str, Mapping[str, Interval]]
    baseline: str | None
    differences: Mapping[str, Mapping[str, Difference]]
    recall: Mapping[str, Mapping[int, float]]
    n_queries: int
    n_clusters: int
    clustered_by: str = SHARED

    @property
    def methods(self) -> tuple[str, ...]:
        """In the order they were given."""
        return tuple(self.values)


def assess(
    run: Run,
    qrels: Qrels,
    measures: Sequence[str],
    *,
    n_candidates: Mapping[str, int] | None = None,
    depth: int = RANKS[-1],
) -> Quality:
    """Evaluate a run. ``depth``: length of its rankings, where the recall curve ends.

    Raises:
        InputError: no measure; as ``measures.evaluate``.
    """
    if not measures:
        raise InputError("There is nothing to measure; name at least one measure.")
    values = evaluate(run, qrels, measures, n_candidates=n_candidates)
    ranks = [rank for rank in RANKS if rank <= depth]
    found = evaluate(run, qrels, [f"R@{rank}" for rank in ranks])
    recall = {rank: sum(own.values()) / len(own) for rank, own in zip(ranks, found.values(), strict=True)}
    ended = {
        name: [len(run.get(query, ())) for query, early in measure.unreached(run, qrels).items() if early]
        for name in measures
        if isinstance(measure := parse_measure(name), WSS)
    }
    return Quality(values, recall, ended)


def work_remarks(name: str, qualities: Mapping[str, Quality], depth: int | None) -> Iterator[str]:
    """Where ``WSS`` counts all as read, as rankings end too early: those that ``depth`` cut (None: it cut none), and
    those that are shorter, as the method finds no more. ``qualities`` by method, ``name`` that of the judgements."""
    for measure in dict.fromkeys(measure for quality in qualities.values() for measure in quality.ended):
        cut: list[str] = []
        short: list[str] = []
        for method, quality in qualities.items():
            lengths = quality.ended.get(measure, ())
            n_cut, n = sum(length == depth for length in lengths), len(quality.values[measure])
            cut += [f"{method} in {n_cut:,} of {n:,} queries"] if n_cut else []
            short += [f"{method} in {len(lengths) - n_cut:,} of {n:,} queries"] if len(lengths) > n_cut else []
        if cut:
            yield (
                f"{name}: {measure} counts all as read where --top_n {depth} ends a ranking before its recall is "
                f"reached: {', '.join(cut)}; leave --top_n out to rank everything."
            )
        if short:
            yield (
                f"{name}: {measure} counts all as read where a method finds too few to reach its recall: "
                f"{', '.join(short)}."
            )


def compare(
    name: str,
    qualities: Mapping[str, Quality],
    qrels: Qrels,
    baseline: str | None = None,
    *,
    groups: Mapping[str, int] | None = None,
    clustered_by: str = SHARED,
) -> Comparison:
    """Methods assessed on the same ``qrels`` with the same measures, side by side.

    Queries of one cluster are drawn together: ``groups`` by query id, made as ``clustered_by`` says; if None, those
    that share relevant documents (``significance.clusters``). The default baseline is the text method
    (``TEXT_METHODS``) with the highest mean of the first measure. Holm's correction is over the methods, for each
    measure by itself.

    Raises:
        InputError: no method, or a baseline that is none of them.
    """
    if not qualities:
        raise InputError("There is nothing to compare; name at least one method.")
    if baseline is not None and baseline not in qualities:
        raise InputError(f"The baseline {baseline!r} is none of the methods {', '.join(qualities)}; add it to them.")
    values = {method: quality.values for method, quality in qualities.items()}
    measures = tuple(next(iter(values.values())))
    if groups is None:
        groups = clusters(qrels)
    intervals = {
        method: {measure: cluster_bootstrap(own, groups) for measure, own in by_measure.items()}
        for method, by_measure in values.items()
    }
    if baseline is None:
        texts = [method for method in qualities if method in TEXT_METHODS]
        baseline = max(texts, key=lambda method: intervals[method][measures[0]].mean, default=None)
    differences = {} if baseline is None else _differences(values, baseline, measures, groups)
    recall = {method: quality.recall for method, quality in qualities.items()}
    n_clusters = len({groups[query] for query in qrels})
    return Comparison(
        name, measures, values, intervals, baseline, differences, recall, len(qrels), n_clusters, clustered_by
    )


def _differences(
    values: Mapping[str, Mapping[str, Mapping[str, float]]],
    baseline: str,
    measures: Sequence[str],
    groups: Mapping[str, int],
) -> dict[str, dict[str, Difference]]:
    made: dict[str, dict[str, Difference]] = {}
    for measure in measures:
        base = values[baseline][measure]
        others = {method: own[measure] for method, own in values.items() if method != baseline}
        p = {method: paired_randomisation(own, base, groups) for method, own in others.items()}
        adjusted = holm(p)
        made[measure] = {
            method: Difference(
                sum(own[query] - base[query] for query in sorted(base)) / len(base), p[method], adjusted[method]
            )
            for method, own in others.items()
        }
    return made
