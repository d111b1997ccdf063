"""Heat-kernel diffusion: exp(-t (I - M)) p, heat that has flowed from the seeds for the time t.

With M = D^-1/2 A D^-1/2 this is the kernel of the normalized Laplacian (Kondor and Lafferty 2002; compared in BizSage
6.1), the series sum_j exp(-t) t^j / j! M^j p: walks whose length is Poisson distributed with mean t. Where a node has
no edges the Laplacian is 0 (Chung 1997), so what starts there stays.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from kg.errors import InputError
from retrieval.diffusion.series import Diffusion, Plan, checked_tolerance, coefficients_of, sum_series
from retrieval.diffusion.transition import Normalization, Transition, as_transition

LONGEST = 700.0
"""Largest time: exp(-t) must not vanish."""


def heat_kernel(
    adjacency: Tensor | Transition,
    personalization: Tensor,
    *,
    time: float = 1.0,
    normalization: Normalization | None = None,
    tolerance: float = 1e-6,
    max_iterations: int | None = None,
) -> Diffusion:
    """Heat of every column of ``personalization`` ([n] or [n, B], as for PageRank) after ``time`` in [0, 700].

    ``normalization``: ``symmetric`` unless given. ``tolerance`` bounds the L1 error of a column before float32 rounding
    (by the norm of ``Transition.norm_weights``, in which M does not expand); ``residual`` is that bound.
    Raises ``InputError`` as ``personalized_pagerank`` does.
    """
    if not 0.0 <= time <= LONGEST:
        raise InputError(f"time is {time}; heat flows for a time in [0, {LONGEST:g}].")
    limit = checked_tolerance(tolerance, max_iterations)
    transition = as_transition(adjacency, normalization, "symmetric")

    def plan(seeds: Tensor, used: int) -> Plan:
        mass = (seeds.double() * transition.norm_weights.unsqueeze(1)).sum(dim=0).tolist()[:used]
        needed = [_products(m, time, tolerance) for m in mass]
        steps = [min(k, limit) for k in needed]
        residual = [m * _longer(k, time) for m, k in zip(mass, steps, strict=True)]
        lengths = torch.arange(max(steps) + 1, dtype=torch.float64)
        terms = torch.exp(torch.special.xlogy(lengths, time) - time - torch.lgamma(lengths + 1.0))
        return Plan(coefficients_of(terms, steps, [1.0] * used, seeds.shape[1]), steps, residual, steps == needed)

    found = sum_series(transition.matrix, personalization, plan)
    return _with_isolated(found, transition, personalization, time)


def _with_isolated(found: Diffusion, transition: Transition, personalization: Tensor, time: float) -> Diffusion:
    """Nodes without edges got exp(-t) p from the first term and keep p."""
    rows = transition.isolated
    if len(rows):
        found.scores[rows] *= math.exp(time)
    return found


def _products(mass: float, time: float, tolerance: float) -> int:
    """Least k >= 0 with mass P(walk longer than k) within the tolerance."""
    k = 0
    while mass * _longer(k, time) > tolerance:
        k += 1
    return k


def _longer(k: int, time: float) -> float:
    """P(Poisson(t) > k), by its relation to the incomplete gamma function."""
    values = (torch.tensor(x, dtype=torch.float64) for x in (k + 1.0, time))
    return float(torch.special.gammainc(*values))
