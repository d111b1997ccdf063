"""From a question to ranked sections: the methods behind `evigraph search`.

Each method is a ``Retriever``: ``retrieve(questions, top_n)`` gives one ranking of section ids per question. ``ppr`` is
the paper's (BizSage 3.1): seeds, Personalized PageRank on the Lateral Knowledge Graph, section scores

    score(s) = |C(s)|^-b  sum over concepts v in C(s) of pi(v) n(v)^-g,

with n(v) the number of sections that hold v (DESIGN 3). ``hybrid`` fuses the rankings of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Protocol, get_args

import torch
from torch import Tensor

from kg.errors import InputError
from kg.lateral import LateralGraph
from kg.protocols import Encoder
from retrieval.bm25 import BM25Index
from retrieval.diffusion import TILE, Normalization, Transition, personalized_pagerank
from retrieval.fusion import reciprocal_rank_fusion
from retrieval.index import ExactIndex
from retrieval.lexical import section_bm25
from retrieval.ranking import Ranking, top_k
from retrieval.seeds import SeedConfig, Seeder

Method = Literal["ppr", "dense", "bm25", "hybrid"]
FUSION_DEPTH = 100
"""Places of each ranking that fusion reads, at least."""


class Retriever(Protocol):
    """A retrieval method over the sections of one graph."""

    def retrieve(self, questions: Sequence[str], top_n: int) -> list[Ranking]:
        """One ranking of at most ``top_n`` section ids per question; empty where nothing matches."""


@dataclass(frozen=True)
class PPRConfig:
    """``alpha``: teleport probability. ``size_exponent`` b and ``spread_exponent`` g of the section score."""

    alpha: float = 0.5
    normalization: Normalization = "column"
    size_exponent: float = 0.5
    spread_exponent: float = 0.5
    tolerance: float = 1e-6
    seeds: SeedConfig = field(default_factory=SeedConfig)


class SectionScorer:
    """Scores [sections, B] from concept scores [concepts, B]: one sparse product with precomputed weights."""

    def __init__(self, graph: LateralGraph, config: PPRConfig) -> None:
        incidence = graph.incidence
        rows, columns = incidence.crow_indices(), incidence.col_indices()
        sizes = rows.diff().clamp(min=1).float() ** -config.size_exponent
        holders = torch.from_numpy(graph.concepts["n_sections"].to_numpy().copy()).clamp(min=1).float()
        spread = holders.to(columns.device) ** -config.spread_exponent
        values = torch.repeat_interleave(sizes, rows.diff().long()) * spread[columns.long()]
        self.weights = torch.sparse_csr_tensor(rows, columns, values, incidence.shape, check_invariants=False)

    def __call__(self, scores: Tensor) -> Tensor:
        """float32 [sections, B]."""
        if not self.weights.values().numel() or not scores.shape[1]:
            return scores.new_zeros(self.weights.shape[0], scores.shape[1])
        # As in retrieval.diffusion: always the same width, so that a column's bits do not depend on its batch.
        width = TILE if scores.device.type == "cpu" else scores.shape[1]
        padded = torch.nn.functional.pad(scores, (0, -scores.shape[1] % width))
        tiles = [self.weights @ tile.contiguous() for tile in padded.split(width, dim=1)]
        return torch.cat(tiles, dim=1)[:, : scores.shape[1]]


class PPRRetriever:
    """Seeds, diffusion, section scores."""

    def __init__(
        self,
        graph: LateralGraph,
        encoder: Encoder,
        config: PPRConfig = PPRConfig(),
        lexical: BM25Index | None = None,
    ) -> None:
        """``lexical``: BM25 over the graph's sections, for the seeds (``retrieval.lexical``)."""
        self.graph = graph
        self.config = config
        self._encoder = encoder
        self.seeder = Seeder(graph, config.seeds, lexical)
        self._transition = Transition.of(graph.adjacency, config.normalization)
        self.scorer = SectionScorer(graph, config)
        self._ids: list[str] = graph.sections["section_id"].to_pylist()

    def diffuse(self, questions: Sequence[str]) -> tuple[Tensor, Tensor]:
        """(personalization, scores), float32 [concepts, B] each; a question without a seed has a column of zeros."""
        seeds = self.seeder.personalization(questions, self._encoder.encode_queries(questions))
        scores = torch.zeros_like(seeds)
        seeded = seeds.sum(dim=0) > 0
        if bool(seeded.any()):
            scores[:, seeded] = personalized_pagerank(
                self._transition, seeds[:, seeded], alpha=self.config.alpha, tolerance=self.config.tolerance
            ).scores
        return seeds, scores

    def retrieve(self, questions: Sequence[str], top_n: int) -> list[Ranking]:
        """As ``Retriever``; sections that no score reaches are left out."""
        _, scores = self.diffuse(questions)
        return [self._ranking(column, top_n) for column in self.scorer(scores).T]

    def _ranking(self, scores: Tensor, top_n: int) -> Ranking:
        values, rows = top_k(scores.contiguous(), top_n)
        found = int((values > 0).sum())
        return Ranking(tuple(self._ids[int(r)] for r in rows[:found]), tuple(float(v) for v in values[:found]))


class DenseRetriever:
    """Sections by the cosine of their vectors with the question's."""

    def __init__(self, graph: LateralGraph, encoder: Encoder) -> None:
        self._encoder = encoder
        self._index = ExactIndex(graph["section"].x)
        self._ids: list[str] = graph.sections["section_id"].to_pylist()

    def retrieve(self, questions: Sequence[str], top_n: int) -> list[Ranking]:
        """As ``Retriever``."""
        scores, rows = self._index.search(self._encoder.encode_queries(questions), top_n)
        return [
            Ranking(tuple(self._ids[int(r)] for r in own), tuple(float(v) for v in values))
            for own, values in zip(rows, scores, strict=True)
        ]


class BM25Retriever:
    """Sections by BM25 over title, heading and text."""

    def __init__(self, graph: LateralGraph, index: BM25Index) -> None:
        self._index = index
        self._ids: list[str] = graph.sections["section_id"].to_pylist()

    def retrieve(self, questions: Sequence[str], top_n: int) -> list[Ranking]:
        """As ``Retriever``."""
        return [
            Ranking(tuple(self._ids[int(r)] for r in rows), tuple(float(v) for v in values))
            for values, rows in self._index.search(questions, top_n)
        ]


class HybridRetriever:
    """Reciprocal rank fusion of several retrievers."""

    def __init__(self, parts: Sequence[Retriever]) -> None:
        self._parts = list(parts)

    def retrieve(self, questions: Sequence[str], top_n: int) -> list[Ranking]:
        """As ``Retriever``; each part is read ``FUSION_DEPTH`` places deep, or ``top_n`` where that is more."""
        depth = max(top_n, FUSION_DEPTH)
        runs = [part.retrieve(questions, depth) for part in self._parts]
        fused = [reciprocal_rank_fusion([run[b].ids for run in runs])[:top_n] for b in range(len(questions))]
        return [Ranking(tuple(i for i, _ in pairs), tuple(s for _, s in pairs)) for pairs in fused]


class Methods:
    """The methods over one graph by name; what several of them need is prepared once, when first asked for.

    Only ``bm25`` does without an encoder.
    """

    def __init__(self, graph: LateralGraph, encoder: Encoder | None, config: PPRConfig = PPRConfig()) -> None:
        self._graph = graph
        self._encoder = encoder
        self._config = config

    @cached_property
    def lexical(self) -> BM25Index:
        """BM25 over the graph's sections."""
        return section_bm25(self._graph)

    @cached_property
    def ppr(self) -> PPRRetriever:
        """The method ``ppr``, whose seeds and scores also tell why a section was found."""
        return PPRRetriever(self._graph, self._encoder_for("ppr"), self._config, self.lexical)

    def retriever(self, method: Method) -> Retriever:
        """The retriever of a method. Raises ``InputError`` for an unknown one, or if it lacks its encoder."""
        if method not in get_args(Method):
            raise InputError(f"There is no method {method!r}; use one of {', '.join(get_args(Method))}.")
        if method == "bm25":
            return BM25Retriever(self._graph, self.lexical)
        if method == "ppr":
            return self.ppr
        dense = DenseRetriever(self._graph, self._encoder_for(method))
        if method == "dense":
            return dense
        return HybridRetriever([self.ppr, dense, BM25Retriever(self._graph, self.lexical)])

    def _encoder_for(self, method: Method) -> Encoder:
        if self._encoder is None:
            raise InputError(f"The method {method!r} needs an encoder; hand in the graph's.")
        return self._encoder


def make_retriever(
    graph: LateralGraph, encoder: Encoder | None, method: Method, config: PPRConfig = PPRConfig()
) -> Retriever:
    """One method of one graph; raises ``InputError`` as ``Methods.retriever`` does."""
    return Methods(graph, encoder, config).retriever(method)
