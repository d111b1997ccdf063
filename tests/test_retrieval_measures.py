from __future__ import annotations

import math

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from kg.errors import InputError
from retrieval.measures import WSS, canonical, evaluate, parse_measure, recall_curve
from retrieval.ranking import Ranking

DOCUMENTS = [f"d{i}" for i in range(15)]
NAMES = {
    "R@5": ("recall_5", 1),
    "R(rel=2)@5": ("recall_5", 2),
    "P@3": ("P_3", 1),
    "P(rel=2)@10": ("P_10", 2),
    "nDCG@4": ("ndcg_cut_4", 1),
    "nDCG": ("ndcg", 1),
    "AP": ("map", 1),
    "AP(rel=2)@7": ("map_cut_7", 2),
    "RR": ("recip_rank", 1),
    "Rprec": ("Rprec", 1),
    "Success@2": ("success_2", 1),
}


def ranked(*ids):
    return Ranking(tuple(ids), tuple(float(-i) for i in range(len(ids))))


def rankings():
    """Any score, also equal ones: they must not matter."""
    return st.lists(st.sampled_from(DOCUMENTS), unique=True, max_size=15).map(
        lambda ids: Ranking(tuple(ids), (0.25,) * len(ids))
    )


JUDGEMENTS = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-1, 3), max_size=10)
QUERIES = st.sampled_from(["q1", "q2", "q3"])


@settings(deadline=None)
@given(run=st.dictionaries(QUERIES, rankings()), qrels=st.dictionaries(QUERIES, JUDGEMENTS))
def test_equals_trec_eval_on_each_query(run, qrels):
    ours = evaluate(run, qrels, [*NAMES, "RR@3"], queries=list(qrels))
    scored = {q: {d: 1 / (1 + i) for i, d in enumerate(ranking.ids)} for q, ranking in run.items() if ranking.ids}
    for name, (theirs, rel) in NAMES.items():
        expected = dict.fromkeys(qrels, 0.0)
        for q, judgements in qrels.items():
            # Alone and without the input that it hangs on: judgements below 0, and none above.
            if q in scored and max(judgements.values(), default=0) > 0:
                whole = {d: max(r, 0) for d, r in judgements.items()}
                evaluator = pytrec_eval.RelevanceEvaluator({q: whole}, {theirs}, relevance_level=rel)
                expected[q] = evaluator.evaluate({q: scored[q]})[q][theirs]
        assert ours[name] == pytest.approx(expected, abs=1e-12), name
    for q in qrels:
        hits = [i for i, d in enumerate(run.get(q, ranked()).ids[:3], 1) if qrels[q].get(d, 0) >= 1]
        assert ours["RR@3"][q] == pytest.approx(1 / hits[0] if hits else 0)


def test_queries_without_relevant_documents_harm_neither_themselves_nor_others():
    # pytrec_eval by itself does not return from the first, and misreads what follows the second.
    qrels = {"junk": {"a": -1, "b": -1, "c": -2}, "empty": {}, "none": {"a": 0}, "q": {"a": 1, "b": -1}}
    run = {query: ranked("b", "a") for query in qrels}
    values = evaluate(run, qrels, ["nDCG@10", "AP", "R@2", "RR@2"], list(qrels))
    nothing = {"junk": 0.0, "empty": 0.0, "none": 0.0}
    assert values["nDCG@10"] == pytest.approx(nothing | {"q": 1 / math.log2(3)})
    assert values["AP"] == values["RR@2"] == nothing | {"q": 0.5}
    assert values["R@2"] == nothing | {"q": 1.0}


def test_hand_worked_values():
    qrels = {"q": {"a": 3, "b": 1, "c": 2, "x": 0}}
    values = evaluate(
        {"q": ranked("x", "b", "a", "y")}, qrels, ["nDCG@3", "AP", "RR", "RR@1", "P@2", "R@3", "R(rel=2)@3"]
    )
    gained = 1 / math.log2(3) + 3 / 2
    ideal = 3 + 2 / math.log2(3) + 1 / 2
    assert values["nDCG@3"]["q"] == pytest.approx(gained / ideal)
    assert values["AP"]["q"] == pytest.approx((1 / 2 + 2 / 3) / 3)
    assert {name: values[name]["q"] for name in ("RR", "RR@1", "P@2", "R@3", "R(rel=2)@3")} == pytest.approx(
        {"RR": 0.5, "RR@1": 0, "P@2": 0.5, "R@3": 2 / 3, "R(rel=2)@3": 0.5}
    )


def test_the_order_of_the_ranking_counts_not_its_ties():
    # trec_eval would put z first: equal scores, last id first.
    run = {"q": Ranking(("a", "z"), (1.0, 1.0 - 1e-12))}
    assert evaluate(run, {"q": {"a": 1}}, ["RR", "RR@10"]) == {"RR": {"q": 1.0}, "RR@10": {"q": 1.0}}


def test_which_queries_count():
    run = {"found": ranked("a"), "unjudged": ranked("a")}
    qrels = {"silent": {"a": 1}, "found": {"a": 1}, "barren": {"a": 0}, "empty": {}}
    assert evaluate(run, qrels, ["R@1", "R(rel=2)@1"]) == {"R@1": {"silent": 0.0, "found": 1.0}, "R(rel=2)@1": {}}
    given_queries = evaluate(run, qrels, ["R@1", "WSS@95"], ["empty", "found", "barren", "found"], n_candidates=10)
    assert given_queries["R@1"] == {"empty": 0.0, "found": 1.0, "barren": 0.0}
    assert list(given_queries["R@1"]) == ["empty", "found", "barren"]
    assert given_queries["WSS@95"] == pytest.approx({"empty": 0, "found": 0.85, "barren": 0})
    assert evaluate(run, {}, ["R@1"]) == {"R@1": {}}
    with pytest.raises(InputError, match="Query unjudged has no judgements"):
        evaluate(run, qrels, ["R@1"], ["unjudged"])


def test_names_are_kept_as_given():
    assert set(evaluate({}, {"q": {"a": 1}}, ["MRR@10", "RR@10", "NDCG@5"])) == {"MRR@10", "RR@10", "NDCG@5"}


def test_wss_by_hand():
    # 20 candidates, 3 relevant, at ranks 2, 5 and 9: recall .95 needs all, so 9 are read and 11 are not.
    ids = [f"d{i}" for i in range(1, 21)]
    relevant = {"d2", "d5", "d9"}
    assert WSS(95).value(ranked(*ids), relevant, 20) == pytest.approx(11 / 20 - 0.05)
    # Half of the recall: two of three, at rank 5.
    assert WSS(50).value(ranked(*ids), relevant, 20) == pytest.approx(15 / 20 - 0.5)
    # d9 unranked: it may be the last one read.
    assert WSS(95).value(ranked(*ids[:8]), relevant, 20) == pytest.approx(-0.05)
    assert WSS(50).value(ranked(*ids[:8]), relevant, 20) == pytest.approx(15 / 20 - 0.5)
    assert WSS(95).value(ranked(), relevant, 20) == pytest.approx(-0.05)


@settings(deadline=None)
@given(
    run=st.dictionaries(QUERIES, rankings()), qrels=st.dictionaries(QUERIES, JUDGEMENTS), percent=st.integers(1, 100)
)
def test_the_recall_is_unreached_where_all_counts_as_read(run, qrels, percent):
    # Of more candidates than are ranked, the whole is read only if what lacks is among the others.
    values = evaluate(run, qrels, [f"WSS@{percent}"], n_candidates=99)[f"WSS@{percent}"]
    assert WSS(percent).unreached(run, qrels) == {
        query: value == pytest.approx((percent - 100) / 100) for query, value in values.items()
    }


@pytest.mark.parametrize("n", [20, 40, 60, 100, 380])
def test_95_percent_of_a_multiple_of_20_is_no_document_more(n):
    ids = [f"d{i}" for i in range(n)]
    assert WSS(95).value(ranked(*ids), set(ids), n) == pytest.approx(1 - n * 95 // 100 / n - 0.05)


@settings(deadline=None)
@given(
    ranking=rankings(),
    relevant=st.sets(st.sampled_from(DOCUMENTS), min_size=1),
    more=st.integers(0, 5),
    percent=st.integers(1, 100),
)
def test_the_recall_curve_is_recall_and_gives_wss(ranking, relevant, more, percent):
    n = len({*ranking.ids, *relevant}) + more
    curve = recall_curve(ranking, relevant, n)
    assert len(curve) == n
    assert curve[-1] == 1
    qrels = {"q": dict.fromkeys(relevant, 1)}
    at_each_rank = [evaluate({"q": ranking}, qrels, [f"R@{k}"])[f"R@{k}"]["q"] for k in range(1, min(n, 6))]
    assert list(curve[: min(n, 6) - 1]) == pytest.approx(at_each_rank)
    read = 1 + int(np.argmax(curve * len(relevant) * 100 > percent * len(relevant) - 1e-6))
    by_curve = (n - read) / n - (1 - percent / 100)
    assert WSS(percent).value(ranking, relevant, n) == pytest.approx(by_curve)


@settings(deadline=None)
@given(ranking=rankings(), relevant=st.sets(st.sampled_from(DOCUMENTS), min_size=1), seed=st.integers(0, 99))
def test_no_order_of_the_unranked_does_worse(ranking, relevant, seed):
    rest = [d for d in DOCUMENTS if d not in ranking.ids]
    np.random.default_rng(seed).shuffle(rest)
    whole = ranked(*ranking.ids, *rest)
    assert (recall_curve(ranking, relevant, 15) <= recall_curve(whole, relevant, 15) + 1e-12).all()
    assert WSS().value(ranking, relevant, 15) <= WSS().value(whole, relevant, 15) + 1e-12


def test_wss_takes_the_size_of_each_query():
    run, qrels = {"p": ranked("a"), "q": ranked("a")}, {"p": {"a": 1}, "q": {"a": 2}}
    values = evaluate(run, qrels, ["WSS@95", "WSS(rel=2)@90"], n_candidates={"p": 2, "q": 10})
    assert values["WSS@95"] == pytest.approx({"p": 0.45, "q": 0.85})
    assert values["WSS(rel=2)@90"] == pytest.approx({"q": 0.8})
    for sizes, words in ((None, "query p"), ({"p": 3}, "query q"), (0, "0 candidates, but 1")):
        with pytest.raises(InputError, match=words):
            evaluate(run, qrels, ["WSS@95"], n_candidates=sizes)


@pytest.mark.parametrize(
    "name", ["R@20", "P@10", "nDCG@10", "RR", "RR@10", "AP", "WSS@95", "WSS(rel=2)@90", "P(rel=2)@10"]
)
def test_a_measure_is_spelled_as_it_is_read(name):
    assert str(parse_measure(name)) == name


def test_other_spellings_have_one_name():
    names = {
        "NDCG@10": "nDCG@10",
        "MRR": "RR",
        "MAP": "AP",
        "Recall@5": "R@5",
        "WSS@95": "WSS@95",
        "WSS(rel=1)@9": "WSS@9",
    }
    assert {name: canonical(name) for name in names} == names
    with pytest.raises(InputError, match="no measure known here"):
        canonical("NDCGG@10")


NO_MEASURES = """foo R P R@0 R@-1 R@1.5 R@True R@'5' R(rel=0)@5 R(x=1)@5 R@5,P@5 WSS WSS@0 WSS@101 WSS(rel=0)@95
    WSS@95.5 ERR@20 nDCG(dcg='exp-log2')@10 nDCG(gains={1:-1})@10 NumQ NumRet R@ r@20 """


@pytest.mark.parametrize("name", ["", "\0", "import os", "R@20\n;1", *NO_MEASURES.split()])
def test_other_names_are_refused(name):
    with pytest.raises(InputError, match="no measure known here"):
        parse_measure(name)


@given(name=st.text(alphabet="RPWSnDCGA@(rel=2)05, '\n.", max_size=12))
def test_any_name_is_a_measure_or_refused(name):
    try:
        measure = parse_measure(name)
    except InputError:
        return
    assert parse_measure(str(measure)) == measure


def test_faulty_rankings_and_sets_are_refused():
    twice = Ranking(("a", "a"), (2.0, 1.0))
    with pytest.raises(InputError, match="query q holds a document twice"):
        evaluate({"q": twice}, {"q": {"a": 1}}, ["R@1"])
    with pytest.raises(InputError, match="twice"):
        recall_curve(twice, {"a"}, 3)
    with pytest.raises(InputError, match="no document is relevant"):
        recall_curve(ranked("a"), set(), 3)
    with pytest.raises(InputError, match="1 candidates, but 2"):
        recall_curve(ranked("a"), {"b"}, 1)
    with pytest.raises(InputError, match="give a list"):
        evaluate({}, {}, "AP")


def test_numbers_that_trec_eval_cannot_hold_are_no_measures() -> None:
    for name in ("P@9999999999999999999999999", "R(rel=99999999999)@5"):
        with pytest.raises(InputError, match="no measure known here"):
            parse_measure(name)
