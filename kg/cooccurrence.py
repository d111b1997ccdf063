"""Relations read off the text where none are asserted: concepts of one sentence, as far as chance does not explain it.

The weight of such a relation is its normalised pointwise mutual information over sections (Bouma 2009),

    npmi(u, v) = ln(n_uv N / (n_u n_v)) / -ln(n_uv / N)   in (0, 1],

with n_uv the sections where a sentence holds both, n_u and n_v those that hold each, N all sections; pairs at or
below 0 are no relation. An asserted relation weighs 1, so both kinds enter the same edge weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LABEL = "occurs with"


@dataclass(frozen=True)
class Relations:
    """One row per relation that a section holds: int64 [rows] each, ``weight`` float64 [rows].

    ``label`` numbers the entries of ``labels``; ``sentence`` is -1 for title and heading. Co-occurrence has no
    direction: its subject is the concept with the smaller number.
    """

    section: np.ndarray
    subject: np.ndarray
    object: np.ndarray
    label: np.ndarray
    sentence: np.ndarray
    weight: np.ndarray
    labels: tuple[str, ...]


def cooccurrences(section: np.ndarray, sentence: np.ndarray, concept: np.ndarray, n_sections: int) -> Relations:
    """Relations from occurrences (section, sentence, concept), int [rows] each; title and heading count as sentence -1.

    Rows come back sorted by (section, smaller concept, larger concept), each with its first sentence.
    """
    occurrence = np.unique(np.stack([section, sentence, concept]).astype(np.int64), axis=1)
    section, sentence, concept = occurrence
    holding = np.bincount(
        np.unique(np.stack([section, concept]), axis=1)[1], minlength=int(concept.max(initial=-1)) + 1
    )
    first, second = _pairs_in_groups(section, sentence)
    low, high = concept[first], concept[second]
    rows = np.stack([section[first], low, high, sentence[first]])
    rows = rows[:, np.lexsort(rows[::-1])]
    fresh = np.ones(rows.shape[1], dtype=bool)
    fresh[1:] = (rows[:3, 1:] != rows[:3, :-1]).any(axis=0)
    section, low, high, sentence = rows[:, fresh]
    n_concepts = max(len(holding), 1)
    edge, edge_of, together = np.unique(low * n_concepts + high, return_inverse=True, return_counts=True)
    npmi = _npmi(together, holding[edge // n_concepts], holding[edge % n_concepts], n_sections)
    weight = npmi[edge_of]
    kept = weight > 0
    label = np.zeros(int(kept.sum()), dtype=np.int64)
    return Relations(section[kept], low[kept], high[kept], label, sentence[kept], weight[kept], (LABEL,))


def _npmi(together: np.ndarray, u: np.ndarray, v: np.ndarray, n: int) -> np.ndarray:
    joint = together / n
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.log(together.astype(np.float64) * n / (u.astype(np.float64) * v)) / -np.log(joint)
    return np.where(joint >= 1.0, 1.0, np.clip(value, 0.0, 1.0))


def _pairs_in_groups(section: np.ndarray, sentence: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All index pairs (i < j) within runs of equal (section, sentence) of the sorted occurrences."""
    n = len(section)
    if n == 0:
        empty = np.zeros(0, dtype=np.int64)
        return empty, empty
    start = np.flatnonzero(np.concatenate([[True], (section[1:] != section[:-1]) | (sentence[1:] != sentence[:-1])]))
    end_of = np.repeat(np.append(start[1:], n), np.diff(np.append(start, n)))
    partners = end_of - np.arange(n) - 1
    first = np.repeat(np.arange(n), partners)
    offset = np.arange(len(first)) - np.repeat(np.cumsum(partners) - partners, partners)
    return first, first + 1 + offset
