from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kg.build import Tools, open_graph
from kg.errors import GraphError, InputError
from kg.lateral import LateralGraph
from kg.records import Document
from kg.sectioning import SectioningConfig
from retrieval.batch import BatchConfig
from retrieval.collection import Collection, read_collection
from retrieval.experiment import Experiment, ExperimentConfig, corpus_graph
from retrieval.experiment_results import left_out
from retrieval.methods import HYBRID_WEIGHTS
from retrieval.queries import Query
from retrieval.rerank import RerankConfig
from tests.beir_folder import PAPERS, QRELS, write_beir
from tests.conftest import HashEncoder, paper

CORPUS = [paper(key, text, f"Paper {key}") for key, text in PAPERS.items()]


@pytest.fixture(scope="module")
def graph(tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> LateralGraph:
    directory = tmp_path_factory.mktemp("experiment") / "graph"
    corpus_graph(directory, [*CORPUS, Document("empty", "")], tools)
    return open_graph(directory)


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    return read_collection(write_beir(tmp_path / "tiny"))


def test_a_graph_of_the_corpus_is_kept(tmp_path: Path, tools: Tools) -> None:
    first = corpus_graph(tmp_path / "g", CORPUS, tools)
    again = corpus_graph(tmp_path / "g", CORPUS, tools)
    assert (len(first.added), first.generation) == (8, 1)
    assert (len(again.unchanged), again.generation) == (8, 0)


@pytest.mark.parametrize(
    "corpus", [CORPUS[:5], [*CORPUS, paper("d9", "More on bonds.")], [paper("d1", "Else."), *CORPUS[1:]]]
)
def test_a_graph_of_another_corpus_becomes_that_of_this_one(
    tmp_path: Path, tools: Tools, corpus: list[Document]
) -> None:
    corpus_graph(tmp_path / "g", CORPUS, tools)
    corpus_graph(tmp_path / "g", corpus, tools)
    corpus_graph(tmp_path / "fresh", corpus, tools)
    assert open_graph(tmp_path / "g").manifest["files"] == open_graph(tmp_path / "fresh").manifest["files"]


def test_a_graph_with_other_settings_is_refused_unless_it_may_go(tmp_path: Path, tools: Tools) -> None:
    corpus_graph(tmp_path / "g", CORPUS, tools)
    other = replace(tools, config=replace(tools.config, sectioning=SectioningConfig(max_words=50, min_words=5)))
    with pytest.raises(GraphError, match=r"sectioning.*--overwrite"):
        corpus_graph(tmp_path / "g", CORPUS, other)
    corpus_graph(tmp_path / "g", CORPUS, other, overwrite=True)
    assert open_graph(tmp_path / "g").manifest["configuration"]["sectioning"]["max_words"] == 50


def test_answers_that_no_method_can_find_are_counted(graph: LateralGraph, tmp_path: Path) -> None:
    qrels = {"tiny": {"q1": {"d1": 1, "empty": 1, "gone": 2}}}
    made = Experiment(
        Collection("tiny", (Query("q1", "Vitamin D?"),), qrels, ("dev",)), graph, None, tmp_path,
        ExperimentConfig(("bm25",)),
    )  # fmt: skip
    assert made.remarks == [
        "tiny: 2 of 3 relevant documents are not in the graph or have no text there; no method can find them.",
    ]


def test_judgements_of_another_corpus_or_unit_are_refused(
    graph: LateralGraph, collection: Collection, tmp_path: Path
) -> None:
    config = ExperimentConfig(("bm25",), batch=BatchConfig(unit="section"))
    with pytest.raises(InputError, match=r"none of the 8 relevant sections of tiny\.dev"):
        Experiment(collection, graph, None, tmp_path, config)


def test_exclusions_lower_the_number_of_candidates(
    graph: LateralGraph, collection: Collection, tmp_path: Path, hash_encoder: HashEncoder
) -> None:
    """WSS@95 of a ranking of all that may be ranked: (N - rank of the last relevant) / N - .05."""
    queries = tuple(
        replace(query, excluded=frozenset({"d4", "d6", "nowhere"})) if query.query_id == "q1" else query
        for query in collection.queries
    )
    config = ExperimentConfig(("dense",), ("WSS@95",))
    made = Experiment(replace(collection, queries=queries), graph, hash_encoder, tmp_path, config)
    made.run()
    (comparison, _), timings = made.evaluate()
    run = {}
    for line in (tmp_path / "runs" / "tiny.dense.trec").read_text().splitlines():
        query, _, document, *_ = line.split()
        run.setdefault(query, []).append(document)
    for query, value in comparison.values["dense"]["WSS@95"].items():
        relevant = {document for document, score in QRELS["dev"][query].items() if score > 0}
        n = 6 if query == "q1" else 8
        assert len(run[query]) == n
        assert value == pytest.approx((n - max(run[query].index(d) + 1 for d in relevant)) / n - 0.05)
    assert timings["dense"].n == 6


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"methods": ("bm25", "psr")}, "no method 'psr'; use one of hybrid, text, ppr"),
        ({"methods": ()}, "No method is named"),
        ({"methods": ("bm25", "bm25")}, "method bm25 is named twice"),
        ({"measures": ("RR", "RR")}, "measure RR is named twice"),
        ({"measures": ("RR", "MRR")}, "measure RR is named twice"),
        ({"measures": ("nDCGG@10",)}, "'nDCGG@10' is no measure known here"),
        ({"baseline": "dense"}, "baseline 'dense' is none of the methods"),
        ({"methods": ("psr+rerank",)}, r"no method 'psr'; use one of hybrid, .*, or one of them with \+rerank"),
        ({"methods": ("bm25+rerank+rerank",)}, r"no method 'bm25\+rerank'"),
        ({"methods": ("+rerank",)}, "no method ''"),
        ({"methods": ("bm25", "bm25+rerank")}, r"bm25\+rerank needs a cross-encoder; name its folder with --rerank"),
    ],
)
def test_what_cannot_be_compared_is_refused(change: dict[str, tuple[str, ...]], words: str) -> None:
    with pytest.raises(InputError, match=words):
        ExperimentConfig(**{"methods": ("bm25",), **change})  # type: ignore[arg-type]


@pytest.fixture
def reranking(tmp_path: Path) -> RerankConfig:
    """A folder that is taken for a cross-encoder as long as nobody loads it."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    return RerankConfig(tmp_path / "model", 7)


def test_a_cross_encoder_that_nothing_uses_is_refused(reranking: RerankConfig) -> None:
    with pytest.raises(InputError, match=r"no method reranks; put \+rerank after those that shall, as bm25\+rerank"):
        ExperimentConfig(("bm25", "dense"), reranking=reranking)


def test_what_reranks_is_known_by_its_model_and_nothing_else_is(
    graph: LateralGraph, collection: Collection, tmp_path: Path, reranking: RerankConfig
) -> None:
    methods = ("bm25", "bm25+rerank")
    plain = Experiment(collection, graph, None, tmp_path, ExperimentConfig(("bm25",)))
    reranked = Experiment(collection, graph, None, tmp_path, ExperimentConfig(methods, reranking=reranking))
    known = plain.configuration("bm25")
    assert not [name for name in known if "rerank" in name]
    assert reranked.configuration("bm25") == known
    assert reranked.configuration("bm25+rerank") == {
        **known, "method": "bm25+rerank", "reranker": reranking.fingerprint, "rerank_depth": 7,
    }  # fmt: skip


def test_only_methods_that_embed_need_an_encoder(reranking: RerankConfig) -> None:
    for methods, needed in ((("bm25+rerank",), False), (("bm25+rerank", "bm25"), False), (("dense+rerank",), True)):
        assert ExperimentConfig(methods, reranking=reranking).needs_encoder is needed


def test_the_weights_of_hybrid_decide_its_rankings_and_no_others(
    graph: LateralGraph, collection: Collection, hash_encoder: HashEncoder, tmp_path: Path
) -> None:
    experiment = Experiment(collection, graph, hash_encoder, tmp_path, ExperimentConfig(("hybrid", "bm25")))
    assert experiment.configuration("hybrid")["weights"] == dict(HYBRID_WEIGHTS)
    assert "weights" not in experiment.configuration("bm25")


def test_measures_go_by_one_name() -> None:
    assert ExperimentConfig(("bm25",), ("NDCG@10", "WSS@95")).measures == ("nDCG@10", "WSS@95")


def made(graph: LateralGraph, collection: Collection, out: Path, config: ExperimentConfig) -> Experiment:
    experiment = Experiment(collection, graph, HashEncoder(), out, config)
    experiment.check()
    experiment.run()
    experiment.evaluate()
    return experiment


def test_rankings_hold_all_where_a_measure_looks_for_the_last(
    graph: LateralGraph, collection: Collection, tmp_path: Path
) -> None:
    short = ExperimentConfig(("dense",), ("RR",), batch=BatchConfig(top_n=3), deepen=True)
    assert made(graph, collection, tmp_path / "a", short).batch.top_n == 3
    with pytest.raises(InputError, match="holds results with top_n 3, not 8"):
        made(graph, collection, tmp_path / "a", replace(short, measures=("WSS@95",)))
    whole = made(graph, collection, tmp_path / "b", replace(short, measures=("RR", "WSS@95")))
    assert whole.batch.top_n == 8
    assert not [remark for remark in whole.remarks if "counts all as read" in remark]
    # what is done decides, also for a method beside it
    beside = replace(short, methods=("lkg", "dense"))
    again = made(graph, collection, tmp_path / "b", beside)
    assert (again.batch.top_n, again.configuration("lkg")["top_n"]) == (8, 8)
    anew = Experiment(collection, graph, HashEncoder(), tmp_path / "b", beside)
    anew.start_anew()
    assert anew.batch.top_n == 3


def test_a_state_that_a_kill_tore_has_no_say(graph: LateralGraph, collection: Collection, tmp_path: Path) -> None:
    state = tmp_path / "state" / "tiny" / "dense"
    state.mkdir(parents=True)
    for number, text in enumerate(('{"configuration": {"top_n": 90', "[]", "", '{"configuration": {"top_n": null}}')):
        (state / f"{number}.jsonl").write_text(text)
    config = ExperimentConfig(("dense",), ("RR",), batch=BatchConfig(top_n=3), deepen=True)
    assert Experiment(collection, graph, HashEncoder(), tmp_path, config).batch.top_n == 3
    (state / "4.jsonl").write_text('{"configuration": {"top_n": 5}}\n')
    assert Experiment(collection, graph, HashEncoder(), tmp_path, config).batch.top_n == 5


def test_a_given_length_is_kept_and_what_it_cuts_is_said(
    graph: LateralGraph, collection: Collection, tmp_path: Path
) -> None:
    config = ExperimentConfig(("dense", "lkg"), ("WSS@95",), batch=BatchConfig(top_n=1))
    remarks = made(graph, collection, tmp_path, config).remarks
    (told,) = [remark for remark in remarks if remark.startswith("tiny.dev: WSS@95")]
    # of five queries four have two relevant documents
    cut = [int(part.split(" of 5")[0].split()[-1]) for part in told.split(", ")]
    assert all(4 <= n <= 5 for n in cut)
    assert "where --top_n 1 ends a ranking" in told


def test_facts_that_there_are_none_of_are_remarked_on(
    graph: LateralGraph, collection: Collection, tmp_path: Path, reranking: RerankConfig
) -> None:
    for methods, words in (
        (("facts", "dense"), "facts ranks as dense does."),
        (("facts+rerank", "facts"), "facts+rerank and facts rank as dense does."),
    ):
        config = ExperimentConfig(methods, reranking=reranking if "facts+rerank" in methods else None)
        remarks = Experiment(collection, graph, HashEncoder(), tmp_path, config).remarks
        assert remarks[-1] == f"tiny: the graph has no asserted relations, so {words}"
    remarks = Experiment(collection, graph, HashEncoder(), tmp_path, ExperimentConfig(("dense", "hybrid"))).remarks
    assert not [remark for remark in remarks if "asserted" in remark]


def test_what_tables_leave_out_is_found(graph: LateralGraph, collection: Collection, tmp_path: Path) -> None:
    made(graph, collection, tmp_path, ExperimentConfig(("dense", "bm25")))
    made(graph, replace(collection, name="other"), tmp_path, ExperimentConfig(("lkg",)))
    begun = Experiment(collection, graph, None, tmp_path, ExperimentConfig(("bm25_metasyn",)))
    begun.run()  # and not evaluated, so that it may be unfinished
    assert left_out(tmp_path, ["tiny"], ["dense"]) == {"other": ["lkg"], "tiny": ["bm25"]}
    assert left_out(tmp_path, ["tiny", "other"], ["dense", "bm25", "lkg"]) == {}
    begun = Experiment(collection, graph, None, tmp_path, ExperimentConfig(("bm25",)))
    begun.start_anew()  # whose run stays, and is not brought back at once
    assert left_out(tmp_path, ["tiny", "other"], ["dense", "lkg"]) == {}
    assert left_out(tmp_path / "nowhere", ["tiny"], ["dense"]) == {}


def test_a_measure_that_no_query_has_anything_for_is_refused_before_asking(
    graph: LateralGraph, collection: Collection, tmp_path: Path
) -> None:
    config = ExperimentConfig(("bm25",), ("R@5", "P(rel=2)@5"))
    with pytest.raises(InputError, match=r"P\(rel=2\)@5 counts no document of tiny\.test as relevant"):
        Experiment(collection, graph, None, tmp_path, config).check()


def test_ranks_that_rankings_do_not_have_are_remarked_on(
    graph: LateralGraph, collection: Collection, tmp_path: Path
) -> None:
    for top_n, said in ((3, True), (1000, False)):
        config = ExperimentConfig(("bm25",), ("R@5",), batch=BatchConfig(top_n=top_n))
        experiment = Experiment(collection, graph, None, tmp_path / str(top_n), config)
        experiment.run()
        experiment.evaluate()
        assert any("R@5 looks at 5 ranks and rankings hold 3" in remark for remark in experiment.remarks) == said
