"""The probability that two names are one: boosted regression trees over ``kg.pair_features`` (Friedman 2001).

The trees are data (``pair_scorer.json``), fitted by ``scripts/fit_pair_scorer.py``; this module only follows them, so
that a graph needs no learning library and the same features give the same bits everywhere.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kg.errors import InputError
from kg.pair_features import FEATURES

WEIGHTS = Path(__file__).with_name("pair_scorer.json")
_MOST_LEAVES = 64
_LARGEST = 1e30


class Node(NamedTuple):
    """An inner node: rows whose ``feature`` is above the ``threshold`` go right, past the ``leaves`` on its left (bit n
    for leaf n of the tree)."""

    feature: int
    threshold: float
    leaves: int


class Tree(NamedTuple):
    """Inner nodes, and the values of the leaves float64 [leaves] from left to right."""

    nodes: tuple[Node, ...]
    values: np.ndarray


@dataclass(frozen=True)
class PairScorer:
    """log-odds = ``slope`` (``start`` + sum of the leaves' values) + ``intercept``; slope and intercept calibrate
    (Platt 1999)."""

    trees: tuple[Tree, ...]
    start: float
    slope: float
    intercept: float
    fingerprint: str

    @classmethod
    def of(cls, record: dict[str, Any], fingerprint: str) -> PairScorer:
        """From the JSON record that training writes; ``ValueError`` where its features are not this version's, a number
        is none, or a tree is no binary tree of 64 leaves at most."""
        if tuple(record["features"]) != FEATURES:
            raise ValueError("these weights were fitted on other features; fit them again")
        if not isinstance(record["trees"], list) or not record["trees"]:
            raise ValueError("there are no trees")
        start, slope, intercept = (_finite(record[name], name) for name in ("start", "slope", "intercept"))
        if slope <= 0:
            raise ValueError(f"slope is {slope}; it must be above 0")
        return cls(tuple(map(_tree, record["trees"])), start, slope, intercept, fingerprint)

    def probabilities(self, features: np.ndarray, block: int = 16384) -> np.ndarray:
        """float64 [m] from float [m, features], rounded to 1e-6; each row's depends on that row alone."""
        parts = [self._scored(features[start : start + block]) for start in range(0, len(features), block)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _scored(self, features: np.ndarray) -> np.ndarray:
        """All rows are compared with a node at once; what is left of a tree's leaves is the one where a row ends
        (QuickScorer: Lucchese et al., SIGIR 2015)."""
        x = np.ascontiguousarray(np.asarray(features, dtype=np.float32).T.astype(np.float64))
        total = np.full(len(features), self.start)
        for nodes, values in self.trees:
            word = np.dtype(np.uint16 if len(values) <= 16 else np.uint64)
            passed: np.ndarray = np.zeros(len(features), dtype=word)
            for feature, threshold, leaves in nodes:
                passed |= (x[feature] > threshold) * word.type(leaves)
            first = ~passed & (passed + word.type(1))  # the lowest bit that no node has passed
            total += values[np.bitwise_count(first - word.type(1))]
        return np.round(1.0 / (1.0 + np.exp(-(self.slope * total + self.intercept))), 6)


def _tree(record: dict[str, Any]) -> Tree:
    nodes: list[Node] = []
    values: list[float] = []

    def walk(node: int) -> None:
        feature = _whole(record["feature"][node], -1, len(FEATURES) - 1)
        if feature < 0:
            values.append(_finite(record["value"][node], "value"))
            if len(values) > _MOST_LEAVES:
                raise ValueError(f"a tree has more than {_MOST_LEAVES} leaves")
            return
        before = len(values)
        # A child stands behind its parent, so that no walk comes back.
        walk(_whole(record["left"][node], node + 1, len(record["feature"]) - 1))
        leaves = (1 << len(values)) - (1 << before)
        walk(_whole(record["right"][node], node + 1, len(record["feature"]) - 1))
        nodes.append(Node(feature, _finite(record["threshold"][node], "threshold"), leaves))

    walk(0)
    return Tree(tuple(nodes), np.asarray(values))


def _finite(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _LARGEST:
        raise ValueError(f"{name} is {str(value)[:20]}; it must be a finite number")
    return float(value)


def _whole(value: object, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"a feature or child is {str(value)[:20]}; it must be a whole number from {least} to {most}")
    return value


@lru_cache(maxsize=4)
def load_scorer(path: str = "") -> PairScorer:
    """The scorer of a file of weights; "" takes the one that comes with the installation.

    Raises:
        InputError: the file cannot be read, or holds no weights for these features.
    """
    file = Path(path) if path else WEIGHTS
    try:
        text = file.read_bytes()
        return PairScorer.of(json.loads(text), sha256(text).hexdigest()[:16])
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise InputError(
            f"{file} holds no weights for pairs of names ({error}); fit them with scripts/fit_pair_scorer.py."
        ) from error
