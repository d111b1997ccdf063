from __future__ import annotations

import pytest

from kg.errors import InputError
from retrieval.cells import p_cell
from retrieval.collection import Collection
from retrieval.explanation import ExplanationConfig, explain
from retrieval.queries import Query
from retrieval.ranking import Ranking
from retrieval.unrelated import question_words

QUERIES = (Query("q1", "zinc"), Query("q2", "winter"), Query("q3", "moon"))
TEXTS = {"a": "Zinc", "b": "Winter", "c": "The moon", "d": "Sports"}
DEV = {"q1": {"a": 1}, "q2": {"a": 1, "b": 1}}
TEST = {"q3": {"c": 1}}
GOOD = {"q1": "ab", "q2": "ab", "q3": "ca"}
POOR = {"q1": "ba", "q2": "ad", "q3": "dac"}


def as_run(texts):
    return {query: Ranking(tuple(ids), tuple(range(len(ids), 0, -1))) for query, ids in texts.items()}


def collection(**more):
    return Collection("tiny", QUERIES, {"tiny.dev": DEV, "tiny.test": TEST}, ("dev", "test"), **more)


def words():
    return question_words({query.query_id: query.text for query in QUERIES}, TEXTS)


def test_each_set_of_judgements_is_explained_by_itself():
    others = iter([("poor", as_run(POOR)), ("same", as_run(GOOD))])
    dev, test = explain(collection(), as_run(GOOD), others, words(), ExplanationConfig("good", "RR", 2))
    assert (dev.name, dev.n_queries, dev.n_clusters) == ("tiny.dev", 2, 1)
    assert (test.name, test.n_queries, test.n_clusters) == ("tiny.test", 1, 1)
    assert dev.clustered_by == "shared relevant documents"
    assert tuple(dev.profiles) == ("good", "poor", "same")
    assert dev.others == ("poor", "same")
    assert dev.profiles["poor"].values == {"q1": 0.5, "q2": 1.0}
    assert {bucket: own["poor"].difference.mean for bucket, own in dev.gains.items()} == {"1": -0.5, "2": 0.0}
    assert {bucket: own["poor"].difference.mean for bucket, own in test.gains.items()} == {"1": pytest.approx(-2 / 3)}
    assert dev.profiles["poor"].order.shared.mean == pytest.approx((1 + 1 / 2) / 2)
    assert (dev.profiles["good"].unrelated.total, dev.profiles["poor"].unrelated.total) == (1, 2)
    assert test.profiles["poor"].unrelated.total == 2


def test_a_method_that_ranks_as_the_reference_is_as_the_reference():
    [dev, _] = explain(collection(), as_run(POOR), [("same", as_run(POOR))], words(), ExplanationConfig("poor"))
    assert dev.profiles["same"] == dev.profiles["poor"]
    assert all(own["same"].difference.mean == 0 for own in dev.gains.values())


def test_clusters_may_be_those_of_a_field():
    asked = collection(groups={"q1": 0, "q2": 1, "q3": 0}, cluster_by="topic")
    dev, _ = explain(asked, as_run(GOOD), [], words())
    assert (dev.n_clusters, dev.clustered_by) == (2, "equal topic")
    # b, relevant to q2, is now relevant to another query outside the cluster of q1.
    counts = dev.profiles["dense"].unrelated.counts
    assert sum(counts["relevant to another query"].values()) == 1
    assert sum(counts["relevant to another query of the cluster"].values()) == 0


def test_rankings_that_end_early_are_counted():
    dev, test = explain(collection(), as_run(GOOD), [("poor", as_run(POOR))], words(), ExplanationConfig(depth=3))
    assert (dev.profiles["poor"].n_short, test.profiles["poor"].n_short, test.profiles["dense"].n_short) == (2, 0, 1)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"depth": 0}, "The depth is 0"),
        ({"measure": "quality"}, "'quality' is no measure"),
        ({"measure": "WSS@95"}, "WSS@95 needs the graph"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, told):
    with pytest.raises(InputError, match=told):
        ExplanationConfig(**settings)


def test_a_measure_to_which_nothing_is_relevant_is_refused():
    with pytest.raises(InputError, match=r"counts no document of tiny.dev as relevant"):
        explain(collection(), as_run(GOOD), [], words(), ExplanationConfig(measure="P(rel=2)@10"))


def test_whether_judged_documents_alone_are_ranked():
    judged = {"q1": "a", "q2": "ba", "q3": "c"}
    assert all(e.all_judged for e in explain(collection(), as_run(judged), [], words(), ExplanationConfig()))
    [dev, test] = explain(collection(), as_run(judged), [("more", as_run({**judged, "q3": "ca"}))], words())
    assert (dev.all_judged, test.all_judged) == (True, False)  # one method ranks a for q3
    asked = collection()
    told = tuple(Query(q.query_id, q.text, candidates=frozenset("abc")) for q in asked.queries)
    found = explain(Collection("tiny", told, asked.qrels, asked.splits), as_run(judged), [], words())
    assert not any(e.all_judged for e in found)  # nothing else may be ranked
    nothing_else = question_words({q.query_id: q.text for q in QUERIES}, {"c": "The moon"})
    assert not explain(collection(), as_run(judged), [], nothing_else)[1].all_judged


@pytest.mark.parametrize(
    ("p", "cell"),
    [
        (1.0, "1"), (0.5, "0.5"), (1 / 3, "0.33"), (0.0499, "0.05"), (0.049, "0.049"), (1 / 10_001, "0.0001"),
        (2 / 2**19, "0.0000038"), (0.996, "1"),
    ],
)  # fmt: skip
def test_p_values_have_two_digits_that_count(p, cell):
    assert p_cell(p) == cell
