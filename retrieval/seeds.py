"""From a question to the concepts where diffusion starts: its personalization vector (BizSage 3.1).

Four kinds of evidence are mixed, each weighted by how rare a concept is: concepts whose vectors are near the
question's; concepts that the question names, under any of their aliases; the ends of facts (asserted relations) whose
texts are near it; and what the sections hold that are best by the fusion of embedding and BM25, each section's weight
divided among its concepts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from kg.errors import InputError
from kg.lateral import LateralGraph
from kg.names import name_form
from kg.stems import readable
from retrieval.bm25 import BM25Index
from retrieval.devices import device_of
from retrieval.facts import Facts
from retrieval.hybrid import standardised
from retrieval.index import ExactIndex
from retrieval.name_lookup import NameLookup
from retrieval.ranking import top_k
from retrieval.text_methods import cosines

NEAR = 0.5
"""Least cosine of a concept that a question is said to be about without naming it."""


@dataclass(frozen=True)
class SeedConfig:
    """Shares of the seeds' mass, >= 0, by evidence: ``near`` concepts (the first ``neighbours`` by cosine), ``named``
    ones, ``fact`` ends (the first ``facts``), ``section`` contents (the first ``sections``).

    ``sharpness``: exponent of cosines. A section whose fused score is s standard deviations below the best weighs
    exp(-``section_sharpness`` s); BM25 counts ``lexical`` times the embedding in the fusion. ``rarity``: exponent of
    the inverse section frequency of a concept.
    """

    near: float = 0.0
    named: float = 0.15
    fact: float = 0.2
    section: float = 1.0
    neighbours: int = 20
    facts: int = 2
    sections: int = 20
    lexical: float = 0.5
    sharpness: float = 3.0
    section_sharpness: float = 3.0
    rarity: float = 1.0

    def __post_init__(self) -> None:
        shares = {name: getattr(self, name) for name in ("near", "named", "fact", "section", "lexical")}
        if not all(0 <= share < float("inf") for share in shares.values()) or not self.near + self.named + self.section:
            raise InputError(f"Seeds have the shares {shares}; they must be >= 0, and not all 0.")
        if min(self.neighbours, self.facts, self.sections) < 0:
            raise InputError("Seeds take a negative number of concepts, facts or sections; give 0 or more.")


class Seeder:
    """Personalization vectors over the concepts of one graph."""

    def __init__(
        self,
        graph: LateralGraph,
        config: SeedConfig = SeedConfig(),
        lexical: BM25Index | None = None,
        facts: Facts | None = None,
        lookup: NameLookup | None = None,
    ) -> None:
        """``lexical`` indexes the graph's sections; without it, sections seed by embedding alone. ``facts``: the
        graph's, if it has any."""
        self.config = config
        self._device = device_of(graph)
        self._lexical = lexical if config.lexical else None
        self._facts = facts if facts is not None and len(facts) else None
        self._fact_index = ExactIndex(facts.x) if self._facts is not None and facts is not None else None
        self._index = ExactIndex(graph["concept"].x)
        self._sections = graph["section"].x
        self._starts = graph.incidence.crow_indices().tolist()
        self._held = graph.incidence.col_indices().long()
        self._n = graph.n_concepts
        holders = torch.from_numpy(graph.concepts["n_sections"].to_numpy().copy()).float()
        self._idf = (torch.log1p(graph.n_sections / holders.clamp(min=1.0)) ** config.rarity).to(self._device)
        self._lookup = lookup or NameLookup(graph)

    def named(self, question: str) -> list[int]:
        """Concepts that the question names; of names within names only the longest."""
        return sorted({concept for _, hits in self._lookup.spans(name_form(question).split()) for concept in hits})

    def concepts_of(self, question: str, vector: Tensor, limit: int) -> list[int]:
        """What the question is about: the concepts it names, then the nearest to its vector [d], at most ``limit``."""
        named = self.named(question)
        scores, rows = self._index.search(vector[None], limit)
        near = rows[0][scores[0] >= NEAR].tolist() if readable(name_form(question)) else []
        return list(dict.fromkeys([*named, *near]))[: max(limit, len(named))]

    def personalization(self, questions: Sequence[str], vectors: Tensor, usable: Tensor | None = None) -> Tensor:
        """float32 [concepts, B] from question texts [B] and their vectors [B, d]; columns sum to 1, or to 0.

        It lies on the graph's device, as ``usable`` must; ``vectors`` may lie anywhere. ``usable`` bool [B, sections]:
        sections whose contents may seed; all if None.
        """
        config = self.config
        total = self._zeros(len(questions))
        for share, source in (
            (config.near, lambda: self._near(vectors)),
            (config.named, lambda: self._named(questions)),
            (config.fact, lambda: self._fact_ends(vectors)),
            (config.section, lambda: self._contents(questions, vectors, usable)),
        ):
            if share:
                total += share * _normalised(source() * self._idf[:, None])
        return _normalised(total)

    def _zeros(self, batch: int) -> Tensor:
        return torch.zeros(self._n, batch, device=self._device)

    def _near(self, vectors: Tensor) -> Tensor:
        columns = self._zeros(len(vectors))
        scores, rows = self._index.search(vectors, self.config.neighbours)
        for b in range(len(vectors)):
            columns[rows[b], b] = scores[b].clamp(min=0.0) ** self.config.sharpness
        return columns

    def _named(self, questions: Sequence[str]) -> Tensor:
        columns = self._zeros(len(questions))
        for b, question in enumerate(questions):
            columns[self.named(question), b] = 1.0
        return columns

    def _fact_ends(self, vectors: Tensor) -> Tensor:
        if self._facts is None or self._fact_index is None:
            return self._zeros(len(vectors))
        columns = torch.zeros(self._n, len(vectors), device=self._facts.x.device)
        scores, rows = self._fact_index.search(vectors, self.config.facts)
        for b in range(len(vectors)):
            weights = scores[b].clamp(min=0.0) ** self.config.sharpness
            for ends in (self._facts.subject, self._facts.object):
                columns[:, b].index_add_(0, ends[rows[b]], weights)
        return columns.to(self._device)

    def _contents(self, questions: Sequence[str], vectors: Tensor, usable: Tensor | None) -> Tensor:
        """What the best sections hold: each section's weight, divided equally among its concepts."""
        fused = standardised(cosines(self._sections, vectors))
        if self._lexical is not None:
            fused = fused + self.config.lexical * standardised(self._lexical.scores(questions).to(fused.device))
        if usable is not None:
            fused = fused.masked_fill(~usable, -torch.inf)
        columns = self._zeros(len(questions))
        for b, scores in enumerate(fused):
            values, rows = top_k(scores, self.config.sections)
            weights = torch.exp(self.config.section_sharpness * (values - values[:1]))
            for section, weight in zip(rows.tolist(), weights.nan_to_num().tolist(), strict=True):
                start, end = self._starts[section], self._starts[section + 1]
                columns[self._held[start:end], b] += weight / max(end - start, 1)
        return columns


def _normalised(columns: Tensor) -> Tensor:
    """Columns divided by their sums; a column of zeros stays one."""
    # Column by column: a sum over several at once may round otherwise than over one.
    sums = torch.tensor([float(column.contiguous().sum()) for column in columns.T], device=columns.device)
    return columns / torch.where(sums > 0, sums, 1.0)
