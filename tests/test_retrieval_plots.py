from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from matplotlib.text import Text

from retrieval.plots import quality_time, save_figure
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
        assert points == {(0.001, 0.5), (0.1, 1.0)}
        assert (axes.get_xscale(), axes.get_ylabel()) == ("log", "RR")
    png, svg = save_figure(figure, tmp_path / "plot")
    assert png.read_bytes()[:4] == b"\x89PNG"
    assert "seconds per query" in svg.read_text()


def test_the_same_figure_gives_the_same_bytes(tmp_path: Path) -> None:
    made = [
        save_figure(quality_time([comparison(30)], TIMINGS, ["a"], "R@2"), tmp_path / name) for name in ("one", "two")
    ]
    assert [path.read_bytes() for path in made[0]] == [path.read_bytes() for path in made[1]]
    assert not re.search(r"<dc:date>", made[0][1].read_text())


@pytest.mark.parametrize("n", [1, 12])
def test_names_of_equal_methods_do_not_cover_each_other(n: int) -> None:
    one = comparison(30)
    names = [f"m{number}" for number in range(n)]
    crowded = type(one)(**vars(one) | {
        "values": dict.fromkeys(names, one.values["ppr"]),
        "intervals": dict.fromkeys(names, one.intervals["ppr"]),
    })  # fmt: skip
    figure = quality_time([crowded], {"a": dict.fromkeys(names, TIMINGS["a"]["ppr"])}, ["a"])
    figure.draw_without_rendering()
    boxes = sorted((Text.get_window_extent(text) for text in figure.axes[0].texts), key=lambda box: box.y0)
    assert len(boxes) == n
    assert all(lower.y1 <= upper.y0 + 1 for lower, upper in pairwise(boxes))
    assert boxes[-1].y1 <= figure.axes[0].bbox.y1 + 6  # below the title


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
