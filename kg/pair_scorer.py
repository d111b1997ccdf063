"""The probability that two names are one: boosted regression trees over ``kg.pair_features`` (Friedman 2001).

The trees are data (``pair_scorer.json``), fitted by ``scripts/fit_pair_scorer.py``; this module only walks them, so
that a graph needs no learning library and the same features give the same bits everywhere.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from kg.errors import InputError
from kg.pair_features import FEATURES

WEIGHTS = Path(__file__).with_name("pair_scorer.json")


@dataclass(frozen=True)
class PairScorer:
    """Trees as arrays [trees, nodes]: ``feature`` (-1 at a leaf), ``threshold`` (left if <=), children, ``value``.

    log-odds = ``slope`` (``start`` + sum of the leaves' values) + ``intercept``; slope and intercept calibrate (Platt
    1999).
    """

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    value: np.ndarray
    start: float
    slope: float
    intercept: float
    depth: int
    fingerprint: str

    @classmethod
    def of(cls, record: dict[str, Any], fingerprint: str) -> PairScorer:
        """From the JSON record that training writes; ``ValueError`` where its features are not this version's."""
        if tuple(record["features"]) != FEATURES:
            raise ValueError("These weights were fitted on other features; fit them again")
        trees = record["trees"]
        most = max(len(tree["feature"]) for tree in trees)

        def table(name: str, fill: float, kind: type) -> np.ndarray:
            rows = [tree[name] + [fill] * (most - len(tree[name])) for tree in trees]
            return np.asarray(rows, dtype=kind)

        return cls(
            table("feature", -1, np.int64), table("threshold", 0.0, np.float64), table("left", 0, np.int64),
            table("right", 0, np.int64), table("value", 0.0, np.float64),
            float(record["start"]), float(record["slope"]), float(record["intercept"]), int(record["depth"]),
            fingerprint,
        )  # fmt: skip

    def probabilities(self, features: np.ndarray, block: int = 16384) -> np.ndarray:
        """float64 [m] from float [m, features], rounded to 1e-6; each row's depends on that row alone."""
        parts = [self._scored(features[start : start + block]) for start in range(0, len(features), block)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _scored(self, features: np.ndarray) -> np.ndarray:
        x = np.asarray(features, dtype=np.float32).astype(np.float64)
        rows = np.arange(len(x))
        total = np.full(len(x), self.start)
        for tree in range(len(self.feature)):
            node = np.zeros(len(x), dtype=np.int64)
            for _ in range(self.depth):
                asked = self.feature[tree][node]
                down = np.where(
                    x[rows, asked] <= self.threshold[tree][node], self.left[tree][node], self.right[tree][node]
                )
                node = np.where(asked < 0, node, down)
            total += self.value[tree][node]
        return np.round(1.0 / (1.0 + np.exp(-(self.slope * total + self.intercept))), 6)


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
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{file} holds no weights for pairs of names ({error}); fit them with scripts/fit_pair_scorer.py."
        ) from error
