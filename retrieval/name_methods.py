"""Questions that name things: sections that hold what is named under any of its names, and sections like those.

``names`` follows the merge's uncertain links (``graph.same_as``), so that "BLEU score" finds what speaks of BLEU
without holding those words. ``contexts`` compares sections with those that hold what is named, as Rocchio's feedback
does (SMART 1971), with a concept's sections in the place of judged ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from kg.lateral import LateralGraph
from kg.names import name_form
from kg.typewords import TYPE_WORDS
from retrieval.devices import device_of
from retrieval.name_lookup import NameLookup
from retrieval.retriever import Scorer

LEAST = 0.05
"""Least probability that a concept is what the question names."""
HOPS = 2
"""Links followed from what is named: in "PTB" ~ "PTB corpus" ~ "Penn Treebank" each name is one with the next."""


class NamedConcepts:
    """What questions name, and the concepts that may be the same."""

    def __init__(self, graph: LateralGraph, lookup: NameLookup) -> None:
        self._lookup = lookup
        self._device = device_of(graph)
        links = graph.same_as
        self._starts = links.crow_indices().long()
        self._ends = links.col_indices().long()
        self._values = links.values().float()
        self._n = graph.n_concepts
        holders = torch.from_numpy(graph.concepts["n_sections"].to_numpy().copy()).float()
        self.rarity = torch.log1p(graph.n_sections / holders.clamp(min=1.0)).to(self._device)

    def of(self, question: str) -> list[int]:
        """Concepts that the question names, without those that only tell the kind ("BLEU (metric)")."""
        return sorted({concept for hits in self._told(question)[0] for concept in hits})

    def is_name(self, question: str) -> bool:
        """Whether the question names one thing and says nothing more, its kind aside."""
        named, rest = self._told(question)
        return len(named) == 1 and not rest

    def _told(self, question: str) -> tuple[list[list[int]], list[str]]:
        """What the question names, name by name, and its other words; a kind counts only where nothing else is
        named."""
        words = name_form(question).split()
        spans = self._lookup.spans(words)
        covered = {place for span, _ in spans for place in range(span.start, span.stop)}
        kinds = [all(word in TYPE_WORDS for word in words[span]) for span, _ in spans]
        named = [hits for (_, hits), kind in zip(spans, kinds, strict=True) if not kind or all(kinds)]
        rest = [word for place, word in enumerate(words) if place not in covered and word not in TYPE_WORDS]
        return named, rest

    def alike(self, concept: int) -> Tensor:
        """Probability that each concept is the given one, float32 [concepts]: of the best path of links, 1 at
        itself."""
        best = torch.zeros(self._n, device=self._device)
        best[concept] = 1.0
        reached = torch.tensor([concept], device=self._device)
        for _ in range(HOPS):
            before = best.clone()
            for node in reached.tolist():
                start, end = int(self._starts[node]), int(self._starts[node + 1])
                ends, through = self._ends[start:end], before[node] * self._values[start:end]
                best[ends] = torch.maximum(best[ends], torch.where(through >= LEAST, through, 0.0))
            reached = torch.nonzero(best > before).flatten()
        return best


class NameScorer:
    """score(s) = sum over what is named of rarity times the root of max over v in C(s) of P(v is it).

    The root, since a probability of .1 still sets a section apart from all those that hold nothing like it.
    """

    def __init__(self, graph: LateralGraph, named: NamedConcepts) -> None:
        self.named = named
        incidence = graph.incidence
        self._starts = incidence.crow_indices().long()
        self._held = incidence.col_indices().long()
        self._device = device_of(graph)

    def score(self, texts: Sequence[str], usable: Tensor | None = None) -> Tensor:
        """As ``retrieval.retriever.Scorer``; sections that hold nothing like what is named are not found."""
        rows = torch.zeros(len(texts), len(self._starts) - 1, device=self._device)
        for row, text in zip(rows, texts, strict=True):
            for concept in self.named.of(text):
                held = self.named.alike(concept)[self._held]
                best = torch.segment_reduce(held, "max", offsets=self._starts, initial=0.0)
                row += self.named.rarity[concept] * best.sqrt()
        return rows.masked_fill(rows <= 0, -torch.inf)


class ContextScorer:
    """The cosine of each section with the mean direction of those that hold what is named, the rarer the more."""

    def __init__(self, graph: LateralGraph, named: NamedConcepts) -> None:
        self._named = named
        self._x = graph["section"].x
        holders = graph.holders
        self._starts = holders.crow_indices().long()
        self._sections = holders.col_indices().long()

    def score(self, texts: Sequence[str], usable: Tensor | None = None) -> Tensor:
        """As ``retrieval.retriever.Scorer``; where nothing is named, nothing is found."""
        rows = torch.full((len(texts), len(self._x)), -torch.inf, device=self._x.device)
        for row, text in zip(rows, texts, strict=True):
            total = torch.zeros(self._x.shape[1], device=self._x.device)
            for concept in self._named.of(text):
                held = self._sections[self._starts[concept] : self._starts[concept + 1]]
                total += self._named.rarity[concept] * torch.nn.functional.normalize(self._x[held].sum(dim=0), dim=0)
            if bool(total.any()):
                row.copy_(self._x @ torch.nn.functional.normalize(total, dim=0))
        return rows


class Floored:
    """A method's scores with 0 for what it does not find, for a fusion in which finding nothing says something."""

    def __init__(self, scorer: NameScorer) -> None:
        self._scorer = scorer

    def score(self, texts: Sequence[str], usable: Tensor | None = None) -> Tensor:
        """As ``Scorer``."""
        return self._scorer.score(texts, usable).clamp(min=0.0)


class ByQuestion:
    """One method for questions that are the name of one thing and nothing more, another for all others."""

    def __init__(self, named: NamedConcepts, for_names: Scorer, for_others: Scorer) -> None:
        self._named = named
        self._for_names = for_names
        self._for_others = for_others

    def score(self, texts: Sequence[str], usable: Tensor | None = None) -> Tensor:
        """As ``retrieval.retriever.Scorer``."""
        is_name = torch.tensor([self._named.is_name(text) for text in texts], dtype=torch.bool)
        if not bool(is_name.any()):
            return self._for_others.score(texts, usable)
        if bool(is_name.all()):
            return self._for_names.score(texts, usable)
        parts = []
        for method, chosen in ((self._for_names, is_name), (self._for_others, ~is_name)):
            rows = torch.nonzero(chosen).flatten()
            own = None if usable is None else usable[rows.to(usable.device)]
            parts.append((rows, method.score([texts[row] for row in rows.tolist()], own)))
        total = torch.empty(len(texts), parts[0][1].shape[1], device=parts[0][1].device)
        for rows, scores in parts:
            total[rows.to(total.device)] = scores
        return total
