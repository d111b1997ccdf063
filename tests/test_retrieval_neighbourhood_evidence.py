"""The words behind a relation: names found as they are spelt, and the sentence that says most."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg.build import Tools, build_graph, open_graph
from kg.keyphrase import KeyphraseExtractor
from kg.lateral import LateralGraph
from kg.records import Document, Extraction, Mention, Part, Section, Triple
from kg.sectioning import sentence_spans
from retrieval.neighbourhood import neighbourhood
from retrieval.neighbourhood.evidence import Sentences, find_assertions, find_names
from tests.conftest import HashEncoder, paper


@pytest.mark.parametrize(
    ("text", "names", "found"),
    [
        ("Risk and risk factors.", ["risk", "risk factors"], ["risk factors"]),
        ("A risk\n  factor is meant.", ["risk factor"], ["risk\n  factor"]),
        ("Carry the car, scar!", ["car"], ["car"]),
        ("US firms tell us", ["US"], ["US"]),
        ("the gdp of", ["GDP"], ["gdp"]),
        ("我们研究量子计算的问题", ["量子计算"], ["量子计算"]),
        ("C++ and C", ["C++"], ["C++"]),
        ("of β-VAE.", ["β-VAE"], ["β-VAE"]),
        ("Müllerian", ["Müller"], []),
        ("anything", ["", " "], []),
        ("a (b) [c].", ["(b", "[c]"], ["(b", "[c]"]),
    ],
)
def test_names_are_found_as_whole_words(text: str, names: list[str], found: list[str]) -> None:
    assert [text[start:end] for start, end in find_names(text, names)] == found


@given(st.text(max_size=60), st.lists(st.text(max_size=6), max_size=4))
def test_names_are_found_in_order_and_apart(text: str, names: list[str]) -> None:
    spans = find_names(text, names)
    assert all(start < end for start, end in spans)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    wanted = {" ".join(name.split()).casefold() for name in names}
    assert all(" ".join(text[s:e].split()).casefold() in wanted for s, e in spans)


@dataclass
class Scripted(KeyphraseExtractor):
    """Asserts the triples it is given, by the first words of a section's text."""

    triples: dict[str, tuple[Triple, ...]] = field(default_factory=dict)
    cooccurrence = False
    name = "scripted"

    @property
    def fingerprint(self) -> str:
        return "scripted-1"

    def extract(self, section: Section) -> Extraction:
        own = self.triples[section.text.split()[0]]
        spans = sentence_spans(section.text)
        names = sorted({name for t in own for name in (t.subject, t.object)})
        where = {n: tuple(i for i, (s, e) in enumerate(spans) if find_names(section.text[s:e], [n])) for n in names}
        mentions = tuple(Mention(n, "term", max(len(where[n]), 1), where[n] or (0,), 1) for n in names)
        return Extraction(mentions, own, (), tuple(spans))

    def select(self, mentions):
        return np.ones(len(mentions.section), dtype=bool)


TEXTS = {
    "a": "Alpha tariffs were high. Later tariffs reduced trade everywhere.",
    "b": "Beta: much was written on trade. It was lower then, and tariffs to blame.",
    "c": "Gamma shows that tariffs reduce the volume of trade in goods.",
}


@pytest.fixture(scope="module")
def asserted(tmp_path_factory: pytest.TempPathFactory) -> LateralGraph:
    """tariffs -> trade, said in three papers; the second one's sentence names only one of the two."""
    triples = {
        "Alpha": (Triple("tariffs", "reduce", "trade", 1),),
        "Beta:": (Triple("tariffs", "reduce", "trade", 1),),
        "Gamma": (Triple("tariffs", "occurs with", "trade", 0),),
    }
    tools = Tools(Scripted(triples=triples), HashEncoder())
    directory = tmp_path_factory.mktemp("asserted") / "g"
    build_graph(directory, [paper(key, text, title=f"Paper {key}") for key, text in TEXTS.items()], tools)
    return open_graph(directory)


def rows(graph: LateralGraph) -> dict[str, int]:
    return {label: row for row, label in enumerate(graph.concepts["label"].to_pylist())}


def test_an_asserted_relation_keeps_label_direction_and_sentence(asserted: LateralGraph) -> None:
    concept = rows(asserted)
    pair = (min(concept.values()), max(concept.values()))
    [found] = find_assertions(asserted, {pair}, [], Sentences(asserted)).values()
    assert (found.subject, found.label, found.object) == (concept["tariffs"], "reduce", concept["trade"])
    assert (found.directed, found.sections) == (True, 3)
    assert found.evidence.text == "Later tariffs reduced trade everywhere."
    assert [found.evidence.text[s:e] for s, e in found.evidence.marks] == ["tariffs", "trade"]


def test_the_picture_reads_an_asserted_relation_in_its_direction(asserted: LateralGraph) -> None:
    shown = neighbourhood(asserted, HashEncoder(), "tariffs and trade")
    [link] = shown.relations
    subject = link.target if link.reverse else link.source
    assert (subject, link.label, link.directed) == (rows(asserted)["tariffs"], "reduce", True)


def test_the_sentence_of_a_section_that_the_reader_sees_is_taken(sample_graph: LateralGraph) -> None:
    said: dict[tuple[int, int], dict[int, tuple[int, int]]] = {}
    for row in sample_graph.relations.to_pylist():
        if row["start"] >= 0:
            pair = (min(row["subject"], row["object"]), max(row["subject"], row["object"]))
            said.setdefault(pair, {})[row["section"]] = (row["start"], row["end"])
    sentences = Sentences(sample_graph)
    tried = 0
    for pair, own in sorted((pair, own) for pair, own in said.items() if len(own) > 1)[:40]:
        for section, (start, end) in own.items():
            if sentences.names_both(sentences.asserted(section, start, end, pair), *pair) == 2:
                evidence = find_assertions(sample_graph, {pair}, [section], sentences)[pair].evidence
                assert (evidence.section, evidence.start, evidence.end) == (section, start, end)
                tried += 1
    assert tried > 20


def test_a_concept_only_in_the_heading_is_evidenced_by_it(tmp_path: Path, tools: Tools) -> None:
    document = Document("d", "Plain title", (Part("Instrumental variables", "Two stages are needed here."),))
    other = paper("e", "Instrumental variables are old. Instrumental variables again.", title="Other")
    build_graph(tmp_path / "g", [document, other], tools)
    graph = open_graph(tmp_path / "g")
    concept = next(row for label, row in rows(graph).items() if label.casefold() == "instrumental variables")
    section = graph.sections["section_id"].to_pylist().index("d#0")
    found = Sentences(graph).naming(section, [concept])
    assert found is not None
    assert (found.start, found.text) == (-1, "Instrumental variables")
    assert Sentences(graph).mentions(section, concept) == []
