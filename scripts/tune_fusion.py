"""Weights of a fusion, chosen on one half of the judged queries and reported on the other.

    python scripts/tune_fusion.py GRAPH FOLDER --parts dense=1 bm25=.3,0,.5,1 ppr=1,0,.5,2 --measures nDCG@10

Every combination of the weights is tried. Choosing on the very queries that one reports on flatters; beside that figure
stands what the chosen weights are worth on queries they were not chosen on (`retrieval/crossfit.py`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from scripts.console import out, print_json, say, track
from scripts.entry import run_script

if TYPE_CHECKING:
    from retrieval.crossfit import CrossFit

NAME = "tune_fusion.py"
KEPT = "nothing was written"
SHOWN = 5
"""Settings that are shown of those chosen."""


@dataclass(frozen=True)
class Arguments:
    """Choose the weights of a fusion on one half of the judged queries and report them on the other."""

    graph: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="GRAPH", help="Graph of the folder's corpus.")]
    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER", help="BEIR folder.")]
    parts: Annotated[tuple[str, ...], tyro.conf.arg(metavar="METHOD=W[,W...]...")]
    """Methods to fuse with the weights to try; the first weights of all make the setting to compare with."""
    measures: Annotated[tuple[str, ...], tyro.conf.arg(metavar="MEASURE...")] = ("nDCG@10",)
    """As ir_measures names them; their sum decides."""
    split: Annotated[tuple[str, ...], tyro.conf.arg(metavar="SPLIT...")] = ()
    """The one split of qrels/ to use; may be left out where there is only one."""
    unit: Literal["document", "section"] = "document"
    """What is ranked and judged."""
    score_column: Annotated[int, tyro.conf.arg(metavar="N")] = 3
    """Column of the judgement in qrels/, from 1."""
    judged_only: bool = False
    """Rank only documents that have a judgement for the query."""
    excluded: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Lines of query id, tab, and the id of a paper or section that its ranking may not hold."""
    cluster_by: Annotated[str | None, tyro.conf.arg(metavar="FIELD")] = None
    """Field of the queries; those with the same value stand on the same side. Unless given, those that share relevant
    documents do."""
    halvings: Annotated[int, tyro.conf.arg(metavar="N", help="Random divisions into halves.")] = 100
    limit: Annotated[int | None, tyro.conf.arg(metavar="N", help="Only the first N queries.")] = None
    encoder: Annotated[str | None, tyro.conf.arg(metavar="DIR|NAME")] = None
    """The encoder that the graph was built with."""
    json: bool = False
    """Print JSON instead of tables."""


def read_settings(parts: Sequence[str]) -> list[dict[str, float]]:
    """All combinations of the weights of ``parts`` ("bm25=.3,.5"), the first weights first; none all zero.

    Raises:
        InputError: a part without weights, named twice, or with a weight that is no number >= 0.
    """
    from kg.errors import InputError

    weights: dict[str, list[float]] = {}
    for part in parts:
        name, _, given = part.partition("=")
        try:
            own = [float(weight) for weight in given.split(",")]
        except ValueError:
            own = []
        if not own or not all(0 <= weight < float("inf") for weight in own):
            raise InputError(f"--parts {part!r} names no weights; write METHOD=W,W with numbers >= 0, as bm25=.3,.5.")
        if name in weights:
            raise InputError(f"--parts names {name} twice; give all its weights at once.")
        weights[name] = list(dict.fromkeys(own))
    settings = [dict(zip(weights, chosen, strict=True)) for chosen in product(*weights.values())]
    settings = [setting for setting in settings if any(setting.values())]
    if not settings:
        raise InputError("All weights of --parts are 0; give at least one that is not.")
    return settings


def run(arguments: Arguments) -> int:
    """Print what was found."""
    import scripts.tools
    from kg.build import open_graph
    from kg.errors import InputError
    from retrieval.collection import Selection, read_collection
    from retrieval.crossfit import cross_fit
    from retrieval.fusion_search import fusion_values
    from retrieval.methods import Methods
    from retrieval.significance import clusters

    settings = read_settings(arguments.parts)
    selection = Selection(
        arguments.split,
        arguments.limit,
        arguments.score_column,
        cluster_by=arguments.cluster_by,
        judged_only=arguments.judged_only,
    )
    collection = read_collection(arguments.folder, selection, arguments.excluded)
    if len(collection.qrels) > 1:
        raise InputError(f"{arguments.folder} has the splits {', '.join(collection.splits)}; name one with --split.")
    for remark in collection.remarks:
        say(remark)
    (qrels,) = collection.qrels.values()
    graph = open_graph(arguments.graph)
    methods = Methods(graph, scripts.tools.load_encoder(arguments.encoder, graph.manifest))
    values = fusion_values(
        graph,
        {name: methods.part(name) for name in settings[0]},
        settings,
        collection.queries,
        qrels,
        arguments.measures,
        arguments.unit,
        track,
    )
    found = cross_fit(values, collection.groups or clusters(qrels), halvings=arguments.halvings)
    if arguments.json:
        print_json(_plain(found, settings))
    else:
        out().print("\n".join(_lines(found, settings, len(qrels))))
    return 0


def _lines(found: CrossFit, settings: Sequence[Mapping[str, float]], n_queries: int) -> Iterator[str]:
    yield f"{len(settings):,} settings, {n_queries:,} queries, {found.halves} halves to choose on\n"
    yield "| | " + " | ".join(found.held_out) + " |"
    yield "|---|" + "---|" * len(found.held_out)
    rows = (
        ("the first setting, all queries", found.fixed),
        ("chosen on one half, reported on the other", found.held_out),
    )
    for name, means in (*rows, ("the best of each measure, in sample", found.best)):
        yield f"| {name} | " + " | ".join(f"{mean:.3f}" for mean in means.values()) + " |"
    yield "\n| chosen | halves |\n|---|---|"
    for number, times in list(found.chosen.items())[:SHOWN]:
        yield f"| {_shown(settings[number])} | {times} |"
    if len(found.chosen) > SHOWN:
        yield f"| {len(found.chosen) - SHOWN} others | {sum(list(found.chosen.values())[SHOWN:])} |"


def _shown(setting: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {weight:g}" for name, weight in setting.items())


def _plain(found: CrossFit, settings: Sequence[Mapping[str, float]]) -> dict[str, object]:
    chosen = [{"weights": settings[number], "halves": times} for number, times in found.chosen.items()]
    return {
        "first": found.fixed,
        "held_out": found.held_out,
        "best_in_sample": found.best,
        "settings": len(settings),
        "halves": found.halves,
        "chosen": chosen,
    }


def main(argv: list[str] | None = None) -> int:
    """Parse, run, say errors in one sentence; returns the exit code."""
    return run_script(Arguments, run, NAME, KEPT, argv)


if __name__ == "__main__":
    sys.exit(main())
