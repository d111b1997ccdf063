"""A graph as the matrices that diffusion multiplies with: three diagonal scalings of one adjacency."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from kg.errors import InputError
from retrieval.kernels import Operator, choose_kernel
from retrieval.kernels.checks import check_csr

Normalization = Literal["column", "row", "symmetric"]


@dataclass(frozen=True)
class Transition:
    """What depends on the adjacency only: build it once, hand it to every query.

    ``operator``: M, float32 [n, n], as a kernel holds it. ``isolated``: indices of nodes without edges, ascending.
    ``norm_weights``: float64 [n] w, scaled so that its least value on nodes with edges is 1; |w r|_1 >= |r|_1 is the
    norm in which M does not expand, so it bounds the error for each normalization. ``balance``: float64 [n], the root
    of the degrees, scaled likewise (1 on nodes without edges).
    """

    normalization: Normalization
    operator: Operator
    isolated: Tensor
    norm_weights: Tensor
    balance: Tensor

    @property
    def size(self) -> int:
        """Number of nodes."""
        return self.operator.size

    @classmethod
    def of(cls, adjacency: Tensor, normalization: Normalization = "column", *, kernel: str | None = None) -> Transition:
        """Scale ``adjacency`` (CSR [n, n], symmetric, finite, >= 0; explicit zeros count as no edge).

        Degrees and quotients are computed in float64, so weights may span many orders of magnitude. ``kernel`` as for
        ``retrieval.kernels.choose_kernel``.

        Raises:
            InputError: not CSR, not square, not floating point, a weight that is negative or not finite, a column
                that does not exist, row and column sums that differ (so not symmetric), an unknown normalization, a
                kernel that cannot be used.
        """
        if normalization not in get_args(Normalization):
            raise InputError(f"normalization {normalization!r} is unknown; use one of {get_args(Normalization)}.")
        chosen = choose_kernel(kernel, adjacency.device)
        exact, degrees = checked_weights(adjacency)
        rows, columns = adjacency.crow_indices(), adjacency.col_indices()
        connected = degrees > 0
        balance = torch.ones_like(degrees)
        if bool(connected.any()):
            balance = torch.where(connected, (degrees / degrees[connected].min()).sqrt(), 1.0)
        inverse = torch.where(connected, degrees, torch.inf).reciprocal()
        targets = torch.repeat_interleave(rows.long().diff(), output_size=exact.numel())
        if normalization == "column":
            scaled, weights = exact * inverse[columns.long()], torch.ones_like(degrees)
        elif normalization == "row":
            scaled, weights = exact * inverse[targets], balance**2
        else:
            root = inverse.sqrt()
            scaled, weights = exact * root[targets] * root[columns.long()], balance
        operator = chosen.prepare(rows, columns, scaled.float())
        return cls(normalization, operator, (~connected).nonzero().flatten(), weights, balance)


def as_transition(
    adjacency: Tensor | Transition, normalization: Normalization | None, default: Normalization
) -> Transition:
    """The transition given, or the one made of an adjacency. Raises ``InputError`` where the two disagree."""
    if not isinstance(adjacency, Transition):
        return Transition.of(adjacency, normalization or default)
    if normalization in (None, adjacency.normalization):
        return adjacency
    raise InputError(
        f"The transition is {adjacency.normalization}-normalized but {normalization!r} is asked for; leave one out."
    )


def checked_weights(adjacency: Tensor) -> tuple[Tensor, Tensor]:
    """Weights [edges] and their sums at each node [n], float64. Raises ``InputError`` as ``Transition.of``."""
    if adjacency.layout != torch.sparse_csr:
        raise InputError(f"The adjacency is {adjacency.layout}, not CSR; convert it with .to_sparse_csr().")
    if adjacency.dim() != 2 or adjacency.shape[0] != adjacency.shape[1]:
        raise InputError(f"The adjacency has shape {tuple(adjacency.shape)}; it must be square, [n, n].")
    weights = adjacency.values()
    if not weights.is_floating_point():
        raise InputError(f"The adjacency holds {weights.dtype}; convert its weights to float32.")
    if not finite_and_nonnegative(weights):
        raise InputError("The adjacency holds a weight that is negative or not finite; drop or repair that edge.")
    check_csr(adjacency.crow_indices(), adjacency.col_indices(), weights)
    exact = weights.double()
    degrees = torch.segment_reduce(exact, "sum", offsets=adjacency.crow_indices().long(), axis=0, initial=0.0)
    sums_of_columns = torch.zeros_like(degrees).index_add_(0, adjacency.col_indices().long(), exact)
    if not torch.allclose(degrees, sums_of_columns, rtol=1e-5, atol=0.0):
        raise InputError("Row and column sums of the adjacency differ, so it is not symmetric; add its transpose.")
    return exact, degrees


def finite_and_nonnegative(values: Tensor) -> bool:
    """Both ends suffice: a NaN anywhere is what ``aminmax`` returns."""
    if not values.numel():
        return True
    low, high = torch.aminmax(values)
    return bool(low >= 0) and bool(torch.isfinite(high))
