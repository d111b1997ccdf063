"""The brief: quotations that stand in their sections, grouped by concepts, with the way on which each was found."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest
import torch

from agents.brief import BriefConfig, find_cautions, write_brief
from agents.brief_writing import LONGEST_WAY, Found, group_by_concept
from agents.key_sentences import MIN_WORDS, key_sentences
from agents.reporting.formats import figures_of
from agents.reporting.markdown import render_markdown
from agents.reporting.model import Note, QuoteBlock, Report, walk
from agents.reporting.store import read_report, write_report
from kg.build import Tools, build_graph, open_graph
from kg.lateral import LateralGraph
from retrieval.bm25 import BM25Index
from retrieval.lexical import section_bm25
from retrieval.methods import Methods
from retrieval.relevance import (
    background_similarity,
    clear_sections,
    common_words,
    coverage,
    relevant_sections,
    unknown_words,
)
from retrieval.seeds import Seeder
from tests.conftest import HashEncoder, paper

QUESTION = "Which risk factors explain expected stock returns?"


@pytest.fixture(scope="module")
def report(sample_graph: LateralGraph, hash_encoder: HashEncoder) -> Report:
    return write_brief(sample_graph, hash_encoder, QUESTION)


def test_every_claim_is_a_passage_of_the_section_it_cites(report: Report, sample_graph: LateralGraph) -> None:
    sections = {row["section_id"]: row for row in sample_graph.sections.to_pylist()}
    sentences = [sentence for _, sentence in walk(report.sections)]
    assert len(sentences) >= 5
    for sentence in sentences:
        (citation,) = sentence.citations
        section = sections[citation.section_id]
        assert section["text"][citation.start : citation.end] == citation.quote == sentence.text
        assert section["sha256"] == citation.sha256
        assert len(citation.quote.split()) >= MIN_WORDS
        assert (sentence.kind, sentence.verdict, sentence.checker) == ("claim", "supported", "verbatim")


def test_references_are_the_graph_s_and_numbered_by_first_citation(report: Report, sample_graph: LateralGraph) -> None:
    papers = {row["doc_id"]: row for row in sample_graph.documents.to_pylist()}
    assert [r.number for r in report.references] == list(range(1, len(report.references) + 1))
    for reference in report.references:
        row = papers[reference.doc_id]
        assert (reference.title, list(reference.authors), reference.year) == (row["title"], row["authors"], row["year"])


def test_each_section_says_how_it_was_found_along_edges_of_the_graph(
    report: Report, sample_graph: LateralGraph
) -> None:
    notes = [block.text for section in report.sections for block in section.blocks if isinstance(block, Note)]
    assert notes
    named = {sample_graph.concepts["label"][row].as_py() for row in Seeder(sample_graph).named(QUESTION)}
    for note in notes:
        if match := re.match("Found by “(.+?)”, (which the question names|a concept near the question)", note):
            assert (match[1] in named) == (match[2] == "which the question names")
    labels = {label: row for row, label in enumerate(sample_graph.concepts["label"].to_pylist())}
    dense = sample_graph.adjacency.to_dense()
    walked = 0
    for note in notes:
        if note.startswith("Found along"):
            path = [part.strip(" .").strip("“”") for part in note.removeprefix("Found along ").split("→")]
            for one, other in pairwise(path):
                assert float(dense[labels[one], labels[other]]) > 0
                walked += 1
    assert walked


def test_headings_are_concepts_that_carry_the_sections_below(
    report: Report, sample_graph: LateralGraph, hash_encoder: HashEncoder
) -> None:
    _, scores = Methods(sample_graph, hash_encoder).ppr.diffuse([QUESTION])
    labels = [label.casefold() for label in sample_graph.concepts["label"].to_pylist()]
    incidence = sample_graph.incidence.to_dense()
    row_of = {s: row for row, s in enumerate(sample_graph.sections["section_id"].to_pylist())}
    for section in report.sections:
        if section.heading.startswith(("Other passages", "How the passages", "Ranked")):
            continue
        concept = labels.index(section.heading.casefold())
        assert float(scores[concept, 0]) > 0
        for _, sentence in walk([section]):
            assert float(incidence[row_of[sentence.citations[0].section_id], concept]) > 0


def test_the_same_question_gives_the_same_bytes_and_reads_back(
    report: Report, sample_graph: LateralGraph, hash_encoder: HashEncoder, tmp_path: Path
) -> None:
    write_report(report, tmp_path / "a")
    write_report(write_brief(sample_graph, hash_encoder, QUESTION), tmp_path / "b")
    for name in ("report.json", "claims.jsonl"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert read_report(tmp_path / "a") == report
    markdown = render_markdown(report)
    assert markdown.startswith(f"# Evidence brief\n\n*{QUESTION}*")
    assert "## References" in markdown


@pytest.mark.parametrize("method", ["ppr", "dense", "bm25", "hybrid"])
def test_top_n_bounds_the_sections_for_every_method(
    method: str, sample_graph: LateralGraph, hash_encoder: HashEncoder
) -> None:
    report = write_brief(sample_graph, hash_encoder, QUESTION, BriefConfig(method=method, top_n=3))
    assert 1 <= len({s.citations[0].section_id for _, s in walk(report.sections)}) <= 3
    assert len(report.passages) <= 3


def test_ranks_and_scores_are_those_of_the_ranking_and_what_is_not_quoted_is_named(
    report: Report, sample_graph: LateralGraph, hash_encoder: HashEncoder
) -> None:
    ranking = Methods(sample_graph, hash_encoder).retriever("hybrid").rank(QUESTION, BriefConfig().top_n)
    assert report.passages
    for passage in report.passages:
        assert passage.rank is not None
        assert ranking.ids[passage.rank - 1] == passage.section_id
        assert ranking.scores[passage.rank - 1] == passage.score
    quoted = {passage.section_id for passage in report.passages}
    (left_out,) = [section for section in report.sections if section.heading == "Ranked, but not quoted"]
    notes = " ".join([*report.notes, *(block.text for block in left_out.blocks)])
    rows = {row["section_id"]: row for row in sample_graph.sections.to_pylist()}
    for section_id in set(ranking.ids) - quoted:
        assert rows[section_id]["heading"] in notes
    assert f"the first {len(ranking.ids)} were read" in notes


def test_the_figure_shows_the_sections_that_are_quoted(report: Report) -> None:
    (figure,) = figures_of(report.sections)
    picture = ET.fromstring(figure.content)
    cards = [node for node in picture.iter() if node.get("class", "").startswith("section ")]
    assert len(cards) == len(report.passages)


def test_a_word_that_no_paper_holds_is_said_first(
    sample_graph: LateralGraph, hash_encoder: HashEncoder, report: Report
) -> None:
    assert report.cautions == ()
    text = sample_graph.sections["text"][5].as_py()
    (caution,) = write_brief(sample_graph, hash_encoder, f"Zygotes, {text}").cautions
    assert caution == "No paper in this graph speaks of “Zygotes”."


def test_passages_that_are_only_related_are_said_to_be(sample_graph: LateralGraph, hash_encoder: HashEncoder) -> None:
    text = sample_graph.sections["text"][5].as_py()
    lexical = section_bm25(sample_graph)
    words = [w for w in text.split() if w.isalpha() and w.lower() not in common_words()]
    for known in range(1, len(words)):  # one unknown word among more and more of a section's own
        question = " ".join(["zygotes", *words[:known]])
        vector = hash_encoder.encode_queries([question])[0]
        if relevant_sections(sample_graph, question, vector, [5], lexical):
            break
    assert not clear_sections(sample_graph, question, vector, range(sample_graph.n_sections), lexical)
    (caution,) = write_brief(sample_graph, hash_encoder, question).cautions
    assert caution.startswith("No passage below is clearly about the question, and none holds")
    assert "“zygotes”" in caution
    assert clear_sections(sample_graph, text, hash_encoder.encode_queries([text])[0], [5], lexical) == {5}


def test_cautions_name_what_is_missing_in_any_form_of_the_word() -> None:
    lexical = BM25Index(["Tariffs shape trade.", "Prices in trade.", "Banks fail in runs."])
    quoted = ["Tariffs shape trade."]
    asked = "How does the shaping of a tariff affect trade?"
    assert find_cautions(asked, quoted, True, lexical) == ["No paper in this graph speaks of “affect”."]
    assert find_cautions("What is the tariff?", quoted, True, lexical) == []
    (caution,) = find_cautions("Why do banks fail after a tariff?", quoted, False, lexical)
    assert "and none holds “banks”, “fail”." in caution
    assert "no word of content" in find_cautions("what is the of and to", quoted, True, lexical)[0]
    assert find_cautions("Tariff trade?", quoted, False, lexical) == [
        "No passage below is clearly about the question. Take them as related to it, not as an answer."
    ]


def test_where_nothing_matches_the_brief_quotes_nothing_and_says_so(
    tools: Tools, hash_encoder: HashEncoder, tmp_path: Path
) -> None:
    texts = [f"The cat number {n} sat on a warm mat quietly." for n in range(9)]
    build_graph(tmp_path / "g", [paper(str(n), text, f"Cat {n}") for n, text in enumerate(texts)], tools)
    report = write_brief(open_graph(tmp_path / "g"), hash_encoder, "量子计算")
    (caution,) = report.cautions
    assert caution.startswith("None of 9 sections of 9 papers is near the question, so nothing is quoted.")
    assert caution.endswith("No paper here speaks of “量子计算”.")
    assert not list(walk(report.sections))
    assert not report.references
    (nearest,) = report.sections
    assert nearest.heading == "Ranked, but not quoted"
    write_report(report, tmp_path / "r")
    assert read_report(tmp_path / "r") == report


def test_one_reason_stands_wherever_a_section_is_shown(report: Report) -> None:
    reasons = {passage.section_id: passage.found for passage in report.passages}
    told = 0
    for section in report.sections:
        for before, block in pairwise(section.blocks):
            if isinstance(before, QuoteBlock) and isinstance(block, Note):
                assert block.text == reasons[before.sentence.citations[0].section_id]
                told += 1
    assert told == len(reasons)


def test_no_reason_is_a_chain_of_many_concepts(report: Report) -> None:
    for passage in report.passages:
        assert passage.found.count("→") < LONGEST_WAY


def test_named_concepts_are_told_from_near_ones(sample_graph: LateralGraph, hash_encoder: HashEncoder) -> None:
    report = write_brief(sample_graph, hash_encoder, "loss aversion")
    assert any("Found by “loss aversion”, which the question names" in passage.found for passage in report.passages)


def test_groups_stand_by_their_best_section(report: Report) -> None:
    rank = {passage.section_id: passage.rank for passage in report.passages}
    best = [
        min(rank[sentence.citations[0].section_id] for _, sentence in walk([section]))
        for section in report.sections
        if list(walk([section])) and not section.heading.startswith("Other")
    ]
    assert best == sorted(best)


def test_a_sentence_that_says_what_was_found_in_the_question_s_words_is_quoted(hash_encoder: HashEncoder) -> None:
    text = (
        "Standard theory says that the minimum wage lowers hiring. It was raised in April. "
        "The study finds no evidence that the minimum wage reduced employment. Restaurants were interviewed twice."
    )
    question = "Does the minimum wage reduce employment?"
    lexical = BM25Index(text.split(". "))
    (chosen,) = key_sentences(
        [text], hash_encoder.encode_queries([question])[0], hash_encoder, 1,
        covered=lambda sentences: coverage(question, sentences, lexical),
    )  # fmt: skip
    assert text[chosen[0].start : chosen[0].end].startswith("The study finds no evidence")


def test_a_paper_s_title_counts_for_its_sections_and_unknown_words_do_not(
    tools: Tools, hash_encoder: HashEncoder, tmp_path: Path
) -> None:
    papers = [paper("a", "Habits and disasters were proposed.", "The equity premium"), paper("b", "Cats sat.", "Cats")]
    build_graph(tmp_path / "g", papers, tools)
    graph = open_graph(tmp_path / "g")
    away = -torch.nn.functional.normalize(graph["section"].x.sum(dim=0), dim=0)
    found = relevant_sections(graph, "What drives the equity premium?", away, [0, 1], section_bm25(graph))
    assert found == {0}


def test_groups_cover_all_sections_once_and_the_best_concept_comes_first() -> None:
    found = [
        Found(0, 1, 0.5, [], [(7, 0.9), (8, 0.1)]),
        Found(1, 2, 0.4, [], [(7, 0.5), (9, 0.5)]),
        Found(2, 3, 0.3, [], [(9, 0.8)]),
        Found(3, 4, 0.1, [], []),
    ]
    grouped = group_by_concept(found, groups=5)
    assert [(concept, [f.row for f in own]) for concept, own in grouped] == [(7, [0, 1]), (9, [2]), (None, [3])]
    assert [(c, [f.row for f in own]) for c, own in group_by_concept(found, groups=1)] == [(7, [0, 1]), (None, [2, 3])]


def test_groups_need_no_positive_scores() -> None:
    found = [Found(0, 1, -0.5, [], [(9, 0.9), (2, 0.1)]), Found(1, 2, -2.0, [], [(9, 0.8), (3, 0.2)])]
    assert [concept for concept, _ in group_by_concept(found, groups=1)] == [9]


def test_key_sentences_are_near_the_question_whole_and_said_once(hash_encoder: HashEncoder) -> None:
    texts = [
        "Short one. Loss aversion makes losses loom larger than gains. The harbour was full of small boats that day.",
        "Loss aversion makes losses loom larger than gains.",
        "Tiny.",
        "",
    ]
    question = hash_encoder.encode_queries(["loss aversion, losses and gains"])[0]
    chosen = key_sentences(texts, question, hash_encoder, per_text=1)
    assert texts[0][chosen[0][0].start : chosen[0][0].end] == "Loss aversion makes losses loom larger than gains."
    assert chosen[1] == []
    assert [texts[2][s.start : s.end] for s in chosen[2]] == ["Tiny."]
    assert chosen[3] == []


def test_coverage_weighs_rare_words_more() -> None:
    corpus = ["risk and return", "risk of loss", "risk premium", "loss aversion in risk"]
    lexical = BM25Index(corpus)
    common, rare = coverage("risk aversion", ["risk premium", "loss aversion"], lexical)
    assert 0 < common < rare < 1
    assert coverage("risk aversion", ["risk aversion"], lexical) == [pytest.approx(1.0)]
    assert coverage("the of", ["risk"], lexical) == [0.0]
    assert unknown_words("Is “obesity” a risk of loss, or of Aversions?", lexical) == ["obesity"]


def test_relevance_is_calibrated_on_unrelated_sections(sample_graph: LateralGraph, hash_encoder: HashEncoder) -> None:
    threshold = background_similarity(sample_graph)
    assert threshold == background_similarity(sample_graph)
    rows = list(range(sample_graph.n_sections))
    text = sample_graph.sections["text"][5].as_py()
    vector = hash_encoder.encode_queries([text])[0]
    lexical = section_bm25(sample_graph)
    assert 5 in relevant_sections(sample_graph, text, vector, rows, lexical)
    assert relevant_sections(sample_graph, "zzz", -vector, rows, lexical) == set()
    # An encoder that has no such letters gives any vector for them.
    assert relevant_sections(sample_graph, "ფიზიკა", vector, rows, lexical) == set()
    assert relevant_sections(sample_graph, text, vector, [], lexical) == set()
