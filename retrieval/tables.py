"""Comparisons as results.json, Markdown and CSV. The same comparisons give the same bytes; seconds stand apart."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from retrieval.cells import LEVEL, arrow, interval_cell, markdown_table, queries_cell
from retrieval.comparison import Comparison
from retrieval.significance import FEW
from retrieval.timings import Timing

Timings = Mapping[str, Mapping[str, Timing]]
"""Collection -> method -> timing."""


def results(comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """``{dataset: {method: {measure: {mean, low, high, n}}}}``; the bounds are null where queries are too few."""
    return {
        c.name: {
            method: {
                measure: {"mean": i.mean, "low": i.low, "high": i.high, "n": i.n}
                for measure, i in c.intervals[method].items()
            }
            for method in c.methods
        }
        for c in comparisons
    }


def significance(comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """``{dataset: {baseline, n_clusters, clustered_by, measures: {measure: {method: {difference, p, p_holm}}}}}``."""
    return {
        c.name: {
            "baseline": c.baseline,
            "n_clusters": c.n_clusters,
            "clustered_by": c.clustered_by,
            "measures": {
                measure: {
                    method: {"difference": d.mean, "p": d.p, "p_holm": d.adjusted} for method, d in by_method.items()
                }
                for measure, by_method in c.differences.items()
            },
        }
        for c in comparisons
    }


def timings_json(timings: Timings) -> dict[str, Any]:
    """``{collection: {method: {mean, sd, n, preparation, starts}}}``, seconds."""
    return {name: {method: vars(t) for method, t in own.items()} for name, own in timings.items()}


def results_csv(comparisons: Sequence[Comparison]) -> str:
    """A row per dataset, method and measure, with the difference from the baseline where there is one."""
    rows: list[Sequence[object]] = []
    for c in comparisons:
        for method in c.methods:
            for measure, i in c.intervals[method].items():
                d = c.differences.get(measure, {}).get(method)
                test = (c.baseline, d.mean, d.p, d.adjusted) if d else (c.baseline, None, None, None)
                rows.append((c.name, method, measure, i.mean, i.low, i.high, i.n, i.n_clusters, *test))
    header = "dataset method measure mean low high n n_clusters baseline difference p p_holm".split()
    return _csv(header, rows)


def per_query_csv(comparisons: Sequence[Comparison]) -> str:
    """A row per dataset, method and query, a column per measure; empty where a measure has no value for the query."""
    measures = list(dict.fromkeys(measure for c in comparisons for measure in c.measures))
    rows = [
        (c.name, method, query, *(c.values[method].get(measure, {}).get(query) for measure in measures))
        for c in comparisons
        for method in c.methods
        for query in dict.fromkeys(query for own in c.values[method].values() for query in own)
    ]
    return _csv(["dataset", "method", "query", *measures], rows)


def recall_csv(comparisons: Sequence[Comparison]) -> str:
    """A row per dataset, method and rank: mean recall there."""
    rows = [
        (c.name, method, rank, recall)
        for c in comparisons
        for method in c.methods
        for rank, recall in c.recall[method].items()
    ]
    return _csv(["dataset", "method", "rank", "recall"], rows)


def results_markdown(comparisons: Sequence[Comparison], *, by_query: bool = True) -> str:
    """Means and differences of each dataset; with ``by_query`` also the values of each query where these are few."""
    return "\n".join(line for c in comparisons for line in (*_dataset(c), *(_queries(c) if by_query else ())))


def timings_markdown(timings: Timings, batch_size: int) -> str:
    """Mean ± standard deviation of milliseconds per query, a row per method and a column per collection."""
    names = list(timings)
    methods = list(dict.fromkeys(method for own in timings.values() for method in own))
    cells = {(m, n): _milliseconds(timings[n][m]) for m in methods for n in names if m in timings[n]}
    apart = {(m, n): _two_digits(timings[n][m].preparation) for m in methods for n in names if m in timings[n]}
    lines = [
        "Milliseconds per query, mean ± standard deviation (none of a single batch): encoding and ranking, "
        f"{batch_size} questions at a time.",
        "",
        *markdown_table(["method", *names], [[m, *(cells.get((m, n), "") for n in names)] for m in methods]),
        "",
        "Seconds until the first question is answered (what a method prepares once, beyond what those above it had).",
        "",
        *markdown_table(["method", *names], [[m, *(apart.get((m, n), "") for n in names)] for m in methods]),
        "",
    ]
    return "\n".join(lines)


def mark(comparison: Comparison, method: str, measure: str) -> str:
    """``▲`` above or ``▼`` below the baseline at an adjusted p of at most ``LEVEL``, else nothing."""
    difference = comparison.differences.get(measure, {}).get(method)
    return "" if difference is None else arrow(difference.mean, difference.adjusted)


def _dataset(c: Comparison) -> Iterator[str]:
    best = {measure: max(c.intervals[method][measure].mean for method in c.methods) for measure in c.measures}
    rows = [[method, *(_cell(c, method, measure, best[measure]) for measure in c.measures)] for method in c.methods]
    yield from (f"## {c.name}", "", " ".join(_caption(c)), "")
    yield from (*markdown_table(["method", *c.measures], rows), "")
    if tested := [method for method in c.methods if method != c.baseline and _tested(c)]:
        yield from (f"### Difference from {c.baseline} (p after Holm)", "")
        rows = [[method, *(_difference(c, method, measure) for measure in c.measures)] for method in tested]
        yield from (*markdown_table(["method", *c.measures], rows), "")


def _queries(c: Comparison) -> Iterator[str]:
    """A table per measure where queries are few."""
    for measure in c.measures if c.n_queries < FEW else ():
        yield from (f"### {measure}, query by query", "")
        rows = [
            [query, *(f"{c.values[m][measure][query]:.3f}" for m in c.methods)]
            for query in c.values[c.methods[0]][measure]
        ]
        yield from (*markdown_table(["query", *c.methods], rows), "")


def _caption(c: Comparison) -> Iterator[str]:
    yield f"{queries_cell(c.n_queries, c.n_clusters, c.clustered_by)}."
    few = c.n_clusters < FEW
    if few:
        yield f"Fewer than {FEW} of them are independent, so there are no intervals."
    bold = "the highest mean is bold" if len(c.methods) > 1 else ""
    shown = "" if few else "mean [95 % BCa bootstrap interval]"
    if sentence := "; ".join(part for part in (shown, bold) if part):
        yield f"{sentence[0].upper()}{sentence[1:]}."
    if c.baseline is None and len(c.methods) > 1:
        yield "Nothing is tested, as no method is named as the baseline and none is a text method."
    if not _tested(c):
        return
    test = "exact sign-flip" if few else "paired randomisation"
    least = min(1.0, 2.0 ** (1 - c.n_clusters) * (len(c.methods) - 1))
    if few and least > LEVEL:
        yield (
            f"Too few clusters to mark anything: p of the {test} test against {c.baseline} is {_p(least)} or more "
            "after Holm's correction over methods."
        )
    else:
        yield f"▲ above, ▼ below {c.baseline}: {test} test, p <= {LEVEL} after Holm's correction over methods."


def _tested(c: Comparison) -> bool:
    return any(c.differences.values())


def _cell(c: Comparison, method: str, measure: str, best: float) -> str:
    i = c.intervals[method][measure]
    mean = f"**{i.mean:.3f}**" if i.mean == best and len(c.methods) > 1 else f"{i.mean:.3f}"
    return interval_cell(i, mark=mark(c, method, measure), mean=mean)


def _difference(c: Comparison, method: str, measure: str) -> str:
    d = c.differences[measure][method]
    return f"{d.mean:+.3f} ({_p(d.adjusted)})"


def _p(p: float) -> str:
    return "<0.001" if p < 0.001 else f"{p:.2g}"


def _milliseconds(t: Timing) -> str:
    return " ± ".join(_two_digits(1000 * seconds) for seconds in (t.mean, t.sd) if seconds is not None)


def _two_digits(number: float) -> str:
    """``number`` >= 0 with two significant digits, or as a whole number: 0.0021, 3.0, 25, 1,300."""
    rounded = float(f"{number:.1e}")
    decimals = max(0, 1 - math.floor(math.log10(rounded))) if rounded else 0
    return f"{rounded:,.{decimals}f}"


def _csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()
