"""The C++ kernel: a step fused into one pass over the rows, with prefetch, 2 MB pages and OpenMP (``steps.hpp``).

It runs without Python's lock, on as many threads as PyTorch uses. Steps of concurrent callers take turns. A column has
the same bits in panels of any width and with any number of threads.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import torch
from torch import Tensor

from kg.errors import InputError
from retrieval.kernels.checks import check_csr
from retrieval.kernels.protocols import Norms, Operator

WIDTHS = (1, 4, 8, 16, 32, 64)
"""Widths of panels that the code is compiled for."""


def missing() -> str | None:
    """Why the kernel cannot be used here, if it cannot."""
    try:
        module = _module()
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError):
            return "it was not compiled; with a C++ compiler, install evigraph again"
        return f"it does not load: {error}"
    return module.missing() or None


class NativeOperator:
    """A checked copy of a matrix that the C++ code holds."""

    widths = WIDTHS

    def __init__(self, pointers: Tensor, columns: Tensor, values: Tensor, threads: int | None = None) -> None:
        """``threads``: of each step; those of PyTorch at that time unless given."""
        check_csr(pointers, columns, values)
        if len(pointers) > 2**31:
            raise InputError(f"The kernel 'native' takes up to 2^31 - 1 nodes, not {len(pointers) - 1}; use 'torch'.")
        if values.device.type != "cpu":
            raise InputError(f"The kernel 'native' runs on the CPU, but the matrix is on {values.device}; use 'torch'.")
        parts = (pointers.long(), columns.int(), values.float())
        try:
            self._operator = _module().Operator(*(part.contiguous().numpy() for part in parts))
        except ValueError as error:  # pragma: no cover - check_csr has seen to it
            raise InputError(f"No CSR matrix: {error}.") from error
        self.size: int = self._operator.rows
        self.entries: int = self._operator.entries
        self._threads = threads
        self._kept: list[Tensor] = []
        self._lock = threading.Lock()

    @contextmanager
    def panels(self, width: int) -> Iterator[tuple[Tensor, Tensor]]:
        """As in ``Operator``. The two largest so far are kept for the next call: 2 MB pages can take the system longer
        to find than a step takes."""
        with self._lock:
            kept, self._kept = self._kept, []
        needed = self.size * width
        if not kept or len(kept[0]) < needed:
            kept = [torch.from_numpy(_module().panel(self.size, width)).flatten() for _ in range(2)]
        previous, current = (memory[:needed].view(self.size, width) for memory in kept)
        try:
            yield previous, current
        finally:
            with self._lock:
                if not self._kept or len(self._kept[0]) < len(kept[0]):
                    self._kept = kept

    def step(
        self, previous: Tensor, current: Tensor, scores: Tensor, coefficient: Tensor, *,
        lead: Tensor | None = None, norms: Norms | None = None,
    ) -> Tensor | None:  # fmt: skip
        """As in ``Operator``. Raises ``TypeError`` or ``ValueError`` for panels that do not fit."""
        found = self._operator.step(
            previous.numpy(), current.numpy(), scores.numpy(), coefficient.numpy(),
            None if lead is None else lead.numpy(), None if norms is None else norms.weights.numpy(),
            (0.0,) * 4 if norms is None else sum(norms.mixes, ()), self._threads or torch.get_num_threads(),
        )  # fmt: skip
        return None if found is None else torch.from_numpy(found)


class NativeKernel:
    """Fused steps in C++."""

    name = "native"

    def prepare(self, pointers: Tensor, columns: Tensor, values: Tensor) -> Operator:
        """As in ``Kernel``; copies what it is given."""
        return NativeOperator(pointers, columns, values)


def _module() -> ModuleType:
    return importlib.import_module("retrieval.kernels._native")
