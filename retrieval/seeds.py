"""From a question to the concepts where diffusion starts: its personalization vector (BizSage 3.1).

Two kinds of evidence are added up: concepts whose vectors are near the question's, and concepts that the question
names, under any of their aliases. A concept that many sections hold says less, so each seed is weighted by its
inverse section frequency.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from kg.lateral import LateralGraph
from kg.names import form_key, name_form
from retrieval.index import ExactIndex

_LONGEST_NAME = 6
"""Words of the question that are looked up together."""


@dataclass(frozen=True)
class SeedConfig:
    """``neighbours``: concepts taken by similarity; ``sharpness``: exponent of the cosine; ``named``: weight of a
    concept that the question names, in units of a cosine of 1."""

    neighbours: int = 20
    sharpness: float = 3.0
    named: float = 1.0


class Seeder:
    """Personalization vectors over the concepts of one graph."""

    def __init__(self, graph: LateralGraph, config: SeedConfig = SeedConfig()) -> None:
        self.config = config
        self._index = ExactIndex(graph["concept"].x)
        self._n = graph.n_concepts
        holders = torch.from_numpy(graph.concepts["n_sections"].to_numpy().copy()).float()
        self._idf = torch.log1p(graph.n_sections / holders.clamp(min=1.0))
        self._by_key: dict[str, list[int]] = {}
        for concept, (form, aliases) in enumerate(
            zip(graph.concepts["form"].to_pylist(), graph.concepts["aliases"].to_pylist(), strict=True)
        ):
            for key in {form_key(form), *(form_key(name_form(alias)) for alias in aliases)}:
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

    def personalization(self, questions: Sequence[str], vectors: Tensor) -> Tensor:
        """float32 [concepts, B] >= 0 from question texts [B] and their vectors [B, d]; a column may be all zero."""
        columns = torch.zeros(self._n, len(questions))
        scores, rows = self._index.search(vectors, self.config.neighbours)
        for b, question in enumerate(questions):
            columns[rows[b], b] = scores[b].clamp(min=0.0) ** self.config.sharpness
            for concept in self.named(question):
                columns[concept, b] += self.config.named
        return columns * self._idf[:, None]
