"""Fusion of methods: a weighted sum of what each says of a section, on a common scale.

``zscore``: a score's distance from the mean of all sections, in standard deviations. ``rank``: reciprocal ranks
1 / (60 + rank) (Cormack, Clarke & Buettcher, SIGIR 2009), which forget how far the first is ahead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import torch
from torch import Tensor

from kg.errors import InputError
from retrieval.retriever import Scorer

Fusion = Literal["zscore", "rank"]
RANK_CONSTANT = 60
"""k of reciprocal rank fusion, as in the paper."""


class HybridScorer:
    """Weighted sum of several methods."""

    def __init__(self, parts: Mapping[str, Scorer], weights: Mapping[str, float], fusion: Fusion = "zscore") -> None:
        """``weights`` by name, >= 0, of each of ``parts``; what counts is their ratio, so the largest becomes 1.

        Raises ``InputError`` where they do not fit.
        """
        if set(parts) != set(weights) or not parts:
            raise InputError(f"Fusion joins {sorted(parts)} but has weights for {sorted(weights)}; give one for each.")
        if not all(0 <= weight < float("inf") for weight in weights.values()) or not any(weights.values()):
            raise InputError(f"The weights of the fusion are {dict(weights)}; they must be >= 0 and not all 0.")
        self._parts = dict(parts)
        largest = max(weights.values())
        self._weights = {name: weight / largest for name, weight in weights.items()}
        self._scaled = standardised if fusion == "zscore" else reciprocal_ranks

    def score(self, texts: Sequence[str], usable: Tensor | None = None) -> Tensor:
        """As ``Scorer``; a section is found if any part finds it.

        Raises:
            ValueError: a part breaks the contract of ``Scorer`` with NaN or infinity, which have no place in a sum.
        """
        total: Tensor | None = None
        found: Tensor | None = None
        for name, part in self._parts.items():
            own = part.score(texts, usable)
            if not bool((own < torch.inf).all()):
                raise ValueError(f"the method {name} gives NaN or infinity as a score; a fusion has no place for them")
            seen = own > -torch.inf
            scaled = self._weights[name] * self._scaled(own)
            total = scaled if total is None else total + scaled
            found = seen if found is None else found | seen
        if total is None or found is None:
            raise AssertionError("the constructor refuses a fusion without parts")
        return total.masked_fill(~found, -torch.inf)


class Rooted:
    """The root of a method's scores, for those that spread over orders of magnitude, as diffusion's do: the first
    still stand out, and no longer alone."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer

    def score(self, texts: Sequence[str], usable: Tensor | None = None) -> Tensor:
        """As ``Scorer``; what is not positive is not found."""
        scores = self._scorer.score(texts, usable).clamp(min=0.0)
        return torch.sqrt(scores).masked_fill_(scores <= 0, -torch.inf)


def reciprocal_ranks(scores: Tensor) -> Tensor:
    """1 / (60 + rank) in each row of ``scores`` [B, n], ranks from 1, equal scores by their place; 0 for -inf."""
    order = scores.argsort(dim=1, descending=True, stable=True)
    places = torch.arange(1, scores.shape[1] + 1, device=scores.device)
    ranks = torch.empty_like(order).scatter_(1, order, places.expand_as(order).clone())
    return torch.where(scores > -torch.inf, 1.0 / (RANK_CONSTANT + ranks.float()), 0.0)


def standardised(scores: Tensor) -> Tensor:
    """Each row of ``scores`` [B, n] minus its mean, in standard deviations; -inf counts as the least score found, and a
    row without differences becomes zeros."""
    finite = torch.isfinite(scores)
    least = torch.where(finite, scores, torch.inf).amin(dim=1, keepdim=True) if scores.shape[1] else scores
    filled = torch.where(finite, scores, torch.where(torch.isfinite(least), least, 0.0)).double()
    rows = [row - row.mean() for row in filled]
    scaled = [row / row.std(correction=0) if bool(row.any()) else row for row in rows]
    return torch.stack(scaled).float() if scaled else scores
