"""Complete linkage: groups of names of which any two may be one, so that a chain A~B~C cannot glue A to C."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components


def complete_linkage(
    n: int, pairs: np.ndarray, scores: np.ndarray, join: float = 0.0, joined: np.ndarray | None = None
) -> np.ndarray:
    """Groups int64 [n] from accepted ``pairs`` int64 [m, 2] (i < j), best first (ties by the numbers of the names).

    Two groups become one for a pair across them whose score is at least ``join``, if every pair across them was
    accepted; so groups are cliques of the accepted pairs. A group is numbered by its least member.

    ``joined`` int64 [k, 2]: pairs that are one beforehand, whatever was accepted. What they tie together counts as one
    name, which may be one with another if any of its own may.
    """
    if joined is not None and len(joined):
        unit = _units(n, joined)
        return complete_linkage(n, *_across(unit[pairs], scores), join)[unit]
    group = list(range(n))
    members: dict[int, list[int]] = {}
    links: dict[int, dict[int, int]] = defaultdict(dict)  # accepted pairs across two groups, counted
    for i, j in pairs.tolist():
        links[i][j] = links[j][i] = 1
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -scores))
    for i, j in pairs[order[scores[order] >= join]].tolist():
        a, b = sorted((group[i], group[j]))
        left, right = members.get(a, [a]), members.get(b, [b])
        if a == b or links[a][b] < len(left) * len(right):
            continue
        members[a] = left + right
        members.pop(b, None)
        for member in right:
            group[member] = a
        for c, count in links.pop(b).items():
            del links[c][b]
            if c != a:
                links[a][c] = links[c][a] = links[a].get(c, 0) + count
    return np.asarray(group, dtype=np.int64)


def _units(n: int, joined: np.ndarray) -> np.ndarray:
    """The least name of what ``joined`` ties each to, int64 [n]."""
    ties = sparse.coo_matrix((np.ones(len(joined)), (joined[:, 0], joined[:, 1])), shape=(n, n))
    number, label = connected_components(ties, directed=False)
    least = np.full(number, n, dtype=np.int64)
    np.minimum.at(least, label, np.arange(n))
    return least[label]


def _across(pairs: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of two different units, each once (i < j, sorted) with its best score."""
    pairs = np.sort(pairs, axis=1)
    order = np.lexsort((-scores, pairs[:, 1], pairs[:, 0]))
    pairs, scores = pairs[order], scores[order]
    first = np.ones(len(pairs), dtype=bool)
    first[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
    first &= pairs[:, 0] != pairs[:, 1]
    return pairs[first], scores[first]
