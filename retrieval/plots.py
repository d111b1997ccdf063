"""Quality against time: what each method gains for the seconds that it takes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from retrieval.comparison import TEXT_METHODS, Comparison
from retrieval.tables import Timings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK, _FAINT = "#1a1a1a", "#8a8a8a"
_TEXT, _GRAPH = "#b35806", "#2166ac"
_LEAST = 1e-3
"""Milliseconds that a logarithmic axis still shows."""
_ROOM = 3.2
"""Factor by which the axis goes beyond the times on both sides; with the root of 10 or more it holds a power of 10."""
_PANEL = (4.6, 3.4)
_PER_ROW = 3
_DOT = 5.0
"""Points across."""
_DIRECTIONS = (0, 180, 30, -30, 150, -150, 60, -60, 120, -120, 90, -90)
"""Degrees in which a name is tried beside its dot, the best first."""
_REACHES = range(6, 150, 6)
"""Points between a dot and its name, the nearest first."""

_Box = tuple[float, float, float, float]
"""Left, bottom, right, top, in pixels."""


def quality_time(
    comparisons: Sequence[Comparison], timings: Timings, collections: Sequence[str], measure: str | None = None
) -> Figure:
    """One panel per dataset: milliseconds per query (logarithmic) against ``measure`` (the first if None), with
    intervals.

    ``collections``: the collection in ``timings`` that each comparison belongs to.
    """
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    columns = min(_PER_ROW, len(comparisons))
    rows = -(-len(comparisons) // columns)
    layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.08)
    figure = Figure(figsize=(_PANEL[0] * columns, _PANEL[1] * rows + 0.3), layout=layout)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for panel in panels[len(comparisons) :]:
        panel.set_visible(False)
    points = []
    for panel, comparison, name in zip(panels, comparisons, collections, strict=False):
        shown = measure or comparison.measures[0]
        points.append(_panel(panel, comparison, {m: 1000 * t.mean for m, t in timings[name].items()}, shown))
    _legend(figure, comparisons, measure)
    figure.draw_without_rendering()  # names are placed in pixels, once all else has its place
    for panel, own in zip(panels, points, strict=False):
        _name_points(panel, own)
    return figure


def save_figure(figure: Figure, stem: Path) -> list[Path]:
    """Write ``stem``.png and ``stem``.svg, whose text stays text; the same figure gives the same bytes."""
    import matplotlib

    paths = [stem.with_suffix(suffix) for suffix in (".png", ".svg")]
    with matplotlib.rc_context({"svg.hashsalt": "evigraph", "svg.fonttype": "none"}):
        figure.savefig(paths[0], dpi=160)
        figure.savefig(paths[1], metadata={"Date": None})
    return paths


def _literal(text: str) -> str:
    """Text that matplotlib does not take for a formula."""
    return text.replace("$", r"\$")


_Point = tuple[str, float, float, float, float]
"""A method, its milliseconds and mean, and the ends of its interval, which are the mean where there is none."""


def _panel(axes: Axes, comparison: Comparison, times: dict[str, float], measure: str) -> list[_Point]:
    """Draw all but the names; returns what is drawn, by time."""
    from matplotlib.ticker import LogLocator, NullFormatter

    points: list[_Point] = []
    for method in comparison.methods:
        i = comparison.intervals[method][measure]
        low, high = (i.mean, i.mean) if i.low is None or i.high is None else (i.low, i.high)
        points.append((method, max(times[method], _LEAST), i.mean, low, high))
    points.sort(key=lambda point: point[1])
    for method, x, mean, low, high in points:
        color, marker = (_TEXT, "s") if method in TEXT_METHODS else (_GRAPH, "o")
        if low < high:
            axes.vlines(x, low, high, color=color, alpha=0.45, linewidth=1.2)
        axes.plot([x], [mean], marker, color=color, markersize=_DOT)
    axes.set_xscale("log")
    axes.set_xlim(points[0][1] / _ROOM, points[-1][1] * _ROOM)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:,g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    if points[-1][1] / points[0][1] < 10:
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.margins(y=0.15)
    axes.autoscale_view(scalex=False)
    bottom, top = axes.get_ylim()
    if min(low for *_, low, _ in points) >= 0:
        bottom = max(bottom, -0.03 * top)
    axes.set_ylim(bottom, min(top, 1 + 0.03 * (1 - bottom)))  # no measure is above 1
    axes.set_xlabel("milliseconds per query", color=_INK)
    axes.set_ylabel(measure, color=_INK)
    axes.set_title(
        f"{_literal(comparison.name)}, {comparison.n_queries:,} queries", loc="left", fontsize=10, color=_INK
    )
    axes.grid(axis="y", color=_FAINT, alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    return points


def _legend(figure: Figure, comparisons: Sequence[Comparison], measure: str | None) -> None:
    """What dots and lines mean, of those that there are."""
    from matplotlib.lines import Line2D

    methods = {method for c in comparisons for method in c.methods}
    handles = []
    for name, marker, color, there in (
        ("a text method alone", "s", _TEXT, any(method in TEXT_METHODS for method in methods)),
        ("other methods", "o", _GRAPH, any(method not in TEXT_METHODS for method in methods)),
    ):
        if there:
            handles.append(Line2D([], [], marker=marker, color=color, markersize=_DOT, linestyle="", label=name))
    intervals = [c.intervals[method][measure or c.measures[0]] for c in comparisons for method in c.methods]
    if any(i.low != i.high for i in intervals):
        handles.append(Line2D([], [], color=_FAINT, linewidth=1.2, label="95 % interval"))
    figure.legend(
        handles=handles, loc="outside lower left", ncols=len(handles), frameon=False, fontsize=8, labelcolor=_INK
    )


def _name_points(axes: Axes, points: Sequence[_Point]) -> None:
    """Names beside their dots, each in the nearest place that is free of dots, intervals and other names."""
    dpi = axes.figure.dpi / 72
    radius = _DOT / 2 * dpi + 1
    places = [axes.transData.transform([(x, mean), (x, low), (x, high)]) for _, x, mean, low, high in points]
    taken: list[_Box] = []
    for (x, y), (_, low), (_, high) in places:
        taken.append((x - radius, y - radius, x + radius, y + radius))
        taken.append((x - 1.5, low, x + 1.5, high))
    for (name, time, mean, *_), ((x, y), *_) in zip(points, places, strict=True):
        arrow = {"arrowstyle": "-", "color": _FAINT, "linewidth": 0.5, "shrinkA": 0, "shrinkB": _DOT / 2}
        text = axes.annotate(
            name, (time, mean), (0, 0), textcoords="offset points", fontsize=7.5, color=_INK, ha="center",
            va="center", arrowprops=arrow, in_layout=False,
        )  # fmt: skip
        text.arrow_patch.set_visible(False)  # type: ignore[union-attr]  # its extent would count
        size = text.get_window_extent()
        beside, box = _free_place((x, y), (size.width + 4, size.height + 2), taken, axes, dpi)
        text.set_position((((box[0] + box[2]) / 2 - x) / dpi, ((box[1] + box[3]) / 2 - y) / dpi))
        text.arrow_patch.set_visible(not beside)  # type: ignore[union-attr]
        taken.append(box)


def _free_place(
    point: tuple[float, float], size: tuple[float, float], taken: Sequence[_Box], axes: Axes, dpi: float
) -> tuple[bool, _Box]:
    """The first box inside ``axes`` that meets none of ``taken``, or the least bad one; and whether it stands right
    beside ``point``, so that it needs no line to it."""
    inside = axes.bbox
    best: tuple[float, bool, _Box] | None = None
    for beside, box in _boxes(point, size, dpi):
        outside = box[0] < inside.x0 or box[1] < inside.y0 or box[2] > inside.x1 or box[3] > inside.y1
        met = sum(_overlap(box, other) for other in taken) + (1e9 if outside else 0)
        if best is None or met < best[0]:
            best = (met, beside, box)
        if not met:
            break
    if best is None:
        raise AssertionError("there are places to try")
    return best[1], best[2]


def _boxes(point: tuple[float, float], size: tuple[float, float], dpi: float) -> Iterator[tuple[bool, _Box]]:
    for reach in _REACHES:
        for degrees in _DIRECTIONS:
            across, up = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
            x = point[0] + across * (reach * dpi + size[0] / 2)
            y = point[1] + up * (reach * dpi + size[1] / 2)
            beside = reach == _REACHES[0] and degrees in (0, 180)
            yield beside, (x - size[0] / 2, y - size[1] / 2, x + size[0] / 2, y + size[1] / 2)


def _overlap(a: _Box, b: _Box) -> float:
    """Area in common, in square pixels."""
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
