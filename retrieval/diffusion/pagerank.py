"""Personalized PageRank, many queries at once: the reference that faster kernels are measured against.

With a symmetric adjacency A and D = diag(A 1), pi solves pi = alpha p + (1 - alpha) M pi, where M is
A D^-1 (``column``), D^-1 A (``row``) or D^-1/2 A D^-1/2 (``symmetric``): three diagonal scalings of one
matrix. The solution is the series sum_j alpha (1 - alpha)^j M^j p, summed here from j = 0 on, so scores
only grow towards the exact ones. Two facts make this short:

- A node without edges sends its score back to p. It receives none, so the sum that returns is known
  beforehand, and the whole effect is another leading coefficient: c = alpha / (1 - (1 - alpha) P)
  instead of alpha, with P the share of p that lies on such nodes.
- With w = 1, D 1 or D^1/2 1 (in the order above), w' M x = w' x for every x on nodes with edges. So the
  residual after k products is known beforehand too: w' r = c (1 - alpha)^(k+1) w' p.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from kg.errors import InputError
from retrieval.diffusion.series import Diffusion, Plan, checked_tolerance, coefficients_of, sum_series
from retrieval.diffusion.transition import Normalization, Transition, as_transition


def personalized_pagerank(
    adjacency: Tensor | Transition,
    personalization: Tensor,
    *,
    alpha: float = 0.5,
    normalization: Normalization | None = None,
    tolerance: float = 1e-6,
    max_iterations: int | None = None,
) -> Diffusion:
    """Personalized PageRank pi = alpha p + (1 - alpha) M pi of every column of ``personalization``.

    p is the column divided by its sum; the score of nodes without edges teleports back to p, as in igraph and
    networkx. ``column`` conserves mass (scores sum to 1), ``row`` is the form printed in BizSage 3.1,
    equation 3, and suppresses hubs. A column stops at the first number of products for which
    |w r|_1 / alpha <= ``tolerance`` (``Transition.norm_weights``; for ``column`` this is |r|_1 / alpha), which
    bounds the L1 error; about log(tolerance) / log(1 - alpha) products. Rounding of float32 comes on top,
    some 1e-7 / alpha of the sum of the scores.

    Columns do not influence each other. On the CPU a column's scores are the same bits alone and in any batch,
    at any place in it; on CUDA they agree within rounding.

    Args:
        adjacency: CSR [n, n], symmetric, weights >= 0; or the ``Transition`` made of it.
        personalization: dense [n] or [n, B], >= 0, no column all zero; on the adjacency's device. B may be 0.
        alpha: probability of teleporting, in (0, 1].
        normalization: "column" (default), "row" or "symmetric"; a ``Transition`` has its own.
        tolerance: bound on the L1 error of a column, > 0.
        max_iterations: most products per column; by default those the tolerance needs, at most MAX_ITERATIONS.
            ``converged`` is false where it cut a column short.

    Raises:
        InputError: what ``Transition.of`` refuses, shapes or devices that do not fit, a personalization that is
            negative, not finite or all zero in some column, alpha outside (0, 1], a tolerance <= 0.
    """
    if not 0.0 < alpha <= 1.0:
        raise InputError(f"alpha is {alpha}; the teleport probability must lie in (0, 1].")
    limit = checked_tolerance(tolerance, max_iterations)
    transition = as_transition(adjacency, normalization, "column")

    def plan(seeds: Tensor, used: int) -> Plan:
        lead, mass = (values.tolist()[:used] for values in _lead_and_mass(transition, seeds, alpha))
        needed = [_products(m, alpha, tolerance) for m in mass]
        steps = [min(k, limit) for k in needed]
        powers = (1.0 - alpha) ** torch.arange(max(steps) + 1, dtype=torch.float64)
        residual = [m * (1.0 - alpha) ** (k + 1) for m, k in zip(mass, steps, strict=True)]
        return Plan(coefficients_of(powers, steps, lead, seeds.shape[1]), steps, residual, steps == needed)

    return sum_series(transition.matrix, personalization, plan)


def _lead_and_mass(transition: Transition, seeds: Tensor, alpha: float) -> tuple[Tensor, Tensor]:
    """Per column, float64 [width]: the leading coefficient c, and c w'p over nodes with edges."""
    isolated = seeds[transition.isolated].sum(dim=0, dtype=torch.float64)
    if len(transition.isolated):
        seeds = seeds.index_fill(0, transition.isolated, 0.0)
    connected = seeds.sum(dim=0, dtype=torch.float64)
    # alpha / (1 - (1 - alpha) P) with P = isolated / (isolated + connected), without its cancellation near P = 1.
    lead = alpha * (isolated + connected) / (alpha * isolated + connected)
    weighted = connected
    if transition.normalization != "column":
        weighted = (seeds * transition.norm_weights.unsqueeze(1)).sum(dim=0)
    return lead, lead * weighted


def _products(mass: float, alpha: float, tolerance: float) -> int:
    """Least k >= 0 with mass (1 - alpha)^(k+1) / alpha <= tolerance."""
    if alpha == 1.0 or mass <= tolerance * alpha:
        return 0
    return max(0, math.ceil(math.log(tolerance * alpha / mass) / math.log1p(-alpha)) - 1)
