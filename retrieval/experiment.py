"""Methods on test collections, from the graph to the tables, in one directory that a killed experiment goes on from.

    OUT/graphs/NAME           the graph of a collection, where none was given
    OUT/state/NAME/METHOD     what is done (``retrieval.batch``)
    OUT/runs/NAME.METHOD.trec  rankings, as trec_eval reads them
    OUT/results.json results.md results.csv per_query.csv recall_curves.csv significance.json configuration.json
    OUT/timings.json timings.md quality_time.png quality_time.svg

The same collections and graphs give the same bytes, but for the last line's.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from kg.build import BuildReport, Tools, add_documents, build_graph, open_graph
from kg.errors import GraphError, InputError
from kg.lateral import LateralGraph
from kg.papers import clean_document
from kg.protocols import Encoder, Track, no_track
from kg.records import Document
from kg.storage import graph_exists, prepare_directory
from retrieval.batch import ALONE, BatchConfig, Share, missing, read_progress, run_batches
from retrieval.candidates import Candidates
from retrieval.collection import Collection
from retrieval.comparison import SHARED, Comparison, Quality, assess, compare, work_remarks
from retrieval.facts import has_facts
from retrieval.measures import WSS, applies, canonical, cutoff, parse_measure
from retrieval.method_names import METHODS, WITHOUT_ENCODER
from retrieval.methods import Methods, MethodsConfig
from retrieval.rerank import CrossEncoderReranker, RerankConfig
from retrieval.retriever import Retriever
from retrieval.stored_runs import stored_configuration
from retrieval.timings import Timing, timing
from retrieval.trec import write_run

MEASURES = ("R@20", "R@100", "nDCG@10", "AP", "RR")
RERANKED = "+rerank"
"""What a method is called after which a cross-encoder reads, as ``hybrid+rerank``: this is put after its name."""


@dataclass(frozen=True)
class ExperimentConfig:
    """What is compared and how. Measures and baseline may change between calls on one directory; the rest is refused.

    ``methods``: those of ``retrieval.methods``, alone or with ``RERANKED`` after them, which ``reranking`` says how.
    ``measures`` become ``measures.canonical``. ``deepen``: rankings are longer than the ``top_n`` of ``batch`` where
    those in the directory are, and hold everything where a measure is ``WSS``, which looks for the last documents.

    Raises:
        InputError: an unknown method or measure, one named twice, a baseline that is none of the methods, a method that
            reranks without ``reranking``, or none with it.
    """

    methods: tuple[str, ...]
    measures: tuple[str, ...] = MEASURES
    baseline: str | None = None
    batch: BatchConfig = field(default_factory=BatchConfig)
    settings: MethodsConfig = field(default_factory=MethodsConfig)
    reranking: RerankConfig | None = None
    deepen: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "measures", tuple(map(canonical, self.measures)))
        for what, names in (("method", self.methods), ("measure", self.measures)):
            if not names:
                raise InputError(f"No {what} is named; name one or more.")
            if twice := next((name for name in names if names.count(name) > 1), None):
                raise InputError(f"The {what} {twice} is named twice; name it once.")
        for method in self.methods:
            if (base := method.removesuffix(RERANKED)) not in METHODS:
                raise InputError(
                    f"There is no method {base!r}; use one of {', '.join(METHODS)}, or one of them with {RERANKED}."
                )
            if method != base and self.reranking is None:
                raise InputError(f"The method {method} needs a cross-encoder; name its folder with --rerank DIR.")
        if self.reranking is not None and not any(method.endswith(RERANKED) for method in self.methods):
            raise InputError(
                f"--rerank names the cross-encoder {self.reranking.folder}, but no method reranks; put {RERANKED} "
                f"after those that shall, as {self.methods[0]}{RERANKED}, or leave --rerank out."
            )
        if self.baseline is not None and self.baseline not in self.methods:
            raise InputError(f"The baseline {self.baseline!r} is none of the methods; add it to them.")

    @property
    def needs_encoder(self) -> bool:
        """Whether any of the methods does."""
        return not {method.removesuffix(RERANKED) for method in self.methods} <= set(WITHOUT_ENCODER)

    @property
    def needs_all(self) -> bool:
        """Whether a measure looks at whole rankings and at the number of candidates."""
        return any(isinstance(parse_measure(measure), WSS) for measure in self.measures)


class Experiment:
    """One collection on one graph in the directory ``out``.

    ``encoder`` may be None where no method needs one. ``remarks``: what else the tables rest on less than they seem to,
    one sentence each; ``evaluate`` adds what the rankings show. Raises ``InputError`` if the graph holds no relevant
    document.
    """

    def __init__(
        self,
        collection: Collection,
        graph: LateralGraph,
        encoder: Encoder | None,
        out: Path,
        config: ExperimentConfig,
    ) -> None:
        self.collection = collection
        self.config = config
        self._graph = graph
        self._out = out
        self._methods = Methods(graph, encoder, config.settings)
        self._candidates = Candidates(graph, config.batch.unit)
        self.remarks = [*collection.remarks, *self._candidates.remarks(collection)]
        if (same := [m for m in config.methods if m.removesuffix(RERANKED) == "facts"]) and not has_facts(graph):
            self.remarks.append(
                f"{collection.name}: the graph has no asserted relations, so {' and '.join(same)} "
                f"{'ranks' if len(same) == 1 else 'rank'} as dense does."
            )

    @cached_property
    def batch(self) -> BatchConfig:
        """How queries are asked. What is done of these methods decides too, unless ``start_anew`` was called before."""
        if not self.config.deepen:
            return self.config.batch
        top_n = max([self.config.batch.top_n, *map(self._top_n_of, self.config.methods)])
        return replace(self.config.batch, top_n=max(top_n, len(self._candidates)) if self.config.needs_all else top_n)

    def start_anew(self) -> None:
        """Forget what is done of these methods."""
        for method in self.config.methods:
            shutil.rmtree(self._state(method), ignore_errors=True)

    def check(self) -> None:
        """Raise ``InputError`` for a measure that tells nothing of some judgements, or if what is done was done with
        another graph, setting or query."""
        for name, qrels in self.collection.qrels.items():
            for measure in self.config.measures:
                if not applies(qrels, measure):
                    raise InputError(f"{measure} counts no document of {name} as relevant; leave one of the two out.")
        for method in self.config.methods:
            missing(self._state(method), self.collection.queries, self.configuration(method))

    def run(self, share: Share = ALONE, track: Track = no_track) -> None:
        """Ask what is missing of this process's share, method by method."""
        for method in self.config.methods:
            run_batches(
                lambda method=method: self._retriever(method),  # type: ignore[misc]
                self.collection.queries,
                self._state(method),
                self.configuration(method),
                self.batch,
                share=share,
                track=track,
                label=f"{self.collection.name} {method}",
            )

    def evaluate(self) -> tuple[list[Comparison], dict[str, Timing]]:
        """Write the runs, once all is done; comparisons by split, and timings by method."""
        qualities: dict[str, dict[str, Quality]] = {name: {} for name in self.collection.qrels}
        timings: dict[str, Timing] = {}
        sizes = {
            name: self._candidates.numbers(self.collection.queries, qrels)
            for name, qrels in self.collection.qrels.items()
            if self.config.needs_all
        }
        for method in self.config.methods:  # one run in memory at a time
            progress = read_progress(self._state(method), self.configuration(method))
            run = {query.query_id: progress.run[query.query_id] for query in self.collection.queries}
            write_run(run, self._out / "runs" / f"{self.collection.name}.{method}.trec", method, separate_ties=True)
            timings[method] = timing(progress)
            for name, qrels in self.collection.qrels.items():
                qualities[name][method] = assess(
                    run, qrels, self.config.measures, n_candidates=sizes.get(name), depth=self.batch.top_n
                )
        depth = self.batch.top_n if self.batch.top_n < len(self._candidates) else None
        self.remarks += [remark for name, own in qualities.items() for remark in work_remarks(name, own, depth)]
        for measure in self.config.measures:
            if (ranks := cutoff(measure)) is not None and depth is not None and ranks > depth:
                self.remarks.append(
                    f"{self.collection.name}: {measure} looks at {ranks:,} ranks and rankings hold {depth:,}; raise "
                    "--top_n."
                )
        groups = self.collection.groups
        how = SHARED if groups is None else f"equal {self.collection.cluster_by}"
        compared = [
            compare(name, qualities[name], qrels, self.config.baseline, groups=groups, clustered_by=how)
            for name, qrels in self.collection.qrels.items()
        ]
        return compared, timings

    def configuration(self, method: str) -> dict[str, Any]:
        """What decides the rankings of a method, beside the queries."""
        files = json.dumps(self._graph.manifest.get("files", {}), sort_keys=True)
        batch = self.batch
        return {
            "method": method,
            "graph": hashlib.sha256(files.encode()).hexdigest()[:32],
            "encoder": self._graph.manifest["configuration"]["encoder"]["fingerprint"],
            "device": self._graph["section"].x.device.type,
            "top_n": batch.top_n,
            "unit": batch.unit,
            "batch_size": batch.size,
            **dict(_flat("", asdict(self.config.settings))),
            # They hang on the graph and may differ in the next version.
            **({"weights": dict(self._methods.hybrid_weights)} if method.removesuffix(RERANKED) == "hybrid" else {}),
            **self._reranking_of(method),
        }

    def describe(self) -> dict[str, Any]:
        """What was asked of what, for configuration.json."""
        manifest = self._graph.manifest
        return {
            "splits": self.collection.splits,
            "queries": len(self.collection.queries),
            "top_n": self.batch.top_n,
            "graph": {"counts": manifest.get("counts"), **manifest["configuration"]},
            "methods": {method: self.configuration(method) for method in self.config.methods},
            "remarks": self.remarks,
        }

    @cached_property
    def _reranker(self) -> CrossEncoderReranker:
        """Loaded when there is something to read."""
        if self.config.reranking is None:
            raise AssertionError("the configuration refuses methods that rerank without a cross-encoder")
        return CrossEncoderReranker.load(self._graph, self.config.reranking.folder, self.config.reranking.depth)

    def _retriever(self, method: str) -> Retriever:
        reranker = self._reranker if method.endswith(RERANKED) else None
        return self._methods.retriever(method.removesuffix(RERANKED), reranker)

    def _reranking_of(self, method: str) -> dict[str, Any]:
        """What decides the rankings of a method that reranks besides; empty for the others."""
        if self.config.reranking is None or not method.endswith(RERANKED):
            return {}
        return {"reranker": self.config.reranking.fingerprint, "rerank_depth": self.config.reranking.depth}

    def _state(self, method: str) -> Path:
        return self._out / "state" / self.collection.name / method

    def _top_n_of(self, method: str) -> int:
        """That of what is done of a method; 0 where nothing is."""
        top_n = (stored_configuration(self._state(method)) or {}).get("top_n", 0)
        return top_n if isinstance(top_n, int) else 0


def corpus_graph(
    directory: Path, documents: Sequence[Document], tools: Tools, *, overwrite: bool = False
) -> BuildReport:
    """The graph of exactly ``documents`` in ``directory``: kept if it is that, added to if papers lack, else built.

    Raises:
        GraphError: a graph made with another encoder, extractor or setting, unless ``overwrite``.
    """
    prepare_directory(directory)
    if graph_exists(directory) and not overwrite:
        held = set(open_graph(directory).documents["doc_id"].to_pylist())
        if held <= {clean_document(document).doc_id for document in documents}:
            try:
                return add_documents(directory, documents, tools)
            except GraphError as error:
                raise GraphError(f"{error} Or start anew with --overwrite.") from error
    return build_graph(directory, documents, tools, overwrite=True)


def _flat(prefix: str, settings: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """("graph.alpha", .5) and so on."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(f"{prefix}{key}.", value)
        else:
            yield prefix + key, value
