"""Katz diffusion: walks of every length from the seeds, each step damped alike (Katz 1953).

    scores = sum_j beta^j A^j p = (I - beta A)^-1 p,    beta = c / bound,  bound >= lambda_max(A),

so that the series converges for every c < 1 (compared in BizSage 6.1). For any x > 0 the largest (A x)_i / x_i is such
a bound (Collatz and Wielandt); x is what some products leave of the degrees, which makes it tight. Since
A x <= bound x, the norm sum_i x_i |y_i| shrinks by c with every term, so what is left is known beforehand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from kg.errors import InputError
from retrieval.diffusion.series import Diffusion, Plan, checked_tolerance, coefficients_of, sum_series
from retrieval.diffusion.transition import checked_weights, with_values

_SHARPENING = 20
"""Products that tighten the bound."""


@dataclass(frozen=True)
class KatzOperator:
    """What depends on the adjacency only. ``matrix``: A / bound, float32 CSR [n, n]; ``norm_weights``: float64 [n] x,
    its least value 1."""

    matrix: Tensor
    bound: float
    norm_weights: Tensor

    @classmethod
    def of(cls, adjacency: Tensor) -> KatzOperator:
        """Of an adjacency as for ``Transition.of``, which says what it raises; without edges the bound is 1."""
        weights, degrees = checked_weights(adjacency)
        exact = torch.sparse_csr_tensor(
            adjacency.crow_indices(), adjacency.col_indices(), weights, size=adjacency.shape, check_invariants=False
        )
        connected = degrees > 0
        if not bool(connected.any()):
            return cls(with_values(adjacency, weights), 1.0, torch.ones_like(degrees))
        x = torch.where(connected, degrees, 1.0)
        for _ in range(_SHARPENING):  # mixed with itself, since on a bipartite graph powers alone never settle
            product = exact @ x
            x = torch.where(connected, x / x.max() + product / product.max(), 1.0)
        bound = float(((exact @ x) / x)[connected].max()) * (1.0 + 1e-12)
        return cls(with_values(adjacency, weights / bound), bound, x / x.min())


def katz(
    adjacency: Tensor | KatzOperator,
    personalization: Tensor,
    *,
    damping: float = 0.5,
    tolerance: float = 1e-6,
    max_iterations: int | None = None,
) -> Diffusion:
    """Katz scores (I - beta A)^-1 p of every column of ``personalization`` ([n] or [n, B], as for PageRank).

    ``damping``: c = beta times the bound of lambda_max, in [0, 1). ``tolerance`` bounds the L1 error of a column before
    float32 rounding; ``residual`` is that bound. Raises ``InputError`` as ``personalized_pagerank`` does.
    """
    if not 0.0 <= damping < 1.0:
        raise InputError(f"damping is {damping}; Katz scores need it in [0, 1).")
    limit = checked_tolerance(tolerance, max_iterations)
    operator = adjacency if isinstance(adjacency, KatzOperator) else KatzOperator.of(adjacency)

    def plan(seeds: Tensor, used: int) -> Plan:
        mass = (seeds.double() * operator.norm_weights.unsqueeze(1)).sum(dim=0).tolist()[:used]
        needed = [_products(m, damping, tolerance) for m in mass]
        steps = [min(k, limit) for k in needed]
        residual = [_left(m, damping, k) for m, k in zip(mass, steps, strict=True)]
        powers = damping ** torch.arange(max(steps) + 1, dtype=torch.float64)
        return Plan(coefficients_of(powers, steps, [1.0] * used, seeds.shape[1]), steps, residual, steps == needed)

    return sum_series(operator.matrix, personalization, plan)


def _left(mass: float, damping: float, products: int) -> float:
    """sum over j > products of damping^j mass."""
    return mass * damping ** (products + 1) / (1.0 - damping)


def _products(mass: float, damping: float, tolerance: float) -> int:
    """Least k >= 0 for which ``_left`` is within the tolerance."""
    if _left(mass, damping, 0) <= tolerance:
        return 0
    return max(0, math.ceil(math.log(tolerance * (1.0 - damping) / mass) / math.log(damping)) - 1)
