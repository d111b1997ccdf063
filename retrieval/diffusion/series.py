"""Chebyshev series of a sparse matrix, many columns at once: what all diffusions here are made of.

Columns are worked on in panels, row-major [n, W], as wide as memory allows: a row gathered from memory then serves W
queries. A kernel (``retrieval.kernels``) does each step in one pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from kg.errors import InputError
from retrieval.diffusion.chebyshev import Expansion
from retrieval.diffusion.personalization import Entries, Personalization
from retrieval.kernels import Norms, Operator

MAX_ITERATIONS = 100_000
"""Most products for one call unless the caller sets another bound."""

PANEL_BYTES = 1 << 30
"""Bytes that the panels of one call take at most, unless the caller sets another bound; one column is always worked
on."""

_OVERHEAD = 8
"""Columns of a panel that cost as much as what any step costs (measured: a step takes about 8 + W)."""


@dataclass(frozen=True)
class Diffusion:
    """What a diffusion found.

    ``scores``: float32 [n, B], or [n] for a personalization [n]. ``iterations``: sparse products that the slowest
    column took. ``residual``: float64 [B], a bound on the L1 error of the scores before float32 rounding; for PageRank
    alpha times that bound, which is how the residual alpha p + (1 - alpha) M scores - scores bounds it.
    ``converged``: the bound is within the tolerance in every column. ``bytes_moved``: what the steps had to read and
    write, if every row of a panel came from memory once per step.
    """

    scores: Tensor
    iterations: int
    residual: Tensor
    converged: bool
    bytes_moved: int


@dataclass(frozen=True)
class Spread:
    """A diffusion to be computed.

    ``norm_weights`` w and ``balance`` t: float64 [n], with M = E S E^-1 for a symmetric S of norm 1 and a diagonal E,
    so that |T_k p|_w <= |t|_2 |(w / t) p|_2. ``isolated``: the nodes without edges, ascending; their entries of p stay
    where they are. ``factor`` of the columns of scores, from the sums of p over nodes without and with edges, [B] each.
    """

    operator: Operator
    expansion: Expansion
    norm_weights: Tensor
    balance: Tensor
    isolated: Tensor
    factor: Callable[[Tensor, Tensor], Tensor]
    tolerance: float
    limit: int


@torch.no_grad()
def spread(task: Spread, personalization: Tensor, panel_bytes: int | None = None) -> Diffusion:
    """The diffusion of every column of ``personalization``, each divided by its sum first.

    Raises ``InputError`` for a personalization that fits neither the matrix nor its device, or has a bad column.
    """
    device = task.norm_weights.device
    size = task.operator.size
    seeds = Personalization.of(personalization, size, device)
    scores = torch.empty((size, seeds.batch), dtype=torch.float32, device=device)  # no memory before it is written
    residual = torch.zeros(seeds.batch, dtype=torch.float64)
    iterations, moved, start = 0, 0, 0
    for width in _widths(seeds.batch, size, task.operator.widths, panel_bytes or PANEL_BYTES):
        stop = min(start + width, seeds.batch)
        found = _Panel(task, seeds.entries(start, stop), width)
        found.run()
        whole = width == seeds.batch
        scores = found.scores if whole else scores
        if not whole:
            scores[:, start:stop] = found.scores[:, : stop - start]
        residual[start:stop] = torch.from_numpy(found.bound)
        iterations, moved = max(iterations, found.step), moved + found.moved
        start = stop
    converged = bool((residual <= task.tolerance).all())
    return Diffusion(scores.reshape(personalization.shape), iterations, residual.to(device), converged, moved)


class _Panel:
    """The columns that share one panel, and how far each has come."""

    def __init__(self, task: Spread, entries: Entries, width: int) -> None:
        self._task = task
        self._width = width
        self.step = self.moved = 0
        alone = _among(entries.rows, task.isolated)
        self._alone, self._entries = entries.where(alone), entries.where(~alone)
        self._factor = task.factor(self._alone.sums(), self._entries.sums())
        self._c = task.expansion.coefficients
        factor = self._factor.cpu().numpy()
        mass = factor * self._entries.sums(task.norm_weights).cpu().numpy()
        unit, error = task.expansion.at_once
        self.bound = mass * error
        self._going = (self.bound > task.tolerance) & (task.limit > 0) & (len(self._c) > 1)
        # c_0 mass, which the error at k seldom falls below once it is scaled by c_k / c_0: where to look first.
        self._due = self._after(0, 2.0 * self._c[0] * mass)
        self._lead = np.where(self._going, self._c[0], unit) * factor
        self._scale = factor

    def run(self) -> None:
        """Sum until every column is as exact as asked for, or the limit is reached; ``scores`` are then those found."""
        operator, width = self._task.operator, self._width
        # No row of scores is gathered, so they need no large pages, and the caller may keep them.
        self.scores = torch.empty((operator.size, width), dtype=torch.float32, device=self._task.balance.device)
        with operator.panels(width) as (previous, current):
            current.zero_()[self._entries.rows, self._entries.columns] = self._entries.values.float()
            if self._going.any():
                self._sum(previous, current)
            else:
                torch.mul(current, self._tensor(self._lead), out=self.scores)
        self.scores.clamp_(min=0.0)  # the exact ones are; rounding may leave less
        alone = self._alone
        self.scores[alone.rows, alone.columns] = (alone.values * self._factor[alone.columns]).float()

    def _sum(self, previous: Tensor, current: Tensor) -> None:
        task, operator = self._task, self._task.operator
        lead = self._tensor(self._lead)
        last = min(task.limit, len(self._c) - 1)
        cap = self._cap()
        while self._going.any():
            self.step += 1
            looked = self._going & ((self._due <= self.step) | (self.step == last))
            norms = Norms(task.norm_weights, task.expansion.mixes) if looked.any() else None
            coefficient = self._tensor(np.where(self._going, self._c[self.step] * self._scale, 0.0))
            measured = operator.step(
                previous, current, self.scores, coefficient, lead=lead if self.step == 1 else None, norms=norms
            )
            self.moved += _bytes(operator, self._width, self.step == 1, norms is not None)
            previous, current = current, previous
            if measured is not None:
                self._judge(looked, measured.cpu().numpy()[:, : len(self.bound)], cap, self.step == last)

    def _judge(self, looked: np.ndarray, norms: np.ndarray, cap: np.ndarray, last: bool) -> None:
        """Each column's verdict depends on that column alone, and so do the steps at which it is looked at."""
        bound = self._scale * self._task.expansion.error(self.step, norms, cap)
        self.bound = np.where(looked, bound, self.bound)
        self._due = np.where(looked, self._after(self.step, self.bound), self._due)
        self._going &= ~(looked & (self.bound <= self._task.tolerance))
        if last:
            self._going[:] = False

    def _after(self, k: int, bound: np.ndarray) -> np.ndarray:
        """The first step after k at which bounds that shrink as the coefficients do are within the tolerance."""
        with np.errstate(divide="ignore"):
            wanted = self._c[k] * (2.0 if k == 0 else 1.0) * self._task.tolerance / bound
        return np.maximum(np.searchsorted(-self._c[1:], -wanted) + 1, k + 1)

    def _cap(self) -> np.ndarray:
        task, entries = self._task, self._entries
        squares = Entries(entries.rows, entries.columns, entries.values**2, entries.width)
        spread_over = torch.linalg.vector_norm(task.balance)
        cap: np.ndarray = (spread_over * squares.sums((task.norm_weights / task.balance) ** 2).sqrt()).cpu().numpy()
        return cap

    def _tensor(self, columns: np.ndarray) -> Tensor:
        """float32 [width], zero where the panel has no column."""
        padded = np.zeros(self._width, dtype=np.float32)
        padded[: len(columns)] = columns
        return torch.from_numpy(padded).to(self._task.norm_weights.device)


def checked_tolerance(tolerance: float, max_iterations: int | None) -> int:
    """The most products that a column may take. Raises ``InputError`` for a tolerance <= 0 or a negative number."""
    if not 0.0 < tolerance < math.inf:
        raise InputError(f"tolerance is {tolerance}; it must be a positive number.")
    limit = MAX_ITERATIONS if max_iterations is None else max_iterations
    if limit < 0:
        raise InputError(f"max_iterations is {max_iterations}; it must be 0 or more.")
    return limit


def _widths(batch: int, size: int, allowed: tuple[int, ...] | None, panel_bytes: int) -> Iterator[int]:
    """Widths of the panels of a batch. Three panels are at work: T_k p, T_k-1 p, scores."""
    most = max(1, panel_bytes // (3 * 4 * max(size, 1)))
    if allowed is None:
        allowed = tuple({min(most, batch), batch % most if batch > most else batch} - {0})
    fitting = sorted(width for width in allowed if width <= most) or [min(allowed, default=1)]
    while batch > 0:
        width = _first_width(batch, fitting)
        yield width
        batch -= width


def _first_width(batch: int, widths: list[int]) -> int:
    """The width to begin with so that the steps of all panels together cost least; zero columns fill the last."""
    if batch >= widths[-1]:
        return widths[-1]
    above = next(width for width in widths if width >= batch)
    below = [width for width in widths if width < batch]
    if not below:
        return above
    rest, cost, first = batch, 0, below[-1]
    while rest > 0:
        width = next((w for w in reversed(widths) if w <= rest), widths[0])
        rest, cost = rest - width, cost + width + _OVERHEAD
    return above if above + _OVERHEAD <= cost else first


def _among(rows: Tensor, ascending: Tensor) -> Tensor:
    """Which of ``rows`` are among ``ascending``, bool."""
    if not len(ascending):
        return torch.zeros_like(rows, dtype=torch.bool)
    place = torch.searchsorted(ascending, rows).clamp_(max=len(ascending) - 1)
    return ascending[place] == rows


def _bytes(operator: Operator, width: int, first: bool, norms: bool) -> int:
    """Columns and values, row pointers, current read, previous and scores read (not at first) and written; weights."""
    panels = 3 if first else 5
    return 8 * operator.entries + (8 + 4 * panels * width + 8 * norms) * operator.size
