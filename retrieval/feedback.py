"""Pseudo-relevance feedback: what was found first changes the question.

``RocchioScorer`` moves the question's vector towards those of the first sections (Rocchio 1971; for dense vectors Li et
al., "Pseudo Relevance Feedback with Deep Language Models and Dense Retrievers", TOIS 2023). ``FactScorer`` appends the
nearest facts to the question's text, so that "the country where the Bubye River is found" becomes a question about
Zimbabwe: one hop for questions that need several.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from kg.errors import InputError
from kg.lateral import LateralGraph
from kg.protocols import Encoder
from retrieval.facts import Facts
from retrieval.index import ExactIndex
from retrieval.ranking import top_k
from retrieval.retriever import Scorer
from retrieval.text_methods import cosines


@dataclass(frozen=True)
class FeedbackConfig:
    """``sections`` of the first ranking with ``weight`` against the question's own vector; ``facts`` that are appended,
    each to a question of its own."""

    sections: int = 3
    weight: float = 0.5
    facts: int = 4

    def __post_init__(self) -> None:
        if self.sections < 1 or self.facts < 1 or not 0 <= self.weight < float("inf"):
            raise InputError(f"Feedback is set to {self}; it needs 1 section and 1 fact or more, and a weight >= 0.")


class RocchioScorer:
    """Cosine with the vector q + weight x mean of the vectors of the sections that ``first`` ranks best."""

    def __init__(
        self, graph: LateralGraph, encoder: Encoder, first: Scorer, config: FeedbackConfig = FeedbackConfig()
    ) -> None:
        self._x = graph["section"].x
        self._encoder = encoder
        self._first = first
        self._config = config

    def score(self, texts: Sequence[str], usable: Tensor | None = None) -> Tensor:
        """As ``retrieval.retriever.Scorer``; only ``usable`` sections feed back."""
        vectors = self._encoder.encode_queries(texts).to(self._x)
        ranked = self._first.score(texts, usable)
        if usable is not None:
            ranked = ranked.masked_fill(~usable, -torch.inf)
        moved = []
        for vector, scores in zip(vectors, ranked, strict=True):
            values, rows = top_k(scores, self._config.sections)
            rows = rows[values > -torch.inf]
            if len(rows):
                vector = torch.nn.functional.normalize(vector + self._config.weight * self._x[rows].mean(dim=0), dim=0)
            moved.append(vector)
        return cosines(self._x, torch.stack(moved)) if moved else cosines(self._x, vectors)


class FactScorer:
    """The largest sum, over the nearest facts, of the fact's cosine with the question and the section's cosine with the
    question that the fact is appended to; the plain cosine where the graph has no facts."""

    def __init__(
        self, graph: LateralGraph, encoder: Encoder, facts: Facts, config: FeedbackConfig = FeedbackConfig()
    ) -> None:
        self._x = graph["section"].x
        self._encoder = encoder
        self._facts = facts
        self._index = ExactIndex(facts.x)
        self._config = config

    def score(self, texts: Sequence[str], usable: Tensor | None = None) -> Tensor:
        """As ``retrieval.retriever.Scorer``."""
        vectors = self._encoder.encode_queries(texts)
        if not len(self._facts) or not len(texts):
            return cosines(self._x, vectors)
        near, rows = self._index.search(vectors, self._config.facts)
        asked = [
            f"{text} {self._facts.texts[row]}" for text, own in zip(texts, rows.tolist(), strict=True) for row in own
        ]
        found = cosines(self._x, self._encoder.encode_queries(asked)).view(len(texts), -1, len(self._x))
        return (found + near.to(found)[:, :, None]).amax(dim=1)
