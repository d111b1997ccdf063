"""The best k of many scores, in one order on every machine."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from kg.errors import InputError


@dataclass(frozen=True)
class Ranking:
    """Ids, best first, with their scores."""

    ids: tuple[str, ...]
    scores: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.ids) != len(self.scores):
            raise ValueError(f"{len(self.ids)} ids but {len(self.scores)} scores; a ranking needs one score per id")

    def __len__(self) -> int:
        return len(self.ids)


def top_k(scores: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k largest of ``scores`` [n] or [B, n], largest first, equal ones by the smaller index.

    ``torch.topk`` leaves open which of several equal scores it takes; it only gives the threshold here.

    Returns:
        values and int64 indices, each [min(k, n)] or [B, min(k, n)].

    Raises:
        InputError: another shape, a negative k, or a NaN, which has no place in an order.
    """
    if scores.dim() not in (1, 2):
        raise InputError(f"Scores have shape {tuple(scores.shape)}; they must be [n] or [B, n].")
    if k < 0:
        raise InputError(f"k is {k}; ask for 0 or more results.")
    if bool(torch.isnan(scores).any()):
        raise InputError("Scores hold a NaN, which cannot be ranked; look for it in the vectors or weights behind.")
    rows = scores if scores.dim() == 2 else scores.unsqueeze(0)
    batch, n = rows.shape
    k = min(k, n)
    if k == 0 or batch == 0:
        values = rows.new_empty((batch, k))
        indices = torch.empty((batch, k), dtype=torch.int64, device=rows.device)
    else:
        indices = _best(rows, k)
        values, order = rows.gather(1, indices).sort(dim=1, descending=True, stable=True)
        indices = indices.gather(1, order)
    return (values, indices) if scores.dim() == 2 else (values[0], indices[0])


def _best(rows: Tensor, k: int) -> Tensor:
    """Indices [B, k] of the best k per row, ascending; of those equal to the kth best, the smallest."""
    threshold = torch.topk(rows, k, dim=1, sorted=False).values.amin(dim=1, keepdim=True)
    chosen = rows >= threshold
    surplus = chosen.sum(dim=1) - k
    for row in surplus.nonzero().flatten().tolist():
        ties = (rows[row] == threshold[row]).nonzero().flatten()
        chosen[row, ties[-int(surplus[row]) :]] = False
    return chosen.nonzero()[:, 1].view(len(rows), k)
