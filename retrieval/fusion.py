"""Join several rankings into one."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from kg.errors import InputError


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[str]], k: int = 60, weights: Sequence[float] | None = None
) -> list[tuple[str, float]]:
    """Reciprocal rank fusion: score(d) = sum over rankings of weight / (k + rank of d), ranks from 1.

    Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning
    Methods", SIGIR 2009, with their k = 60. Only ranks count, so the rankings' scores need no common scale;
    what a ranking leaves out gets nothing from it. Sums are exact, so the order of the rankings is immaterial.

    Returns:
        (id, score), best first, equal scores by id.

    Raises:
        InputError: an id twice in one ranking, a negative k, or weights that are not one per ranking,
            finite and >= 0.
    """
    if k < 0:
        raise InputError(f"k is {k}; reciprocal rank fusion needs k >= 0 (60 is usual).")
    if weights is None:
        weights = [1.0] * len(rankings)
    if len(weights) != len(rankings):
        raise InputError(f"There are {len(weights)} weights for {len(rankings)} rankings; give one for each.")
    if not all(math.isfinite(weight) and weight >= 0 for weight in weights):
        raise InputError(f"The weights {list(weights)} are not all finite and >= 0.")
    shares: defaultdict[str, list[float]] = defaultdict(list)
    for number, (ranking, weight) in enumerate(zip(rankings, weights, strict=True), start=1):
        seen: set[str] = set()
        for rank, item in enumerate(ranking, start=1):
            if item in seen:
                raise InputError(f"Ranking {number} holds {item!r} twice; keep its better rank only.")
            seen.add(item)
            shares[item].append(weight / (k + rank))
    scored = [(item, math.fsum(parts)) for item, parts in shares.items()]
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))
