"""The scorer against scikit-learn's own predictions, and what it says of weights that it cannot use."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier

from kg.errors import InputError
from kg.pair_features import FEATURES
from kg.pair_scorer import WEIGHTS, PairScorer, load_scorer
from training.boosting import BoostingConfig, Pairs, as_record, fit

SLOPE, INTERCEPT = 0.8, -0.3


def made_features(m: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(m, len(FEATURES)))
    values[:, 6:20] = values[:, 6:20] > 0.3  # yes or no, as most are: thresholds fall between equal values
    return values.astype(np.float32)


@pytest.fixture(scope="module")
def model() -> GradientBoostingClassifier:
    x = made_features(400, 0)
    same = (x[:, 0] + 0.7 * x[:, 7] + 0.3 * x[:, 1] * x[:, 2] > 0.3).astype(float)
    pairs = Pairs(x, same, np.ones(400), np.empty(400, dtype=object))
    return fit(pairs, BoostingConfig(trees=20, depth=3, leaf=3, step=0.2))


@pytest.fixture(scope="module")
def scorer(model: GradientBoostingClassifier) -> PairScorer:
    return PairScorer.of(json.loads(json.dumps(as_record(model, FEATURES, SLOPE, INTERCEPT))), "made")


def test_probabilities_are_those_of_scikit_learn(model: GradientBoostingClassifier, scorer: PairScorer) -> None:
    x = made_features(600, 1)
    found = scorer.probabilities(x)
    expected = 1.0 / (1.0 + np.exp(-(SLOPE * model.decision_function(x) + INTERCEPT)))
    assert np.abs(found - expected).max() < 1e-4
    assert found.min() < 0.2 < 0.8 < found.max()
    plain = PairScorer.of(as_record(model, FEATURES, 1.0, 0.0), "made")
    assert np.abs(plain.probabilities(x) - model.predict_proba(x)[:, 1]).max() < 1e-4


def test_a_row_depends_on_itself_alone(scorer: PairScorer) -> None:
    x = made_features(50, 2)
    all_at_once = scorer.probabilities(x)
    assert np.array_equal(all_at_once, scorer.probabilities(x, block=7))
    assert np.array_equal(all_at_once, np.concatenate([scorer.probabilities(row[None]) for row in x]))
    assert np.array_equal(all_at_once, scorer.probabilities(x.astype(np.float64)))
    assert np.array_equal(all_at_once, np.round(all_at_once, 6))


def test_no_pairs_give_no_probabilities(scorer: PairScorer) -> None:
    assert scorer.probabilities(np.zeros((0, len(FEATURES)), np.float32)).shape == (0,)


def test_trees_that_are_worked_by_hand() -> None:
    tree = {
        "feature": [0, -1, -1], "threshold": [0.5, 0.0, 0.0], "left": [1, 0, 0], "right": [2, 0, 0],
        "value": [0.0, -1.0, 2.0],
    }  # fmt: skip
    leaf = {"feature": [-1], "threshold": [0.0], "left": [0], "right": [0], "value": [0.25]}
    record = {"features": list(FEATURES), "trees": [tree, leaf], "depth": 1, "start": 0.1, "slope": 2.0, "intercept": 1}
    x = np.zeros((2, len(FEATURES)))
    x[:, 0] = 0.5, 0.6  # left where equal
    found = PairScorer.of(record, "").probabilities(x)
    # log-odds 2 (.1 - 1 + .25) + 1 = -.3 and 2 (.1 + 2 + .25) + 1 = 5.7
    assert found.tolist() == pytest.approx([1 / (1 + np.exp(0.3)), 1 / (1 + np.exp(-5.7))], abs=1e-6)


def test_the_installed_weights_are_for_these_features() -> None:
    scorer = load_scorer()
    assert scorer is load_scorer()
    found = scorer.probabilities(made_features(20, 3))
    assert ((found >= 0) & (found <= 1)).all()
    assert len(scorer.fingerprint) == 16
    assert tuple(json.loads(WEIGHTS.read_bytes())["features"]) == FEATURES


def test_a_tree_has_64_leaves_at_most() -> None:
    def comb(inner: int) -> dict[str, list[float]]:
        """Leaf n for x below n, the last one for all above."""
        nodes: list[tuple[float, ...]] = []
        for place in range(inner):
            nodes += [(0, place + 0.5, 2 * place + 1, 2 * place + 2, 0.0), (-1, 0.0, 0, 0, float(place))]
        nodes.append((-1, 0.0, 0, 0, float(inner)))
        names = ("feature", "threshold", "left", "right", "value")
        return {name: [node[n] for node in nodes] for n, name in enumerate(names)}

    x = np.zeros((70, len(FEATURES)))
    x[:, 0] = np.arange(70)
    for inner in (1, 15, 16, 63):
        record = {"features": list(FEATURES), "trees": [comb(inner)], "start": 0.0, "slope": 0.05, "intercept": -1.0}
        expected = 1 / (1 + np.exp(1.0 - 0.05 * np.minimum(np.arange(70), inner)))
        assert PairScorer.of(record, "").probabilities(x) == pytest.approx(expected, abs=1e-6)
    with pytest.raises(ValueError, match="more than 64 leaves"):
        PairScorer.of({**record, "trees": [comb(64)]}, "")


_LEAF = {"feature": [-1], "threshold": [0.0], "left": [0], "right": [0], "value": [0.5]}
_STUMP = {
    "feature": [0, -1, -1], "threshold": [0.5, 0, 0], "left": [1, 0, 0], "right": [2, 0, 0], "value": [0, 1, 2],
}  # fmt: skip


def record_of(*trees: object, **other: object) -> str:
    return json.dumps({"features": FEATURES, "trees": trees, "start": 0, "slope": 1, "intercept": 0, **other})


def grown(**columns: list[object]) -> str:
    return record_of({**_STUMP, **columns})


def shared(depth: int) -> str:
    """Each node has one child twice: 2^depth leaves."""
    inner = list(range(depth))
    child = [n + 1 for n in inner] + [0]
    zeros = [0] * (depth + 1)
    columns = {"feature": [0] * depth + [-1], "left": child, "right": child, "threshold": zeros, "value": zeros}
    return record_of(columns)


@pytest.mark.parametrize(
    "content",
    [
        None, "", "not json", "[]", "{}", '{"features": ["x"], "trees": []}', record_of(), '{"trees": {}}',
        record_of(_LEAF, slope=-1), record_of(_LEAF, slope="1e3"), record_of(_LEAF, start=True),
        record_of(_LEAF, start=float("nan")), record_of(_LEAF, intercept=float("inf")), record_of(_LEAF, start=10**400),
        grown(left=[0, 0, 0]), grown(left=[7, 0, 0]), grown(left=[-1, 0, 0]), grown(feature=[999, -1, -1]),
        grown(feature=[1.9, -1, -1]), grown(feature=["1", -1, -1]), grown(threshold=[float("nan"), 0, 0]),
        grown(value=[0, float("inf"), 0]), grown(value=[0, 1]), shared(40),
    ],
)  # fmt: skip
def test_weights_that_cannot_be_used_are_named(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "weights.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(InputError, match=r"weights\.json holds no weights .*fit_pair_scorer"):
        load_scorer(str(path))
