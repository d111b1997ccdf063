from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from retrieval.plots import quality_time, save_figure
from retrieval.significance import Interval
from retrieval.timings import Timing
from tests.test_retrieval_tables import comparison

TIMINGS = {"a": {"bm25": Timing(0.001, None, 30, 0.1, 1), "ppr": Timing(0.1, 0.05, 30, 0.1, 1)}}


def test_each_dataset_has_a_panel_with_its_methods(tmp_path: Path) -> None:
    comparisons = [comparison(30, name) for name in ("one", "two", "three", "four")]
    figure = quality_time(comparisons, TIMINGS, ["a"] * 4)
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title(loc="left") for axes in shown] == [f"{c.name}, 30 queries" for c in comparisons]
    for axes in shown:
        assert {text.get_text() for text in axes.texts} == {"bm25", "ppr"}
        points = {tuple(float(data[0]) for data in line.get_data()) for line in axes.lines}
        assert points == {(1.0, 0.5), (100.0, 1.0)}  # milliseconds
        assert (axes.get_xscale(), axes.get_ylabel()) == ("log", "RR")
    png, svg = save_figure(figure, tmp_path / "plot")
    assert png.read_bytes()[:4] == b"\x89PNG"
    assert "milliseconds per query" in svg.read_text()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a text method alone", "other methods"]


def test_the_same_figure_gives_the_same_bytes(tmp_path: Path) -> None:
    made = [
        save_figure(quality_time([comparison(30)], TIMINGS, ["a"], "R@2"), tmp_path / name) for name in ("one", "two")
    ]
    assert [path.read_bytes() for path in made[0]] == [path.read_bytes() for path in made[1]]
    assert not re.search(r"<dc:date>", made[0][1].read_text())


def placed(points: dict[str, tuple[float, float, float]]) -> tuple[Figure, list[Bbox], list[Bbox], list[Bbox]]:
    """The figure of methods with seconds, mean and half of their interval; boxes of names, dots and intervals."""
    one = comparison(30)
    intervals = {
        m: {"RR": Interval(y, max(y - e, min(y, 0.0)), min(y + e, 1.0), 30, 30)} for m, (_, y, e) in points.items()
    }
    crowded = type(one)(**vars(one) | {
        "values": dict.fromkeys(points, one.values["ppr"]), "intervals": intervals, "measures": ("RR",),
    })  # fmt: skip
    figure = quality_time([crowded], {"a": {m: Timing(x, None, 1, 0.1, 1) for m, (x, _, _) in points.items()}}, ["a"])
    figure.draw_without_rendering()
    axes = figure.axes[0]
    names = [Text.get_window_extent(text) for text in axes.texts]
    dots = [Bbox.from_bounds(x - 3, y - 3, 6, 6) for x, y in (
        axes.transData.transform((1000 * seconds, mean)) for seconds, mean, _ in points.values()
    )]  # fmt: skip
    ends = [
        [axes.transData.transform((1000 * x, min(max(y + s * e, 0), 1))) for s in (-1, 1)]
        for x, y, e in points.values()
    ]
    return figure, names, dots, [Bbox([low, high]) for low, high in ends]


@settings(max_examples=25)
@given(
    points=st.lists(
        st.tuples(st.floats(1e-4, 1.0), st.floats(0.0, 1.0), st.sampled_from([0.0, 0.03])), min_size=1, max_size=9
    ),
    equal=st.integers(0, 5),
)
def test_names_cover_neither_dots_nor_intervals_nor_each_other(
    points: list[tuple[float, float, float]], equal: int
) -> None:
    given_points = {f"method{n}": point for n, point in enumerate([*points, *points[:1] * equal])}
    figure, names, dots, intervals = placed(given_points)
    assert len(names) == len(given_points)
    for number, name in enumerate(names):
        assert not any(name.overlaps(other) for other in (*names[:number], *dots, *intervals))
        assert figure.axes[0].bbox.x0 <= name.x0
        assert name.x1 <= figure.axes[0].bbox.x1
        assert name.y1 <= figure.axes[0].bbox.y1


@pytest.mark.parametrize(("low", "high"), [(0.2, 1.0), (0.5, 0.97), (0.995, 1.0), (1.0, 1.0), (0.0, 0.0), (0.3, 0.5)])
def test_no_axis_goes_beyond_what_a_measure_can_be(low: float, high: float) -> None:
    figure, *_ = placed({"a": (0.01, low, 0.0), "b": (0.02, high, 0.0)})
    bottom, top = figure.axes[0].get_ylim()
    assert bottom < low
    assert high < top < 1 + 0.05 * (1 - bottom)
    assert max(tick for tick in figure.axes[0].get_yticks() if bottom <= tick <= top) <= 1
    assert bottom > -0.05


def test_a_measure_below_0_is_shown() -> None:
    figure, *_ = placed({"a": (0.01, -0.05, 0.0), "b": (0.02, 0.6, 0.0)})
    assert figure.axes[0].get_ylim()[0] < -0.05


def test_panels_do_not_touch() -> None:
    figure = quality_time([comparison(30, name) for name in ("one", "two", "three")], TIMINGS, ["a"] * 3)
    figure.draw_without_rendering()
    boxes = [axes.get_tightbbox() for axes in figure.axes]
    assert all(left.x1 + 8 < right.x0 for left, right in pairwise(boxes))


@pytest.mark.parametrize("seconds", [(0.0, 0.0), (0.01, 0.010001), (1e-7, 1e3)])
def test_any_times_have_room(tmp_path: Path, seconds: tuple[float, float]) -> None:
    timings = {"a": {m: Timing(s, None, 1, 0.1, 1) for m, s in zip(("bm25", "ppr"), seconds, strict=True)}}
    figure = quality_time([comparison(3)], timings, ["a"])
    save_figure(figure, tmp_path / "plot")
    box = figure.axes[0].bbox
    for text in figure.axes[0].texts:
        name = Text.get_window_extent(text)
        assert box.x0 <= name.x0
        assert name.x1 <= figure.bbox.x1
