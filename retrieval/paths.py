"""Why a section was found: the way from the question's concepts to those that carry the section."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import dijkstra
from torch import Tensor

from kg.communities import concept_weights
from kg.lateral import LateralGraph


@dataclass(frozen=True)
class ConceptPaths:
    """Shortest ways from seed concepts: ``cost`` float64 [concepts], ``before`` int32 [concepts] (< 0: none)."""

    cost: np.ndarray
    before: np.ndarray

    def to(self, concept: int) -> list[int]:
        """Concepts from a seed to ``concept``, both included; empty where no seed reaches it."""
        if not np.isfinite(self.cost[concept]):
            return []
        path = [concept]
        while self.before[path[-1]] >= 0:
            path.append(int(self.before[path[-1]]))
        return path[::-1]


def concept_paths(graph: LateralGraph, seeds: Sequence[int]) -> ConceptPaths:
    """Ways along the strongest relations (an edge of weight w has length 1 / w), from the nearest of ``seeds``."""
    n = graph.n_concepts
    if not seeds or not n:
        return ConceptPaths(np.full(n, np.inf), np.full(n, -1, dtype=np.int32))
    lengths = concept_weights(graph)
    lengths.data = 1.0 / lengths.data
    cost, before, _ = dijkstra(lengths, indices=sorted(set(seeds)), min_only=True, return_predecessors=True)
    return ConceptPaths(cost, before)


def contributions(graph: LateralGraph, section: int, scores: Tensor, spread_exponent: float) -> list[tuple[int, float]]:
    """(concept, share) of the concepts that carry a section, largest first; shares of the section's score sum to 1.

    ``scores`` float32 [concepts] are those of the diffusion; ties go to the smaller number.
    """
    start, end = (int(p) for p in graph.incidence.crow_indices()[section : section + 2])
    concepts = graph.incidence.col_indices()[start:end].cpu().numpy().astype(np.int64)
    holders = graph.concepts["n_sections"].to_numpy()[concepts]
    parts = scores.cpu().numpy()[concepts].astype(np.float64) * holders.astype(np.float64) ** -spread_exponent
    total = parts.sum()
    if total <= 0:
        return []
    order = np.lexsort((concepts, -parts))
    return [(int(concepts[i]), float(parts[i] / total)) for i in order if parts[i] > 0]
