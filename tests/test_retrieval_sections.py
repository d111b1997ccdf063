"""Seeds, section scores and the four methods, against brute force on small graphs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from kg.build import Tools, add_documents, build_graph, open_graph
from kg.errors import InputError
from kg.lateral import LateralGraph
from retrieval.diffusion import personalized_pagerank
from retrieval.graph_methods import linked
from retrieval.lexical import section_bm25
from retrieval.method_names import METHODS
from retrieval.methods import Methods
from retrieval.questions import checked_question
from retrieval.sections import GraphConfig, SectionScorer
from retrieval.seeds import SeedConfig, Seeder
from tests.conftest import HashEncoder, paper

QUESTIONS = ["How does information distort orders in a supply chain?", "loss aversion", "false discovery rate"]


@pytest.mark.parametrize(("b", "g"), [(0.0, 0.0), (0.5, 0.5), (1.0, 0.3)])
def test_section_scores_are_the_formula(sample_graph: LateralGraph, b: float, g: float) -> None:
    pi = torch.rand(sample_graph.n_concepts, 3, generator=torch.Generator().manual_seed(0))
    scores = SectionScorer(sample_graph, GraphConfig(size_exponent=b, spread_exponent=g))(pi)
    held: list[set[int]] = [set() for _ in range(sample_graph.n_sections)]
    for row in sample_graph.mentions.to_pylist():
        held[row["section"]].add(row["concept"])
    n = np.zeros(sample_graph.n_concepts)
    for concepts in held:
        for v in concepts:
            n[v] += 1
    for s, concepts in enumerate(held):
        size = max(len(concepts), 1) ** -b
        expected = [size * sum(float(pi[v, q]) * n[v] ** -g for v in concepts) for q in range(3)]
        assert scores[s].tolist() == pytest.approx(expected, rel=1e-4, abs=1e-9)


def test_ppr_is_seeds_then_diffusion_then_scores(sample_graph: LateralGraph, hash_encoder: HashEncoder) -> None:
    methods = Methods(sample_graph, hash_encoder)
    seeds, scores = methods.ppr.diffuse(QUESTIONS)
    again = personalized_pagerank(
        linked(sample_graph, GraphConfig().link_weight), seeds, alpha=0.3, normalization="symmetric"
    ).scores
    assert torch.allclose(scores, again, atol=1e-6)
    sections = methods.ppr.scorer(scores)
    for column, ranking in enumerate(methods.retriever("ppr").retrieve(QUESTIONS, 5).values()):
        best = sorted(range(sample_graph.n_sections), key=lambda s: (-float(sections[s, column]), s))[:5]
        assert ranking.ids == tuple(sample_graph.sections["section_id"][s].as_py() for s in best)


@pytest.mark.parametrize("method", METHODS)
def test_a_batch_gives_what_single_questions_give(
    method: str, sample_graph: LateralGraph, hash_encoder: HashEncoder
) -> None:
    retriever = Methods(sample_graph, hash_encoder).retriever(method)
    batch = list(retriever.retrieve(QUESTIONS, 7).values())
    assert batch == [retriever.rank(question, 7) for question in QUESTIONS]
    for ranking in batch:
        assert 0 < len(ranking.ids) <= 7
        assert len(set(ranking.ids)) == len(ranking.ids)
        assert list(ranking.scores) == sorted(ranking.scores, reverse=True)


@pytest.mark.parametrize("method", [method for method in METHODS if method != "names"])
def test_the_paper_that_a_question_names_comes_first(
    method: str, sample_graph: LateralGraph, hash_encoder: HashEncoder
) -> None:
    ranking = Methods(sample_graph, hash_encoder).retriever(method).rank("the false discovery rate (FDR)", 3)
    papers = {row["doc_id"]: row["title"] for row in sample_graph.documents.to_pylist()}
    assert "False Discovery Rate" in papers[ranking.ids[0].rpartition("#")[0]]


def test_names_finds_what_holds_the_name_first(sample_graph: LateralGraph) -> None:
    question, forms = "the false discovery rate (FDR)", sample_graph.concepts["form"].to_pylist()
    concept = forms.index("false discovery rate")
    holding = {row["section"] for row in sample_graph.mentions.to_pylist() if row["concept"] == concept}
    ranking = Methods(sample_graph, None).retriever("names").rank(question, len(holding))
    assert {sample_graph.sections["section_id"].to_pylist().index(found) for found in ranking.ids} == holding


def test_seeds_are_neighbours_and_named_concepts(sample_graph: LateralGraph, hash_encoder: HashEncoder) -> None:
    seeder = Seeder(sample_graph, SeedConfig(near=0, section=0))
    question = "Is CAPM about supply-chains?"
    named = {sample_graph.concepts["form"][c].as_py() for c in seeder.named(question)}
    assert named == {"capital asset pricing model", "supply chain"}
    column = seeder.personalization([question], hash_encoder.encode_queries([question]))[:, 0]
    assert set(column.nonzero().flatten().tolist()) == set(seeder.named(question))
    nine = Seeder(sample_graph, SeedConfig(near=1, neighbours=9, section=0))
    wide = nine.personalization(["xyzzy"], hash_encoder.encode_queries(["xyzzy"]))
    assert 0 < int((wide > 0).sum()) <= 9
    assert bool((wide >= 0).all())


def test_sections_seed_what_they_hold(sample_graph: LateralGraph, hash_encoder: HashEncoder) -> None:
    text = sample_graph.sections["text"][7].as_py()
    vector = sample_graph["section"].x[7:8]
    held = set(sample_graph.incidence.to_dense()[7].nonzero().flatten().tolist())
    by_vector = Seeder(sample_graph, SeedConfig(near=0, named=0, sections=1))
    column = by_vector.personalization(["xyzzy"], vector)[:, 0]
    assert set(column.nonzero().flatten().tolist()) == held
    assert float(column.sum()) == pytest.approx(1.0, abs=1e-5)
    words = SeedConfig(near=0, named=0, sections=1, lexical=100.0)
    by_words = Seeder(sample_graph, words, section_bm25(sample_graph)).personalization([text], -vector)[:, 0]
    assert set(by_words.nonzero().flatten().tolist()) == held
    usable = torch.ones(1, sample_graph.n_sections, dtype=torch.bool)
    usable[0, 7] = False
    hidden = by_vector.personalization(["xyzzy"], vector, usable)[:, 0]
    assert set(hidden.nonzero().flatten().tolist()) != held
    none = by_vector.personalization(["xyzzy"], vector, torch.zeros_like(usable))
    assert float(none.sum()) == 0.0


def test_the_bm25_index_is_kept_beside_the_graph_and_made_again_when_damaged(
    tools: Tools, hash_encoder: HashEncoder, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    directory = tmp_path / "g"
    build_graph(directory, [paper("a", "Loss aversion matters."), paper("b", "Supply chains matter.")], tools)
    fresh = section_bm25(open_graph(directory)).search(["loss aversion chains"], 5)
    (path,) = (directory / "cache").glob("bm25-*/data*")
    kept = section_bm25(open_graph(directory)).search(["loss aversion chains"], 5)
    for (values, rows), (again, same) in zip(fresh, kept, strict=True):
        assert torch.equal(values, again)
        assert torch.equal(rows, same)
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)
    assert section_bm25(open_graph(directory)).search(["chains"], 5)[0][1].tolist() == [1]
    assert "damaged" in caplog.text
    add_documents(directory, [paper("c", "Minimum wages matter.")], tools)
    assert section_bm25(open_graph(directory)).search(["wages"], 5)[0][1].tolist() == [2]
    assert len(list((directory / "cache").glob("bm25-*"))) == 1


def test_of_names_within_names_only_the_longest_seeds(tools: Tools, tmp_path: Path) -> None:
    texts = [f"Supply chain contracts matter. A supply chain is long. The chain {n} broke." for n in range(3)]
    build_graph(tmp_path / "g", [paper(str(n), text) for n, text in enumerate(texts)], tools)
    graph = open_graph(tmp_path / "g")
    named = [graph.concepts["form"][c].as_py() for c in Seeder(graph).named("a supply chain")]
    assert named == ["supply chain"]


def test_an_empty_graph_and_an_empty_question_are_refused_in_a_sentence(
    tools: Tools, sample_graph: LateralGraph, tmp_path: Path
) -> None:
    build_graph(tmp_path / "g", [], tools)
    with pytest.raises(InputError, match="holds no section"):
        checked_question(open_graph(tmp_path / "g"), "risk", 5)
    for empty in ("", "  \n", "?!…", "\ud800"):
        with pytest.raises(InputError, match="question is empty"):
            checked_question(sample_graph, empty, 5)
    with pytest.raises(InputError, match="top_n"):
        checked_question(sample_graph, "risk", 0)
    assert checked_question(sample_graph, " loss\n aversion ", 1) == "loss aversion"


@pytest.mark.parametrize("method", METHODS)
def test_papers_without_any_concept_do_not_break_a_method(
    method: str, tools: Tools, hash_encoder: HashEncoder, tmp_path: Path
) -> None:
    build_graph(tmp_path / "g", [paper("a", "of the and"), paper("b", "it was so")], tools)
    graph = open_graph(tmp_path / "g")
    ranking = Methods(graph, hash_encoder).retriever(method).rank("risk", 5)
    assert len(ranking.ids) in (0, 2)


def test_unknown_methods_and_missing_encoders_are_named(sample_graph: LateralGraph) -> None:
    with pytest.raises(InputError, match="magic"):
        Methods(sample_graph, None).retriever("magic")
    with pytest.raises(InputError, match="encoder"):
        Methods(sample_graph, None).retriever("dense")
    assert Methods(sample_graph, None).retriever("bm25").rank("lasso", 1).ids


@pytest.mark.gpu
def test_the_graph_moves_to_a_gpu_and_diffuses_there(sample_graph: LateralGraph, hash_encoder: HashEncoder) -> None:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device here")
    seeds = Seeder(sample_graph).personalization(QUESTIONS, hash_encoder.encode_queries(QUESTIONS))
    here = personalized_pagerank(sample_graph.adjacency, seeds).scores
    graph = sample_graph.clone().to("cuda")
    there = personalized_pagerank(graph.adjacency, seeds.to("cuda")).scores
    assert float((here - there.cpu()).abs().sum(dim=0).max()) <= 1e-5
