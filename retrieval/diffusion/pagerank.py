"""Personalized PageRank, many queries at once.

With a symmetric adjacency A and D = diag(A 1), pi solves pi = alpha p + (1 - alpha) M pi, where M is A D^-1
(``column``), D^-1 A (``row``) or D^-1/2 A D^-1/2 (``symmetric``): three diagonal scalings of one matrix. The solution
is alpha (I - (1 - alpha) M)^-1 p, summed as a Chebyshev series (``chebyshev.Resolvent``): its terms shrink by rho =
(1 - sqrt(1 - b^2)) / b with every product, b = 1 - alpha, and not by b as those of the power series do (.27 and .5 at
alpha .5, .56 and .85 at .15, .72 and .95 at .05).

A node without edges sends its score back to p. It receives none, so the sum that returns is known beforehand, and the
whole effect is another factor: alpha / (1 - (1 - alpha) P) instead of alpha, with P the share of p on such nodes.
"""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from kg.errors import InputError
from retrieval.diffusion.chebyshev import Resolvent
from retrieval.diffusion.series import Diffusion, Spread, checked_tolerance, spread
from retrieval.diffusion.transition import Normalization, Transition, as_transition


def personalized_pagerank(
    adjacency: Tensor | Transition,
    personalization: Tensor,
    *,
    alpha: float = 0.5,
    normalization: Normalization | None = None,
    tolerance: float = 1e-6,
    max_iterations: int | None = None,
    panel_bytes: int | None = None,
) -> Diffusion:
    """Personalized PageRank pi = alpha p + (1 - alpha) M pi of every column of ``personalization``.

    p is the column divided by its sum; the score of nodes without edges teleports back to p, as in igraph and
    networkx. ``column`` conserves mass (scores sum to 1), ``row`` is the form printed in BizSage 3.1,
    equation 3, and suppresses hubs. A column stops once its residual, measured in the norm in which M does not
    expand (``Transition.norm_weights``; for ``column`` this is |.|_1), says that the L1 error is within the
    ``tolerance``: after 14 products at alpha .5, 30 at .15 for 1e-6 on large graphs. Rounding of float32 comes on top.

    Columns do not influence each other. On the CPU a column's scores are the same bits alone and in any batch,
    at any place in it and with any number of threads; on CUDA they agree within rounding.

    Args:
        adjacency: CSR [n, n], symmetric, weights >= 0; or the ``Transition`` made of it.
        personalization: dense or sparse (COO, CSR, CSC) [n] or [n, B], >= 0, no column all zero; on the adjacency's
            device. B may be 0. With few seeds a sparse one is read faster.
        alpha: probability of teleporting, in (0, 1].
        normalization: "column" (default), "row" or "symmetric"; a ``Transition`` has its own.
        tolerance: bound on the L1 error of a column, > 0.
        max_iterations: most products per column; by default those the tolerance needs, at most MAX_ITERATIONS.
            ``converged`` is false where it cut a column short.
        panel_bytes: memory for the panels that the work is done in, PANEL_BYTES unless given. Wide ones serve a batch
            faster: 64 columns of a million nodes take 768 MB. The scores, 4 n B bytes, come on top where they take
            several panels.

    Raises:
        InputError: what ``Transition.of`` refuses, shapes or devices that do not fit, a personalization that is
            negative, not finite or all zero in some column, alpha outside (0, 1], a tolerance <= 0.
    """
    if not 0.0 < alpha <= 1.0:
        raise InputError(f"alpha is {alpha}; the teleport probability must lie in (0, 1].")
    limit = checked_tolerance(tolerance, max_iterations)
    transition = as_transition(adjacency, normalization, "column")

    def factor(isolated: Tensor, connected: Tensor) -> Tensor:
        # alpha / (1 - (1 - alpha) P) with P = isolated / (isolated + connected), without its cancellation near P = 1.
        return alpha * (isolated + connected) / (alpha * isolated + connected)

    found = spread(
        Spread(
            transition.operator,
            Resolvent(alpha, limit),
            transition.norm_weights,
            transition.balance,
            transition.isolated,
            factor,
            tolerance,
            limit,
        ),
        personalization,
        panel_bytes,
    )
    return replace(found, residual=alpha * found.residual)


def long_walk_pagerank(
    adjacency: Tensor | Transition,
    personalization: Tensor,
    *,
    alpha: float = 0.05,
    normalization: Normalization | None = None,
    tolerance: float = 1e-6,
    max_iterations: int | None = None,
    panel_bytes: int | None = None,
) -> Diffusion:
    """Long-walk PageRank (compared in BizSage 6.1): ``personalized_pagerank`` with a small teleport probability, so
    that walks are 1 / alpha steps long on average; some 60 products at alpha .05."""
    return personalized_pagerank(
        adjacency, personalization, alpha=alpha, normalization=normalization, tolerance=tolerance,
        max_iterations=max_iterations, panel_bytes=panel_bytes,
    )  # fmt: skip
