"""What an experiment found, as the files of its directory (``retrieval.experiment`` lists them)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kg.targets import replace_files
from retrieval.comparison import Comparison
from retrieval.experiment import ExperimentConfig
from retrieval.plots import quality_time, save_figure
from retrieval.stored_runs import stored_runs
from retrieval.tables import (
    per_query_csv,
    recall_csv,
    results,
    results_csv,
    results_markdown,
    significance,
    timings_json,
    timings_markdown,
)
from retrieval.timings import Timing


@dataclass(frozen=True)
class Outcome:
    """What an experiment found. ``collection_of``: of each comparison, the collection that its judgements are of."""

    comparisons: list[Comparison]
    timings: dict[str, dict[str, Timing]]
    collection_of: dict[str, str]


def write_results(out: Path, outcome: Outcome, config: ExperimentConfig, described: Mapping[str, Any]) -> list[Path]:
    """Write the tables and the plot; their paths. ``described`` goes into configuration.json as it is."""
    own = {
        "measures": config.measures,
        "baseline": config.baseline,
        "methods": config.methods,
        "unit": config.batch.unit,
        "size": config.batch.size,
    }
    comparisons = outcome.comparisons
    texts = {
        "configuration.json": _json({**own, "collections": described}),
        "results.json": _json(results(comparisons)),
        "significance.json": _json(significance(comparisons)),
        "results.md": results_markdown(comparisons),
        "results.csv": results_csv(comparisons),
        "per_query.csv": per_query_csv(comparisons),
        "recall_curves.csv": recall_csv(comparisons),
        "timings.json": _json({"batch_size": config.batch.size, "collections": timings_json(outcome.timings)}),
        "timings.md": timings_markdown(outcome.timings, config.batch.size),
    }
    replace_files({out / name: text.encode() for name, text in texts.items()})
    collections = [outcome.collection_of[c.name] for c in comparisons]
    figures = save_figure(quality_time(comparisons, outcome.timings, collections), out / "quality_time")
    return [*(out / name for name in texts), *figures]


def left_out(out: Path, collections: Sequence[str], methods: Sequence[str]) -> dict[str, list[str]]:
    """Collection -> methods whose results lie finished in ``out`` while tables of these alone are without them."""
    kept = {path.name for path in (out / "state").glob("*") if path.is_dir()}
    found: dict[str, list[str]] = {}
    for name in sorted(kept):
        shown = methods if name in collections else ()
        finished = [method for method, run in stored_runs(out, name).items() if run.configuration is not None]
        if others := [method for method in finished if method not in shown]:
            found[name] = others
    return found


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"
