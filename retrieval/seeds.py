"""From a question to the concepts where diffusion starts: its personalization vector (BizSage 3.1).

Two kinds of evidence are mixed. Of the concepts themselves: those whose vectors are near the question's, and those
that the question names, under any of their aliases. Of the sections: what the sections hold that are best by embedding
and by BM25, each section's weight divided among its concepts. A concept that many sections hold says less, so each
seed is weighted by its inverse section frequency.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from kg.candidates import readable
from kg.lateral import LateralGraph
from kg.names import form_key, name_form
from retrieval.bm25 import BM25Index
from retrieval.index import ExactIndex

NEAR = 0.5
"""Least cosine of a concept that a question is said to be about without naming it."""
_LONGEST_NAME = 6
"""Words of the question that are looked up together."""


@dataclass(frozen=True)
class SeedConfig:
    """``neighbours``: concepts taken by similarity; ``named``: weight of a concept that the question names, in units
    of a cosine of 1. ``sections``: sections taken by cosine, and as many by BM25, where the best one weighs
    ``lexical`` in those units; ``section_share`` of the seeds' mass comes from them. ``sharpness``: exponent of all
    similarities.

    Chosen on half of SciFact's training claims, divided by connected component.
    """

    neighbours: int = 20
    sharpness: float = 3.0
    named: float = 1.0
    sections: int = 5
    lexical: float = 0.3
    section_share: float = 0.9


class Seeder:
    """Personalization vectors over the concepts of one graph."""

    def __init__(
        self, graph: LateralGraph, config: SeedConfig = SeedConfig(), lexical: BM25Index | None = None
    ) -> None:
        """``lexical`` indexes the graph's sections; without it, sections seed by embedding alone."""
        self.config = config
        self._lexical = lexical
        self._index = ExactIndex(graph["concept"].x)
        self._section_index = ExactIndex(graph["section"].x)
        self._starts = graph.incidence.crow_indices().tolist()
        self._held = graph.incidence.col_indices().long()
        self._n = graph.n_concepts
        holders = torch.from_numpy(graph.concepts["n_sections"].to_numpy().copy()).float()
        self._idf = torch.log1p(graph.n_sections / holders.clamp(min=1.0))
        self._by_key: dict[str, list[int]] = {}
        keys = graph.concepts["keys"].combine_chunks()
        for concept, key in zip(keys.value_parent_indices().to_pylist(), keys.flatten().to_pylist(), strict=True):
            self._by_key.setdefault(key, []).append(concept)

    def named(self, question: str) -> list[int]:
        """Concepts that the question names; of names within names only the longest."""
        words = name_form(question).split()
        found: set[int] = set()
        taken = 0
        for start in range(len(words)):
            for end in range(min(len(words), start + _LONGEST_NAME), max(start, taken), -1):
                if hits := self._by_key.get(form_key(" ".join(words[start:end]))):
                    found.update(hits)
                    taken = end
                    break
        return sorted(found)

    def concepts_of(self, question: str, vector: Tensor, limit: int) -> list[int]:
        """What the question is about: the concepts it names, then the nearest to its vector [d], at most ``limit``."""
        named = self.named(question)
        scores, rows = self._index.search(vector[None], limit)
        near = rows[0][scores[0] >= NEAR].tolist() if readable(name_form(question)) else []
        return list(dict.fromkeys([*named, *near]))[: max(limit, len(named))]

    def personalization(self, questions: Sequence[str], vectors: Tensor) -> Tensor:
        """float32 [concepts, B] from question texts [B] and their vectors [B, d]; columns sum to 1, or to 0."""
        share = self.config.section_share if self.config.sections else 0.0
        own = _normalised(self._from_concepts(questions, vectors) * self._idf[:, None])
        if share == 0.0:
            return own
        held = _normalised(self._from_sections(questions, vectors) * self._idf[:, None])
        return _normalised((1.0 - share) * own + share * held)

    def _from_concepts(self, questions: Sequence[str], vectors: Tensor) -> Tensor:
        columns = torch.zeros(self._n, len(questions))
        scores, rows = self._index.search(vectors, self.config.neighbours)
        for b, question in enumerate(questions):
            columns[rows[b], b] = scores[b].clamp(min=0.0) ** self.config.sharpness
            for concept in self.named(question):
                columns[concept, b] += self.config.named
        return columns

    def _from_sections(self, questions: Sequence[str], vectors: Tensor) -> Tensor:
        """What the best sections hold: each section's weight, divided equally among its concepts."""
        columns = torch.zeros(self._n, len(questions))
        scores, rows = self._section_index.search(vectors, self.config.sections)
        lexical = self._lexical.search(questions, self.config.sections) if self._lexical else [None] * len(questions)
        for b in range(len(questions)):
            found = list(zip(rows[b].tolist(), scores[b].clamp(min=0.0) ** self.config.sharpness, strict=True))
            if (by_words := lexical[b]) is not None and len(by_words[0]):
                values, words_rows = by_words
                weights = self.config.lexical * (values / values[0]) ** self.config.sharpness
                found += zip(words_rows.tolist(), weights, strict=True)
            for section, weight in found:
                start, end = self._starts[section], self._starts[section + 1]
                columns[self._held[start:end], b] += weight / max(end - start, 1)
        return columns


def _normalised(columns: Tensor) -> Tensor:
    """Columns divided by their sums; a column of zeros stays one."""
    # Column by column: a sum over several at once may round otherwise than over one.
    sums = torch.tensor([float(column.contiguous().sum()) for column in columns.T])
    return columns / torch.where(sums > 0, sums, 1.0)
