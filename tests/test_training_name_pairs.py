"""Pairs to fit on: which are one, what they weigh, whose they are, and that held-out pairs were not seen."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kg.merge import Names, pair_values
from kg.pair_features import FEATURES
from kg.profile_table import ProfileTable
from tests.conftest import HashEncoder
from training import name_pairs
from training.boosting import Pairs
from training.name_pairs import (
    entity_key,
    entity_pairs,
    fold_of,
    held_out_log_odds,
    mention_pairs,
    takes_part,
    without_context,
)

SURFACES = ["neural net", "neural nets", "Neural Net", "neural network"]


@pytest.fixture
def names() -> Names:
    encoder = HashEncoder()
    contexts = encoder.encode_documents(["deep", "deep ones", "shallow", "wide"])
    return Names([""] * 4, SURFACES, encoder.encode_documents(SURFACES), contexts)


def column(pairs: Pairs, name: str) -> list[float]:
    return pairs.features[:, FEATURES.index(name)].tolist()


def test_mentions_of_one_cluster_are_one(names: Names) -> None:
    pairs = mention_pairs(names, ["a", "a", "b", "a"])
    # 0-1, 0-2, 0-3, 1-2, 1-3, 2-3
    assert pairs.same.tolist() == [1, 0, 1, 0, 1, 0]
    assert pairs.weight.tolist() == [1] * 6
    assert pairs.entities.tolist() == [("a",), ("a", "b"), ("a",), ("a", "b"), ("a",), ("b", "a")]
    every = np.array([[i, j] for i in range(4) for j in range(i + 1, 4)])
    assert np.array_equal(pairs.features, pair_values(names, ProfileTable.of(names.profiles()), every))


def test_what_surrounds_two_names_can_be_left_out(names: Names) -> None:
    pairs = mention_pairs(names, ["a", "a", "b", "a"])
    bare = without_context(pairs)
    assert set(column(pairs, "context_known")) == {1.0}
    without = Names(names.types, names.surfaces, names.vectors)
    assert np.array_equal(bare.features, mention_pairs(without, ["a", "a", "b", "a"]).features)
    assert np.array_equal(bare.same, pairs.same)


def test_names_are_one_by_the_shares_of_their_uses(names: Names) -> None:
    pairs = entity_pairs(names, [{"a": 0.25, "b": 0.75}, {"a": 0.5, "c": 0.5}, {}, {}], 0.3)
    # 0-1: .25 * .5; 0-2, 0-3, 1-2 and 1-3: one name is linked; 2-3: none is.
    assert pairs.same.tolist() == [0.125, 0, 0, 0, 0]
    assert pairs.weight == pytest.approx([0.3, 0.03, 0.03, 0.03, 0.03])
    assert pairs.entities.tolist() == [("b", "a", "c"), ("b", "a"), ("b", "a"), ("a", "c"), ("a", "c")]


def test_the_fold_is_that_of_the_checksum() -> None:
    assert fold_of("123456789", 1 << 32) == 0xCBF43926  # the check value of CRC-32 (RFC 3720 and others)
    assert fold_of("CIFAR_10", 5) == fold_of("cifar10", 5) == zlib.crc32(b"cifar10") % 5


@given(st.text(min_size=1))
def test_a_key_is_its_own_key(entity: str) -> None:
    key = entity_key(entity)
    assert key
    assert entity_key(key) == key


def pairs_of(*entities: tuple[str, ...]) -> Pairs:
    column = np.empty(len(entities), dtype=object)
    column[:] = entities
    m = len(entities)
    return Pairs(np.arange(m, dtype=np.float32)[:, None], np.zeros(m), np.ones(m), column)


def names_in(fold: int, n: int) -> list[str]:
    return [name for name in map(str, range(100)) if fold_of(name, 3) == fold][:n]


def test_every_entity_of_a_pair_takes_part() -> None:
    (a,), (b,), (c,) = (names_in(fold, 1) for fold in range(3))
    pairs = pairs_of((a,), (a, b), (c, a, b), (c,))
    assert [takes_part(pairs, fold, 3).tolist() for fold in range(3)] == [
        [True, True, True, False], [False, True, True, False], [False, False, True, True],
    ]  # fmt: skip


def test_a_held_out_pair_is_judged_by_what_has_not_seen_its_entity(monkeypatch: pytest.MonkeyPatch) -> None:
    entities = [name for fold in range(3) for name in names_in(fold, 4)]
    rng = np.random.default_rng(5)
    pairs = pairs_of(*(tuple(rng.choice(entities, size=rng.integers(1, 4), replace=False)) for _ in range(60)))

    class Model:
        """Says of a pair the number of its row, from which one reads whom it asked; refuses what it has seen."""

        def __init__(self, seen: Pairs) -> None:
            self.seen = {name for own in seen.entities for name in own}
            assert self.seen

        def decision_function(self, features: np.ndarray) -> np.ndarray:
            rows = features[:, 0].astype(int)
            assert not {pairs.entities[row][0] for row in rows} & self.seen
            return rows + 0.5

    monkeypatch.setattr(name_pairs, "fit", Model)
    assert held_out_log_odds(pairs, 3).tolist() == [row + 0.5 for row in range(60)]


def test_no_pair_is_no_fault() -> None:
    names = Names([], [], torch.zeros(0, 8), torch.zeros(0, 8))
    assert len(mention_pairs(names, [])) == len(entity_pairs(names, [], 0.3)) == 0
