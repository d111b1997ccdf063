"""`evigraph picture`: the suffix decides the format; what cannot be done is said in a sentence before any work."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from kg.build import Tools, build_graph
from kg.errors import InputError
from retrieval.questions import NoMatchError
from scripts.commands.picture import Arguments, run
from tests.conftest import HashEncoder

QUESTION = "Which risk factors explain expected stock returns?"


@pytest.fixture(autouse=True)
def hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scripts.tools.load_encoder", lambda given, manifest: HashEncoder())


def test_each_suffix_gives_its_format(
    sample_directory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a.html", "b.svg", "c.PNG"):
        assert run(Arguments(sample_directory, QUESTION, tmp_path / name)) == 0
        printed = capsys.readouterr().out
        assert printed.startswith(f"{tmp_path / name}: ")
        assert re.search(r"\d+ sections? of", printed)
        assert "Not shown: " in printed
    assert (tmp_path / "a.html").read_bytes().startswith(b"<!doctype html>")
    assert ET.parse(tmp_path / "b.svg").getroot().tag == "{http://www.w3.org/2000/svg}svg"
    assert (tmp_path / "c.PNG").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "b.svg", "c.PNG"]


def test_the_same_question_gives_the_same_bytes(sample_directory: Path, tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg", "a.html", "b.html"):
        run(Arguments(sample_directory, QUESTION, tmp_path / name))
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_counts_are_printed_as_json_and_limits_hold(
    sample_directory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = Arguments(
        sample_directory, QUESTION, tmp_path / "a.svg", sections=3, seeds=1, concepts=2, width="column", json=True
    )
    assert run(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["picture"] == str(tmp_path / "a.svg")
    assert (found["sections"], found["concepts"]) == (3, 3)
    assert found["left_out"]["sections"] > 0
    assert float(ET.parse(tmp_path / "a.svg").getroot().get("width", 0)) <= 900


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a.pdf", "which has the suffix '.pdf'; .* one of .html, .svg, .png"),
        ("a", "which has no suffix; .* one of .html, .svg, .png"),
        ("d.svg", "which is a directory; .* one of .html, .svg, .png"),
        ("file/a.svg", "which cannot be written, as .*file is no directory; choose another place"),
        ("graph/a.svg", "which is inside the graph .*; choose another place"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_first(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / "d.svg").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "graph" / "generations").mkdir(parents=True)
    (tmp_path / "graph" / "CURRENT").touch()
    with pytest.raises(InputError, match=f"--out is .*{name}, {words}"):
        run(Arguments(tmp_path / "no graph", QUESTION, tmp_path / name))
    assert {path.name for path in tmp_path.rglob("*")} == {"d.svg", "file", "graph", "generations", "CURRENT"}


def test_what_cannot_be_drawn_is_said(sample_directory: Path, tmp_path: Path, tools: Tools) -> None:
    out = tmp_path / "a.svg"
    with pytest.raises(NoMatchError, match="ask in other words"):
        run(Arguments(sample_directory, "xqzw vvkj", out))
    with pytest.raises(InputError, match="empty"):
        run(Arguments(sample_directory, " ?! ", out))
    with pytest.raises(InputError, match="--sections is 0"):
        run(Arguments(sample_directory, QUESTION, out, sections=0))
    build_graph(tmp_path / "empty", [], tools)
    with pytest.raises(InputError, match="holds no section"):
        run(Arguments(tmp_path / "empty", QUESTION, out))
    assert not out.exists()
