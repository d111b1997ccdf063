from __future__ import annotations

import random

import pytest
import pytrec_eval

from kg.errors import InputError
from retrieval.comparison import Comparison, assess, compare, work_remarks
from retrieval.ranking import Ranking
from retrieval.significance import cluster_bootstrap, clusters, holm, paired_randomisation

MEASURES = ("R@5", "nDCG@10", "AP", "RR")
NAMES = {"R@5": "recall_5", "nDCG@10": "ndcg_cut_10", "AP": "map", "RR": "recip_rank"}
RNG = random.Random(718)
BLOCKS = {f"q{q}": [f"d{q // 2}.{d}" for d in range(50)] for q in range(60)}
"""Two questions of a block may have relevant documents in common, no others."""
QRELS = {
    query: {document: RNG.choice([0, 1, 1, 2]) for document in RNG.sample(block, 5)} | {block[0]: 1}
    for query, block in BLOCKS.items()
}


def ranked(strength: float) -> dict[str, Ranking]:
    """Judgements seen through noise: the more ``strength``, the better."""
    run = {}
    for query, block in BLOCKS.items():
        scores = {document: strength * QRELS[query].get(document, 0) + RNG.random() for document in block}
        best = sorted(scores, key=lambda document: -scores[document])[:30]
        run[query] = Ranking(tuple(best), tuple(scores[document] for document in best))
    return run


def ranked_as(*ids: str) -> Ranking:
    return Ranking(ids, tuple(float(-rank) for rank in range(len(ids))))


RUNS = {"bm25": ranked(0.3), "dense": ranked(0.5), "ppr": ranked(1.5), "lkg": ranked(0.0)}


def compared(*methods: str, measures: tuple[str, ...] = MEASURES, baseline: str | None = None) -> Comparison:
    qualities = {method: assess(RUNS[method], QRELS, measures, depth=30) for method in methods or RUNS}
    return compare("tiny", qualities, QRELS, baseline)


def test_values_are_pytrec_eval_s() -> None:
    found = compared()
    evaluator = pytrec_eval.RelevanceEvaluator(QRELS, set(NAMES.values()))
    for method, run in RUNS.items():
        theirs = evaluator.evaluate({q: dict(zip(r.ids, r.scores, strict=True)) for q, r in run.items()})
        for measure, name in NAMES.items():
            assert found.values[method][measure] == pytest.approx({q: own[name] for q, own in theirs.items()})
            mean = sum(own[name] for own in theirs.values()) / len(QRELS)
            interval = found.intervals[method][measure]
            assert interval.mean == pytest.approx(mean)
            assert interval.n == len(QRELS)


def test_the_baseline_is_the_best_text_method_by_the_first_measure() -> None:
    assert compared().baseline == "dense"
    assert compared("bm25", "ppr").baseline == "bm25"
    without = compared("ppr", "lkg")
    assert (without.baseline, without.differences) == (None, {})


def test_differences_are_tested_over_clusters_and_adjusted_over_methods() -> None:
    found = compared(baseline="bm25")
    groups = clusters(QRELS)
    assert (found.n_clusters, found.n_queries) == (30, 60)
    for measure in MEASURES:
        base = found.values["bm25"][measure]
        p = {m: paired_randomisation(found.values[m][measure], base, groups) for m in ("dense", "ppr", "lkg")}
        assert {m: d.p for m, d in found.differences[measure].items()} == p
        assert {m: d.adjusted for m, d in found.differences[measure].items()} == holm(p)
        for method, difference in found.differences[measure].items():
            means = [found.intervals[m][measure].mean for m in (method, "bm25")]
            assert difference.mean == pytest.approx(means[0] - means[1])


def test_recall_curves_rise_to_the_depth_of_the_rankings() -> None:
    found = compared(measures=("R@20",))
    for method in RUNS:
        curve = found.recall[method]
        assert list(curve) == [1, 2, 3, 5, 10, 20, 30]
        assert list(curve.values()) == sorted(curve.values())
        assert curve[20] == pytest.approx(found.intervals[method]["R@20"].mean)


def test_nothing_to_compare_is_refused() -> None:
    with pytest.raises(InputError, match="nothing to compare"):
        compare("tiny", {}, QRELS)
    with pytest.raises(InputError, match="nothing to measure"):
        assess(RUNS["bm25"], QRELS, [])
    with pytest.raises(InputError, match="'else' is none of the methods"):
        compared(baseline="else")


def test_rankings_that_end_before_the_recall_of_a_measure_are_remarked_on() -> None:
    qrels = {"p": {"a": 1, "b": 1}, "q": {"a": 1}, "r": {"c": 1, "d": 2}, "s": {"a": 0}}
    runs = {
        "all": {query: ranked_as("a", "b", "c", "d") for query in qrels},
        "cut": {query: ranked_as("a", "c") for query in qrels},  # p lacks b, r lacks d
        "silent": {"p": ranked_as("b"), "q": ranked_as("b", "a"), "s": ranked_as("a")},  # p, and r is not answered
    }
    sizes = dict.fromkeys(qrels, 4)
    measures = ("RR", "WSS@95", "WSS@50", "WSS(rel=2)@95")
    made = {m: assess(run, qrels, measures, n_candidates=sizes) for m, run in runs.items()}
    assert {m: made[m].ended for m in runs} == {
        "all": {"WSS@95": [], "WSS@50": [], "WSS(rel=2)@95": []},
        "cut": {"WSS@95": [2, 2], "WSS@50": [], "WSS(rel=2)@95": [2]},
        "silent": {"WSS@95": [1, 0], "WSS@50": [0], "WSS(rel=2)@95": [0]},
    }
    told = list(work_remarks("tiny", made, 2))
    assert told == [
        "tiny: WSS@95 counts all as read where --top_n 2 ends a ranking before its recall is reached: cut in 2 of 3 "
        "queries; leave --top_n out to rank everything.",
        "tiny: WSS@95 counts all as read where a method finds too few to reach its recall: silent in 2 of 3 queries.",
        "tiny: WSS@50 counts all as read where a method finds too few to reach its recall: silent in 1 of 3 queries.",
        "tiny: WSS(rel=2)@95 counts all as read where --top_n 2 ends a ranking before its recall is reached: cut in "
        "1 of 1 queries; leave --top_n out to rank everything.",
        "tiny: WSS(rel=2)@95 counts all as read where a method finds too few to reach its recall: silent in 1 of 1 "
        "queries.",
    ]
    assert not [remark for remark in work_remarks("tiny", made, None) if "--top_n" in remark]
    assert list(work_remarks("tiny", {"all": made["all"]}, 2)) == []
    assert list(work_remarks("tiny", {"cut": assess(runs["cut"], qrels, ["RR"])}, 2)) == []


def test_given_clusters_are_used_and_named() -> None:
    groups = {query: number % 25 for number, query in enumerate(QRELS)}
    qualities = {method: assess(run, QRELS, MEASURES) for method, run in RUNS.items()}
    found = compare("tiny", qualities, QRELS, "bm25", groups=groups, clustered_by="equal number")
    values = {method: own["AP"] for method, own in found.values.items()}
    assert found.differences["AP"]["ppr"].p == paired_randomisation(values["ppr"], values["bm25"], groups)
    assert found.intervals["ppr"]["AP"] == cluster_bootstrap(values["ppr"], groups)
    assert (found.n_clusters, found.clustered_by) == (25, "equal number")
