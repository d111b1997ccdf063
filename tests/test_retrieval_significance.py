from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from kg.errors import InputError
from retrieval.significance import (
    FEW,
    Interval,
    cluster_bootstrap,
    clusters,
    holm,
    paired_randomisation,
    sign_flip_exact,
)

QRELS = st.dictionaries(
    st.sampled_from([f"q{i}" for i in range(9)]),
    st.dictionaries(st.sampled_from([f"d{i}" for i in range(12)]), st.integers(-1, 2), max_size=3),
)


def named(values):
    return {f"q{i:04}": float(value) for i, value in enumerate(values)}


def shuffled(mapping, seed=3):
    keys = list(mapping)
    np.random.default_rng(seed).shuffle(keys)
    return {key: mapping[key] for key in keys}


@given(qrels=QRELS, rel=st.integers(1, 2))
def test_clusters_are_the_components_of_shared_relevant_documents(qrels, rel):
    graph = nx.Graph()
    graph.add_nodes_from(("query", q) for q in qrels)
    graph.add_edges_from((("query", q), ("doc", d)) for q, some in qrels.items() for d, r in some.items() if r >= rel)
    parts = [sorted(q for kind, q in part if kind == "query") for part in nx.connected_components(graph)]
    expected = {q: number for number, part in enumerate(sorted(parts)) for q in part}
    found = clusters(qrels, rel)
    assert found == expected
    assert clusters(shuffled(qrels), rel) == found


def test_documents_that_are_not_relevant_link_nothing():
    assert clusters({"c": {"x": 1}, "a": {"x": 0, "y": 1}, "b": {"x": 1, "z": 1}, "d": {}}) == {
        "a": 0,
        "b": 1,
        "c": 1,
        "d": 2,
    }


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_unclustered_interval_equals_scipy_s_bca(level):
    values = np.random.default_rng(4).beta(5, 1, 60)
    ours = cluster_bootstrap(named(values), level=level, samples=40_000)
    theirs = scipy.stats.bootstrap(
        (values,), np.mean, confidence_level=level, n_resamples=40_000, method="BCa", rng=np.random.default_rng(0)
    ).confidence_interval
    half = (theirs.high - theirs.low) / 2
    assert (ours.mean, ours.n, ours.n_clusters) == (pytest.approx(values.mean()), 60, 60)
    assert (ours.low, ours.high) == (
        pytest.approx(theirs.low, abs=0.03 * half),
        pytest.approx(theirs.high, abs=0.03 * half),
    )


def test_clustered_interval_equals_scipy_s_bca_of_the_ratio():
    rng = np.random.default_rng(5)
    sizes = rng.integers(1, 7, 40)
    means = rng.beta(3, 1, 40)
    values = {
        f"q{c:02}-{i}": float(np.clip(means[c] + rng.normal(0, 0.05), 0, 1)) for c in range(40) for i in range(sizes[c])
    }
    of = {query: int(query[1:3]) for query in values}
    ours = cluster_bootstrap(values, of, samples=40_000)
    sums = np.array([sum(v for q, v in values.items() if of[q] == c) for c in range(40)])
    theirs = scipy.stats.bootstrap(
        (sums, sizes),
        lambda x, y, axis: x.sum(axis) / y.sum(axis),
        paired=True,
        n_resamples=40_000,
        method="BCa",
        vectorized=True,
        rng=np.random.default_rng(0),
    ).confidence_interval
    half = (theirs.high - theirs.low) / 2
    assert (ours.n, ours.n_clusters) == (sizes.sum(), 40)
    assert (ours.low, ours.high) == (
        pytest.approx(theirs.low, abs=0.03 * half),
        pytest.approx(theirs.high, abs=0.03 * half),
    )
    alone = cluster_bootstrap(values)
    assert ours.high - ours.low > 1.3 * (alone.high - alone.low)


def test_the_interval_covers_the_mean_though_queries_are_not_independent():
    rng = np.random.default_rng(6)
    covered = alone = 0
    for trial in range(200):
        of = {f"q{c:02}-{i}": c for c in range(40) for i in range(1 + c % 4)}
        mean = rng.beta(4, 2, 40)
        values = {query: float(np.clip(mean[c] + rng.normal(0, 0.03), 0, 1)) for query, c in of.items()}
        found = cluster_bootstrap(values, of, samples=500, seed=trial)
        covered += found.low <= 4 / 6 <= found.high
        found = cluster_bootstrap(values, samples=500, seed=trial)
        alone += found.low <= 4 / 6 <= found.high
    # 95 % +- 1.5 % of sampling error; resampling queries as if independent covers far less.
    assert covered >= 180
    assert alone < 170


def test_few_clusters_give_no_interval():
    values = named(np.linspace(0, 1, FEW - 1))
    assert cluster_bootstrap(values) == Interval(pytest.approx(0.5), None, None, FEW - 1, FEW - 1)
    many = named(np.linspace(0, 1, 100))
    assert cluster_bootstrap(many, {query: i % 5 for i, query in enumerate(many)}) == Interval(
        pytest.approx(0.5), None, None, 100, 5
    )
    assert cluster_bootstrap(named(np.linspace(0, 1, FEW))).low is not None


def test_equal_values_give_an_interval_of_no_width():
    assert cluster_bootstrap(named([0.1] * 30)) == Interval(0.1, 0.1, 0.1, 30, 30)
    halves = named([0.1, 0.7] * 30)
    found = cluster_bootstrap(halves, {query: int(query[1:]) // 2 for query in halves})
    assert (found.low, found.high) == (pytest.approx(0.4), pytest.approx(0.4))


@settings(max_examples=30, deadline=None)
@given(
    values=st.lists(st.sampled_from([0.0, 0.0, 0.25, 1.0]) | st.floats(0, 1), min_size=20, max_size=40).map(named),
    sizes=st.integers(1, 3),
    level=st.sampled_from([0.5, 0.95, 0.9999]),
)
def test_the_interval_is_finite_ordered_and_within_the_values(values, sizes, level):
    of = {query: i // sizes for i, query in enumerate(values)}
    found = cluster_bootstrap(values, of, level=level, samples=200)
    if found.low is not None:
        assert min(values.values()) - 1e-9 <= found.low <= found.high <= max(values.values()) + 1e-9


@settings(max_examples=10, deadline=None)
@given(
    values=st.lists(st.floats(0, 1), min_size=20, max_size=50).map(named),
    others=st.lists(st.floats(0, 1), min_size=50, max_size=50),
    seed=st.integers(0, 5),
)
def test_the_order_of_mappings_and_the_numbers_of_clusters_change_nothing(values, others, seed):
    other = dict(zip(values, others, strict=False))
    of = {query: i * 7 % len(values) // 2 for i, query in enumerate(values)}
    renamed = {query: 1000 - number for query, number in of.items()}
    for some in (of, None):
        again = None if some is None else shuffled(renamed, seed)
        assert cluster_bootstrap(values, some, samples=50) == cluster_bootstrap(shuffled(values), again, samples=50)
        assert paired_randomisation(values, other, some, samples=50) == paired_randomisation(
            shuffled(values), shuffled(other), again, samples=50
        )


def test_chance_comes_from_the_seed():
    values = named(np.random.default_rng(0).random(30))
    assert cluster_bootstrap(values, seed=1) == cluster_bootstrap(values, seed=1)
    assert cluster_bootstrap(values, seed=1) != cluster_bootstrap(values, seed=2)


def test_paired_randomisation_equals_scipy_s():
    rng = np.random.default_rng(7)
    a, b = rng.random(50), rng.random(50)
    b += 0.09
    theirs = scipy.stats.permutation_test(
        (a, b), lambda x, y, axis: (x - y).mean(axis), permutation_type="samples", n_resamples=20_000, rng=rng
    ).pvalue
    ours = paired_randomisation(named(a), named(b), samples=20_000)
    assert 0.01 < theirs < 0.5
    assert ours == pytest.approx(theirs, abs=4 * np.sqrt(2 * theirs / 20_000))
    assert ours == paired_randomisation(named(b), named(a), samples=20_000)


def test_the_least_p_is_that_of_the_number_of_samples():
    a, b = named([1.0] * 40), named([0.0] * 40)
    assert paired_randomisation(a, b, samples=999) == 1 / 1000
    assert paired_randomisation(a, a) == 1.0


def test_clusters_are_flipped_whole():
    # 40 queries that say the same are one observation in 4, not 40: 2 of 2^4 ways are as extreme.
    a, b = named([1.0] * 40), named([0.0] * 40)
    assert paired_randomisation(a, b, {query: i % 4 for i, query in enumerate(a)}) == 2 / 16


def test_false_alarms_are_as_rare_as_the_level_says():
    rng = np.random.default_rng(8)
    of = {f"q{c:02}-{i}": c for c in range(30) for i in range(3)}
    clustered = alone = 0
    zero = dict.fromkeys(of, 0.0)
    for trial in range(200):
        shift = rng.normal(size=30)
        a = {query: float(shift[c] + 0.3 * rng.normal()) for query, c in of.items()}
        clustered += paired_randomisation(a, zero, of, samples=199, seed=trial) <= 0.05
        alone += paired_randomisation(a, zero, samples=199, seed=trial) <= 0.05
    assert clustered <= 20
    assert alone >= 30


@settings(deadline=None)
@given(differences=st.lists(st.sampled_from([0.0, 0.1, -0.1, 0.2, 0.3, -0.3]) | st.floats(-1, 1), max_size=8))
def test_sign_flips_equal_counting_them(differences):
    scale = sum(map(abs, differences))
    observed = abs(sum(differences))
    ways = [
        sum(s * d for s, d in zip(signs, differences, strict=True))
        for signs in itertools.product([1, -1], repeat=len(differences))
    ]
    assert sign_flip_exact(differences) == sum(abs(way) >= observed - 1e-10 * scale for way in ways) / len(ways)


def test_sign_flips_equal_scipy_s_exact_test():
    differences = np.random.default_rng(9).normal(0.4, 1, 12)
    theirs = scipy.stats.permutation_test(
        (differences,), lambda x, axis: x.mean(axis), permutation_type="samples", n_resamples=np.inf
    ).pvalue
    assert sign_flip_exact(differences.tolist()) == pytest.approx(theirs)
    assert paired_randomisation(named(differences), named(np.zeros(12))) == sign_flip_exact(differences.tolist())


def test_sign_flips_by_hand():
    assert sign_flip_exact([1, 2, 3]) == 2 / 8
    assert sign_flip_exact([1, 2, -3]) == 1.0
    assert sign_flip_exact([0, 1, 2, 3, 0]) == 2 / 8
    assert sign_flip_exact([0, 0]) == sign_flip_exact([]) == 1.0
    # Rounding: .1 + .2 is a little more than .3 in floats, but the sum observed is 0.
    assert sign_flip_exact([0.1, 0.2, -0.3]) == 1.0
    assert sign_flip_exact([0.1, 0.2, 0.3]) == 2 / 8
    assert sign_flip_exact([1.0] * 19 + [0.0] * 50) == 2 / 2**19


def test_holm_by_hand():
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005}) == pytest.approx(
        {"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02}
    )
    assert list(holm({"b": 0.5, "a": 0.1})) == ["b", "a"]
    assert holm({"a": 0.7, "b": 0.9}) == {"a": 1.0, "b": 1.0}
    assert holm({}) == {}


@given(p_values=st.dictionaries(st.integers(), st.floats(0, 1), min_size=1), level=st.floats(0.001, 0.999))
def test_holm_rejects_as_the_step_down_rule_does(p_values, level):
    ordered = sorted(p_values.values())
    steps = list(itertools.takewhile(lambda item: item[1] * (len(ordered) - item[0]) <= level, enumerate(ordered)))
    rejected = sum(p <= level for p in holm(p_values).values())
    assert rejected == len(steps)
    assert holm(shuffled(p_values)) == holm(p_values)


@pytest.mark.parametrize(
    "call",
    [
        lambda: cluster_bootstrap({}),
        lambda: cluster_bootstrap({"q": float("nan")}),
        lambda: cluster_bootstrap({"q": 1.0}, {}),
        lambda: cluster_bootstrap({"q": 1.0}, level=95),
        lambda: cluster_bootstrap({"q": 1.0}, samples=0),
        lambda: paired_randomisation({}, {}),
        lambda: paired_randomisation({"q": 1.0}, {"r": 1.0}),
        lambda: paired_randomisation({"q": 1.0}, {"q": 1.0}, {}),
        lambda: paired_randomisation({"q": 1.0}, {"q": 1.0}, samples=0),
        lambda: sign_flip_exact([float("nan")]),
        lambda: sign_flip_exact([1.0] * FEW),
        lambda: holm({"a": 1.5}),
        lambda: holm({"a": float("nan")}),
    ],
)
def test_what_cannot_be_tested_is_refused(call):
    with pytest.raises(InputError):
        call()
