"""Compare retrieval methods on test collections in BEIR format.

    python scripts/evaluate_retrieval.py FOLDER... --out DIR --methods bm25 dense ppr --split test
    python scripts/evaluate_retrieval.py FOLDER... --out DIR --methods hybrid hybrid+rerank --rerank CROSS_ENCODER
    accelerate launch scripts/evaluate_retrieval.py FOLDER... --out DIR --methods bm25 dense ppr

The same command goes on where a killed one ended. What stands in DIR afterwards: retrieval/experiment.py says.
"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from scripts.console import out, print_json, say, track
from scripts.entry import run_script

if TYPE_CHECKING:
    from retrieval.collection import Collection
    from retrieval.encoder import SentenceEncoder
    from retrieval.experiment import Experiment, ExperimentConfig
    from scripts.processes import Processes

NAME = "evaluate_retrieval.py"
KEPT = "what is done is kept, and the same command goes on from there"


@dataclass(frozen=True)
class Arguments:
    """Compare retrieval methods on test collections in BEIR format: means with intervals, tests, seconds.

    Under `accelerate launch` the processes share the queries. The same command goes on where a killed one ended.
    """

    folders: Annotated[
        tuple[Path, ...],
        tyro.conf.Positional,
        tyro.conf.arg(
            metavar="FOLDER...",
            help="BEIR folders: corpus.jsonl, queries.jsonl, qrels/.",
            help_behavior_hint="(required)",
        ),
    ]
    out: Annotated[Path, tyro.conf.arg(metavar="DIR", help="Where results go.")]
    methods: Annotated[tuple[str, ...], tyro.conf.arg(metavar="METHOD...")] = ("bm25", "dense", "hybrid", "ppr", "lkg")
    """These and the others of docs/retrieval.md, each also with +rerank after its name; an unknown name is answered
    with the list."""
    rerank: Annotated[Path | None, tyro.conf.arg(metavar="DIR")] = None
    """Folder of the cross-encoder that methods with +rerank let read their first sections."""
    rerank_depth: Annotated[int, tyro.conf.arg(metavar="N", help="How many sections it reads.")] = 50
    split: Annotated[tuple[str, ...], tyro.conf.arg(metavar="SPLIT...", help_behavior_hint="")] = ()
    """Judgements in qrels/, each evaluated apart; all unless given."""
    graph: Annotated[tuple[Path, ...], tyro.conf.arg(metavar="GRAPH...", help_behavior_hint="")] = ()
    """Graph of each folder's corpus. Unless given, graphs are built in DIR/graphs, and kept there."""
    measures: Annotated[tuple[str, ...], tyro.conf.arg(metavar="MEASURE...", help_behavior_hint="")] = ()
    """As ir_measures names them, the first decides the baseline; R@20 R@100 nDCG@10 AP RR unless given."""
    baseline: Annotated[str | None, tyro.conf.arg(metavar="METHOD")] = None
    """What the others are tested against; the best text method unless given."""
    top_n: Annotated[int | None, tyro.conf.arg(metavar="N", help_behavior_hint="")] = None
    """Length of a ranking. Unless given 1000, or more where rankings in DIR are longer or a WSS measure, which looks
    for the last documents, needs all."""
    unit: Literal["document", "section"] = "document"
    """What is ranked and judged."""
    score_column: Annotated[int, tyro.conf.arg(metavar="N")] = 3
    """Column of the judgement in qrels/, from 1."""
    excluded: Annotated[tuple[Path, ...], tyro.conf.arg(metavar="FILE...", help_behavior_hint="")] = ()
    """For each folder, lines of query id, tab, and the id of a paper or section that its ranking may not hold."""
    years: bool = False
    """Papers later than a query's latest_year are not seen."""
    judged_only: bool = False
    """Rank only documents that have a judgement for the query, as where each query has its own search result."""
    cluster_by: Annotated[str | None, tyro.conf.arg(metavar="FIELD")] = None
    """Field of the queries or of their metadata; queries with the same value are drawn together for intervals and
    tests. Unless given, those that share relevant documents are."""
    limit: Annotated[int | None, tyro.conf.arg(metavar="N", help="Ask only the first N queries of each split.")] = None
    batch_size: Annotated[int, tyro.conf.arg(metavar="N")] = 16
    """Questions asked at a time; seconds per query depend on it."""
    encoder: Annotated[str | None, tyro.conf.arg(metavar="DIR|NAME")] = None
    """As in `evigraph build`; it must be the one that a given graph was built with."""
    device: Literal["cpu", "cuda"] = "cpu"
    """Where the graph lies; encoder and cross-encoder take a GPU where there is one."""
    wandb: Annotated[str | None, tyro.conf.arg(metavar="PROJECT", help="Also log to Weights & Biases.")] = None
    overwrite: bool = False
    """Ask all methods named anew, and build graphs in DIR/graphs anew."""
    json: bool = False
    """Print results.json instead of tables."""


def run(arguments: Arguments) -> int:
    """Exit 1 when a corpus could be read only in part."""
    import scripts.tools
    from kg.errors import InputError
    from kg.lock import writer_lock
    from kg.places import fault_of_directory
    from retrieval.batch import BatchConfig
    from retrieval.collection import Selection, read_collections
    from retrieval.experiment import MEASURES, ExperimentConfig
    from retrieval.experiment_results import Outcome, left_out, write_results
    from retrieval.rerank import RerankConfig
    from scripts.processes import Processes

    if fault := fault_of_directory(arguments.out):
        raise InputError(f"{arguments.out} {fault}; choose another place for --out.")
    _check_device(arguments.device)
    if not arguments.folders:
        raise InputError("No folder was named; pass at least one BEIR folder.")
    if arguments.graph and len(arguments.graph) != len(arguments.folders):
        raise InputError(
            f"There are {len(arguments.graph)} graphs for {len(arguments.folders)} folders; give one each."
        )
    default = BatchConfig()
    top_n = default.top_n if arguments.top_n is None else arguments.top_n
    batch = replace(default, top_n=top_n, unit=arguments.unit, size=arguments.batch_size)
    reranking = None if arguments.rerank is None else RerankConfig(arguments.rerank, arguments.rerank_depth)
    config = ExperimentConfig(
        arguments.methods,
        arguments.measures or MEASURES,
        arguments.baseline,
        batch,
        reranking=reranking,
        deepen=arguments.top_n is None,
    )
    selection = Selection(
        arguments.split,
        arguments.limit,
        arguments.score_column,
        arguments.years,
        arguments.cluster_by,
        arguments.judged_only,
    )
    collections = read_collections(arguments.folders, selection, arguments.excluded)
    if arguments.wandb is not None:
        from scripts.tracking import require_wandb

        require_wandb()
    outcome = Outcome([], {}, {})
    described: dict[str, Any] = {}
    rejected = 0
    with Processes() as processes:
        state = arguments.out / "state"
        state.mkdir(parents=True, exist_ok=True)
        with writer_lock(state) if processes.is_first else nullcontext():
            builder = None if arguments.graph else scripts.tools.load_encoder(arguments.encoder)
            for number, collection in enumerate(collections):
                experiment, lost = _prepare(arguments, number, collection, config, processes, builder)
                rejected += lost
                experiment.check()
                experiment.run(processes.share, track) if processes.is_first else experiment.run(processes.share)
                processes.wait()
                if processes.is_first:
                    said = len(experiment.remarks)
                    comparisons, timings = experiment.evaluate()
                    for remark in experiment.remarks[said:]:
                        say(remark)
                    outcome.comparisons.extend(comparisons)
                    outcome.timings[collection.name] = timings
                    outcome.collection_of.update(dict.fromkeys(collection.qrels, collection.name))
                    described[collection.name] = experiment.describe()
            if processes.is_first:
                write_results(arguments.out, outcome, config, described)
                _show(arguments, outcome, config)
                if others := left_out(arguments.out, list(described), config.methods):
                    names = "; ".join(f"{name}: {', '.join(methods)}" for name, methods in others.items())
                    say(
                        f"{arguments.out} also holds finished results that these tables leave out ({names}); a call "
                        "that names them too shows them at once."
                    )
                if arguments.wandb is not None:
                    from scripts.tracking import log_experiment

                    log_experiment(arguments.wandb, arguments.out, outcome, collections, described)
    return 1 if rejected else 0


def _check_device(device: str) -> None:
    """Raise ``InputError`` where torch has not the device."""
    import torch

    from kg.errors import InputError

    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("torch finds no GPU for --device cuda; leave --device out, or install torch with CUDA.")


def _prepare(
    arguments: Arguments,
    number: int,
    collection: Collection,
    config: ExperimentConfig,
    processes: Processes,
    encoder: SentenceEncoder | None,
) -> tuple[Experiment, int]:
    """The experiment on one folder, its graph built with ``encoder`` if none was given; and records of its corpus
    left out."""
    import scripts.tools
    from kg.build import open_graph
    from retrieval.experiment import Experiment

    lost = 0
    if encoder is None:
        directory = arguments.graph[number]
    else:
        directory = arguments.out / "graphs" / collection.name
        if processes.is_first:
            lost = _build(arguments, directory, arguments.folders[number], scripts.tools.build_tools(encoder))
        processes.wait()
    graph = open_graph(directory)
    if config.needs_encoder and encoder is None:
        encoder = scripts.tools.load_encoder(arguments.encoder, graph.manifest)
    if arguments.device != "cpu":
        graph = graph.to(arguments.device)
    experiment = Experiment(collection, graph, encoder, arguments.out, config)
    if processes.is_first:
        for remark in experiment.remarks:
            say(remark)
        if arguments.overwrite:
            experiment.start_anew()
    processes.wait()
    return experiment, lost


def _build(arguments: Arguments, directory: Path, folder: Path, tools: Any) -> int:
    from kg.errors import InputError
    from retrieval.experiment import corpus_graph
    from scripts.reports import read_sources

    corpus = folder / "corpus.jsonl"
    if not corpus.is_file():
        raise InputError(f"{corpus} does not exist; put it there, or give the graph of the corpus with --graph.")
    documents, read = read_sources([corpus], None)
    corpus_graph(directory, documents, tools, overwrite=arguments.overwrite)
    if read.rejected or read.duplicates:
        say(f"{folder}: {read.summary()}.")
    return len(read.rejected)


def _show(arguments: Arguments, outcome: Any, config: ExperimentConfig) -> None:
    from retrieval.tables import results, results_markdown, timings_markdown

    if arguments.json:
        print_json(results(outcome.comparisons))
        return
    out().print(results_markdown(outcome.comparisons, by_query=False))
    out().print(timings_markdown(outcome.timings, config.batch.size))
    say(f"Tables, values query by query, rankings and the plot are in {arguments.out}.")


def main(argv: list[str] | None = None) -> int:
    """Parse, run, say errors in one sentence; returns the exit code."""
    return run_script(Arguments, run, NAME, KEPT, argv)


if __name__ == "__main__":
    sys.exit(main())
