"""Quality against time: what each method gains for the seconds that it takes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from retrieval.comparison import Comparison
from retrieval.tables import Timings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK, _FAINT = "#1a1a1a", "#8a8a8a"
_TEXT, _GRAPH = "#b35806", "#2166ac"
_LEAST = 1e-6
"""Seconds that a logarithmic axis still shows."""
_PANEL = (4.6, 3.4)
_PER_ROW = 3


def quality_time(
    comparisons: Sequence[Comparison], timings: Timings, collections: Sequence[str], measure: str | None = None
) -> Figure:
    """One panel per dataset: seconds per query (logarithmic) against ``measure`` (the first if None), with intervals.

    ``collections``: the collection in ``timings`` that each comparison belongs to.
    """
    from matplotlib.figure import Figure

    columns = min(_PER_ROW, len(comparisons))
    rows = -(-len(comparisons) // columns)
    figure = Figure(figsize=(_PANEL[0] * columns, _PANEL[1] * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for panel, comparison, name in zip(panels, comparisons, collections, strict=False):
        _panel(panel, comparison, {m: t.mean for m, t in timings[name].items()}, measure or comparison.measures[0])
    for panel in panels[len(comparisons) :]:
        panel.set_visible(False)
    return figure


def save_figure(figure: Figure, stem: Path) -> list[Path]:
    """Write ``stem``.png and ``stem``.svg, whose text stays text; the same figure gives the same bytes."""
    import matplotlib

    paths = [stem.with_suffix(suffix) for suffix in (".png", ".svg")]
    with matplotlib.rc_context({"svg.hashsalt": "evigraph", "svg.fonttype": "none"}):
        figure.savefig(paths[0], dpi=160)
        figure.savefig(paths[1], metadata={"Date": None})
    return paths


def _panel(axes: Axes, comparison: Comparison, seconds: dict[str, float], measure: str) -> None:
    from retrieval.comparison import TEXT_METHODS

    placed = sorted(comparison.methods, key=lambda method: comparison.intervals[method][measure].mean)
    for method in placed:
        interval = comparison.intervals[method][measure]
        x = max(seconds[method], _LEAST)
        color = _TEXT if method in TEXT_METHODS else _GRAPH
        if interval.low is not None and interval.high is not None:
            axes.vlines(x, interval.low, interval.high, color=color, alpha=0.45, linewidth=1.2)
        axes.plot([x], [interval.mean], "s" if method in TEXT_METHODS else "o", color=color, markersize=5)
    axes.set_xscale("log")
    axes.margins(y=0.12)
    times = [max(seconds[method], _LEAST) for method in placed]
    axes.set_xlim(min(times) / 2, max(times) * 6)  # room for the names
    _label(axes, [(max(seconds[m], _LEAST), comparison.intervals[m][measure].mean, m) for m in placed])
    axes.set_xlabel("seconds per query (squares: text methods alone)", color=_INK)
    axes.set_ylabel(measure, color=_INK)
    axes.set_title(f"{comparison.name}, {comparison.n_queries:,} queries", loc="left", fontsize=10, color=_INK)
    axes.grid(axis="y", color=_FAINT, alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def _label(axes: Axes, points: Sequence[tuple[float, float, str]]) -> None:
    """Names right of their points, moved apart where one would cover another; ``points`` by increasing height."""
    axes.autoscale_view()
    low, high = axes.get_ylim()
    for (x, y, name), height in zip(points, _apart([y for _, y, _ in points], (high - low) / 17, high), strict=True):
        arrow = {"arrowstyle": "-", "color": _FAINT, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 3}
        axes.annotate(
            name,
            (x, y),
            xytext=(9, height),
            textcoords=("offset points", "data"),
            fontsize=7.5,
            color=_INK,
            va="center",
            arrowprops=arrow,
            in_layout=False,
        )


def _apart(heights: Sequence[float], step: float, top: float) -> list[float]:
    """``heights`` (increasing) at least ``step`` apart: lifted first, then, above ``top``, lowered again."""
    lifted: list[float] = []
    for height in heights:
        lifted.append(max(height, lifted[-1] + step) if lifted else height)
    limit = top
    for number in reversed(range(len(lifted))):
        lifted[number] = min(lifted[number], limit)
        limit = lifted[number] - step
    return lifted
