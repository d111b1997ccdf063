"""Comparisons as results.json, Markdown and CSV. The same comparisons give the same bytes; seconds stand apart."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from retrieval.comparison import Comparison
from retrieval.significance import FEW
from retrieval.timings import Timing

LEVEL = 0.05
"""Adjusted p values up to here are marked."""

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


def results_markdown(comparisons: Sequence[Comparison]) -> str:
    """A table per dataset; where queries are too few for intervals, also the values of each."""
    return "\n".join(part for c in comparisons for part in _dataset(c))


def timings_markdown(timings: Timings, batch_size: int) -> str:
    """Mean ± standard deviation of seconds per query, a row per method and a column per collection."""
    names = list(timings)
    methods = list(dict.fromkeys(method for own in timings.values() for method in own))
    cells = {(m, n): _seconds(timings[n][m]) for m in methods for n in names if m in timings[n]}
    apart = {(m, n): f"{timings[n][m].preparation:.2f}" for m in methods for n in names if m in timings[n]}
    lines = [
        f"Seconds per query, mean ± standard deviation: encoding and ranking, {batch_size} questions at a time.",
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
    if difference is None or difference.adjusted > LEVEL:
        return ""
    return "▲" if difference.mean > 0 else "▼"


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], n_words: int = 1) -> list[str]:
    """Lines of a table whose first ``n_words`` columns hold words, the others numbers."""
    lines = [header, ["---"] * n_words + ["---:"] * (len(header) - n_words), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]


def _dataset(c: Comparison) -> list[str]:
    best = {measure: max(c.intervals[method][measure].mean for method in c.methods) for measure in c.measures}
    rows = [[method, *(_cell(c, method, measure, best[measure]) for measure in c.measures)] for method in c.methods]
    few = c.n_clusters < FEW
    independent = "" if c.n_clusters == c.n_queries else f" in {c.n_clusters:,} clusters by {c.clustered_by}"
    caption = f"{c.n_queries:,} queries{independent}. " + (
        f"Fewer than {FEW} of them are independent, so there are no intervals."
        if few
        else "Mean [95 % bootstrap interval]; the highest mean is bold."
    )
    if c.baseline is not None:
        test = "exact sign-flip" if few else "paired randomisation"
        caption += f" ▲ above, ▼ below {c.baseline}: {test} test, p <= {LEVEL} after Holm's correction over methods."
    lines = [f"## {c.name}", "", caption, "", *markdown_table(["method", *c.measures], rows), ""]
    if c.n_queries < FEW:
        for measure in c.measures:
            by_query = {
                query: [f"{c.values[m][measure][query]:.3f}" for m in c.methods]
                for query in c.values[c.methods[0]][measure]
            }
            lines += [f"### {measure}, query by query", ""]
            lines += [
                *markdown_table(["query", *c.methods], [[query, *cells] for query, cells in by_query.items()]),
                "",
            ]
    return lines


def _cell(c: Comparison, method: str, measure: str, best: float) -> str:
    i = c.intervals[method][measure]
    mean = f"**{i.mean:.3f}**" if i.mean == best else f"{i.mean:.3f}"
    interval = "" if i.low is None or i.high is None else f" [{i.low:.3f}, {i.high:.3f}]"
    return f"{mean}{mark(c, method, measure)}{interval}"


def _seconds(t: Timing) -> str:
    return f"{t.mean:.4f}" if t.sd is None else f"{t.mean:.4f} ± {t.sd:.4f}"


def _csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()
