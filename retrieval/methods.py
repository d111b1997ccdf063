"""The retrieval methods over one graph, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

from kg.errors import InputError
from kg.lateral import LateralGraph
from kg.protocols import Encoder
from retrieval.bm25 import METASYN, OKAPI, BM25Index
from retrieval.concept_method import ConceptScorer
from retrieval.facts import Facts, has_facts, read_facts
from retrieval.feedback import FactScorer, FeedbackConfig, RocchioScorer
from retrieval.graph_methods import GraphScorer
from retrieval.hybrid import HybridScorer, Rooted
from retrieval.lexical import section_bm25
from retrieval.method_names import METHODS, Method
from retrieval.name_lookup import NameLookup
from retrieval.name_methods import ByQuestion, ContextScorer, Floored, NamedConcepts, NameScorer
from retrieval.retriever import Reranker, Retriever, Scorer
from retrieval.sections import GraphConfig
from retrieval.seeds import Seeder
from retrieval.text_methods import BM25Scorer, DenseScorer, EncodesOnce

TEXT_WEIGHTS: Mapping[str, float] = {"dense": 1.0, "bm25_okapi": 0.5}
"""Weights of the z-scores in ``text``, the fusion that looks at no graph."""
HYBRID_WEIGHTS: Mapping[str, float] = {"dense": 1.0, "bm25_okapi": 0.3, "ppr": 0.5}
"""Those in ``hybrid`` where edges say that concepts occur together."""
FACT_WEIGHTS: Mapping[str, float] = {"dense": 1.0, "bm25_okapi": 0.3, "ppr": 1.0, "facts": 1.0}
"""Those in ``hybrid`` where the graph has facts, whose edges can be trusted more."""
NAME_WEIGHTS: Mapping[str, float] = {"dense": 0.3, "bm25_okapi": 0.1, "ppr": 0.3, "names": 1.0, "contexts": 1.0}
"""Those in ``hybrid`` for a question that is the name of one thing and nothing more."""


@dataclass(frozen=True)
class MethodsConfig:
    """``graph`` settings, those of feedback, and the ``fused`` methods of ``hybrid`` with their weights; None takes
    ``NAME_WEIGHTS`` for a question that is a name, else ``FACT_WEIGHTS`` or ``HYBRID_WEIGHTS``, as the graph has facts
    or not."""

    graph: GraphConfig = field(default_factory=GraphConfig)
    feedback: FeedbackConfig = field(default_factory=FeedbackConfig)
    fused: Mapping[str, float] | None = None


class Methods:
    """The methods over one graph; what several of them need is prepared once, when first asked for."""

    def __init__(self, graph: LateralGraph, encoder: Encoder | None, config: MethodsConfig = MethodsConfig()) -> None:
        self._graph = graph
        self._encoder = None if encoder is None else EncodesOnce(encoder)
        self._config = config
        self._scorers: dict[str, Scorer] = {}

    @cached_property
    def lexical(self) -> BM25Index:
        """BM25 over the graph's sections, without English stop words."""
        return section_bm25(self._graph)

    @cached_property
    def okapi(self) -> BM25Index:
        """The same with Okapi's settings, for seeds and fusion."""
        return section_bm25(self._graph, OKAPI)

    @cached_property
    def facts(self) -> Facts:
        """The graph's asserted relations."""
        return read_facts(self._graph, self._encoder_for("facts"))

    @cached_property
    def lookup(self) -> NameLookup:
        """The graph's concepts by their names."""
        return NameLookup(self._graph)

    @cached_property
    def seeder(self) -> Seeder:
        """Where diffusion starts."""
        return Seeder(self._graph, self._config.graph.seeds, self.okapi, self.facts, self.lookup)

    @cached_property
    def named(self) -> NamedConcepts:
        """What questions name."""
        return NamedConcepts(self._graph, self.lookup)

    @property
    def hybrid_weights(self) -> Mapping[str, float]:
        """Weights of the methods in ``hybrid`` on this graph."""
        return self._config.fused or (FACT_WEIGHTS if has_facts(self._graph) else HYBRID_WEIGHTS)

    @property
    def ppr(self) -> GraphScorer:
        """The method ``ppr``, whose seeds and scores also tell why a section was found."""
        return cast(GraphScorer, self.scorer("ppr"))

    def scorer(self, method: str) -> Scorer:
        """Scores of a method. Raises ``InputError`` for an unknown one, or if it lacks its encoder."""
        if method not in METHODS:
            raise InputError(f"There is no method {method!r}; use one of {', '.join(METHODS)}.")
        if method not in self._scorers:
            self._scorers[method] = self._made(method)
        return self._scorers[method]

    def retriever(self, method: str, reranker: Reranker | None = None) -> Retriever:
        """Rankings of a method. Raises ``InputError`` as ``scorer``."""
        return Retriever(self._graph, self.scorer(method), reranker)

    def fused(self, weights: Mapping[str, float]) -> HybridScorer:
        """The fusion of any methods, by name. Raises ``InputError`` as ``scorer``, and for bad weights."""
        return HybridScorer({name: self.part(name) for name in weights}, weights)

    def part(self, method: str) -> Scorer:
        """A method as it goes into a fusion: diffusion's scores by their root. Raises ``InputError`` as ``scorer``."""
        scorer = self.scorer(method)
        if isinstance(scorer, NameScorer):
            return Floored(scorer)
        return Rooted(scorer) if isinstance(scorer, GraphScorer) else scorer

    def _made(self, method: Method) -> Scorer:
        match method:
            case "bm25":
                return BM25Scorer(self._graph, self.lexical)
            case "bm25_okapi":
                return BM25Scorer(self._graph, self.okapi)
            case "bm25_metasyn":
                return BM25Scorer(self._graph, section_bm25(self._graph, METASYN))
            case "dense":
                return DenseScorer(self._graph, self._encoder_for(method))
            case "rocchio":
                first = self.fused(TEXT_WEIGHTS)
                return RocchioScorer(self._graph, self._encoder_for(method), first, self._config.feedback)
            case "facts":
                return FactScorer(self._graph, self._encoder_for(method), self.facts, self._config.feedback)
            case "concepts":
                return ConceptScorer(self._graph, self._encoder_for(method))
            case "text":
                return self.fused(TEXT_WEIGHTS)
            case "names":
                return NameScorer(self._graph, self.named)
            case "contexts":
                return ContextScorer(self._graph, self.named)
            case "hybrid":
                general = self.fused(self.hybrid_weights)
                return general if self._config.fused else ByQuestion(self.named, self.fused(NAME_WEIGHTS), general)
            case _:
                return GraphScorer(self._graph, self._encoder_for(method), self.seeder, method, self._config.graph)

    def _encoder_for(self, method: str) -> Encoder:
        if self._encoder is None:
            raise InputError(f"The method {method!r} needs an encoder; hand in the graph's.")
        return self._encoder
