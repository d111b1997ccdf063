"""Where queries start: personalization vectors, dense or sparse, checked and read a few columns at a time."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from kg.errors import InputError

_SPARSE = (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc)


@dataclass(frozen=True)
class Entries:
    """Some columns of p, each divided by its sum, by their entries: ``rows``, ``columns`` int64 and ``values`` float64
    [entries], ``width`` the number of columns."""

    rows: Tensor
    columns: Tensor
    values: Tensor
    width: int

    def sums(self, factors: Tensor | None = None) -> Tensor:
        """Sum of every column, float64 [width], its entries times the ``factors`` [n] of their rows if given."""
        values = self.values if factors is None else self.values * factors[self.rows]
        return torch.zeros(self.width, dtype=torch.float64, device=values.device).index_add_(0, self.columns, values)

    def where(self, chosen: Tensor) -> Entries:
        """Those for which ``chosen``, bool [entries], is true."""
        return Entries(self.rows[chosen], self.columns[chosen], self.values[chosen], self.width)


@dataclass(frozen=True)
class Personalization:
    """Checked shape and device: ``data`` is dense [n, batch] or a coalesced COO tensor of that shape."""

    data: Tensor
    batch: int

    @classmethod
    def of(cls, given: Tensor, size: int, device: torch.device) -> Personalization:
        """Of a dense or sparse [n] or [n, B] tensor. Raises ``InputError`` where it does not fit the graph."""
        if given.layout != torch.strided and given.layout not in _SPARSE:
            raise InputError(f"The personalization is {given.layout}; make it dense with .to_dense().")
        if given.dim() not in (1, 2) or given.shape[0] != size:
            raise InputError(
                f"The personalization has shape {tuple(given.shape)}; a graph of {size} nodes needs [{size}] or "
                f"[{size}, B]."
            )
        if given.device != device:
            raise InputError(f"The graph is on {device} but the personalization on {given.device}; move one of them.")
        if given.layout != torch.strided:
            given = given.to_sparse_coo().coalesce()
        columns = given if given.dim() == 2 else given.unsqueeze(1)
        return cls(columns.coalesce() if columns.is_sparse else columns, int(columns.shape[1]))

    def entries(self, start: int, stop: int) -> Entries:
        """Columns ``start`` to ``stop``. Raises ``InputError`` for one that is negative, not finite or all zero."""
        rows, columns, values = self._taken(start, stop)
        if not bool(torch.isfinite(values).all()) or bool((values < 0).any()):
            raise InputError("The personalization holds a value that is negative or not finite; seeds must be >= 0.")
        width = stop - start
        peaks = torch.zeros(width, dtype=torch.float64, device=values.device)
        peaks = peaks.scatter_reduce_(0, columns, values, "amax")
        if len(empty := (peaks == 0).nonzero()):
            raise InputError(
                f"Column {start + int(empty[0])} of the personalization has no positive entry; give it a seed."
            )
        # By the largest first, as a sum may exceed the range of float64.
        shares = Entries(rows, columns, values / peaks[columns], width)
        return Entries(rows, columns, shares.values / shares.sums()[columns], width)

    def _taken(self, start: int, stop: int) -> tuple[Tensor, Tensor, Tensor]:
        if not self.data.is_sparse:
            part = self.data[:, start:stop]
            rows, columns = part.nonzero(as_tuple=True)
            return rows, columns, part[rows, columns].double()
        rows, columns = self.data.indices()
        taken = (columns >= start) & (columns < stop)
        return rows[taken], columns[taken] - start, self.data.values()[taken].double()
