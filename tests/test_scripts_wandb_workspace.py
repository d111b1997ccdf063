from __future__ import annotations

import importlib.util
import json
import re
from typing import Any

import pytest

from scripts.wandb_workspace import main
from tests.conftest import ROOT

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("wandb_workspaces") is None, reason="wandb-workspaces is not installed"
    ),
    pytest.mark.filterwarnings("ignore:Pydantic V1 style:DeprecationWarning"),  # its own
]


@pytest.fixture
def sections(capsys: pytest.CaptureFixture[str]) -> dict[str, list[dict[str, Any]]]:
    assert main(["project", "--dry_run", "--measures", "RR", "R@5"]) == 0
    spec = json.loads(capsys.readouterr().out)
    assert (spec["project"], spec["displayName"]) == ("project", "Evigraph")
    return {s["name"]: s["panels"] for s in spec["spec"]["section"]["panelBankConfig"]["sections"] if s["panels"]}


def test_the_view_has_its_sections_with_panels(sections: dict[str, list[dict[str, Any]]]) -> None:
    assert list(sections) == ["Retrieval quality", "Speed", "Training", "Judging"]
    titles = [panel["config"].get("chartTitle") for panel in sections["Retrieval quality"]]
    assert titles[:3] == ["RR", "R@5", "Recall by rank"]


def test_what_is_shown_is_what_the_page_on_it_names(sections: dict[str, list[dict[str, Any]]]) -> None:
    page = (ROOT / "docs" / "wandb.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"(?:quality|speed|curve|train|eval|judge)/[\w@]+", json.dumps(sections)))
    assert {"quality/RR", "speed/seconds_per_query", "curve/recall", "train/loss"} <= shown
    for name in shown - {"quality/RR", "quality/R@5"}:
        assert f"`{name}" in page, name
    assert "`quality/MEASURE`" in page


def test_without_a_team_nothing_is_sent(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("WANDB_ENTITY", raising=False)
    assert main(["project"]) == 2
    assert "pass --entity or set WANDB_ENTITY" in capsys.readouterr().err


def test_the_view_is_saved_for_the_team(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import wandb_workspaces.workspaces as ws

    saved = []
    monkeypatch.setattr(ws.Workspace, "save", lambda self: saved.append(self))
    monkeypatch.setattr(ws.Workspace, "url", "https://wandb.example/view")
    assert main(["project", "--entity", "team"]) == 0
    assert [(view.entity, view.project) for view in saved] == [("team", "project")]
    assert capsys.readouterr().out.strip() == "https://wandb.example/view"
