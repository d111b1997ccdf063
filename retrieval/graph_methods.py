"""Methods over the concept graph: seeds, an operator that spreads them, section scores (BizSage 3.1 and 6.1).

``lkg`` spreads nothing, ``ppr`` is Personalized PageRank, ``long_walk`` the same with a small teleport probability,
``katz`` and ``heat_kernel`` are the other operators compared there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import torch
from torch import Tensor

from kg.lateral import LateralGraph
from kg.protocols import Encoder
from retrieval.diffusion import KatzOperator, Transition, heat_kernel, katz, personalized_pagerank
from retrieval.sections import GraphConfig, SectionScorer
from retrieval.seeds import Seeder

Operator = Literal["lkg", "ppr", "long_walk", "katz", "heat_kernel"]


def make_operator(graph: LateralGraph, name: Operator, config: GraphConfig) -> Callable[[Tensor], Tensor]:
    """Personalization [concepts, B], no column of zeros -> scores [concepts, B]; what is costly is prepared once."""
    if name == "lkg":
        return lambda seeds: seeds
    adjacency = damped_hubs(graph.adjacency, config.hub_exponent)
    if name == "katz":
        operator = KatzOperator.of(adjacency)
        return lambda seeds: katz(operator, seeds, damping=config.damping, tolerance=config.tolerance).scores
    transition = Transition.of(adjacency, config.normalization)
    if name == "heat_kernel":
        return lambda seeds: heat_kernel(transition, seeds, time=config.time, tolerance=config.tolerance).scores
    alpha = config.alpha if name == "ppr" else config.long_alpha
    return lambda seeds: personalized_pagerank(transition, seeds, alpha=alpha, tolerance=config.tolerance).scores


def damped_hubs(adjacency: Tensor, exponent: float) -> Tensor:
    """w(u, v) / (d_u d_v)^exponent, CSR: edges of hubs weigh less, by their weighted degrees d; 0 changes nothing."""
    if exponent == 0.0:
        return adjacency
    rows, columns = adjacency.crow_indices().long(), adjacency.col_indices().long()
    weights = adjacency.values().double()
    degrees = torch.segment_reduce(weights, "sum", offsets=rows, axis=0, initial=0.0)
    scale = torch.where(degrees > 0, degrees, 1.0) ** -exponent
    values = weights * torch.repeat_interleave(scale, rows.diff()) * scale[columns]
    return torch.sparse_csr_tensor(
        adjacency.crow_indices(), adjacency.col_indices(), values.float(), adjacency.shape, check_invariants=False
    )


class GraphScorer:
    """One operator over one graph."""

    def __init__(
        self, graph: LateralGraph, encoder: Encoder, seeder: Seeder, operator: Operator, config: GraphConfig
    ) -> None:
        self._encoder = encoder
        self.seeder = seeder
        self.scorer = SectionScorer(graph, config)
        self._spread = make_operator(graph, operator, config)
        self._last: tuple[tuple[str, ...], tuple[Tensor, Tensor]] | None = None

    def diffuse(self, texts: Sequence[str], usable: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """(personalization, scores), float32 [concepts, B] each; a question without a seed has a column of zeros.

        What was asked last is remembered, as a brief and its picture ask the same several times.
        """
        if usable is not None:
            return self._diffuse(texts, usable)
        if self._last is None or self._last[0] != tuple(texts):
            self._last = tuple(texts), self._diffuse(texts, None)
        return self._last[1]

    def _diffuse(self, texts: Sequence[str], usable: Tensor | None) -> tuple[Tensor, Tensor]:
        seeds = self.seeder.personalization(texts, self._encoder.encode_queries(texts), usable)
        scores = torch.zeros_like(seeds)
        seeded = seeds.sum(dim=0) > 0
        if bool(seeded.any()):
            scores[:, seeded] = self._spread(seeds[:, seeded])
        return seeds, scores

    def score(self, texts: Sequence[str], usable: Tensor | None = None) -> Tensor:
        """As ``retrieval.retriever.Scorer``; sections that no score reaches are not found."""
        _, scores = self.diffuse(texts, usable)
        own = self.scorer(scores).T.contiguous()
        return own.masked_fill_(own <= 0, -torch.inf)
