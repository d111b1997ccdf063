"""What merging is worth for retrieval: questions that name a thing, answered by papers that call it otherwise.

    python scripts/bench_lateral.py GRAPH FOLDER --weights W0.json W1.json ... --split dev_cross --excluded FILE

Cross-validated by entity: the graph is assembled from its caches once per file of weights, with the scorer of pairs
that `scripts/fit_pair_scorer.py --without K` fitted without the entities of fold K, and answers the questions of that
fold alone (the fold of a question is that of its field ``entity``). Rows compare what stands between names: nothing but
keys, rules, joins of the scorer, edges, both; and what is done with it. The last row is what all are tested against:
BM25 and the best cosine of a mention with the question, fused, over exact names.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import tyro

from scripts.console import out, print_json, say
from scripts.entry import run_script
from scripts.marked_graph import MarkedNames

if TYPE_CHECKING:
    from kg.lateral import LateralGraph
    from kg.merge import MergeConfig
    from kg.protocols import Encoder, Extractor
    from retrieval.measures import Qrels
    from retrieval.queries import Query

NAME = "bench_lateral.py"
KEPT = "nothing was written"
NEVER = 2.0
"""A probability that no pair reaches."""
MEASURES = ("R@20", "nDCG@10")
BASELINE = "bm25 + best mention"
EXACT = "exact names"
METHODS = (BASELINE, "bm25", "text", "concepts", "ppr", "names", "contexts", "hybrid")
FUSED: Mapping[str, float] = {"bm25": 1.0, "concepts": 1.0}
Values = dict[str, dict[str, float]]
"""Measure -> query -> value."""


@dataclass(frozen=True)
class Arguments:
    """Compare ways of merging by the lateral questions of a BEIR folder."""

    graph: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="GRAPH", help="Its caches hold all texts.")]
    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER", help="BEIR folder of sections.")]
    weights: Annotated[tuple[Path, ...], tyro.conf.arg(metavar="FILE...")]
    """Weights of the scorer of pairs fitted without the entities of fold 0, 1, ..."""
    split: str = "dev_cross"
    excluded: Annotated[Path | None, tyro.conf.arg(metavar="FILE", help="As in evaluate_retrieval.py.")] = None
    json: bool = False


def without_scorer() -> dict[str, MergeConfig]:
    """Ways of merging that nothing was fitted for."""
    from kg.merge import MergeConfig

    return {
        EXACT: MergeConfig(rungs="rules", join=NEVER, same_as=NEVER, tolerated=NEVER),
        "rules": MergeConfig(rungs="rules"),
    }


def with_scorer(weights: Path) -> dict[str, MergeConfig]:
    """Ways of merging by the scorer of a file."""
    from kg.merge import MergeConfig

    scorer = MergeConfig(scorer=str(weights))
    return {
        "joins": replace(scorer, same_as=NEVER),
        "edges": replace(scorer, join=NEVER),
        "joins and edges": scorer,
    }


def assembled(graph: LateralGraph, directory: Path, config: MergeConfig, encoder: Encoder) -> LateralGraph:
    """The ``graph`` of a directory under another merge, from its caches alone; raises ``GraphError`` where they lack a
    text."""
    from kg.assemble import assemble
    from kg.build import Tools, extract_sections
    from kg.cache import Cache
    from kg.embedding import CachedEmbedder
    from kg.lateral import LateralGraph

    extractor = _extractor(graph.manifest["configuration"]["extractor"])
    papers = graph.papers()
    tools = Tools(extractor, encoder)
    with (
        Cache(directory / "cache" / "extraction.sqlite", extractor.fingerprint) as extractions,
        Cache(directory / "cache" / "embedding.sqlite", encoder.fingerprint) as vectors,
    ):
        blobs = extract_sections([section for paper in papers for section in paper.sections], tools, extractions)
        made = assemble(papers, blobs, extractor, CachedEmbedder(encoder, vectors), config)
    return LateralGraph.of(made.tables, made.tensors, {**graph.manifest, "counts": made.counts})


def _extractor(built_with: Mapping[str, str]) -> Extractor:
    """What chooses among the names that the caches hold."""
    from kg.keyphrase import KeyphraseExtractor
    from kg.ready_triples import StoredTriples

    own = KeyphraseExtractor()
    if built_with["fingerprint"] == own.fingerprint:
        return own
    # Marked names and ready triples: all that is there has been chosen already.
    stored = StoredTriples(built_with["fingerprint"])
    stored.cooccurrence = built_with["name"] == MarkedNames.name
    return stored


def run(arguments: Arguments) -> int:
    """Print a table per way of merging, or JSON."""
    from kg.build import open_graph
    from retrieval.beir import read_groups
    from retrieval.collection import Selection, read_collection
    from scripts.tools import load_encoder
    from training.name_pairs import fold_of

    collection = read_collection(arguments.folder, Selection((arguments.split,)), arguments.excluded)
    (qrels,) = collection.qrels.values()
    entities = read_groups(arguments.folder, "entity")
    folds = len(arguments.weights)
    graph = open_graph(arguments.graph)
    encoder = load_encoder(None, graph.manifest)
    asked: dict[str, dict[str, Values]] = {}

    def ask(configs: Mapping[str, MergeConfig], queries: Sequence[Query]) -> None:
        for merge, config in configs.items():
            merged = assembled(graph, arguments.graph, config, encoder)
            say(f"{merge}: {merged.n_concepts:,} concepts, {merged.same_as.values().numel() // 2:,} links.")
            judged = {query.query_id: qrels[query.query_id] for query in queries}
            for method, values in asked_of(merged, queries, judged, encoder).items():
                for measure, found in values.items():
                    asked.setdefault(merge, {}).setdefault(method, {}).setdefault(measure, {}).update(found)

    ask(without_scorer(), collection.queries)
    for fold, weights in enumerate(arguments.weights):
        own = [query for query in collection.queries if fold_of(entities[query.query_id], folds) == fold]
        if own:
            ask(with_scorer(weights), own)
    rows = list(compared(asked, {query: entities[query] for query in qrels}))
    if arguments.json:
        print_json({"queries": len(qrels), "rows": [row._asdict() for row in rows]})
    else:
        out().print("\n".join(tables(rows)))
    return 0


def asked_of(graph: LateralGraph, queries: Sequence[Query], qrels: Qrels, encoder: Encoder) -> dict[str, Values]:
    """Method -> measure -> query -> value."""
    from retrieval.fusion_search import fusion_values
    from retrieval.methods import Methods

    methods = Methods(graph, encoder)
    found = {}
    for method in METHODS:
        parts = {method: methods.scorer(method)} if method != BASELINE else {m: methods.part(m) for m in FUSED}
        weights = {method: 1.0} if method != BASELINE else FUSED
        values = fusion_values(graph, parts, [weights], queries, qrels, MEASURES)
        found[method] = {measure: own[0] for measure, own in values.items()}
    return found


class Row(NamedTuple):
    """A method on a way of merging: mean and 95 % interval, difference from the baseline, p of the paired test."""

    merge: str
    method: str
    measure: str
    mean: float
    low: float | None
    high: float | None
    gain: float
    gain_low: float | None
    gain_high: float | None
    p: float


def compared(asked: Mapping[str, Mapping[str, Values]], entities: Mapping[str, str]) -> Iterator[Row]:
    """All rows; queries of one entity are drawn together."""
    from retrieval.significance import cluster_bootstrap, paired_randomisation

    numbers = {entity: number for number, entity in enumerate(sorted(set(entities.values())))}
    cluster = {query: numbers[entity] for query, entity in entities.items()}
    base = asked[EXACT][BASELINE]
    for merge, methods in asked.items():
        for method, values in methods.items():
            for measure, own in values.items():
                mean = cluster_bootstrap(own, cluster)
                gain = cluster_bootstrap({query: own[query] - base[measure][query] for query in own}, cluster)
                p = paired_randomisation(own, base[measure], cluster)
                yield Row(merge, method, measure, mean.mean, mean.low, mean.high, gain.mean, gain.low, gain.high, p)


def tables(rows: Sequence[Row]) -> Iterator[str]:
    """A table per measure: methods by ways of merging, and the gains of ``hybrid``."""
    from retrieval.cells import markdown_table

    merges_ = list(dict.fromkeys(row.merge for row in rows))
    for measure in MEASURES:
        own = {(row.method, row.merge): row for row in rows if row.measure == measure}
        lines = [[method, *(f"{own[method, merge].mean:.3f}" for merge in merges_)] for method in METHODS]
        yield from (*markdown_table([measure, *merges_], lines), "")
    yield f"Gain of hybrid over {BASELINE} on exact names, 95 % interval over entities, p of the paired test:"
    for row in rows:
        if row.method == "hybrid":
            interval = f"[{row.gain_low:+.3f}, {row.gain_high:+.3f}]" if row.gain_low is not None else "(too few)"
            yield f"  {row.merge}, {row.measure}: {row.gain:+.3f} {interval}, p {row.p:.4f}"


def main(argv: list[str] | None = None) -> int:
    """Parse, run, say errors in one sentence; returns the exit code."""
    return run_script(Arguments, run, NAME, KEPT, argv)


if __name__ == "__main__":
    sys.exit(main())
