"""Nearest names by embedding: exact while names are few, by random hyperplanes when they are many.

The hyperplanes (SimHash: Charikar 2002) have a fixed seed, nothing is trained, and the same vectors in the same order
give the same pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

_SPARE_BITS = 12
_LARGEST_BUCKET = 8192
_BLOCK = 1024


@dataclass(frozen=True)
class NearConfig:
    """``floor``: least cosine; ``neighbours`` of each name, at most. Up to ``exact`` names all are compared; beyond,
    those that share a bucket of about ``bucket`` in one of the ``tables``; the ``seed`` fixes the hyperplanes."""

    floor: float = 0.5
    neighbours: int = 12
    exact: int = 40_000
    tables: int = 6
    bucket: int = 384
    seed: int = 718


def near_pairs(vectors: Tensor, config: NearConfig = NearConfig()) -> np.ndarray:
    """Pairs int64 [m, 2] (i < j), sorted, of rows of which one is among the nearest of the other.

    ``vectors``: unit rows, float32 [n, d]. Beyond ``exact`` rows, with b bits a pair at angle t shares a bucket with
    probability 1 - (1 - (1 - t / pi)^b)^tables: .95 at cosine .9 for 100,000 names.
    """
    n = len(vectors)
    k = min(config.neighbours, max(n - 1, 0))
    if k == 0:
        return np.zeros((0, 2), dtype=np.int64)
    values = torch.full((n, k), -torch.inf)
    nearest = torch.full((n, k), -1, dtype=torch.int64)
    if n <= config.exact:
        _update(vectors, torch.arange(n), values, nearest)
    else:
        for rows in _all_buckets(vectors, config):
            _update(vectors, rows, values, nearest)
    found = (values >= config.floor - 1e-6) & (nearest >= 0)
    left = torch.arange(n)[:, None].expand(n, k)[found].numpy()
    return distinct_pairs([np.stack([left, nearest[found].numpy()], axis=1)], n)


def distinct_pairs(found: list[np.ndarray], n: int) -> np.ndarray:
    """Pairs int64 [m, 2] of different numbers below ``n``, least first, each once, sorted."""
    pairs = np.concatenate(
        [np.asarray(part, dtype=np.int64).reshape(-1, 2) for part in found] or [np.zeros((0, 2), int)]
    )
    low, high = pairs.min(axis=1, initial=n), pairs.max(axis=1, initial=-1)
    apart = low < high
    # By one number per pair, far faster than by rows.
    first, second = np.divmod(np.unique(low[apart] * max(n, 1) + high[apart]), max(n, 1))
    return np.stack([first, second], axis=1)


def pairs_without(pairs: np.ndarray, known: np.ndarray, n: int) -> np.ndarray:
    """Those of ``pairs`` int64 [m, 2], of numbers below ``n``, that are not among the ``known`` ones."""
    size = max(n, 1)
    return pairs[~np.isin(pairs[:, 0] * size + pairs[:, 1], known[:, 0] * size + known[:, 1])]


def _update(vectors: Tensor, rows: Tensor, values: Tensor, nearest: Tensor) -> None:
    """Put the nearest among ``rows`` into the best that each of them has so far."""
    chosen = vectors[rows]
    k = values.shape[1]
    for start in range(0, len(rows), _BLOCK):
        own = rows[start : start + _BLOCK]
        cosines = chosen[start : start + _BLOCK] @ chosen.T
        cosines[torch.arange(len(own)), torch.arange(start, start + len(own))] = -torch.inf
        best, place = cosines.topk(min(k, len(rows)), dim=1)
        there = rows[place]
        seen = (there[:, :, None] == nearest[own][:, None, :]).any(dim=2)
        merged = torch.cat([values[own], best.masked_fill(seen, -torch.inf)], dim=1)
        values[own], place = merged.topk(k, dim=1)
        nearest[own] = torch.cat([nearest[own], there], dim=1).gather(1, place)


def _all_buckets(vectors: Tensor, config: NearConfig) -> Iterator[Tensor]:
    bits = max(1, int(np.ceil(np.log2(len(vectors) / config.bucket))))
    planes = torch.from_numpy(
        np.random.Generator(np.random.PCG64(config.seed))
        .standard_normal((config.tables, vectors.shape[1], bits + _SPARE_BITS))
        .astype(np.float32)
    )
    # Vectors of most encoders lie in a cone: around their mean they fill the buckets evenly.
    mean = vectors.mean(dim=0)
    for table in planes:
        signs = (vectors @ table > mean @ table).numpy()
        for rows in _buckets(signs, np.arange(len(vectors)), bits, 4 * config.bucket):
            yield torch.from_numpy(rows)


def _buckets(signs: np.ndarray, rows: np.ndarray, bits: int, largest: int) -> Iterator[np.ndarray]:
    """Rows of equal signs in the first ``bits`` columns; a bucket over ``largest`` is divided by further columns."""
    code = signs[rows, :bits] @ (1 << np.arange(bits, dtype=np.int64))
    order = np.argsort(code, kind="stable")
    borders = np.flatnonzero(np.diff(code[order])) + 1
    for own in np.split(rows[order], borders):
        if len(own) > largest and bits < signs.shape[1]:
            yield from _buckets(signs, own, bits + 1, largest)
        elif 1 < len(own) <= _LARGEST_BUCKET:  # more vectors than this that no plane tells apart say nothing
            yield own
