"""Experiments in Weights & Biases: a run per dataset and method, so that its charts compare methods.

What is logged under which name stands in docs/wandb.md; scripts/wandb_workspace.py shows it in one view.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kg.errors import InputError
from retrieval.collection import Collection
from retrieval.comparison import Comparison

if TYPE_CHECKING:
    from retrieval.experiment_results import Outcome
    from retrieval.timings import Timing


def require_wandb(package: str = "wandb") -> None:
    """Raise ``InputError`` where ``package`` is not installed."""
    if importlib.util.find_spec(package) is None:
        name = package.replace("_", "-")
        raise InputError(f"{name} is not installed; install it with pip install 'evigraph[train]', or leave it out.")


def log_experiment(
    project: str, out: Path, outcome: Outcome, collections: Sequence[Collection], described: Mapping[str, Any]
) -> None:
    """Log each method on each dataset as a run of ``project``, grouped by the name of ``out``.

    WANDB_MODE=offline writes the runs below ``out`` only, to be sent later with `wandb sync`.
    """
    texts = {c.name: {query.query_id: query.text for query in c.queries} for c in collections}
    for comparison in outcome.comparisons:
        name = outcome.collection_of[comparison.name]
        for method in comparison.methods:
            settings = {
                "dataset": comparison.name,
                "baseline": comparison.baseline,
                "graph": described[name]["graph"],
                **described[name]["methods"][method],
            }
            _log_run(project, out, comparison, method, outcome.timings[name][method], texts[name], settings)


def summary(comparison: Comparison, method: str, timing: Timing) -> dict[str, float]:
    """What a run's summary holds: name -> number; what is unknown is left out."""
    numbers: dict[str, float | None] = {
        "speed/seconds_per_query": timing.mean,
        "speed/seconds_per_query_sd": timing.sd,
        "speed/preparation_seconds": timing.preparation,
        "quality/queries": comparison.n_queries,
        "quality/clusters": comparison.n_clusters,
    }
    for measure, interval in comparison.intervals[method].items():
        numbers |= {
            f"quality/{measure}": interval.mean,
            f"quality/{measure}_low": interval.low,
            f"quality/{measure}_high": interval.high,
        }
        if (difference := comparison.differences.get(measure, {}).get(method)) is not None:
            numbers |= {
                f"quality/{measure}_difference": difference.mean,
                f"quality/{measure}_p_holm": difference.adjusted,
            }
    return {name: number for name, number in numbers.items() if number is not None}


def _log_run(
    project: str,
    out: Path,
    comparison: Comparison,
    method: str,
    timing: Timing,
    texts: Mapping[str, str],
    settings: Mapping[str, Any],
) -> None:
    import wandb

    values = comparison.values[method]
    queries = dict.fromkeys(query for own in values.values() for query in own)
    table = wandb.Table(columns=["query", "text", *comparison.measures])
    for query in queries:
        table.add_data(query, texts[query], *(values[measure].get(query) for measure in comparison.measures))
    with wandb.init(
        project=project,
        name=f"{comparison.name} {method}",
        group=out.resolve().name,
        job_type="retrieval",
        config=dict(settings),
        dir=str(out),
        reinit="create_new",
        settings=wandb.Settings(console="off", silent=True),
    ) as run:
        run.define_metric("rank", hidden=True)
        run.define_metric("curve/recall", step_metric="rank")
        for rank, recall in comparison.recall[method].items():
            run.log({"rank": rank, "curve/recall": recall})
        run.log({"per_query": table})
        run.summary.update(summary(comparison, method, timing))
