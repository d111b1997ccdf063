"""How alike two rankings are, the top counting most."""

from __future__ import annotations

from collections.abc import Sequence

from kg.errors import InputError


def rank_biased_overlap(a: Sequence[str], b: Sequence[str], p: float = 0.9) -> float:
    """Extrapolated rank-biased overlap of two rankings, best first: 1 for equal ones, 0 for disjoint ones.

    Webber, Moffat and Zobel, ACM TOIS 28(4), 2010, equation 32, for lists of any two lengths. With ``p`` = .9 the
    first 10 ranks carry 86 % of the weight. Two empty rankings give 1, an empty and another one 0.

    Raises:
        InputError: ``p`` outside (0, 1), or an id twice in one ranking.
    """
    if not 0 < p < 1:
        raise InputError(f"p is {p}; it must be between 0 and 1, as .9.")
    if len(set(a)) < len(a) or len(set(b)) < len(b):
        raise InputError("A ranking holds an id twice; keep its best place.")
    shorter, longer = sorted((a, b), key=len)
    if not shorter:
        return 0.0 if longer else 1.0
    s, n = len(shorter), len(longer)
    in_short: set[str] = set()
    in_long: set[str] = set()
    common = common_at_s = 0
    total = 0.0
    for depth in range(1, n + 1):
        new = longer[depth - 1]
        common += new in in_short
        in_long.add(new)
        if depth <= s:
            in_short.add(shorter[depth - 1])
            common += shorter[depth - 1] in in_long
            common_at_s = common
        # Below its end the shorter list is taken to agree as much as above it.
        agreement = common / depth + max(0, depth - s) * common_at_s / (s * depth)
        total += agreement * p**depth
    return (1 - p) / p * total + ((common - common_at_s) / n + common_at_s / s) * p**n
