"""The neighbourhood of a question: what is shown explains the sections, is evidenced, and adds up with what is not."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from kg.build import Tools, build_graph, open_graph
from kg.errors import InputError
from kg.lateral import LateralGraph
from kg.names import name_form
from retrieval.methods import Methods
from retrieval.neighbourhood import NeighbourhoodConfig, find_neighbourhood, neighbourhood
from retrieval.neighbourhood.evidence import Evidence
from retrieval.neighbourhood.nodes import Neighbourhood
from retrieval.paths import contributions
from retrieval.questions import NoMatchError
from retrieval.relevance import relevant_sections
from retrieval.sections import GraphConfig
from tests.conftest import HashEncoder, paper

QUESTIONS = (
    "Which risk factors explain expected stock returns?",
    "asymmetric information",
    "It is the number that counts, not what it stands for",
)


@pytest.fixture(scope="module", params=QUESTIONS)
def shown(request: pytest.FixtureRequest, sample_graph: LateralGraph, hash_encoder: HashEncoder) -> Neighbourhood:
    return neighbourhood(sample_graph, hash_encoder, request.param)


def drawn(shown: Neighbourhood) -> nx.Graph:
    """Concepts and relations as drawn."""
    graph = nx.Graph()
    graph.add_nodes_from(c.row for c in shown.concepts)
    graph.add_weighted_edges_from((link.source, link.target, link.weight) for link in shown.relations)
    return graph


def whole(graph: LateralGraph, rows: list[int]) -> nx.Graph:
    """The diffusion graph among ``rows``."""
    dense = graph.adjacency.to_dense().numpy()[np.ix_(rows, rows)]
    return nx.relabel_nodes(nx.from_numpy_array(dense), dict(enumerate(rows)))


def names_in(text: str, graph: LateralGraph, concept: int) -> bool:
    forms = [name_form(alias) for alias in graph.concepts["aliases"][concept].as_py()]
    return any(f" {form} " in f" {name_form(text)} " for form in forms)


def test_a_question_has_one_neighbourhood(shown: Neighbourhood, sample_graph: LateralGraph) -> None:
    assert neighbourhood(sample_graph, HashEncoder(), shown.question) == shown
    assert shown.concepts
    assert shown.sections


def test_links_join_what_is_shown_and_are_the_graph_s(shown: Neighbourhood, sample_graph: LateralGraph) -> None:
    concepts, sections = {c.row for c in shown.concepts}, {s.row for s in shown.sections}
    adjacency, incidence = sample_graph.adjacency.to_dense(), sample_graph.incidence.to_dense()
    for link in shown.relations:
        assert {link.source, link.target} <= concepts
        assert link.weight == float(adjacency[link.source, link.target]) > 0
    pairs = {(m.concept, m.section): m.count for m in shown.mentions}
    assert len(pairs) == len(shown.mentions)
    assert pairs == {(c, s): int(incidence[s, c]) for c in concepts for s in sections if incidence[s, c] > 0}


def test_every_section_is_led_to_by_a_concept_or_said_to_be_found_by_wording(shown: Neighbourhood) -> None:
    led = {m.section for m in shown.mentions if m.drawn}
    assert led | set(shown.wording) == {s.row for s in shown.sections}
    assert not led & set(shown.wording)
    most = Counter(m.section for m in shown.mentions if m.drawn)
    assert max(most.values()) <= NeighbourhoodConfig().carriers


def test_distances_are_those_of_the_relations_drawn(shown: Neighbourhood) -> None:
    graph = drawn(shown)
    seeds = [c.row for c in shown.concepts if c.seed]
    assert seeds
    found = nx.multi_source_dijkstra_path_length(graph, set(seeds), weight=lambda *_: 1)
    for concept in shown.concepts:
        assert concept.distance == found.get(concept.row, -1)
        assert (concept.distance == 0) == (concept.seed is not None)


def test_scores_and_shares_are_those_of_the_diffusion(shown: Neighbourhood, sample_graph: LateralGraph) -> None:
    _, scores = Methods(sample_graph, HashEncoder()).ppr.diffuse([shown.question])
    for concept in shown.concepts:
        assert concept.score == float(scores[concept.row, 0])
    kept = 0.0
    for section in shown.sections:
        shares = dict(contributions(sample_graph, section.row, scores[:, 0], GraphConfig().spread_exponent))
        own = {m.concept: m.share for m in shown.mentions if m.section == section.row}
        assert own == {concept: shares.get(concept, 0.0) for concept in own}
        kept += sum(own.values())
    assert shown.left_out.carried == pytest.approx(kept / len(shown.sections))


def test_what_is_left_out_and_what_is_shown_make_the_whole(shown: Neighbourhood, sample_graph: LateralGraph) -> None:
    out, rows = shown.left_out, [c.row for c in shown.concepts]
    assert len(shown.relations) + out.relations == whole(sample_graph, rows).number_of_edges()
    assert sum(not m.drawn for m in shown.mentions) == out.mentions
    encoder = HashEncoder()
    methods = Methods(sample_graph, encoder)
    ids = methods.retriever("hybrid").rank(shown.question, 100).ids
    place = {s: row for row, s in enumerate(sample_graph.sections["section_id"].to_pylist())}
    ranked = [place[i] for i in ids]
    vector = encoder.encode_queries([shown.question])[0]
    bearing = relevant_sections(sample_graph, shown.question, vector, ranked, methods.lexical)
    assert out.ranked == len(ranked)
    assert len(shown.sections) + out.sections == len(bearing)
    assert [s.row for s in shown.sections] == [row for row in ranked if row in bearing][: len(shown.sections)]


def evidence_of(shown: Neighbourhood) -> list[tuple[Evidence, tuple[int, ...]]]:
    found = [(link.evidence, (link.source, link.target)) for link in shown.relations]
    found += [(m.evidence, (m.concept,)) for m in shown.mentions if m.evidence]
    return found + [(e, (row,)) for row, own in shown.elsewhere.items() for e in own]


def test_evidence_stands_in_its_section_and_names_the_concepts(
    shown: Neighbourhood, sample_graph: LateralGraph
) -> None:
    for evidence, concepts in evidence_of(shown):
        section = shown.section(evidence.section)
        if evidence.start >= 0:
            assert section.text[evidence.start : evidence.end] == evidence.text
        else:
            whole = f"{section.title} · {section.heading}"
            assert evidence.text in {section.heading, section.title, whole}
        assert all(names_in(evidence.text, sample_graph, concept) for concept in concepts), evidence
        assert evidence.marks
        for start, end in evidence.marks:
            assert any(names_in(evidence.text[start:end], sample_graph, concept) for concept in concepts)
    assert all(m.evidence is not None for m in shown.mentions)


def test_marks_in_a_section_name_the_concept(shown: Neighbourhood, sample_graph: LateralGraph) -> None:
    for mention in shown.mentions:
        text = shown.section(mention.section).text
        for start, end in mention.spans:
            assert names_in(text[start:end], sample_graph, mention.concept)


def test_sections_elsewhere_mention_the_concept_and_are_not_shown(
    shown: Neighbourhood, sample_graph: LateralGraph
) -> None:
    holders = sample_graph.holders.to_dense()
    inside = {s.row for s in shown.sections}
    for concept in shown.concepts:
        own = [e.section for e in shown.elsewhere[concept.row]]
        counts = [int(holders[concept.row, row]) for row in own]
        assert not inside & set(own)
        assert counts == sorted(counts, reverse=True)
        assert all(counts)
        here = sum(m.concept == concept.row for m in shown.mentions)
        assert len(own) == min(concept.sections - here, NeighbourhoodConfig().listed)


@pytest.mark.parametrize("limits", [{"sections": 3, "seeds": 1, "concepts": 4, "relations": 2}, {"concepts": 0}])
def test_limits_hold(sample_graph: LateralGraph, hash_encoder: HashEncoder, limits: dict[str, int]) -> None:
    shown = neighbourhood(sample_graph, hash_encoder, QUESTIONS[0], NeighbourhoodConfig(**limits))
    further = [c for c in shown.concepts if not c.seed]
    assert len(shown.sections) <= limits.get("sections", 10)
    assert len(further) <= limits["concepts"]
    assert 1 <= len(shown.concepts) - len(further) <= limits.get("seeds", 5)
    # The relation by which a concept is reached is drawn whatever the limit says, so that none hangs in the air.
    reached = sum(c.distance > 0 for c in shown.concepts)
    assert reached <= len(shown.relations) <= max(limits.get("relations", 30), reached)


@pytest.mark.parametrize("name", ["sections", "seeds", "concepts", "relations", "carriers", "listed"])
def test_impossible_limits_are_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"--{name} is -1"):
        NeighbourhoodConfig(**{name: -1})


def test_what_the_question_names_is_a_seed(sample_graph: LateralGraph, hash_encoder: HashEncoder) -> None:
    shown = neighbourhood(sample_graph, hash_encoder, "asymmetric information")
    assert ("asymmetric information", "named") in {(c.label, c.seed) for c in shown.concepts}


def test_where_a_question_names_nothing_the_nearest_sections_concepts_are_its_seeds(
    sample_graph: LateralGraph, hash_encoder: HashEncoder
) -> None:
    shown = neighbourhood(sample_graph, hash_encoder, QUESTIONS[2])
    seeder = Methods(sample_graph, hash_encoder).ppr.seeder
    start = seeder.personalization([QUESTIONS[2]], hash_encoder.encode_queries([QUESTIONS[2]]))[:, 0]
    held = {m.concept for m in shown.mentions}
    seeds = [c.row for c in shown.concepts if c.seed == "held"]
    assert len(seeds) == NeighbourhoodConfig().seeds
    assert set(seeds) <= held
    assert min(float(start[row]) for row in seeds) > 0


def test_a_question_that_matches_nothing_is_refused(sample_graph: LateralGraph, hash_encoder: HashEncoder) -> None:
    with pytest.raises(NoMatchError):
        neighbourhood(sample_graph, hash_encoder, "xqzw vvkj")


def test_fields_are_the_papers_own_then_their_venue_s_and_the_majority_decides(tmp_path: Path, tools: Tools) -> None:
    text = "Risk premia vary over time. Risk premia matter for asset pricing. Asset pricing uses risk premia."
    papers = [
        paper("a", text, title="One", field="Physics", venue="American Economic Review"),
        paper("b", text + " Again.", title="Two", venue="The American Economic Review"),
        paper("c", text + " Once more.", title="Three", field=" economics"),
        paper("d", text + " At last.", title="Four"),
    ]
    build_graph(tmp_path / "g", papers, tools)
    shown = neighbourhood(open_graph(tmp_path / "g"), tools.encoder, "risk premia in asset pricing")  # type: ignore[arg-type]
    fields = {s.section_id.partition("#")[0]: s.field for s in shown.sections}
    assert fields == {"a": "Physics", "b": "economics", "c": "economics", "d": ""}
    [concept] = [c for c in shown.concepts if c.label.casefold() == "risk premia"]
    assert (concept.field, concept.papers, concept.sections) == ("economics", 4, 4)


def test_communities_part_what_nothing_joins(sample_graph: LateralGraph, hash_encoder: HashEncoder) -> None:
    shown = neighbourhood(sample_graph, hash_encoder, QUESTIONS[0], NeighbourhoodConfig(sections=20, concepts=30))
    graph = whole(sample_graph, [c.row for c in shown.concepts])
    component = {row: n for n, rows in enumerate(nx.connected_components(graph)) for row in rows}
    for one in shown.concepts:
        assert (one.community < 0) == (graph.degree[one.row] == 0)
        for other in shown.concepts:
            if one.community == other.community >= 0:
                assert component[one.row] == component[other.row]


def given(
    graph: LateralGraph, encoder: HashEncoder, chosen: list[tuple[int, float]], sections: int = 10
) -> Neighbourhood:
    """The neighbourhood of the first question with chosen sections."""
    vector = encoder.encode_queries([QUESTIONS[0]])[0]
    config = NeighbourhoodConfig(sections=sections)
    return find_neighbourhood(graph, Methods(graph, encoder), QUESTIONS[0], vector, config, shown=chosen)


def ranking(graph: LateralGraph, encoder: HashEncoder, question: str) -> list[tuple[int, float]]:
    """(row, score) of the first hundred sections."""
    found = Methods(graph, encoder).retriever("hybrid").rank(question, 100)
    place = {s: row for row, s in enumerate(graph.sections["section_id"].to_pylist())}
    return [(place[i], score) for i, score in zip(found.ids, found.scores, strict=True)]


@pytest.mark.parametrize("limit", [2, 5, 20])
def test_exactly_the_given_sections_are_shown_and_those_beyond_the_limit_counted(
    sample_graph: LateralGraph, hash_encoder: HashEncoder, limit: int
) -> None:
    picked = list(enumerate(ranking(sample_graph, hash_encoder, QUESTIONS[0]), start=1))[:12:2]
    shown = given(sample_graph, hash_encoder, [own for _, own in picked], limit)
    assert [(s.rank, (s.row, s.score)) for s in shown.sections] == picked[:limit]
    out = shown.left_out
    assert (out.given, out.ranked, out.sections, out.unrelated) == (True, 6, max(6 - limit, 0), 0)


def test_given_sections_that_the_method_ranks_otherwise_are_numbered_as_given(
    sample_graph: LateralGraph, hash_encoder: HashEncoder
) -> None:
    chosen = ranking(sample_graph, hash_encoder, QUESTIONS[0])[2::-1]
    shown = given(sample_graph, hash_encoder, chosen)
    assert [(s.rank, (s.row, s.score)) for s in shown.sections] == list(enumerate(chosen, start=1))
    with pytest.raises(NoMatchError):
        given(sample_graph, hash_encoder, [])


def test_ranks_are_places_in_the_ranking_and_what_stands_between_is_counted(
    shown: Neighbourhood, sample_graph: LateralGraph, hash_encoder: HashEncoder
) -> None:
    rows = [row for row, _ in ranking(sample_graph, hash_encoder, shown.question)]
    ranks = [section.rank or 0 for section in shown.sections]
    assert [rows[rank - 1] for rank in ranks] == [section.row for section in shown.sections]
    assert ranks[-1] - len(ranks) == shown.left_out.unrelated


@pytest.mark.parametrize("seeds", [1, 3, 100])
def test_what_stands_in_the_question_is_said_to_be_named_and_comes_first(
    sample_graph: LateralGraph, hash_encoder: HashEncoder, seeds: int
) -> None:
    question = "Do risk factors explain the expected stock returns and market risk of asymmetric information?"
    named = set(Methods(sample_graph, hash_encoder).ppr.seeder.named(question))
    assert len(named) > 3
    shown = neighbourhood(sample_graph, hash_encoder, question, NeighbourhoodConfig(seeds=seeds))
    own = [concept for concept in shown.concepts if concept.seed]
    for concept in own:
        said = concept.row in named or names_in(question, sample_graph, concept.row)
        assert (concept.seed == "named") == said, concept
    if any(concept.seed == "near" for concept in own):  # all that is named found room
        assert named <= {concept.row for concept in own}
    assert shown.left_out.named >= len(named - {concept.row for concept in shown.concepts})


def test_what_a_question_without_spaces_names_is_said_to_be_named(tmp_path: Path, tools: Tools) -> None:
    text = "投资者关注影响流动性。流动性在危机中下降。投资者关注与流动性在新兴市场相关。"
    build_graph(tmp_path / "g", [paper("a", text, title="投资者关注")], tools)
    question = "投资者关注与流动性"
    shown = neighbourhood(open_graph(tmp_path / "g"), tools.encoder, question)  # type: ignore[arg-type]
    said = {concept.label: concept.seed for concept in shown.concepts if concept.seed}
    assert "named" in said.values()
    assert all((seed == "named") == (label in question) for label, seed in said.items())
