"""A CSR matrix is checked before a kernel takes it: kernels read memory where its columns point."""

from __future__ import annotations

import torch
from torch import Tensor

from kg.errors import InputError

_INTEGERS = (torch.int32, torch.int64)


def check_csr(pointers: Tensor, columns: Tensor, values: Tensor) -> None:
    """Raise ``InputError`` unless these are row pointers, columns and values of a square CSR matrix."""
    if any(part.dim() != 1 for part in (pointers, columns, values)) or not len(pointers):
        raise InputError("Row pointers, columns and values of a CSR matrix are arrays of one dimension.")
    if pointers.dtype not in _INTEGERS or columns.dtype not in _INTEGERS or not values.is_floating_point():
        raise InputError(
            f"A CSR matrix needs int32 or int64 pointers and columns and floating-point values, not "
            f"{pointers.dtype}, {columns.dtype} and {values.dtype}."
        )
    n, entries = len(pointers) - 1, len(columns)
    if len(values) != entries:
        raise InputError(f"The CSR matrix has {entries} columns but {len(values)} values.")
    if int(pointers[0]) != 0 or int(pointers[-1]) != entries or bool((pointers.diff() < 0).any()):
        raise InputError(f"Row pointers of the CSR matrix must rise from 0 to its {entries} entries.")
    if entries:
        low, high = (int(end) for end in columns.aminmax())
        if low < 0 or high >= n:
            raise InputError(f"The CSR matrix has an entry in column {low if low < 0 else high}, but {n} columns.")
