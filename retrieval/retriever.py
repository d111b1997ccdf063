"""From scores to rankings: what may not be ranked is taken out before the cut-off, then the best are taken.

Every method gives one score per section of the graph, so that whatever is left out is refilled from below.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np
import torch
from torch import Tensor

from kg.errors import InputError
from kg.lateral import LateralGraph
from retrieval.devices import device_of
from retrieval.queries import Query, as_queries
from retrieval.ranking import Ranking, top_k
from retrieval.visibility import Visibility

Unit = Literal["section", "document"]
_MOST_SCORES = 50_000_000
"""Scores held at a time: 200 MB."""
_MOST_QUERIES = 64


class Scorer(Protocol):
    """A retrieval method: how well each section of its graph answers each question."""

    def score(self, texts: Sequence[str], usable: Tensor | None = None) -> Tensor:
        """float32 [B, sections] on the graph's device, larger is better, -inf for what the method does not find.

        ``usable`` (bool [B, sections], on that device): sections that may lead to others; all if None. A row must not
        depend on the texts beside it.
        """


class Reranker(Protocol):
    """Orders the first results anew by reading them."""

    depth: int
    """Results that it reads."""

    def scores(self, question: str, rows: Sequence[int]) -> Tensor:
        """float32 [len(rows)]: how well the sections ``rows`` answer the question."""


class Retriever:
    """One method over one graph."""

    def __init__(self, graph: LateralGraph, scorer: Scorer, reranker: Reranker | None = None) -> None:
        self._scorer = scorer
        self._reranker = reranker
        self._visibility = Visibility(graph)
        self._section_ids: list[str] = graph.sections["section_id"].to_pylist()
        self._doc_ids: list[str] = graph.documents["doc_id"].to_pylist()
        self._device = device_of(graph)
        self._owner = torch.from_numpy(graph.sections["document"].to_numpy().astype(np.int64)).to(self._device)

    def retrieve(self, queries: Sequence[Query | str], top_n: int, unit: Unit = "section") -> dict[str, Ranking]:
        """Query id -> at most ``top_n`` ids with their scores, best first, equal ones in the order of the graph.

        ``unit`` ``document``: papers, each with the score of its best section. What a method does not find is left
        out, so a ranking may be shorter, or empty.

        Raises:
            InputError: an id used twice, or a ``top_n`` below 0.
        """
        if top_n < 0:
            raise InputError(f"top_n is {top_n}; ask for 0 or more results.")
        asked = as_queries(queries)
        size = max(1, min(_MOST_QUERIES, _MOST_SCORES // max(len(self._section_ids), 1)))
        run: dict[str, Ranking] = {}
        for start in range(0, len(asked), size):
            batch = asked[start : start + size]
            for query, row in zip(batch, self.scores(batch), strict=True):
                run[query.query_id] = self._ranking(query, row, top_n, unit)
        return run

    def rank(self, question: str, top_n: int) -> Ranking:
        """The best sections for one question."""
        return self.retrieve([question], top_n)["0"]

    def scores(self, queries: Sequence[Query]) -> Tensor:
        """float32 [B, sections] on the graph's device; -inf for what is not found or not to be ranked. No reranking."""
        usable = self._visibility.usable(queries)
        usable = None if usable is None else usable.to(self._device)
        scores = self._scorer.score([query.text for query in queries], usable)
        mask = self._visibility.rankable(queries)
        return scores if mask is None else scores.masked_fill(~mask.to(self._device), -torch.inf)

    def _ranking(self, query: Query, scores: Tensor, top_n: int, unit: Unit) -> Ranking:
        if self._reranker is not None:
            scores = self._reranked(self._reranker, query.text, scores)
        ids = self._section_ids
        if unit == "document":
            best = scores.new_full((len(self._doc_ids),), -torch.inf)
            scores = best.scatter_reduce(0, self._owner, scores, "amax")
            ids = self._doc_ids
        values, rows = top_k(scores, top_n)
        found = int((values > -torch.inf).sum())
        return Ranking(tuple(ids[row] for row in rows[:found].tolist()), tuple(values[:found].tolist()))

    def _reranked(self, reranker: Reranker, question: str, scores: Tensor) -> Tensor:
        """Its scores for the first ``depth``; the others keep their order below the least of these."""
        values, rows = top_k(scores, reranker.depth)
        rows = rows[values > -torch.inf]
        if not len(rows):
            return scores
        read = reranker.scores(question, rows.tolist()).to(scores)
        rest = scores - scores[rows].max() + read.min() - 1.0
        return rest.index_copy(0, rows, read)
