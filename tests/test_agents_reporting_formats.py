"""All files of a report or none: what one format cannot do does not leave the others of another report beside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agents.reporting import formats
from agents.reporting.formats import FORMATS, Format, figures_of, write_renderings
from agents.reporting.markdown import figure_path
from agents.reporting.model import Figure, Report, ReportSection
from kg.errors import InputError

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="4" height="3"><rect width="4" height="3"/></svg>'


def report(title: str) -> Report:
    figure = Figure("image/svg+xml", SVG.replace(b"rect ", f'rect id="{title}" '.encode()), title)
    return Report(title, "Why?", "en", (ReportSection("One", (figure,)),))


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("broken", FORMATS)
@pytest.mark.parametrize("fault", [InputError("cannot be drawn"), KeyError("x"), KeyboardInterrupt()])
def test_when_a_format_cannot_be_rendered_nothing_is_written(
    tmp_path: Path, broken: Format, fault: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_renderings(report("old"), tmp_path, "r")
    before = content(tmp_path)
    render = formats.render

    def rendered(given: Report, wanted: Format, *more: object) -> bytes:
        if wanted == broken:
            raise fault
        return render(given, wanted)

    monkeypatch.setattr(formats, "render", rendered)
    with pytest.raises(type(fault)):
        write_renderings(report("new"), tmp_path, "r")
    assert content(tmp_path) == before


@pytest.mark.parametrize("reached", range(6))
def test_when_a_file_does_not_fit_nothing_is_replaced(
    tmp_path: Path, reached: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_renderings(report("old"), tmp_path, "r")
    before = content(tmp_path)
    calls = 0

    def full_disk(_: int) -> None:
        nonlocal calls
        calls += 1
        if calls > reached:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(InputError, match=r"cannot be written \(No space left on device\); make room"):
        write_renderings(report("new"), tmp_path, "r")
    assert content(tmp_path) == before


def test_what_was_replaced_when_the_system_refuses_the_rest_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = os.replace

    def refuse_docx(source: Path, target: Path) -> None:
        if target.suffix == ".docx":
            raise PermissionError(1, "Operation not permitted")
        replace(source, target)

    monkeypatch.setattr(os, "replace", refuse_docx)
    with pytest.raises(InputError, match=r"r\.docx cannot be written .* Already written: .*r\.html, .*r\.md\."):
        write_renderings(report("a"), tmp_path, "r")
    (figure,) = figures_of(report("a").sections)
    assert sorted(content(tmp_path)) == [figure_path(figure), "r.html", "r.md"]


def test_each_format_is_written_once_in_the_order_asked_for(tmp_path: Path) -> None:
    written = write_renderings(report("a"), tmp_path, "r", ("md", "html", "md"))
    assert {kind: path.name for kind, path in written.items()} == {"md": "r.md", "html": "r.html"}
    assert list(written) == ["md", "html"]


@pytest.mark.parametrize("name", ["", " ", ".", "..", "a/b", "/a", "../a", "a/", "a\0b"])
def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot name the files"):
        write_renderings(report("a"), tmp_path / "r", name)
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    ("name", "fits"), [("x" * 250, True), ("x" * 251, False), ("é" * 125, True), ("é" * 126, False)]
)
def test_a_name_too_long_is_refused_before_anything_is_written(tmp_path: Path, name: str, fits: bool) -> None:
    if fits:
        assert len(write_renderings(report("a"), tmp_path, name)) == len(FORMATS)
    else:
        with pytest.raises(InputError, match="at most 250"):
            write_renderings(report("a"), tmp_path, name)
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", [".hidden", "a b", "a.b", "-", "…", "a\\b", "~"])
def test_other_names_are_kept(tmp_path: Path, name: str) -> None:
    assert write_renderings(report("a"), tmp_path, name, ["html"])["html"].name == f"{name}.html"


def test_figures_do_not_reach_a_graph_over_a_link(tmp_path: Path) -> None:
    graph = tmp_path / "graph"
    (graph / "generations").mkdir(parents=True)
    (graph / "CURRENT").touch()
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "figures").symlink_to(graph)
    with pytest.raises(InputError, match="is inside the graph"):
        write_renderings(report("a"), tmp_path / "r", "r")
    assert content(tmp_path) == {"graph/CURRENT": b""}


def test_data_and_pages_appear_together_or_not_at_all(tmp_path: Path) -> None:
    write_renderings(report("old"), tmp_path, "r", ("md",), with_data=True)
    before = content(tmp_path)
    assert {"report.json", "claims.jsonl", "r.md"} <= before.keys()
    (tmp_path / "r.docx").mkdir()
    with pytest.raises(InputError, match=r"r\.docx"):
        write_renderings(report("new"), tmp_path, "r", ("md", "docx"), with_data=True)
    assert content(tmp_path) == before
