"""Values of many weightings at once, against each fusion retrieved and measured by itself."""

from __future__ import annotations

import pytest

from kg.errors import InputError
from kg.lateral import LateralGraph
from retrieval.fusion_search import GREATEST, LEAST, MOST, combinations, fusion_values
from retrieval.hybrid import HybridScorer
from retrieval.measures import evaluate
from retrieval.methods import Methods
from retrieval.queries import Query
from retrieval.retriever import Retriever
from tests.conftest import HashEncoder

SETTINGS = [
    {"dense": 1.0, "bm25": 0.5, "ppr": 0.0},
    {"dense": 0.0, "bm25": 0.0, "ppr": 1.0},
    {"dense": 0.3, "bm25": 1.0, "ppr": 2.0},
]
MEASURES = ["R@2", "nDCG@10", "AP"]


@pytest.fixture
def queries(sample_graph: LateralGraph) -> list[Query]:
    texts = ["loss aversion", "the equity premium", "supply chains", "false discovery rate"]
    ids = sample_graph.documents["doc_id"].to_pylist()
    asked = [Query(f"q{n}", text) for n, text in enumerate(texts)]
    return [*asked, Query("q9", texts[0], latest_year=1990, excluded=frozenset(ids[:2]))]


def test_each_setting_has_the_values_of_its_own_fusion(
    sample_graph: LateralGraph, hash_encoder: HashEncoder, queries: list[Query]
) -> None:
    documents = sample_graph.documents["doc_id"].to_pylist()
    qrels = {query.query_id: {documents[n]: 1, documents[-1 - n]: 1} for n, query in enumerate(queries)}
    methods = Methods(sample_graph, hash_encoder)
    parts = {name: methods.part(name) for name in SETTINGS[0]}
    found = fusion_values(sample_graph, parts, SETTINGS, queries, qrels, MEASURES)
    for number, setting in enumerate(SETTINGS):
        weights = {name: weight for name, weight in setting.items() if weight}
        fusion = HybridScorer({name: parts[name] for name in weights}, weights)
        run = Retriever(sample_graph, fusion).retrieve(queries, 1000, "document")
        expected = evaluate(run, qrels, MEASURES, qrels)
        assert {measure: own[number] for measure, own in found.items()} == expected


def test_each_part_is_asked_once_for_all_settings(
    sample_graph: LateralGraph, hash_encoder: HashEncoder, queries: list[Query]
) -> None:
    inner = Methods(sample_graph, hash_encoder).part("bm25")
    asked: list[int] = []

    class Counted:
        def score(self, texts, usable=None):  # type: ignore[no-untyped-def]
            asked.append(len(texts))
            return inner.score(texts, usable)

    qrels = {query.query_id: {"nothing": 1} for query in queries}
    settings = [{"bm25": weight} for weight in (0.5, 1.0, 2.0)]
    found = fusion_values(sample_graph, {"bm25": Counted()}, settings, queries, qrels, ["R@2"])
    assert asked == [len(queries)]
    assert found == {"R@2": [dict.fromkeys(qrels, 0.0)] * 3}


def test_nothing_to_choose_by_is_refused(sample_graph: LateralGraph, queries: list[Query]) -> None:
    with pytest.raises(InputError, match="name at least one measure"):
        fusion_values(sample_graph, {}, [], queries, {}, [])


def test_the_most_settings_are_made_and_one_more_weight_is_refused_before_any() -> None:
    hundred = [float(n) for n in range(1, 101)]
    assert len(combinations({"dense": hundred, "bm25": hundred})) == MOST
    with pytest.raises(InputError, match=r"make 10,100 settings, and at most 10,000 are tried"):
        combinations({"dense": [*hundred, 101.0], "bm25": hundred})
    with pytest.raises(InputError, match=r"make 1,048,576 settings"):
        combinations({f"part {n}": hundred[:4] for n in range(10)})
    assert len(combinations({f"part {n}": [1.0, 1.0, 1.0] for n in range(10)})) == 1


@pytest.mark.parametrize("weight", [1e308, GREATEST * 2, LEAST / 2, 1e-300, -1.0, float("inf"), float("nan")])
def test_weights_that_sums_of_scores_cannot_hold_are_refused(weight: float) -> None:
    with pytest.raises(InputError, match="A weight of bm25 is"):
        combinations({"dense": [1.0], "bm25": [0.5, weight]})


def test_the_least_and_greatest_weights_give_values_that_are_numbers(
    sample_graph: LateralGraph, hash_encoder: HashEncoder, queries: list[Query]
) -> None:
    documents = sample_graph.documents["doc_id"].to_pylist()
    qrels = {query.query_id: {documents[n]: 1} for n, query in enumerate(queries)}
    methods = Methods(sample_graph, hash_encoder)
    settings = combinations({"dense": [LEAST, 1.0, GREATEST], "bm25": [0.0]})
    found = fusion_values(
        sample_graph, {name: methods.part(name) for name in settings[0]}, settings, queries, qrels, ["AP"]
    )
    assert found["AP"][0] == found["AP"][1] == found["AP"][2]
    assert any(found["AP"][0].values())


def test_a_fusion_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="nothing to fuse"):
        combinations({})
    with pytest.raises(InputError, match="All weights are 0"):
        combinations({"dense": [0.0], "bm25": [0.0]})


def test_a_query_counts_where_every_measure_has_a_relevant_document_for_it(
    sample_graph: LateralGraph, hash_encoder: HashEncoder, queries: list[Query]
) -> None:
    documents = sample_graph.documents["doc_id"].to_pylist()
    qrels = {query.query_id: {documents[n]: 1 + n % 2} for n, query in enumerate(queries)}
    parts = {"bm25": Methods(sample_graph, hash_encoder).part("bm25")}
    found = fusion_values(sample_graph, parts, [{"bm25": 1.0}], queries, qrels, ["P(rel=2)@5", "R@5"])
    expected = evaluate(Retriever(sample_graph, parts["bm25"]).retrieve(queries, 5, "document"), qrels, ["P(rel=2)@5"])
    assert found["P(rel=2)@5"] == [expected["P(rel=2)@5"]]
    assert list(found["R@5"][0]) == list(expected["P(rel=2)@5"]) == ["q1", "q3"]
    with pytest.raises(InputError, match=r"P\(rel=9\)@5 counts no document"):
        fusion_values(sample_graph, parts, [{"bm25": 1.0}], queries, qrels, ["P(rel=9)@5"])
