from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kg.errors import InputError
from retrieval.timings import Timing
from scripts.evaluate_retrieval import main
from scripts.tracking import require_wandb, summary
from tests.beir_folder import QUERIES, write_beir
from tests.conftest import ROOT
from tests.test_retrieval_tables import comparison

needs_wandb = pytest.mark.skipif(importlib.util.find_spec("wandb") is None, reason="wandb is not installed")


def test_the_summary_holds_every_number_of_the_tables() -> None:
    compared = comparison(30)
    found = summary(compared, "ppr", Timing(0.25, None, 30, 2.0, 1))
    assert found.pop("quality/RR_p_holm") == compared.differences["RR"]["ppr"].adjusted
    assert found == {
        "speed/seconds_per_query": 0.25, "speed/preparation_seconds": 2.0, "quality/queries": 30,
        "quality/clusters": 30, "quality/RR": 1.0, "quality/RR_low": 1.0, "quality/RR_high": 1.0,
        "quality/RR_difference": 0.5, "quality/R@2": 1.0, "quality/R@2_low": 1.0, "quality/R@2_high": 1.0,
        "quality/R@2_difference": 0.0, "quality/R@2_p_holm": 1.0,
    }  # fmt: skip


def test_the_baseline_has_no_difference() -> None:
    assert not [name for name in summary(comparison(3), "bm25", Timing(1, 1, 3, 1, 1)) if "difference" in name]


def test_a_missing_package_is_named_with_the_way_out() -> None:
    with pytest.raises(InputError, match=r"no-such-package is not installed; .*evigraph\[train\]"):
        require_wandb("no_such_package")


def test_it_is_asked_for_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name, *more: None if name == "wandb" else find(name, *more))
    folder = write_beir(tmp_path / "tiny")
    assert main([str(folder), "--out", str(tmp_path / "out"), "--methods", "bm25", "--wandb", "project"]) == 2
    assert "wandb is not installed" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


LOG = """
import sys
from pathlib import Path
from retrieval.collection import Collection
from retrieval.experiment_results import Outcome
from retrieval.queries import Query
from retrieval.timings import Timing
from scripts.tracking import log_experiment
from tests.test_retrieval_tables import comparison
compared = comparison(3)
queries = tuple(Query(f"q{n}", f"Question {n}?") for n in range(3))
timing = Timing(0.5, 0.1, 3, 1.0, 1)
outcome = Outcome([compared], {"tiny": {"bm25": timing, "ppr": timing}}, {"tiny": "tiny"})
described = {"tiny": {"graph": {"counts": {"documents": 3}}, "methods": {"bm25": {"top_n": 2}, "ppr": {"top_n": 2}}}}
log_experiment("project", Path(sys.argv[1]), outcome, [Collection("tiny", queries, {}, ("dev",))], described)
"""


@needs_wandb
def test_offline_runs_hold_summary_table_and_curve(tmp_path: Path) -> None:
    environment = os.environ | {"WANDB_MODE": "offline", "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", LOG, tmp_path], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    runs = sorted((tmp_path / "wandb").glob("offline-run-*"))
    assert len(runs) == 2
    for run in runs:
        (table,) = run.rglob("per_query*.json")
        rows = json.loads(table.read_text())
        assert rows["columns"] == ["query", "text", "RR", "R@2"]
        assert [row[:2] for row in rows["data"]] == [[f"q{n}", f"Question {n}?"] for n in range(3)]
        (log,) = run.glob("*.wandb")
        content = log.read_bytes()
        for name in (b"curve/recall", b"quality/RR_low", b"speed/seconds_per_query", b"baseline", b"documents"):
            assert (name in content) == (name != b"quality/RR_low"), name  # too few queries for an interval


@needs_wandb
def test_the_script_logs_what_it_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logged = []
    monkeypatch.setattr("scripts.tracking.log_experiment", lambda *arguments: logged.append(arguments))
    monkeypatch.setattr("scripts.tools.load_encoder", lambda given, manifest=None: _hash())
    folder = write_beir(tmp_path / "tiny")
    assert main([str(folder), "--out", str(tmp_path / "out"), "--methods", "bm25", "--wandb", "project"]) == 0
    ((project, _, outcome, collections, described),) = logged
    assert project == "project"
    assert [c.name for c in outcome.comparisons] == ["tiny.dev", "tiny.test"]
    assert {query.text for query in collections[0].queries} == set(QUERIES.values())
    assert described["tiny"]["methods"]["bm25"]["unit"] == "document"


def _hash() -> object:
    from tests.conftest import HashEncoder

    return HashEncoder()
