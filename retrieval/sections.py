"""Section scores from concept scores (DESIGN 3), and all settings of retrieval over the graph.

    score(s) = |C(s)|^-b  sum over concepts v in C(s) of pi(v) n(v)^-g,

with n(v) the number of sections that hold v.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from kg.lateral import LateralGraph
from retrieval.diffusion import TILE, Normalization
from retrieval.seeds import SeedConfig


@dataclass(frozen=True)
class GraphConfig:
    """How questions are spread over the graph and sections are scored.

    ``alpha``: teleport probability of ``ppr``, ``long_alpha`` of ``long_walk``; ``damping`` of ``katz``; ``time`` of
    ``heat_kernel``; ``normalization`` of all but Katz. ``hub_exponent``: edges weigh w / (d_u d_v)^h. ``link_weight``:
    of edges between concepts that may be one.
    ``size_exponent`` b and ``spread_exponent`` g of the section score. ``tolerance``: L1 error of the concept scores.
    """

    alpha: float = 0.3
    long_alpha: float = 0.05
    damping: float = 0.5
    time: float = 1.0
    normalization: Normalization = "symmetric"
    hub_exponent: float = 0.0
    link_weight: float = 0.3
    size_exponent: float = 0.25
    spread_exponent: float = 0.5
    tolerance: float = 1e-6
    seeds: SeedConfig = field(default_factory=SeedConfig)


class SectionScorer:
    """Scores [sections, B] from concept scores [concepts, B]: one sparse product with precomputed weights."""

    def __init__(self, graph: LateralGraph, config: GraphConfig) -> None:
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
