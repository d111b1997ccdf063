"""Power series of a sparse matrix, many columns at once: what all diffusions here are made of.

A diffusion is sum_j c_j M^j p with coefficients of its own (Personalized PageRank alpha (1 - alpha)^j, Katz c^j, the
heat kernel exp(-t) t^j / j!), cut off where what is left is within the tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from kg.errors import InputError
from retrieval.diffusion.transition import finite_and_nonnegative

MAX_ITERATIONS = 100_000
"""Most products for one call unless the caller sets another bound; PPR reaches it only for alpha below about 2e-4."""

TILE = 8
"""Columns that share one product on the CPU. The width is always this one (zero columns fill up): kernels
of other widths may round otherwise, and eight float32 are what a gather from memory brings in anyway."""


@dataclass(frozen=True)
class Diffusion:
    """What a diffusion found.

    ``scores``: float32 [n, B], or [n] for a personalization [n]. ``iterations``: sparse products that the
    slowest column took. ``residual``: float64 [B]; for PageRank the norm of r = alpha p + (1 - alpha) M scores -
    scores, and before float32 rounding |scores - exact|_1 <= residual / alpha; for the others that bound itself.
    ``converged``: the bound is within the tolerance in every column.
    """

    scores: Tensor
    iterations: int
    residual: Tensor
    converged: bool


@dataclass(frozen=True)
class Plan:
    """How to diffuse the columns of one tile: ``coefficients`` float32 [products + 1, width], and of each used column
    its products, its residual, and whether that is within the tolerance."""

    coefficients: Tensor
    steps: list[int]
    residual: list[float]
    converged: bool


@torch.no_grad()
def sum_series(matrix: Tensor, personalization: Tensor, plan: Callable[[Tensor, int], Plan]) -> Diffusion:
    """The series of every column of ``personalization``, each divided by its sum first.

    ``plan(seeds [n, width], used)`` says how to go on with a tile, of whose columns the first ``used`` are real.
    Raises ``InputError`` for a personalization that fits neither the matrix nor its device, or has a bad column.
    """
    columns = checked_columns(matrix, personalization)
    n, batch = columns.shape
    scores = torch.empty((n, batch), dtype=torch.float32, device=columns.device)
    residual = torch.zeros(batch, dtype=torch.float64, device=columns.device)
    width = TILE if columns.device.type == "cpu" else max(batch, 1)
    iterations, converged = 0, True
    for start in range(0, batch, width):
        tile = slice(start, min(start + width, batch))
        used = tile.stop - tile.start
        seeds = _distribution(columns[:, tile], width)
        planned = plan(seeds, used)
        scores[:, tile] = _series(matrix, seeds, planned.coefficients.to(columns.device))[:, :used]
        residual[tile] = torch.tensor(planned.residual, dtype=torch.float64)
        iterations = max(iterations, *planned.steps)
        converged = converged and planned.converged
    return Diffusion(scores.reshape(personalization.shape), iterations, residual, converged)


def coefficients_of(terms: Tensor, steps: list[int], factors: list[float], width: int) -> Tensor:
    """float32 [max(steps) + 1, width]: ``terms`` (float64, at least as long) times the column's factor while j <= its
    own number of products, then 0."""
    used = terms[: max(steps) + 1].unsqueeze(1)
    taken = torch.arange(len(used)).unsqueeze(1) <= torch.tensor(steps)
    coefficients = torch.zeros((len(used), width), dtype=torch.float32)
    coefficients[:, : len(steps)] = torch.where(taken, used * torch.tensor(factors, dtype=torch.float64), 0.0)
    return coefficients


def checked_tolerance(tolerance: float, max_iterations: int | None) -> int:
    """The most products that a column may take. Raises ``InputError`` for a tolerance <= 0 or a negative number."""
    if not 0.0 < tolerance < math.inf:
        raise InputError(f"tolerance is {tolerance}; it must be a positive number.")
    limit = MAX_ITERATIONS if max_iterations is None else max_iterations
    if limit < 0:
        raise InputError(f"max_iterations is {max_iterations}; it must be 0 or more.")
    return limit


def checked_columns(matrix: Tensor, personalization: Tensor) -> Tensor:
    """``personalization`` as floating point [n, B], or ``InputError``."""
    n = int(matrix.shape[0])
    if personalization.layout != torch.strided:
        raise InputError(f"The personalization is {personalization.layout}; make it dense with .to_dense().")
    if personalization.dim() not in (1, 2) or personalization.shape[0] != n:
        raise InputError(
            f"The personalization has shape {tuple(personalization.shape)}; a graph of {n} nodes needs [{n}] or "
            f"[{n}, B]."
        )
    if personalization.device != matrix.device:
        raise InputError(
            f"The graph is on {matrix.device} but the personalization on {personalization.device}; move one of them."
        )
    columns = personalization if personalization.dim() == 2 else personalization.unsqueeze(1)
    if columns.dtype not in (torch.float32, torch.float64):
        columns = columns.float()
    if columns.shape[1] and not finite_and_nonnegative(columns):
        raise InputError("The personalization holds a value that is negative or not finite; seeds must be >= 0.")
    empty = (columns.amax(dim=0) == 0).nonzero() if n else torch.arange(columns.shape[1]).unsqueeze(1)
    if len(empty):
        raise InputError(f"Column {int(empty[0])} of the personalization has no positive entry; give it a seed.")
    return columns


def _distribution(columns: Tensor, width: int) -> Tensor:
    """Each column divided by its sum, float32 [n, width]; zero columns fill up to ``width``."""
    seeds = torch.zeros((columns.shape[0], width), dtype=torch.float32, device=columns.device)
    # By the largest first, as the sum of a column may exceed the range of its type; it is then >= 1, so that
    # the clamp touches the zero columns only.
    seeds[:, : columns.shape[1]] = columns / columns.amax(dim=0)
    return seeds.div_(seeds.sum(dim=0, dtype=torch.float64).clamp_(min=1.0).float())


def _series(matrix: Tensor, seeds: Tensor, coefficients: Tensor) -> Tensor:
    """sum_j coefficients[j] * (M^j seeds), [n, width].

    Terms keep their mass and only the coefficients shrink, so no rounded factor is applied again and again.
    Multiplication and addition stay apart: a fused one may round otherwise at the end of a vector register.
    """
    term = seeds
    total = term * coefficients[0]
    for coefficient in coefficients[1:]:
        term = matrix @ term
        total.add_(term * coefficient)
    return total
