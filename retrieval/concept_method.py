"""Sections by the concepts of theirs that are nearest to the question: what the graph's nodes alone can do."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from kg.lateral import LateralGraph
from kg.protocols import Encoder
from retrieval.text_methods import cosines

SHARPNESS = 100.0
"""Weight of cosines in the soft maximum: .01 less counts e times less."""


class ConceptScorer:
    """A soft maximum of the question's cosines with the concepts of the section; one without concepts is not found.

    score(s) = 1 / t  log sum over v in C(s) of (1 + ln tf(v, s)) exp(t cos(q, v)), t = ``SHARPNESS``: MaxSim (Khattab
    and Zaharia, SIGIR 2020) of one vector with those of the concepts, where sections that share the nearest concept
    are told apart by how often they name it and by what else they name. It finds a name that the question spells
    otherwise, in a long section whose own vector says little of it.
    """

    def __init__(self, graph: LateralGraph, encoder: Encoder) -> None:
        self._encoder = encoder
        self._x = graph["concept"].x
        incidence = graph.incidence
        self._starts = incidence.crow_indices().long()
        self._held = incidence.col_indices().long()
        self._weights = 1.0 + torch.log(incidence.values().float())

    def score(self, texts: Sequence[str], usable: Tensor | None = None) -> Tensor:
        """As ``retrieval.retriever.Scorer``."""
        rows = [self._pooled(near) for near in cosines(self._x, self._encoder.encode_queries(texts))]
        return torch.stack(rows) if rows else self._x.new_zeros((0, len(self._starts) - 1))

    def _pooled(self, near: Tensor) -> Tensor:
        held = near[self._held]
        best = torch.segment_reduce(held, "max", offsets=self._starts, initial=-torch.inf)
        below = held - torch.repeat_interleave(best, self._starts.diff())
        total = torch.segment_reduce(
            self._weights * torch.exp(SHARPNESS * below), "sum", offsets=self._starts, initial=0.0
        )
        return best + torch.log(total) / SHARPNESS
