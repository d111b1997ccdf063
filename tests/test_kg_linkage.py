"""Groups are what complete linkage gives by its definition, whatever the order of the pairs."""

from __future__ import annotations

from itertools import combinations
from random import Random

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg.linkage import complete_linkage

Scored = dict[tuple[int, int], float]


def graph_of(n: int) -> st.SearchStrategy[tuple[int, Scored, list[tuple[int, int]]]]:
    """Names, scored pairs, and pairs said to be one."""
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] < p[1])
    scores = st.sampled_from([0.2, 0.5, 0.8, 0.9, 1.0])
    return st.tuples(st.just(n), st.dictionaries(pair, scores), st.lists(pair, max_size=3))


GRAPHS = st.integers(2, 9).flatmap(graph_of)


def arrays(scored: Scored) -> tuple[np.ndarray, np.ndarray]:
    return np.asarray(list(scored), dtype=np.int64).reshape(-1, 2), np.asarray(list(scored.values()), dtype=np.float64)


def greedy(n: int, scored: Scored, join: float = 0.0) -> list[int]:
    """Complete linkage by its definition: sets of names, best pair first, every cross pair looked up."""
    groups = [{i} for i in range(n)]
    for i, j in sorted(scored, key=lambda pair: (-scored[pair], pair)):
        left = next(g for g in groups if i in g)
        right = next(g for g in groups if j in g)
        complete = all((min(a, b), max(a, b)) in scored for a in left for b in right)
        if scored[i, j] >= join and left is not right and complete:
            groups.remove(right)
            left |= right
    return [min(next(g for g in groups if i in g)) for i in range(n)]


@settings(max_examples=60)
@given(GRAPHS, st.sampled_from([0.0, 0.5, 0.85]), st.randoms(use_true_random=False))
def test_groups_are_cliques_of_accepted_pairs_whatever_their_order(
    graph: tuple[int, Scored, list[tuple[int, int]]], join: float, random: Random
) -> None:
    n, scored, _ = graph
    group = complete_linkage(n, *arrays(scored), join)
    assert group.tolist() == greedy(n, scored, join)
    accepted = nx.Graph(scored.keys())
    accepted.add_nodes_from(range(n))
    for number in set(group.tolist()):
        members = np.flatnonzero(group == number).tolist()
        assert number == min(members)
        assert any(set(members) <= set(clique) for clique in nx.find_cliques(accepted))
    items = list(scored.items())
    random.shuffle(items)
    assert np.array_equal(complete_linkage(n, *arrays(dict(items)), join), group)


@settings(max_examples=60)
@given(GRAPHS, st.sampled_from([0.0, 0.85]))
def test_what_is_said_to_be_one_is_linked_as_one_name(
    graph: tuple[int, Scored, list[tuple[int, int]]], join: float
) -> None:
    n, scored, said = graph
    ties = nx.Graph(said)
    ties.add_nodes_from(range(n))
    unit = {name: min(tied) for tied in nx.connected_components(ties) for name in tied}
    across: Scored = {}
    for (i, j), score in scored.items():
        a, b = sorted((unit[i], unit[j]))
        if a != b:
            across[a, b] = max(score, across.get((a, b), 0.0))
    expected = greedy(n, across, join)
    joined = np.asarray(said, dtype=np.int64).reshape(-1, 2)
    assert complete_linkage(n, *arrays(scored), join, joined).tolist() == [expected[unit[i]] for i in range(n)]


def test_a_chain_does_not_glue_its_ends() -> None:
    assert complete_linkage(3, *arrays({(0, 1): 0.95, (1, 2): 0.97})).tolist() == [0, 1, 1]
    assert complete_linkage(4, *arrays({(0, 1): 0.95, (1, 2): 0.95, (2, 3): 0.95})).tolist() == [0, 0, 2, 2]
    square = {(0, 1): 0.9, (2, 3): 0.9, (0, 2): 0.8, (0, 3): 0.8, (1, 2): 0.8}
    assert complete_linkage(4, *arrays(square)).tolist() == [0, 0, 2, 2]
    assert complete_linkage(4, *arrays(square | {(1, 3): 0.8})).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(("join", "groups"), [(0.9, [0, 0, 0]), (0.91, [0, 1, 2])])
def test_a_pair_below_the_threshold_starts_nothing_but_may_be_taken_along(join: float, groups: list[int]) -> None:
    assert complete_linkage(3, *arrays({(0, 1): 0.9, (0, 2): 0.9, (1, 2): 0.3}), join).tolist() == groups


def test_a_chain_said_to_be_one_is_one() -> None:
    nothing = arrays({})
    assert complete_linkage(4, *nothing, joined=np.asarray([[2, 3], [1, 2]])).tolist() == [0, 1, 1, 1]


def test_a_clique_with_one_pair_refused_is_two_groups() -> None:
    # Dense but not complete: two groups that can never join must not be compared name by name for each pair.
    n = 300
    pairs = np.asarray([p for p in combinations(range(n), 2) if p != (0, n - 1)], dtype=np.int64)
    group = complete_linkage(n, pairs, np.full(len(pairs), 0.95))
    assert group.tolist() == [0] * (n - 1) + [n - 1]


def test_nothing_to_join() -> None:
    assert complete_linkage(0, *arrays({})).tolist() == []
    assert complete_linkage(3, *arrays({})).tolist() == [0, 1, 2]
