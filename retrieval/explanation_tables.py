"""Explanations (``retrieval.explanation``) as Markdown and as data for JSON. The same ones give the same bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from retrieval.cells import LEVEL, arrow, interval_cell, markdown_table, p_cell, queries_cell
from retrieval.contrast import PERSISTENCE, Gain
from retrieval.explanation import Explanation
from retrieval.significance import FEW
from retrieval.unrelated import DRAWS, KINDS, NO_TEXT


def explanation_json(explanations: Sequence[Explanation]) -> dict[str, Any]:
    """``{dataset: {reference, measure, depth, n_queries, n_clusters, clustered_by, order: {method: ...}, gain:
    {bucket: {method: ...}}, unrelated: {method: ...}}}``, the parts with the fields of their classes; an interval's
    bounds are null where clusters are too few.
    """
    return {
        e.name: {
            **asdict(e.config),
            "n_queries": e.n_queries,
            "n_clusters": e.n_clusters,
            "clustered_by": e.clustered_by,
            "order": {method: asdict(e.profiles[method].order) for method in e.others},
            "gain": {bucket: {m: asdict(gain) for m, gain in own.items()} for bucket, own in e.gains.items()},
            "unrelated": {method: asdict(profile.unrelated) for method, profile in e.profiles.items()},
        }
        for e in explanations
    }


def explanation_markdown(explanations: Sequence[Explanation]) -> str:
    """Three tables per dataset; two less where there is no method but the reference."""
    return "\n".join(line for e in explanations for line in _dataset(e))


def remarks(explanations: Sequence[Explanation], *, asked_alike: bool = False) -> list[str]:
    """What the tables rest on less than they seem to, one sentence each. ``asked_alike``: that the runs were asked as
    the collection says is known.
    """
    made = []
    for e in explanations:
        if e.all_judged and not asked_alike:
            made.append(
                f"{e.name}: every run ranks judged documents only, though the corpus has others; if the runs were made "
                "with --judged_only, say so here."
            )
        for method, profile in e.profiles.items():
            if profile.unrelated.n_absent:
                made.append(
                    f"{e.name}: {profile.unrelated.n_absent:,} documents that {method} ranks are not in the corpus; "
                    "which words they hold is not known."
                )
            if profile.n_short:
                made.append(
                    f"{e.name}: {profile.n_short:,} of {e.n_queries:,} rankings of {method} hold fewer than "
                    f"{e.config.depth} documents."
                )
    return made


def _dataset(e: Explanation) -> Iterator[str]:
    yield from (f"## {e.name}", "")
    counted = queries_cell(e.n_queries, e.n_clusters, e.clustered_by)
    yield f"{counted}. Mean [95 % bootstrap interval], without it below {FEW} clusters."
    yield ""
    if e.others:
        yield from _order(e)
        yield from _gain(e)
    yield from _unrelated(e)


def _order(e: Explanation) -> Iterator[str]:
    reference, depth = e.config.reference, e.config.depth
    yield from (f"### Order beside {reference}", "")
    yield (
        f"Rank-biased overlap (p = {PERSISTENCE}); part of the first {depth} documents that both have; relevant ones"
        f" among the first {depth} of {reference} that the method lacks there, and of its own that {reference} lacks."
    )
    yield ""
    orders = {method: e.profiles[method].order for method in e.others}
    rows = [
        [
            m,
            interval_cell(o.overlap),
            interval_cell(o.shared),
            _part(o.lost, o.of_reference),
            _part(o.gained, o.of_method),
        ]
        for m, o in orders.items()
    ]
    yield from (*markdown_table(["method", "overlap", "shared", "lost", "gained"], rows), "")


def _gain(e: Explanation) -> Iterator[str]:
    reference = e.config.reference
    yield from (f"### {e.config.measure} by number of relevant documents", "")
    yield (
        f"Means of {reference} and of the method compared with it, and their difference; p of the paired randomisation"
        f" test, exact where fewer than {FEW} clusters differ; p after Holm's correction over all rows: ▲ above,"
        f" ▼ below {reference} at p <= {LEVEL}."
    )
    yield ""
    header = ["relevant", "compared", "queries", "clusters", reference, "method", "difference", "p", "p (Holm)"]
    rows = [[bucket, method, *_gain_cells(gain)] for bucket, own in e.gains.items() for method, gain in own.items()]
    yield from (*markdown_table(header, rows, n_words=2), "")


def _gain_cells(gain: Gain) -> list[str]:
    d = gain.difference
    means = [f"{gain.reference:.3f}", f"{gain.method:.3f}", interval_cell(d, "+.3f", arrow(d.mean, gain.adjusted))]
    return [f"{d.n:,}", f"{d.n_clusters:,}", *means, p_cell(gain.p), p_cell(gain.adjusted)]


def _unrelated(e: Explanation) -> Iterator[str]:
    found = {method: profile.unrelated for method, profile in e.profiles.items()}
    kinds = [kind for kind in KINDS if any(sum(u.counts[kind].values()) for u in found.values())]
    draws = [draw for draw in DRAWS if draw != NO_TEXT or any(u.drawn(draw) for u in found.values())]
    yield from (f"### Unrelated documents among the first {e.config.depth}", "")
    yield (
        "Mean number per query and share of all; then the part of them that holds the query's rarest word (that in the"
        " fewest documents, common English words aside), else another of its words, else none. Kinds that do not"
        " occur are left out."
    )
    yield ""
    rows = []
    for method, u in found.items():
        every = [u.drawn(draw) for draw in draws]
        rows.append([method, "all", interval_cell(u.per_query, ".2f"), "", *_shares(every)])
        for kind in kinds:
            own = [u.counts[kind][draw] for draw in draws]
            rows.append([method, kind, f"{sum(own) / u.per_query.n:.2f}", _share(sum(own), u.total), *_shares(own)])
    yield from (*markdown_table(["method", "unrelated", "per query", "share", *draws], rows, n_words=2), "")


def _part(n: int, of: int) -> str:
    return f"{n:,} of {of:,}" + (f" ({_share(n, of)})" if n else "")


def _shares(numbers: Sequence[int]) -> list[str]:
    return [_share(n, sum(numbers)) for n in numbers]


def _share(n: int, of: int) -> str:
    """Nothing where there is nothing to have a share of."""
    return f"{100 * n / of:.1f} %" if of else ""
