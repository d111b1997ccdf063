"""Near neighbours: all of them while names are few, nearly all when they are many, and never one that is not near."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kg.near import NearConfig, distinct_pairs, near_pairs

TOLERANCE = 1e-5
"""Cosines this near a limit may fall on either side of it."""


def clustered(n: int, dimension: int = 48, seed: int = 0) -> torch.Tensor:
    """Unit rows around n / 4 centres, many of them within cosine .9 of a neighbour."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((max(n // 4, 1), dimension))
    spread = rng.uniform(0.1, 0.8, (n, 1))
    rows = centres[rng.integers(0, len(centres), n)] + spread * rng.standard_normal((n, dimension))
    return torch.nn.functional.normalize(torch.from_numpy(rows), dim=1).float()


def brute_force(vectors: torch.Tensor, floor: float, neighbours: int, slack: float) -> set[tuple[int, int]]:
    """Pairs among the k best of either row, and over the floor, in float64.

    With a ``slack`` over 0 those that must be found (better than the next one by as much), below 0 those that may.
    """
    rows = vectors.double().numpy()
    cosines = rows @ rows.T
    np.fill_diagonal(cosines, -np.inf)
    k = min(neighbours, len(rows) - 1)
    if k < 1:
        return set()
    place = -k - 1 if slack > 0 else -k
    limit = np.maximum(np.sort(cosines, axis=1)[:, [place]], floor) + slack
    return {(min(i, j), max(i, j)) for i, j in np.argwhere(cosines >= limit).tolist()}


def as_set(pairs: np.ndarray) -> set[tuple[int, int]]:
    found = [(int(i), int(j)) for i, j in pairs]
    assert found == sorted(set(found))
    assert all(i < j for i, j in found)
    return set(found)


@settings(max_examples=20)
@given(
    st.one_of(st.integers(0, 40), st.sampled_from([1024, 1025])),
    st.integers(0, 99),
    st.sampled_from([0.3, 0.8, 0.95]),
    st.sampled_from([1, 3, 12]),
)
def test_few_names_are_compared_exactly(n: int, seed: int, floor: float, neighbours: int) -> None:
    vectors = clustered(n, seed=seed)
    found = as_set(near_pairs(vectors, NearConfig(floor=floor, neighbours=neighbours)))
    required = brute_force(vectors, floor, neighbours, TOLERANCE)
    assert required <= found <= brute_force(vectors, floor, neighbours, -TOLERANCE)


@pytest.mark.parametrize("offset", [0.0, 3.0])
def test_of_many_names_nearly_all_near_pairs_are_found_and_no_others(offset: float) -> None:
    # With an offset all vectors lie in a narrow cone, as those of many encoders do.
    vectors = torch.nn.functional.normalize(clustered(2000) + offset * clustered(1, seed=5), dim=1)
    floor = 0.98 if offset else 0.8
    config = NearConfig(floor=floor, exact=500)
    found = as_set(near_pairs(vectors, config))
    wanted = brute_force(vectors, 0.99 if offset else 0.9, config.neighbours, TOLERANCE)
    assert len(wanted) > 500
    assert len(found & wanted) >= 0.9 * len(wanted)
    cosines = (vectors.double() @ vectors.double().T).numpy()
    assert min(cosines[i, j] for i, j in found) >= floor - TOLERANCE
    assert np.array_equal(near_pairs(vectors, config), near_pairs(vectors, config))


@pytest.mark.parametrize("n", [200, 1500])
def test_the_order_of_names_does_not_matter(n: int) -> None:
    vectors = clustered(n, seed=3)
    order = np.random.default_rng(1).permutation(n)
    there = {tuple(sorted(order[list(pair)].tolist())) for pair in as_set(near_pairs(vectors[torch.from_numpy(order)]))}
    assert there == as_set(near_pairs(vectors))


@pytest.mark.parametrize("exact", [0, 10_000])
def test_thousands_of_equal_vectors_give_no_more_pairs_than_neighbours(exact: int) -> None:
    pairs = as_set(near_pairs(clustered(1).expand(4000, -1), NearConfig(neighbours=5, exact=exact)))
    assert 0 < len(pairs) <= 4000 * 5


@pytest.mark.parametrize("exact", [0, 100])
def test_two_names_and_fewer(exact: int) -> None:
    assert near_pairs(torch.ones(2, 1), NearConfig(exact=exact)).tolist() == [[0, 1]]
    assert near_pairs(torch.ones(1, 1), NearConfig(exact=exact)).shape == (0, 2)
    assert near_pairs(torch.zeros(0, 1), NearConfig(exact=exact)).shape == (0, 2)
    assert near_pairs(torch.ones(2, 1), NearConfig(exact=exact, neighbours=0)).shape == (0, 2)


@given(st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.lists(
    st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=6), max_size=3))))  # fmt: skip
def test_pairs_are_put_together_as_a_set(found: tuple[int, list[list[tuple[int, int]]]]) -> None:
    n, parts = found
    expected = sorted({(min(pair), max(pair)) for part in parts for pair in part if pair[0] != pair[1]})
    pairs = distinct_pairs([np.asarray(part, dtype=np.int64).reshape(-1, 2) for part in parts], n)
    assert pairs.shape == (len(expected), 2)
    assert list(map(tuple, pairs.tolist())) == expected
