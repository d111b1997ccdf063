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
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from kg.errors import InputError

Normalization = Literal["column", "row", "symmetric"]

MAX_ITERATIONS = 100_000
"""Most products for one call unless the caller sets another bound; reached only for alpha below about 2e-4."""

TILE = 8
"""Columns that share one product on the CPU. The width is always this one (zero columns fill up): kernels
of other widths may round otherwise, and eight float32 are what a gather from memory brings in anyway."""


@dataclass(frozen=True)
class Diffusion:
    """What ``personalized_pagerank`` found.

    ``scores``: float32 [n, B], or [n] for a personalization [n]. ``iterations``: sparse products that the
    slowest column took. ``residual``: float64 [B], the norm of r = alpha p + (1 - alpha) M scores - scores;
    before float32 rounding |scores - exact|_1 <= residual / alpha. ``converged``: that bound is within the
    tolerance in every column.
    """

    scores: Tensor
    iterations: int
    residual: Tensor
    converged: bool


@dataclass(frozen=True)
class Transition:
    """What depends on the adjacency only: build it once, hand it to every query.

    ``matrix``: M as float32 CSR [n, n]. ``isolated``: indices of nodes without edges. ``norm_weights``:
    float64 [n] w, scaled so that its least value on nodes with edges is 1; |w r|_1 >= |r|_1 is the norm in
    which M does not expand, so it bounds the error for each normalization.
    """

    normalization: Normalization
    matrix: Tensor
    isolated: Tensor
    norm_weights: Tensor

    @property
    def size(self) -> int:
        """Number of nodes."""
        return int(self.matrix.shape[0])

    @classmethod
    def of(cls, adjacency: Tensor, normalization: Normalization = "column") -> Transition:
        """Scale ``adjacency`` (CSR [n, n], symmetric, finite, >= 0; explicit zeros count as no edge).

        Degrees and quotients are computed in float64, so weights may span many orders of magnitude.

        Raises:
            InputError: not CSR, not square, not floating point, a weight that is negative or not finite, row
                and column sums that differ (so not symmetric), or an unknown normalization.
        """
        if normalization not in get_args(Normalization):
            raise InputError(f"normalization {normalization!r} is unknown; use one of {get_args(Normalization)}.")
        if adjacency.layout != torch.sparse_csr:
            raise InputError(f"The adjacency is {adjacency.layout}, not CSR; convert it with .to_sparse_csr().")
        if adjacency.dim() != 2 or adjacency.shape[0] != adjacency.shape[1]:
            raise InputError(f"The adjacency has shape {tuple(adjacency.shape)}; it must be square, [n, n].")
        rows, columns, weights = adjacency.crow_indices(), adjacency.col_indices(), adjacency.values()
        if not weights.is_floating_point():
            raise InputError(f"The adjacency holds {weights.dtype}; convert its weights to float32.")
        if not _finite_and_nonnegative(weights):
            raise InputError("The adjacency holds a weight that is negative or not finite; drop or repair that edge.")

        n = int(adjacency.shape[0])
        exact = weights.double()
        degrees = torch.segment_reduce(exact, "sum", offsets=rows.long(), axis=0, initial=0.0)
        sums_of_columns = torch.zeros_like(degrees).index_add_(0, columns.long(), exact)
        if not torch.allclose(degrees, sums_of_columns, rtol=1e-5, atol=0.0):
            raise InputError("Row and column sums of the adjacency differ, so it is not symmetric; add its transpose.")

        connected = degrees > 0
        inverse = torch.where(connected, degrees, torch.inf).reciprocal()
        targets = torch.repeat_interleave(rows.long().diff(), output_size=weights.numel())
        if normalization == "column":
            scaled, w = exact * inverse[columns.long()], torch.ones_like(degrees)
        elif normalization == "row":
            scaled, w = exact * inverse[targets], degrees
        else:
            root = inverse.sqrt()
            scaled, w = exact * root[targets] * root[columns.long()], degrees.sqrt()
        if bool(connected.any()):
            w = w / w[connected].min()
        index = torch.int32 if max(n, weights.numel()) < 2**31 else torch.int64
        matrix = torch.sparse_csr_tensor(
            rows.to(index), columns.to(index), scaled.float(), size=(n, n), check_invariants=False
        )
        return cls(normalization, matrix, (~connected).nonzero().flatten(), w)


@torch.no_grad()
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
    if not 0.0 < tolerance < math.inf:
        raise InputError(f"tolerance is {tolerance}; it must be a positive number.")
    limit = MAX_ITERATIONS if max_iterations is None else max_iterations
    if limit < 0:
        raise InputError(f"max_iterations is {max_iterations}; it must be 0 or more.")
    if not isinstance(adjacency, Transition):
        transition = Transition.of(adjacency, normalization or "column")
    elif normalization in (None, adjacency.normalization):
        transition = adjacency
    else:
        raise InputError(
            f"The transition is {adjacency.normalization}-normalized but {normalization!r} is asked for; leave one out."
        )
    columns = _checked_columns(transition, personalization)

    n, batch = columns.shape
    scores = torch.empty((n, batch), dtype=torch.float32, device=columns.device)
    residual = torch.zeros(batch, dtype=torch.float64, device=columns.device)
    width = TILE if columns.device.type == "cpu" else max(batch, 1)
    iterations, converged = 0, True
    for start in range(0, batch, width):
        tile = slice(start, min(start + width, batch))
        used = tile.stop - tile.start
        seeds = _distribution(columns[:, tile], width)
        lead, mass = (values.tolist() for values in _lead_and_mass(transition, seeds, alpha))
        needed = [_products(m, alpha, tolerance) for m in mass[:used]]
        steps = [min(k, limit) for k in needed]
        coefficients = _coefficients(lead[:used], alpha, steps, width).to(columns.device)
        scores[:, tile] = _series(transition.matrix, seeds, coefficients)[:, :used]
        residual[tile] = torch.tensor(
            [m * (1.0 - alpha) ** (k + 1) for m, k in zip(mass[:used], steps, strict=True)], dtype=torch.float64
        )
        iterations = max(iterations, *steps)
        converged = converged and steps == needed
    return Diffusion(scores.reshape(personalization.shape), iterations, residual, converged)


def _checked_columns(transition: Transition, personalization: Tensor) -> Tensor:
    """``personalization`` as floating point [n, B], or ``InputError``."""
    n = transition.size
    if personalization.layout != torch.strided:
        raise InputError(f"The personalization is {personalization.layout}; make it dense with .to_dense().")
    if personalization.dim() not in (1, 2) or personalization.shape[0] != n:
        raise InputError(
            f"The personalization has shape {tuple(personalization.shape)}; a graph of {n} nodes needs [{n}] or "
            f"[{n}, B]."
        )
    if personalization.device != transition.matrix.device:
        raise InputError(
            f"The graph is on {transition.matrix.device} but the personalization on {personalization.device}; "
            "move one of them."
        )
    columns = personalization if personalization.dim() == 2 else personalization.unsqueeze(1)
    if columns.dtype not in (torch.float32, torch.float64):
        columns = columns.float()
    if columns.shape[1] and not _finite_and_nonnegative(columns):
        raise InputError("The personalization holds a value that is negative or not finite; seeds must be >= 0.")
    empty = (columns.amax(dim=0) == 0).nonzero() if n else torch.arange(columns.shape[1]).unsqueeze(1)
    if len(empty):
        raise InputError(f"Column {int(empty[0])} of the personalization has no positive entry; give it a seed.")
    return columns


def _finite_and_nonnegative(values: Tensor) -> bool:
    """Both ends suffice: a NaN anywhere is what ``aminmax`` returns."""
    if not values.numel():
        return True
    low, high = torch.aminmax(values)
    return bool(low >= 0) and bool(torch.isfinite(high))


def _distribution(columns: Tensor, width: int) -> Tensor:
    """Each column divided by its sum, float32 [n, width]; zero columns fill up to ``width``."""
    seeds = torch.zeros((columns.shape[0], width), dtype=torch.float32, device=columns.device)
    # By the largest first, as the sum of a column may exceed the range of its type; it is then >= 1, so that
    # the clamp touches the zero columns only.
    seeds[:, : columns.shape[1]] = columns / columns.amax(dim=0)
    return seeds.div_(seeds.sum(dim=0, dtype=torch.float64).clamp_(min=1.0).float())


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


def _coefficients(lead: list[float], alpha: float, steps: list[int], width: int) -> Tensor:
    """float32 [max(steps) + 1, width]: c (1 - alpha)^j while j <= the column's own number of products, then 0."""
    powers = (1.0 - alpha) ** torch.arange(max(steps) + 1, dtype=torch.float64).unsqueeze(1)
    taken = torch.arange(len(powers)).unsqueeze(1) <= torch.tensor(steps)
    coefficients = torch.zeros((len(powers), width), dtype=torch.float32)
    coefficients[:, : len(steps)] = torch.where(taken, powers * torch.tensor(lead, dtype=torch.float64), 0.0)
    return coefficients


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
