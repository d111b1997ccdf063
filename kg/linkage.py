"""Complete linkage: groups of names of which any two may be one, so that a chain A~B~C cannot glue A to C."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components


def complete_linkage(
    n: int,
    pairs: np.ndarray,
    scores: np.ndarray,
    join: float = 0.0,
    joined: np.ndarray | None = None,
    alike: np.ndarray | None = None,
) -> np.ndarray:
    """Groups int64 [n] from accepted ``pairs`` int64 [m, 2] (i < j), best first (ties by the numbers of the names).

    Two groups become one for a pair across them whose score is at least ``join``, if every pair across them was
    accepted; so groups are cliques of the accepted pairs. A group is numbered by its least member.

    ``joined`` int64 [k, 2]: pairs that are one beforehand, whatever was accepted. What they tie together counts as one
    name, which may be one with another if any of its own may.

    ``alike`` int64 [n]: of names with one number, 0 or more, any two count as accepted, though a group needs a scored
    pair to join; -1 for all others.
    """
    if joined is not None and len(joined):
        unit = _units(n, joined)
        return complete_linkage(n, *_across(unit[pairs], scores), join, alike=alike)[unit]
    kind = np.full(n, -1, dtype=np.int64) if alike is None else alike
    held = {i: Counter([k]) for i, k in enumerate(kind.tolist()) if k >= 0}  # of each group its members by their kind
    group = list(range(n))
    members: dict[int, list[int]] = {}
    links: dict[int, dict[int, int]] = defaultdict(dict)  # accepted pairs across two groups, counted
    left, right = kind[pairs].T
    for i, j in pairs[(left < 0) | (left != right)].tolist():
        links[i][j] = links[j][i] = 1
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -scores))
    for i, j in pairs[order[scores[order] >= join]].tolist():
        a, b = sorted((group[i], group[j]))
        if a == b:
            continue
        own, other = members.get(a, [a]), members.get(b, [b])
        same = sum(count * held[b][k] for k, count in held[a].items()) if a in held and b in held else 0
        if links[a].get(b, 0) + same < len(own) * len(other):
            continue
        own.extend(other)
        members[a] = own
        members.pop(b, None)
        if b in held:
            held.setdefault(a, Counter()).update(held.pop(b))
        for member in other:
            group[member] = a
        for c, count in links.pop(b, {}).items():
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
