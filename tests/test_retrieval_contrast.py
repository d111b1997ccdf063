from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.contrast import gains, order
from retrieval.measures import evaluate
from retrieval.ranking import Ranking
from retrieval.significance import clusters

QRELS = {"q1": {"a": 1, "b": 1, "x": 0}, "q2": {"c": 1}, "q3": {"d": 1, "e": 2}}
RANKINGS = st.lists(st.sampled_from("abcdexyz"), unique=True)
RUNS = st.fixed_dictionaries(dict.fromkeys(QRELS, RANKINGS))


def as_run(texts):
    return {query: Ranking(tuple(ids), tuple(range(len(ids), 0, -1))) for query, ids in texts.items()}


def test_order_by_hand():
    reference = as_run({"q1": "axb", "q2": "xyc", "q3": "dez"})
    run = as_run({"q1": "xay", "q2": "cxy", "q3": "ezd"})
    found = order(run, reference, QRELS, clusters(QRELS), depth=2)
    # q1 agrees at depths 1, 2, 3 by 0, 2/2, 2/3; q2 and q3 by 0, 1/2, 3/3.
    first = (0.81 + 2 / 3 * 0.729) / 9 + 2 / 3 * 0.729
    others = (1 / 2 * 0.81 + 0.729) / 9 + 0.729
    assert found.overlap.mean == pytest.approx((first + 2 * others) / 3)
    assert found.shared.mean == pytest.approx((1 + 1 / 2 + 1 / 2) / 3)
    assert (found.lost, found.of_reference) == (1, 3)  # d of a, d, e
    assert (found.gained, found.of_method) == (1, 3)  # c of a, c, e
    assert (found.overlap.n, found.overlap.n_clusters, found.overlap.low) == (3, 3, None)


def test_rankings_of_two_lengths_share_a_part_of_the_longer_and_none_equals_none():
    run, reference = as_run({"q1": "ab", "q2": "c"}), as_run({"q1": "axyz", "q2": "c"})
    found = order(run, reference, QRELS, clusters(QRELS), depth=3)
    assert found.shared.mean == pytest.approx((1 / 3 + 1 + 1) / 3)


def test_enough_clusters_have_an_interval_of_whole_clusters():
    qrels = {f"q{n}": {f"r{n // 2}": 1} for n in range(60)}
    reference = as_run(dict.fromkeys(qrels, "abcd"))
    run = as_run({query: "abcd" if n < 30 else "wxyz" for n, query in enumerate(qrels)})
    overlap = order(run, reference, qrels, clusters(qrels), depth=2).overlap
    assert (overlap.mean, overlap.n, overlap.n_clusters) == (pytest.approx(0.5), 60, 30)
    # 30 clusters, half of them at 1 and half at 0: standard error sqrt(.25 / 30).
    assert overlap.high - overlap.low == pytest.approx(2 * 1.96 * math.sqrt(0.25 / 30), rel=0.15)


def test_gains_by_hand():
    n_relevant = {"q0": 0, "q1": 1, "q2": 1, "q3": 1, "q4": 2, "q5": 5}
    qrels = {query: {f"{query}{n}": 1 for n in range(number)} | {"no": 0} for query, number in n_relevant.items()}
    groups = {"q0": 9, "q1": 0, "q2": 0, "q3": 1, "q4": 2, "q5": 0}
    reference = {"q0": 0.0, "q1": 0.25, "q2": 0.5, "q3": 0.0, "q4": 0.5, "q5": 1.0}
    up = {"q0": 1.0, "q1": 0.5, "q2": 1.0, "q3": 0.75, "q4": 0.5, "q5": 0.25}
    found = gains({"up": up, "same": reference}, reference, qrels, groups)
    assert list(found) == ["1", "2", "3-5"]
    assert all(list(own) == ["up", "same"] for own in found.values())
    gain = found["1"]["up"]
    assert (gain.reference, gain.method) == (0.25, 0.75)
    assert (gain.difference.mean, gain.difference.n, gain.difference.n_clusters) == (0.5, 3, 2)
    assert gain.p == 0.5  # of the four ways to sign .75 and .75, two are as extreme
    assert gain.adjusted == 1.0  # 6 tests
    assert found["3-5"]["up"].difference.mean == -0.75
    assert found["2"]["up"].p == 1.0


def test_holm_s_correction_is_over_all_buckets_and_methods():
    qrels = {f"q{n}": {f"d{n}": 1} | ({f"e{n}": 1} if n >= 10 else {}) for n in range(11)}
    groups = {query: number for number, query in enumerate(qrels)}
    found = gains({"m": dict.fromkeys(qrels, 1.0)}, dict.fromkeys(qrels, 0.0), qrels, groups)
    assert found["1"]["m"].p == 2 / 2**10
    assert found["1"]["m"].adjusted == 2 * 2 / 2**10
    assert (found["2"]["m"].p, found["2"]["m"].adjusted) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("n_relevant", "bucket"), [(1, "1"), (2, "2"), (3, "3-5"), (5, "3-5"), (6, "6-20"), (20, "6-20"), (21, "21+")]
)
def test_buckets(n_relevant, bucket):
    qrels = {"q": {str(n): 1 for n in range(n_relevant)}}
    assert list(gains({"m": {"q": 1.0}}, {"q": 0.0}, qrels, {"q": 0})) == [bucket]


@given(texts=RUNS, depth=st.integers(1, 9))
def test_a_run_beside_itself_changes_nothing(texts, depth):
    run, groups = as_run(texts), clusters(QRELS)
    found = order(run, run, QRELS, groups, depth)
    assert found.overlap.mean == pytest.approx(1)
    assert found.shared.mean == 1
    assert (found.lost, found.gained) == (0, 0)
    values = evaluate(run, QRELS, ["nDCG@10"])["nDCG@10"]
    for own in gains({"self": values}, values, QRELS, groups).values():
        assert (own["self"].difference.mean, own["self"].p) == (0, 1)


@given(a=RUNS, b=RUNS, depth=st.integers(1, 9))
def test_the_other_way_round_lost_is_gained(a, b, depth):
    groups = clusters(QRELS)
    one, other = (order(as_run(x), as_run(y), QRELS, groups, depth) for x, y in ((a, b), (b, a)))
    assert (one.overlap, one.shared) == (other.overlap, other.shared)
    assert (one.lost, one.of_reference) == (other.gained, other.of_method)
    # What both have is the same number, whoever counts it.
    assert one.of_reference - one.lost == one.of_method - one.gained
