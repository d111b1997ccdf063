"""What a kernel of diffusion does: one step of the Chebyshev recurrence over panels of many columns.

    previous <- 2 M current - previous    (in the first step: previous <- M current)
    scores   <- scores + coefficient previous    (in the first step: lead current + coefficient previous)

Panels are row-major float32 [n, W], one column for each query; M is CSR [n, n]. On request the step also returns
sum_i w_i |a previous_i - c current_i| of each column, in float64, with what ``previous`` now holds.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

Mix = tuple[float, float]


@dataclass(frozen=True)
class Norms:
    """``weights`` w: float64 [n]; ``mixes``: the (a, c) of two norms."""

    weights: Tensor
    mixes: tuple[Mix, Mix]


class Operator(Protocol):
    """A matrix that a kernel holds."""

    @property
    def size(self) -> int:
        """n."""

    @property
    def entries(self) -> int:
        """Stored entries."""

    @property
    def widths(self) -> tuple[int, ...] | None:
        """Widths that panels may have; None if any."""

    def panels(self, width: int) -> AbstractContextManager[tuple[Tensor, Tensor]]:
        """Two panels to be overwritten, float32 [n, width], lent for ``previous`` and ``current``. What they hold is
        undefined."""

    def step(
        self, previous: Tensor, current: Tensor, scores: Tensor, coefficient: Tensor, *,
        lead: Tensor | None = None, norms: Norms | None = None,
    ) -> Tensor | None:  # fmt: skip
        """One step, in place. ``coefficient``, ``lead`` (in the first step, and only there): float32 [W].

        Returns float64 [2, W] where norms are asked for. Columns do not influence each other.
        """


class Kernel(Protocol):
    """A way to compute steps."""

    @property
    def name(self) -> str:
        """As ``EVIGRAPH_KERNEL`` has it."""

    def prepare(self, pointers: Tensor, columns: Tensor, values: Tensor) -> Operator:
        """Take over a CSR matrix: row pointers [n + 1] and columns [entries] of any integers, values [entries].

        Raises ``InputError`` for arrays that are no square CSR matrix. May keep references to what it is given.
        """
