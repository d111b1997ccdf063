"""Cross-fitting: what is chosen on one half is reported on the other alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg.errors import InputError
from retrieval.crossfit import advantage, cross_fit


def test_a_setting_that_wins_everywhere_is_chosen_and_reported() -> None:
    worse, better = {"a": 0.1, "b": 0.3, "c": 0.2}, {"a": 0.4, "b": 0.6, "c": 0.5}
    found = cross_fit({"R@5": [worse, better]}, {"a": 0, "b": 1, "c": 2}, halvings=50)
    assert found.chosen == {1: 100}
    assert found.held_out["R@5"] == pytest.approx(0.5, abs=0.05)
    assert found.best == {"R@5": pytest.approx(0.5)}
    assert found.fixed == {"R@5": pytest.approx(0.2)}


def test_settings_that_win_only_where_they_were_chosen_lose_where_they_are_reported() -> None:
    # Each setting is right for one cluster of queries alone: chosen on one, it is worth nothing on the other.
    settings = [{"a": 1.0, "b": 1.0, "c": 0.0}, {"a": 0.0, "b": 0.0, "c": 1.0}]
    found = cross_fit({"R@5": settings}, {"a": 0, "b": 0, "c": 1})
    assert found.held_out == {"R@5": 0.0}
    assert found.best["R@5"] == pytest.approx(2 / 3)
    assert found.chosen == {0: 100, 1: 100}


def test_measures_decide_together() -> None:
    one, other = [{"a": 1.0, "b": 1.0}, {"a": 0.0, "b": 0.0}], [{"a": 0.0, "b": 0.0}, {"a": 0.9, "b": 0.9}]
    found = cross_fit({"R@2": one, "R@5": other}, {"a": 0, "b": 1}, halvings=3)
    assert found.chosen == {0: 6}
    assert found.held_out == {"R@2": 1.0, "R@5": 0.0}


@given(
    st.lists(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=6, max_size=6), min_size=1, max_size=4),
    st.lists(st.integers(0, 2), min_size=6, max_size=6).filter(lambda own: len(set(own)) > 1),
)
def test_what_is_held_out_lies_between_the_least_and_the_most(rows: list[list[float]], owners: list[int]) -> None:
    queries = "abcdef"
    values = [dict(zip(queries, row, strict=True)) for row in rows]
    clusters = dict(zip(queries, owners, strict=True))
    found = cross_fit({"R@5": values}, clusters, halvings=5)
    assert min(map(min, rows)) <= found.held_out["R@5"] <= max(map(max, rows))
    assert found == cross_fit({"R@5": values}, clusters, halvings=5)
    assert sum(found.chosen.values()) == found.halves == 10


def test_too_little_is_refused() -> None:
    with pytest.raises(InputError, match="nothing to choose"):
        cross_fit({}, {})
    with pytest.raises(InputError, match="clusters of queries is 1"):
        cross_fit({"R@5": [{"a": 1.0, "b": 0.0}]}, {"a": 0, "b": 0})
    with pytest.raises(InputError, match="divided 0 times"):
        cross_fit({"R@5": [{"a": 1.0, "b": 0.0}]}, {"a": 0, "b": 1}, halvings=0)
    with pytest.raises(InputError, match="10,000 times at the most"):
        cross_fit({"R@5": [{"a": 1.0, "b": 0.0}]}, {"a": 0, "b": 1}, halvings=10**9)


def test_each_query_counts_once_per_division_with_what_the_other_half_chose() -> None:
    # Clusters {a, b} and {c} are always apart: a and b get what c chooses, and c what a and b choose.
    settings = [{"a": 0.5, "b": 0.25, "c": 0.0}, {"a": 0.0, "b": 0.1, "c": 1.0}]
    found = cross_fit({"R@5": settings}, {"a": 0, "b": 0, "c": 1}, halvings=7)
    assert found.held_out_values == {"R@5": pytest.approx({"a": 0.0, "b": 0.1, "c": 0.0})}
    assert found.held_out["R@5"] == pytest.approx(0.1 / 3)
    assert found.fixed_values == {"R@5": settings[0]}


def test_the_choice_is_held_against_the_fixed_setting_by_clusters() -> None:
    queries = [f"q{n}" for n in range(60)]
    groups = {query: n // 2 for n, query in enumerate(queries)}
    fixed = {query: (n % 7) / 10 for n, query in enumerate(queries)}
    better = {query: value + 0.3 for query, value in fixed.items()}
    found = cross_fit({"AP": [fixed, better], "RR": [fixed, fixed]}, groups)
    own = advantage(found, groups)
    assert own["AP"].difference.mean == pytest.approx(found.held_out["AP"] - found.fixed["AP"]) == pytest.approx(0.3)
    assert (own["AP"].difference.n, own["AP"].difference.n_clusters) == (60, 30)
    assert own["AP"].difference.low == pytest.approx(0.3)
    assert own["AP"].p == pytest.approx(1 / 10_001)  # none of the draws is as extreme
    same = own["RR"].difference
    assert (same.mean, same.low, same.high, own["RR"].p) == (0.0, 0.0, 0.0, 1.0)


@given(
    st.lists(st.lists(st.floats(0, 1), min_size=6, max_size=6), min_size=1, max_size=4),
    st.lists(st.integers(0, 2), min_size=6, max_size=6).filter(lambda own: len(set(own)) > 1),
)
def test_a_choice_of_none_but_the_fixed_setting_is_no_advantage(rows: list[list[float]], owners: list[int]) -> None:
    values = [dict(zip("abcdef", row, strict=True)) for row in rows]
    clusters = dict(zip("abcdef", owners, strict=True))
    found = cross_fit({"AP": [values[0]] * 3}, clusters, halvings=3)
    assert found.held_out_values == found.fixed_values
    chosen_of_all = cross_fit({"AP": values}, clusters, halvings=3)
    own = advantage(chosen_of_all, clusters)["AP"]
    assert own.difference.mean == pytest.approx(chosen_of_all.held_out["AP"] - chosen_of_all.fixed["AP"], abs=1e-12)
    assert 0 < own.p <= 1
