"""What README and docs say is what the program does."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from kg.build import Tools, build_graph
from retrieval.encoder import SentenceEncoder
from retrieval.ranking import Ranking
from scripts.cli import COMMANDS, usage
from tests.conftest import ROOT, paper

PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_options_and_files_that_are_named_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for command in re.findall(r"(?m)^evigraph (\w+)|`evigraph (\w+)", text):
        assert "".join(command) in COMMANDS
    for link in re.findall(r"\]\(([\w./]+)\)", text):
        assert (page.parent / link).exists(), link
    for path in re.findall(r"`?((?:kg|retrieval|agents|training|evaluation|scripts|tests|docs)/[\w/.]+\.\w+)`?", text):
        assert (ROOT / path).exists(), path


def test_the_readme_s_first_screen_has_the_two_commands() -> None:
    first = "\n".join((ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:20])
    assert "make demo" in first
    assert "make test" in first


def test_every_command_stands_in_the_readme_and_in_the_help() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for command in COMMANDS:
        assert re.search(rf"\| `{command} (?:GRAPH|REPORT)", readme), command
        assert f"  {command}" in usage()


def test_the_python_of_the_readme_runs(
    monkeypatch: pytest.MonkeyPatch, minilm: SentenceEncoder, tools: Tools, tmp_path: Path
) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    papers = [
        paper("a", "The equity premium rewards investors for risk."),
        paper("b", "Loss aversion and the equity premium."),
    ]
    build_graph(tmp_path / "library", papers, replace(tools, encoder=minilm))
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), names)
    assert isinstance(names["ranking"], Ranking)
    assert set(names["ranking"].ids) == {"a#0", "b#0"}
