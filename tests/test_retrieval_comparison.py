from __future__ import annotations

import random

import pytest
import pytrec_eval

from kg.errors import InputError
from retrieval.comparison import Comparison, assess, compare
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


def test_given_clusters_are_used_and_named() -> None:
    groups = {query: number % 25 for number, query in enumerate(QRELS)}
    qualities = {method: assess(run, QRELS, MEASURES) for method, run in RUNS.items()}
    found = compare("tiny", qualities, QRELS, "bm25", groups=groups, clustered_by="equal number")
    values = {method: own["AP"] for method, own in found.values.items()}
    assert found.differences["AP"]["ppr"].p == paired_randomisation(values["ppr"], values["bm25"], groups)
    assert found.intervals["ppr"]["AP"] == cluster_bootstrap(values["ppr"], groups)
    assert (found.n_clusters, found.clustered_by) == (25, "equal number")
