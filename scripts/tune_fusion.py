"""Weights of a fusion, chosen on one half of the judged queries and reported on the other.

    python scripts/tune_fusion.py GRAPH FOLDER --parts dense=1 bm25=.3,0,.5,1 ppr=1,0,.5,2 --split dev

Every combination of the weights is tried. Choosing on the very queries that one reports on flatters; beside that figure
stands what the chosen weights are worth on queries they were not chosen on (`retrieval/crossfit.py`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from scripts.console import out, print_json, say, track
from scripts.entry import run_script

if TYPE_CHECKING:
    from retrieval.crossfit import Advantage, CrossFit

NAME = "tune_fusion.py"
KEPT = "nothing was written"
SHOWN = 5
"""Settings that are shown of those chosen."""


@dataclass(frozen=True)
class Arguments:
    """Choose the weights of a fusion on one half of the judged queries and report them on the other."""

    graph: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="GRAPH", help="Graph of the folder's corpus.")]
    folder: Annotated[
        Path,
        tyro.conf.Positional,
        tyro.conf.arg(metavar="FOLDER", help="The BEIR folder: corpus.jsonl, queries.jsonl, qrels/."),
    ]
    parts: Annotated[tuple[str, ...], tyro.conf.arg(metavar="METHOD=W[,W...]...")]
    """Methods to fuse, of those in docs/retrieval.md, each with the weights to try: 0, which leaves it out, or
    numbers from 1e-6 to 1e6. The first weights of all make the setting to compare with."""
    measures: Annotated[tuple[str, ...], tyro.conf.arg(metavar="MEASURE...")] = ("nDCG@10",)
    """As ir_measures names them, such as nDCG@10, R@20 or AP; the weights with the highest sum of them are chosen."""
    split: Annotated[tuple[str, ...], tyro.conf.arg(metavar="SPLIT")] = ()
    """The one file in qrels/ to use, named without .tsv; may be left out where there is only one."""
    unit: Literal["document", "section"] = "document"
    """What is ranked and judged."""
    score_column: Annotated[int, tyro.conf.arg(metavar="N")] = 3
    """Column of the judgement in qrels/, from 1."""
    judged_only: bool = False
    """Rank only documents that have a judgement for the query, as where each query has its own search result."""
    years: bool = False
    """Papers later than a query's latest_year are not seen."""
    excluded: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Lines of query id, tab, and the id of a paper or section that its ranking may not hold."""
    cluster_by: Annotated[str | None, tyro.conf.arg(metavar="FIELD")] = None
    """Field of the queries or of their metadata; queries with the same value stay in one half and are drawn together
    for intervals and tests. Unless given, those that share relevant documents do."""
    halvings: Annotated[int, tyro.conf.arg(metavar="N")] = 100
    """How often the queries are divided into halves at random; weights are chosen on each of the two."""
    limit: Annotated[int | None, tyro.conf.arg(metavar="N", help="Take only the first N queries.")] = None
    encoder: Annotated[str | None, tyro.conf.arg(metavar="DIR|NAME")] = None
    """As in `evigraph build`; it must be the one that the graph was built with."""
    json: bool = False
    """Print JSON instead of tables."""


@dataclass(frozen=True)
class Tuned:
    """What was chosen of ``settings`` on the judgements ``name``, and how many queries that rests on."""

    name: str
    settings: Sequence[Mapping[str, float]]
    found: CrossFit
    advantages: Mapping[str, Advantage]
    n_queries: int
    n_clusters: int
    clustered_by: str


def read_settings(parts: Sequence[str]) -> list[dict[str, float]]:
    """All combinations of the weights of ``parts`` ("bm25=.3,.5"), as ``fusion_search.combinations`` makes them.

    Raises:
        InputError: a part without weights, named twice, or with a weight that is no number >= 0; as ``combinations``.
    """
    from kg.errors import InputError
    from retrieval.fusion_search import combinations

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
        weights[name] = own
    return combinations(weights)


def run(arguments: Arguments) -> int:
    """Print what was found."""
    import scripts.tools
    from kg.build import open_graph
    from kg.errors import InputError
    from retrieval.candidates import Candidates
    from retrieval.collection import Selection, read_collection
    from retrieval.comparison import SHARED
    from retrieval.crossfit import advantage, check_divisible, cross_fit
    from retrieval.fusion_search import fusion_values
    from retrieval.measures import canonical
    from retrieval.methods import Methods
    from retrieval.significance import clusters

    settings = read_settings(arguments.parts)
    selection = Selection(
        arguments.split,
        arguments.limit,
        arguments.score_column,
        arguments.years,
        arguments.cluster_by,
        arguments.judged_only,
    )
    collection = read_collection(arguments.folder, selection, arguments.excluded)
    if len(collection.qrels) > 1:
        raise InputError(f"{arguments.folder} has the splits {', '.join(collection.splits)}; name one with --split.")
    (qrels,) = collection.qrels.values()
    groups = clusters(qrels) if collection.groups is None else collection.groups
    how = SHARED if collection.groups is None else f"equal {collection.cluster_by}"
    check_divisible(len({groups[query] for query in qrels}), arguments.halvings)
    graph = open_graph(arguments.graph)
    for remark in (*collection.remarks, *Candidates(graph, arguments.unit).remarks(collection)):
        say(remark)
    methods = Methods(graph, scripts.tools.load_encoder(arguments.encoder, graph.manifest))
    values = fusion_values(
        graph,
        {name: methods.part(name) for name in settings[0]},
        settings,
        collection.queries,
        qrels,
        list(dict.fromkeys(map(canonical, arguments.measures))),
        arguments.unit,
        track,
    )
    asked = next(iter(values.values()))[0]
    if left_out := len(qrels) - len(asked):
        say(f"{left_out:,} of {len(qrels):,} queries have no document that every measure counts as relevant.")
    found = cross_fit(values, groups, halvings=arguments.halvings)
    name = f"{collection.name} ({collection.splits[0]})"
    tuned = Tuned(
        name, settings, found, advantage(found, groups), len(asked), len({groups[query] for query in asked}), how
    )
    if arguments.json:
        print_json(_plain(tuned))
    else:
        out().print("\n".join(_lines(tuned)))
    return 0


def _lines(tuned: Tuned) -> Iterator[str]:
    from retrieval.cells import interval_cell, markdown_table, p_cell, queries_cell
    from retrieval.significance import FEW

    found, advantages = tuned.found, tuned.advantages
    yield from (f"## {tuned.name}", "")
    yield (
        f"{queries_cell(tuned.n_queries, tuned.n_clusters, tuned.clustered_by)}. {len(tuned.settings):,} settings; "
        f"{found.halves:,} halves"
        f" ({found.halves // 2:,} divisions) to choose on, each reported on the other half."
    )
    yield (
        f"Means over queries; mean difference [95 % bootstrap interval], without it below {FEW} clusters; p of the"
        f" paired randomisation test, exact where fewer than {FEW} clusters differ."
    )
    yield ""
    rows = [
        [f"first setting ({_shown(tuned.settings[0])})", *(f"{mean:.3f}" for mean in found.fixed.values())],
        ["chosen on one half, reported on the other", *(f"{mean:.3f}" for mean in found.held_out.values())],
        ["difference from the first setting", *(interval_cell(own.difference, "+.3f") for own in advantages.values())],
        ["p of this difference", *(p_cell(own.p) for own in advantages.values())],
        ["best setting of each measure, chosen and reported on all", *(f"{mean:.3f}" for mean in found.best.values())],
    ]
    yield from (*markdown_table(["", *found.held_out], rows), "")
    chosen = [[_shown(tuned.settings[number]), f"{times:,}"] for number, times in found.chosen.items()]
    if others := list(found.chosen.values())[SHOWN:]:
        chosen[SHOWN:] = [[f"{len(others):,} others", f"{sum(others):,}"]]
    yield from markdown_table(["chosen", "halves"], chosen)


def _shown(setting: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {weight:g}" for name, weight in setting.items())


def _plain(tuned: Tuned) -> dict[str, object]:
    found, settings = tuned.found, tuned.settings
    chosen = [{"weights": settings[number], "halves": times} for number, times in found.chosen.items()]
    return {
        "name": tuned.name,
        "n_queries": tuned.n_queries,
        "n_clusters": tuned.n_clusters,
        "clustered_by": tuned.clustered_by,
        "first_weights": settings[0],
        "first": found.fixed,
        "held_out": found.held_out,
        "difference": {measure: {**asdict(own.difference), "p": own.p} for measure, own in tuned.advantages.items()},
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
