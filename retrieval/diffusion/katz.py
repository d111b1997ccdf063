"""Katz diffusion: walks of every length from the seeds, each step damped alike (Katz 1953).

    scores = sum_j beta^j A^j p = (I - beta A)^-1 p,    beta = c / bound,  bound >= lambda_max(A),

so that the series converges for every c < 1 (compared in BizSage 6.1). For any x > 0 the largest (A x)_i / x_i is such
a bound (Collatz and Wielandt); x is what some products leave of the degrees, which makes it tight. Since
A x <= bound x, the norm sum_i x_i |y_i| does not grow under M = A / bound, and (I - c M)^-1 is the resolvent that
PageRank takes (``chebyshev.Resolvent``).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from kg.errors import InputError
from retrieval.diffusion.chebyshev import Resolvent
from retrieval.diffusion.series import Diffusion, Spread, checked_tolerance, spread
from retrieval.diffusion.transition import checked_weights
from retrieval.kernels import Operator, choose_kernel

_SHARPENING = 20
"""Products that tighten the bound."""


@dataclass(frozen=True)
class KatzOperator:
    """What depends on the adjacency only. ``operator``: A / bound, float32 [n, n], as a kernel holds it;
    ``norm_weights``: float64 [n] x, its least value 1; ``isolated``: indices of nodes without edges, ascending."""

    operator: Operator
    bound: float
    norm_weights: Tensor
    isolated: Tensor

    @classmethod
    def of(cls, adjacency: Tensor, *, kernel: str | None = None) -> KatzOperator:
        """Of an adjacency as for ``Transition.of``, which says what it raises; without edges the bound is 1."""
        chosen = choose_kernel(kernel, adjacency.device)
        weights, degrees = checked_weights(adjacency)
        rows, columns = adjacency.crow_indices(), adjacency.col_indices()
        exact = torch.sparse_csr_tensor(rows, columns, weights, size=adjacency.shape, check_invariants=False)
        connected = degrees > 0
        isolated = (~connected).nonzero().flatten()
        if len(isolated) == len(degrees):
            return cls(chosen.prepare(rows, columns, weights.float()), 1.0, torch.ones_like(degrees), isolated)
        x = torch.where(connected, degrees, 1.0)
        for _ in range(_SHARPENING):  # mixed with itself, since on a bipartite graph powers alone never settle
            product = exact @ x
            x = torch.where(connected, x / x.max() + product / product.max(), 1.0)
        bound = float(((exact @ x) / x)[connected].max()) * (1.0 + 1e-12)
        scaled = (weights / bound).float()
        return cls(chosen.prepare(rows, columns, scaled), bound, x / x.min(), isolated)


def katz(
    adjacency: Tensor | KatzOperator,
    personalization: Tensor,
    *,
    damping: float = 0.5,
    tolerance: float = 1e-6,
    max_iterations: int | None = None,
    panel_bytes: int | None = None,
) -> Diffusion:
    """Katz scores (I - beta A)^-1 p of every column of ``personalization`` ([n] or [n, B], as for PageRank).

    ``damping``: c = beta times the bound of lambda_max, in [0, 1). ``tolerance`` bounds the L1 error of a column before
    float32 rounding; ``residual`` is that bound. Raises ``InputError`` as ``personalized_pagerank`` does.
    """
    if not 0.0 <= damping < 1.0:
        raise InputError(f"damping is {damping}; Katz scores need it in [0, 1).")
    limit = checked_tolerance(tolerance, max_iterations)
    operator = adjacency if isinstance(adjacency, KatzOperator) else KatzOperator.of(adjacency)

    return spread(
        Spread(
            operator.operator,
            Resolvent(1.0 - damping, limit),
            operator.norm_weights,
            torch.ones_like(operator.norm_weights),
            operator.isolated,
            lambda isolated, connected: torch.ones_like(connected),
            tolerance,
            limit,
        ),
        personalization,
        panel_bytes,
    )
