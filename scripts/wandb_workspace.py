"""The view of a Weights & Biases project that suits what this project logs there, defined in code.

    python scripts/wandb_workspace.py PROJECT --entity TEAM     save it as a new view, and print its address
    python scripts/wandb_workspace.py PROJECT --dry_run         print its JSON, send nothing

Names of what is shown: docs/wandb.md.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from scripts.console import out, print_json
from scripts.entry import run_script

if TYPE_CHECKING:
    import wandb_workspaces.workspaces as ws

MEASURES = ("nDCG@10", "R@20", "R@100", "AP", "RR")


@dataclass(frozen=True)
class Arguments:
    """Save a view of a Weights & Biases project: retrieval quality, speed, training, judging."""

    project: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="PROJECT")]
    entity: Annotated[str | None, tyro.conf.arg(metavar="NAME", help="Team or user; WANDB_ENTITY unless given.")] = None
    name: Annotated[str, tyro.conf.arg(metavar="NAME", help="Name of the view.")] = "Evigraph"
    measures: Annotated[tuple[str, ...], tyro.conf.arg(metavar="MEASURE...", help="Those shown.")] = MEASURES
    dry_run: bool = False
    """Print the view as JSON and send nothing."""


def workspace(entity: str, project: str, name: str, measures: tuple[str, ...] = MEASURES) -> ws.Workspace:
    """The view, nothing sent: four sections, runs in the order of their datasets."""
    import wandb_workspaces.expr as expr
    import wandb_workspaces.workspaces as ws

    made = (
        ("Retrieval quality", quality_panels(measures)),
        ("Speed", speed_panels(measures[0])),
        ("Training", training_panels()),
        ("Judging", judging_panels()),
    )
    return ws.Workspace(
        entity=entity,
        project=project,
        name=name,
        sections=[ws.Section(name=title, panels=panels, is_open=True) for title, panels in made],
        settings=ws.WorkspaceSettings(max_runs=50),
        # Not grouped: panels would show means over the methods of a dataset.
        runset_settings=ws.RunsetSettings(order=[expr.Ordering(expr.Config("dataset"))]),
    )


def quality_panels(measures: tuple[str, ...]) -> list[Any]:
    """A bar per method for each measure, recall curves, and the values of each query."""
    import wandb_workspaces.reports.v2 as wr

    bars = [wr.BarPlot(title=measure, metrics=[wr.SummaryMetric(f"quality/{measure}")]) for measure in measures]
    curves = wr.LinePlot(
        title="Recall by rank", x="rank", y=["curve/recall"], log_x=True, range_y=(0, 1), title_x="rank"
    )
    return [*bars, curves, wr.WeavePanelSummaryTable(table_name="per_query")]


def speed_panels(measure: str) -> list[Any]:
    """Seconds per query, preparation, and quality against seconds."""
    import wandb_workspaces.reports.v2 as wr

    seconds = wr.SummaryMetric("speed/seconds_per_query")
    return [
        wr.ScatterPlot(title="Quality and time", x=seconds, y=wr.SummaryMetric(f"quality/{measure}"), log_x=True),
        wr.BarPlot(title="Seconds per query", metrics=[seconds]),
        wr.BarPlot(title="Seconds of preparation", metrics=[wr.SummaryMetric("speed/preparation_seconds")]),
    ]


def training_panels() -> list[Any]:
    """Losses, learning rate, and measures on held-out queries, under the names of transformers' Trainer."""
    import wandb_workspaces.reports.v2 as wr

    step = "train/global_step"
    return [
        wr.LinePlot(title="Training loss", x=step, y=["train/loss"]),
        wr.LinePlot(title="Validation loss", x=step, y=["eval/loss"]),
        wr.LinePlot(title="Learning rate", x=step, y=["train/learning_rate"]),
        wr.LinePlot(title="Gradient norm", x=step, y=["train/grad_norm"], log_y=True),
        wr.LinePlot(title="Validation measures", x=step, metric_regex="eval/.*(ndcg|recall|mrr|map|accuracy).*"),
    ]


def judging_panels() -> list[Any]:
    """Scores of judges by dimension, and how far they agree."""
    import wandb_workspaces.reports.v2 as wr

    return [
        wr.LinePlot(title="Mean score by dimension", metric_regex="judge/score/.*"),
        wr.LinePlot(title="Agreement with people", metric_regex="judge/agreement/.*"),
        wr.BarPlot(title="Win rate", metrics=[wr.SummaryMetric("judge/win_rate")]),
        wr.WeavePanelSummaryTable(table_name="judgements"),
    ]


def run(arguments: Arguments) -> int:
    """Print the JSON, or save the view and print its address."""
    from kg.errors import InputError
    from scripts.tracking import require_wandb

    require_wandb("wandb_workspaces")
    entity = arguments.entity or os.environ.get("WANDB_ENTITY", "")
    if not arguments.measures:
        raise InputError("No measure is named; name one or more, or leave --measures out.")
    if not entity and not arguments.dry_run:
        raise InputError("No team or user is named; pass --entity or set WANDB_ENTITY.")
    made = workspace(entity, arguments.project, arguments.name, arguments.measures)
    if arguments.dry_run:
        print_json(json.loads(made._to_model().model_dump_json(by_alias=True, exclude_none=True)))
        return 0
    made.save()
    out().print(made.url)
    return 0


def main(argv: list[str] | None = None) -> int:
    """Parse, run, say errors in one sentence; returns the exit code."""
    return run_script(Arguments, run, "wandb_workspace.py", "nothing was saved", argv)


if __name__ == "__main__":
    sys.exit(main())
