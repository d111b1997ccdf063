"""Methods over the concept graph: seeds, an operator that spreads them, section scores (BizSage 3.1 and 6.1).

``lkg`` spreads nothing, ``ppr`` is Personalized PageRank, ``long_walk`` the same with a small teleport probability,
``katz`` and ``heat_kernel`` are the other operators compared there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import torch
from scipy import sparse
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
    adjacency = damped_hubs(linked(graph, config.link_weight), config.hub_exponent)
    if name == "katz":
        operator = KatzOperator.of(adjacency)
        return lambda seeds: katz(operator, seeds, damping=config.damping, tolerance=config.tolerance).scores
    transition = Transition.of(adjacency, config.normalization)
    if name == "heat_kernel":
        return lambda seeds: heat_kernel(transition, seeds, time=config.time, tolerance=config.tolerance).scores
    alpha = config.alpha if name == "ppr" else config.long_alpha
    return lambda seeds: personalized_pagerank(transition, seeds, alpha=alpha, tolerance=config.tolerance).scores


def linked(graph: LateralGraph, weight: float) -> Tensor:
    """The diffusion graph with an edge of weight l p(u, v) (d_u d_v)^1/2 between concepts that may be one, CSR float32.

    p is the probability that they are one, d the weighted degree without these edges: so a link carries the same share
    of what leaves a hub and of what leaves a rare concept.
    """
    links, adjacency = graph.same_as, graph.adjacency
    if weight == 0.0 or not links.values().numel():
        return adjacency
    own = _as_scipy(adjacency)
    root = sparse.diags(np.sqrt(np.asarray(own.sum(axis=1), dtype=np.float64).ravel()))
    total = (own + weight * (root @ _as_scipy(links) @ root)).tocsr()
    total.sort_indices()
    index = adjacency.crow_indices().dtype
    return torch.sparse_csr_tensor(
        torch.from_numpy(total.indptr).to(index), torch.from_numpy(total.indices).to(index),
        torch.from_numpy(total.data.astype(np.float32)), total.shape, check_invariants=False,
    ).to(adjacency.device)  # fmt: skip


def _as_scipy(matrix: Tensor) -> sparse.csr_matrix:
    arrays = (matrix.values(), matrix.col_indices(), matrix.crow_indices())
    return sparse.csr_matrix(tuple(array.cpu().numpy() for array in arrays), matrix.shape)


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
