"""Heat-kernel diffusion: exp(-t (I - M)) p, heat that has flowed from the seeds for the time t.

With M = D^-1/2 A D^-1/2 this is the kernel of the normalized Laplacian (Kondor and Lafferty 2002; compared in BizSage
6.1): walks whose length is Poisson distributed with mean t. It is summed as a Chebyshev series
(``chebyshev.Exponential``), which takes about sqrt(2 t log(1 / tolerance)) products for long times, and not t as the
power series does. Where a node has no edges the Laplacian is 0 (Chung 1997), so what starts there stays.
"""

from __future__ import annotations

import torch
from torch import Tensor

from kg.errors import InputError
from retrieval.diffusion.chebyshev import Exponential
from retrieval.diffusion.series import Diffusion, Spread, checked_tolerance, spread
from retrieval.diffusion.transition import Normalization, Transition, as_transition

LONGEST = 700.0
"""Largest time."""


def heat_kernel(
    adjacency: Tensor | Transition,
    personalization: Tensor,
    *,
    time: float = 1.0,
    normalization: Normalization | None = None,
    tolerance: float = 1e-6,
    max_iterations: int | None = None,
    panel_bytes: int | None = None,
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

    return spread(
        Spread(
            transition.operator,
            Exponential(time, limit),
            transition.norm_weights,
            transition.balance,
            transition.isolated,
            lambda isolated, connected: torch.ones_like(connected),
            tolerance,
            limit,
        ),
        personalization,
        panel_bytes,
    )
