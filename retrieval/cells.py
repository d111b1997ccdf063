"""Markdown tables of measurements: their lines, and what stands in a cell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from retrieval.significance import Interval

LEVEL = 0.05
"""Adjusted p values up to here are marked."""


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], n_words: int = 1) -> list[str]:
    """Lines of a table whose first ``n_words`` columns hold words, the others numbers; cells are text, never markup."""
    lines = [header, ["---"] * n_words + ["---:"] * (len(header) - n_words), *rows]
    return [
        "| " + " | ".join(re.sub(r"\||<(?=[a-zA-Z/!?])", r"\\\g<0>", cell) for cell in line) + " |" for line in lines
    ]


def interval_cell(interval: Interval, form: str = ".3f", mark: str = "", mean: str | None = None) -> str:
    """``.500▲ [.400, .600]``: the mean, or what stands for it, with ``mark``, and the bounds where there are any."""
    bounds = (
        "" if interval.low is None or interval.high is None else f" [{interval.low:{form}}, {interval.high:{form}}]"
    )
    return f"{f'{interval.mean:{form}}' if mean is None else mean}{mark}{bounds}"


def arrow(difference: float, adjusted: float) -> str:
    """``▲`` for more or ``▼`` for less at an adjusted p of at most ``LEVEL``, else nothing."""
    return "" if adjusted > LEVEL else "▲" if difference > 0 else "▼"


def p_cell(p: float) -> str:
    """Two significant digits, never as a power of ten."""
    return np.format_float_positional(p, precision=2, unique=False, fractional=False, trim="-")


def queries_cell(n_queries: int, n_clusters: int, clustered_by: str) -> str:
    """``148 queries in 88 clusters by equal entity``, clusters where they are not the queries."""
    independent = "" if n_clusters == n_queries else f" in {n_clusters:,} clusters by {clustered_by}"
    return f"{n_queries:,} queries{independent}"
