"""The kernel that every other is measured against: PyTorch's sparse product, on any device (cuSPARSE on CUDA)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from retrieval.kernels.checks import check_csr
from retrieval.kernels.protocols import Norms, Operator

TILE = 8
"""Columns of a panel on the CPU, never more or fewer: PyTorch's products of other widths may round otherwise."""

_ROWS = 1 << 16
"""Rows whose norms are taken at a time, to keep float64 copies small."""


class TorchOperator:
    """A matrix as a tensor of layout CSR."""

    def __init__(self, matrix: Tensor) -> None:
        self._matrix = matrix
        self.size = int(matrix.shape[0])
        self.entries = int(matrix.values().numel())
        self.widths = (TILE,) if matrix.device.type == "cpu" else None

    @contextmanager
    def panels(self, width: int) -> Iterator[tuple[Tensor, Tensor]]:
        """As in ``Operator``."""
        like = self._matrix.values()
        yield like.new_zeros((self.size, width)), like.new_zeros((self.size, width))

    def step(
        self, previous: Tensor, current: Tensor, scores: Tensor, coefficient: Tensor, *,
        lead: Tensor | None = None, norms: Norms | None = None,
    ) -> Tensor | None:  # fmt: skip
        """As in ``Operator``."""
        self.advance(previous, current, first=lead is not None)
        if lead is not None:
            torch.mul(current, lead, out=scores)
        if scores.is_cuda:
            scores.addcmul_(previous, coefficient)
        else:  # multiplied, then added: what is fused may round otherwise at the end of a vector register
            scores.add_(previous * coefficient)
        return None if norms is None else _norms(previous, current, norms)

    def advance(self, previous: Tensor, current: Tensor, first: bool) -> None:
        """previous <- 2 M current - previous, at first M current (what is multiplied by 0 is not read), in one pass."""
        beta, alpha = (0.0, 1.0) if first else (-1.0, 2.0)
        torch.addmm(previous, self._matrix, current, beta=beta, alpha=alpha, out=previous)


class TorchKernel:
    """PyTorch's own sparse products."""

    name = "torch"

    def prepare(self, pointers: Tensor, columns: Tensor, values: Tensor) -> Operator:
        """As in ``Kernel``."""
        return TorchOperator(csr_tensor(pointers, columns, values))


def csr_tensor(pointers: Tensor, columns: Tensor, values: Tensor) -> Tensor:
    """The checked matrix, float32; 32-bit indices where they suffice."""
    check_csr(pointers, columns, values)
    n = len(pointers) - 1
    index = torch.int32 if max(n, values.numel()) < 2**31 else torch.int64
    return torch.sparse_csr_tensor(
        pointers.to(index), columns.to(index), values.float(), size=(n, n), check_invariants=False
    )


def _norms(new: Tensor, old: Tensor, norms: Norms) -> Tensor:
    total = torch.zeros((2, new.shape[1]), dtype=torch.float64, device=new.device)
    parts = zip(new.split(_ROWS), old.split(_ROWS), norms.weights.split(_ROWS), strict=True)
    for new_rows, old_rows, weights in parts:
        for row, (a, c) in enumerate(norms.mixes):
            mixed = (a * new_rows.double() - c * old_rows.double()).abs_()
            total[row] += mixed.mul_(weights.unsqueeze(1)).sum(dim=0)
    return total
