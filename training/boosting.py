"""Boosted trees with a calibrated output, as plain data (Friedman 2001; calibration: Platt 1999).

scikit-learn fits them; what is kept is a JSON record that ``kg.pair_scorer`` walks without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from kg.errors import InputError


@dataclass(frozen=True)
class BoostingConfig:
    """Of the fit: number and depth of trees, step, share of rows that a tree and of features that a split sees, least
    pairs in a leaf, and the seed of both draws."""

    trees: int = 200
    depth: int = 4
    step: float = 0.06
    rows: float = 0.5
    columns: float = 0.4
    leaf: int = 20
    seed: int = 718


@dataclass(frozen=True)
class Pairs:
    """What is fitted on, m pairs.

    - ``features`` float32 [m, f]
    - ``same`` float64 [m] in [0, 1]: the share of uses in which the two are one
    - ``weight`` float64 [m], 0 or more
    - ``entities`` object [m]: tuples of all entities that take part in a pair, first the one that it is held out with
    """

    features: np.ndarray
    same: np.ndarray
    weight: np.ndarray
    entities: np.ndarray

    def __len__(self) -> int:
        return len(self.same)

    def where(self, mask: np.ndarray) -> Pairs:
        """The pairs of a mask, bool [m]."""
        return Pairs(self.features[mask], self.same[mask], self.weight[mask], self.entities[mask])

    @staticmethod
    def joined(parts: Sequence[Pairs]) -> Pairs:
        """All pairs of one or more sets, in their order."""
        return Pairs(
            np.concatenate([p.features for p in parts]), np.concatenate([p.same for p in parts]),
            np.concatenate([p.weight for p in parts]), np.concatenate([p.entities for p in parts]),
        )  # fmt: skip


def fit(pairs: Pairs, config: BoostingConfig = BoostingConfig()) -> GradientBoostingClassifier:
    """Trees for the probability that the two of a pair are one; the same pairs in the same order give the same trees.

    Raises:
        InputError: no pair is one, or all are.
    """
    x, y, weight = _both_sides(pairs.features, pairs)
    if len(np.unique(y)) < 2:
        raise InputError(f"The {len(y):,} pairs to fit on are all of one class; fit on more boards.")
    model = GradientBoostingClassifier(
        n_estimators=config.trees, max_depth=config.depth, learning_rate=config.step, subsample=config.rows,
        max_features=config.columns, min_samples_leaf=config.leaf, random_state=config.seed,
    )  # fmt: skip
    return model.fit(x, y, sample_weight=weight)


def calibrate(log_odds: np.ndarray, pairs: Pairs) -> tuple[float, float]:
    """(slope, intercept) with which log-odds float64 [m], of models that have not seen these pairs, fit them best."""
    x, y, weight = _both_sides(log_odds[:, None], pairs)
    model = LogisticRegression(C=1e6).fit(x, y, sample_weight=weight)  # next to no regularisation: two numbers
    return float(model.coef_[0, 0]), float(model.intercept_[0])


def _both_sides(x: np.ndarray, pairs: Pairs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, classes and weights: a pair that is one in some uses only stands on both sides, by its shares."""
    y = np.concatenate([np.ones(len(pairs)), np.zeros(len(pairs))])
    weight = np.concatenate([pairs.weight * pairs.same, pairs.weight * (1.0 - pairs.same)])
    used = weight > 0
    return np.concatenate([x, x])[used], y[used], weight[used]


def as_record(
    model: GradientBoostingClassifier, features: Sequence[str], slope: float, intercept: float
) -> dict[str, Any]:
    """What ``kg.pair_scorer.PairScorer.of`` reads.

    Thresholds keep the nine digits that tell float32 values apart, so that every pair goes to the same leaves; what is
    in the leaves is rounded so far that no probability changes by 1e-4.
    """
    prior = model.init_.class_prior_[1]
    trees = []
    for (estimator,) in model.estimators_:
        tree = estimator.tree_
        leaf = tree.children_left < 0
        values = model.learning_rate * tree.value[:, 0, 0]
        trees.append(
            {
                "feature": np.where(leaf, -1, tree.feature).tolist(),
                "threshold": [0.0 if end else float(f"{t:.9g}") for t, end in zip(tree.threshold, leaf, strict=True)],
                "left": np.where(leaf, 0, tree.children_left).tolist(),
                "right": np.where(leaf, 0, tree.children_right).tolist(),
                "value": [float(f"{v:.6g}") if end else 0.0 for v, end in zip(values, leaf, strict=True)],
            }
        )
    return {
        "features": list(features),
        "start": round(float(np.log(prior / (1.0 - prior))), 6),
        "slope": round(slope, 6),
        "intercept": round(intercept, 6),
        "depth": int(model.max_depth),
        "trees": trees,
    }
