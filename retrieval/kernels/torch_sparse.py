"""The products of ``torch_sparse`` (PyTorch Geometric's), where that library is installed."""

from __future__ import annotations

import importlib.util
from typing import Any

from torch import Tensor

from retrieval.kernels.protocols import Operator
from retrieval.kernels.reference import TorchOperator, csr_tensor


def missing() -> str | None:
    """Why the kernel cannot be used here, if it cannot."""
    if importlib.util.find_spec("torch_sparse") is None:
        return "torch_sparse is not installed"
    try:
        import torch_sparse  # noqa: F401
    except (ImportError, OSError, RuntimeError) as error:  # built for another torch
        return f"torch_sparse does not load: {str(error).splitlines()[0] if str(error) else type(error).__name__}"
    return None


class TorchSparseOperator(TorchOperator):
    """PyTorch's steps with another product."""

    def __init__(self, matrix: Tensor) -> None:
        from torch_sparse import SparseTensor

        super().__init__(matrix)
        self._sparse: Any = SparseTensor(
            rowptr=matrix.crow_indices().long(), col=matrix.col_indices().long(), value=matrix.values(),
            sparse_sizes=tuple(matrix.shape), is_sorted=True, trust_data=True,
        )  # fmt: skip

    def advance(self, previous: Tensor, current: Tensor, first: bool) -> None:
        """As in ``TorchOperator``."""
        from torch_sparse import matmul

        product: Tensor = matmul(self._sparse, current, reduce="sum")
        if first:
            previous.copy_(product)
        else:
            previous.neg_().add_(product, alpha=2.0)


class TorchSparseKernel:
    """Products of torch_sparse."""

    name = "torch_sparse"

    def prepare(self, pointers: Tensor, columns: Tensor, values: Tensor) -> Operator:
        """As in ``Kernel``."""
        return TorchSparseOperator(csr_tensor(pointers, columns, values))
