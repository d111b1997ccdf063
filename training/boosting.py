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


@dataclass(frozen=True)
class BoostingConfig:
    """Of the fit: number and depth of trees, step, share of rows and of features that a split sees, least leaf."""

    trees: int = 200
    depth: int = 4
    step: float = 0.06
    rows: float = 0.5
    columns: float = 0.4
    leaf: int = 20
    seed: int = 718


@dataclass(frozen=True)
class Pairs:
    """``features`` float32 [m, f]; ``same`` float64 [m] in [0, 1]: the share of uses in which the two are one;
    ``weight`` float64 [m]; ``clusters`` [m, 2]: what folds are made of."""

    features: np.ndarray
    same: np.ndarray
    weight: np.ndarray
    clusters: np.ndarray

    def where(self, mask: np.ndarray) -> Pairs:
        """The pairs of a mask, bool [m]."""
        return Pairs(self.features[mask], self.same[mask], self.weight[mask], self.clusters[mask])

    @staticmethod
    def joined(parts: Sequence[Pairs]) -> Pairs:
        """All pairs of several sets."""
        return Pairs(
            np.concatenate([p.features for p in parts]), np.concatenate([p.same for p in parts]),
            np.concatenate([p.weight for p in parts]), np.concatenate([p.clusters for p in parts]),
        )  # fmt: skip


def fit(pairs: Pairs, config: BoostingConfig = BoostingConfig()) -> GradientBoostingClassifier:
    """Trees for the probability that the two of a pair are one."""
    model = GradientBoostingClassifier(
        n_estimators=config.trees, max_depth=config.depth, learning_rate=config.step, subsample=config.rows,
        max_features=config.columns, min_samples_leaf=config.leaf, random_state=config.seed,
    )  # fmt: skip
    # A pair that is one in some uses only stands on both sides, by its shares.
    x = np.concatenate([pairs.features, pairs.features])
    y = np.concatenate([np.ones(len(pairs.same)), np.zeros(len(pairs.same))])
    weight = np.concatenate([pairs.weight * pairs.same, pairs.weight * (1.0 - pairs.same)])
    used = weight > 0
    return model.fit(x[used], y[used], sample_weight=weight[used])


def calibrate(log_odds: np.ndarray, pairs: Pairs) -> tuple[float, float]:
    """(slope, intercept) of held-out log-odds float64 [m]."""
    x = np.concatenate([log_odds, log_odds])[:, None]
    y = np.concatenate([np.ones(len(log_odds)), np.zeros(len(log_odds))])
    weight = np.concatenate([pairs.weight * pairs.same, pairs.weight * (1.0 - pairs.same)])
    model = LogisticRegression(C=1e6).fit(x, y, sample_weight=weight)
    return float(model.coef_[0, 0]), float(model.intercept_[0])


def as_record(
    model: GradientBoostingClassifier, features: Sequence[str], slope: float, intercept: float
) -> dict[str, Any]:
    """What ``kg.pair_scorer.PairScorer.of`` reads; numbers rounded so far that no probability changes by 1e-4."""
    prior = model.init_.class_prior_[1]
    trees = []
    for (estimator,) in model.estimators_:
        tree = estimator.tree_
        leaf = tree.children_left < 0
        trees.append(
            {
                "feature": np.where(leaf, -1, tree.feature).tolist(),
                "threshold": [0.0 if end else float(f"{t:.7g}") for t, end in zip(tree.threshold, leaf, strict=True)],
                "left": np.where(leaf, 0, tree.children_left).tolist(),
                "right": np.where(leaf, 0, tree.children_right).tolist(),
                "value": [
                    float(f"{model.learning_rate * v:.6g}") if end else 0.0
                    for v, end in zip(tree.value[:, 0, 0], leaf, strict=True)
                ],
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
