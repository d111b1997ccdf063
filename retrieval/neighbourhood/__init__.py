"""The concept neighbourhood of a question: its concepts, those that lead from them to sections, and the sections.

The sections are those that retrieval ranks first and that bear on the question. The concepts are the question's own
(seeds), those that carry the sections' scores most, and those on the ways between, so that what is shown explains why
the sections were found. Every relation comes with the sentence that asserts it. A function of graph and question alone;
what a limit leaves out is counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from torch import Tensor

from kg.errors import InputError
from kg.inspect import row_of
from kg.lateral import LateralGraph
from kg.names import name_form
from kg.protocols import Encoder
from retrieval.method_names import Method
from retrieval.methods import Methods, MethodsConfig
from retrieval.neighbourhood.choosing import Choice, choose_concepts, choose_relations, distances
from retrieval.neighbourhood.evidence import Evidence, Sentences, find_assertions, find_names
from retrieval.neighbourhood.fields import communities, concept_fields, paper_fields
from retrieval.neighbourhood.nodes import (
    ConceptNode,
    LeftOut,
    MentionLink,
    Neighbourhood,
    RelationLink,
    SectionNode,
    SeedReason,
)
from retrieval.neighbourhood.sections import FoundSections, given_sections, ranked_sections
from retrieval.paths import contributions
from retrieval.questions import NoMatchError
from retrieval.relevance import clear_sections

NEAREST = 100
"""Concepts near the question that are looked at."""


@dataclass(frozen=True)
class NeighbourhoodConfig:
    """At most so many ``sections``, ``seeds``, further ``concepts`` and ``relations`` between concepts.

    A section is linked to at most ``carriers`` of the concepts shown. Of each concept ``listed`` sections that are not
    shown are named as well.
    """

    method: Method = "hybrid"
    sections: int = 10
    seeds: int = 5
    concepts: int = 12
    relations: int = 30
    carriers: int = 4
    listed: int = 5
    retrieval: MethodsConfig = field(default_factory=MethodsConfig)

    def __post_init__(self) -> None:
        least = {"sections": 1, "seeds": 1, "concepts": 0, "relations": 0, "carriers": 1, "listed": 0}
        for name, bound in least.items():
            if getattr(self, name) < bound:
                raise InputError(f"--{name} is {getattr(self, name)}; ask for {bound} or more.")


def neighbourhood(
    graph: LateralGraph, encoder: Encoder, question: str, config: NeighbourhoodConfig = NeighbourhoodConfig()
) -> Neighbourhood:
    """The neighbourhood of a question that ``retrieval.questions.checked_question`` passed.

    Raises:
        NoMatchError: no section of the graph bears on the question.
    """
    vector = encoder.encode_queries([question])[0]
    return find_neighbourhood(graph, Methods(graph, encoder, config.retrieval), question, vector, config)


def find_neighbourhood(
    graph: LateralGraph,
    methods: Methods,
    question: str,
    vector: Tensor,
    config: NeighbourhoodConfig,
    *,
    shown: Sequence[tuple[int, float]] | None = None,
) -> Neighbourhood:
    """``neighbourhood`` for a caller who has the graph's methods, made with ``config.retrieval``, and the
    question's vector.

    ``vector`` float32 [d]. ``shown``: (row, score) of the sections to show, best first, for a caller who has chosen
    them; no other is shown, and only ``config.sections`` bounds them. Their ranks are places in the
    method's ranking where it holds all of them, else in ``shown``.

    Raises:
        NoMatchError: no section of the graph bears on the question, or ``shown`` is empty.
    """
    personalization, scores = (columns[:, 0] for columns in methods.ppr.diffuse([question]))
    if shown is None:
        sections = ranked_sections(graph, methods, question, vector, config.method, config.sections)
    else:
        sections = given_sections(graph, methods, question, config.method, shown, config.sections)
    if not sections.shown:
        raise NoMatchError(question)
    carried = [
        contributions(graph, section.row, scores, config.retrieval.graph.spread_exponent) for section in sections.shown
    ]
    reasons, unused = _seeds(graph, methods, question, vector, {c for own in carried for c, _ in own})
    if not reasons:  # diffusion starts from what the nearest sections hold
        reasons = _held(graph, question, personalization, carried, config.seeds)
    choice = choose_concepts(graph, reasons, carried, scores, config.seeds, config.concepts, config.carriers)
    rows = [section.row for section in sections.shown]
    clear = sections.given or bool(clear_sections(graph, question, vector, rows, methods.lexical))
    assembler = _Assembler(graph, question, config, _Found(scores, reasons, sections, carried, choice))
    return replace(assembler.neighbourhood(unused), clear=clear)


def _seeds(
    graph: LateralGraph, methods: Methods, question: str, vector: Tensor, carriers: set[int]
) -> tuple[dict[int, SeedReason], int]:
    """Concepts that the question is about, and why; and how many of them lead to none of the sections shown.

    What the question names is always there, what is only near it where it is among ``carriers``, the concepts that
    carry a shown section.
    """
    seeder, aliases = methods.ppr.seeder, graph.concepts["aliases"]
    about = seeder.concepts_of(question, vector, NEAREST)
    named = {*seeder.named(question), *(row for row in about if _stands_in(question, aliases[row].as_py()))}
    used = [row for row in about if row in named or row in carriers]
    return {row: "named" if row in named else "near" for row in used}, len(about) - len(used)


def _held(
    graph: LateralGraph,
    question: str,
    personalization: Tensor,
    carried: Sequence[Sequence[tuple[int, float]]],
    limit: int,
) -> dict[int, SeedReason]:
    """Where diffusion starts: the ``limit`` concepts of the shown sections that it starts from most."""
    start = {concept: float(personalization[concept]) for own in carried for concept, _ in own}
    best = sorted((row for row in start if start[row] > 0), key=lambda row: (-start[row], row))
    aliases = graph.concepts["aliases"]
    return {row: "named" if _stands_in(question, aliases[row].as_py()) else "held" for row in best[:limit]}


def _stands_in(question: str, names: Sequence[str]) -> bool:
    """Whether one of the names stands in the question; ``Seeder.named`` passes over names within names, and over those
    in scripts that put no spaces between words."""
    words, folded = f" {name_form(question)} ", question.casefold()
    if any(f" {name_form(name)} " in words for name in names):
        return True
    return bool(find_names(question, [name for name in names if name.casefold() in folded]))


@dataclass(frozen=True)
class _Found:
    """``carried``: of each section shown the (concept, share) that carry it."""

    scores: Tensor
    reasons: dict[int, SeedReason]
    sections: FoundSections
    carried: Sequence[Sequence[tuple[int, float]]]
    choice: Choice


class _Assembler:
    """Puts together what was chosen; holds what all parts need."""

    def __init__(self, graph: LateralGraph, question: str, config: NeighbourhoodConfig, found: _Found) -> None:
        self.graph = graph
        self.question = question
        self.config = config
        self.found = found
        self.choice = found.choice
        self.rows = [section.row for section in found.sections.shown]
        self.sentences = Sentences(graph)
        self.field_of, self.fields = paper_fields(graph)

    def neighbourhood(self, seeds: int) -> Neighbourhood:
        """The whole; ``seeds`` near the question were left out before."""
        found = self.found.sections
        named = sum(self.found.reasons[row] == "named" for row in self.choice.left_out)
        concepts = [*self.choice.seeds, *self.choice.concepts]
        distance = distances(self.graph, self.choice)
        relations, left = self._relations(distance)
        mentions, wording = self._mentions(set(concepts))
        elsewhere = {concept: self._elsewhere(concept) for concept in concepts}
        cited = {link.evidence.section for link in relations}
        cited |= {evidence.section for own in elsewhere.values() for evidence in own}
        shares = [pair for own in self.found.carried for pair in own]
        total = sum(share for _, share in shares)
        carried = sum(share for concept, share in shares if concept in set(concepts))
        return Neighbourhood(
            question=self.question,
            concepts=tuple(self._concepts(concepts, distance)),
            sections=tuple(self._section(*section) for section in found.shown),
            relations=tuple(relations),
            mentions=tuple(mentions),
            wording=tuple(wording),
            elsewhere=elsewhere,
            others=tuple(self._section(row) for row in sorted(cited - set(self.rows))),
            left_out=LeftOut(
                ranked=found.of,
                seeds=seeds + len(self.choice.left_out) - named,
                sections=found.left_out,
                concepts=len({concept for concept, _ in shares} - {*concepts, *self.choice.left_out}),
                relations=left,
                mentions=sum(not link.drawn for link in mentions),
                carried=carried / total if total else 0.0,
                unrelated=found.unrelated,
                named=named,
                given=found.given,
            ),
        )

    def _concepts(self, rows: Sequence[int], distance: dict[int, int]) -> list[ConceptNode]:
        table = self.graph.concepts
        clusters = communities(self.graph, rows)
        nodes = []
        for row in rows:
            holders, _ = row_of(self.graph.holders, row)
            name, papers = concept_fields(self.graph, holders, self.field_of, self.fields)
            seed = self.found.reasons[row] if row in self.choice.seeds else None
            nodes.append(
                ConceptNode(
                    row, table["label"][row].as_py(), float(self.found.scores[row]), seed, distance[row], name,
                    clusters[row], papers, len(holders),
                )
            )  # fmt: skip
        return sorted(nodes, key=lambda node: (node.distance % (len(nodes) + 1), -node.score, node.row))

    def _section(self, row: int, rank: int | None = None, score: float = 0.0) -> SectionNode:
        section = self.graph.sections.slice(row, 1).to_pylist()[0]
        paper = self.graph.documents.slice(section["document"], 1).to_pylist()[0]
        return SectionNode(
            row, section["section_id"], section["heading"], section["text"], paper["title"], tuple(paper["authors"]),
            paper["year"], paper["doi"], self.fields[int(self.field_of[section["document"]])], rank, score,
        )  # fmt: skip

    def _relations(self, distance: dict[int, int]) -> tuple[list[RelationLink], int]:
        """The links, strongest first, and how many the limit leaves out."""
        chosen, left = choose_relations(self.graph, self.choice, distance, self.config.relations)
        pairs = {(min(u, v), max(u, v)): weight for u, v, weight in chosen}
        asserted = find_assertions(self.graph, pairs, self.rows, self.sentences)
        links = []
        for u, v, weight in chosen:
            found = asserted[min(u, v), max(u, v)]
            links.append(
                RelationLink(
                    u, v, found.label, found.directed, found.subject != u, weight, found.sections, found.evidence
                )
            )
        return links, left

    def _mentions(self, concepts: set[int]) -> tuple[list[MentionLink], list[int]]:
        """Each shown concept in each shown section, and the sections that hold none of them."""
        links: list[MentionLink] = []
        wording = []
        for row, carried in zip(self.rows, self.found.carried, strict=True):
            shares = dict(carried)
            held, counts = row_of(self.graph.incidence, row)
            own = {int(c): int(n) for c, n in zip(held, counts, strict=True) if int(c) in concepts}
            order = sorted(own, key=lambda concept: (-shares.get(concept, 0.0), concept))
            links += [
                MentionLink(
                    concept, row, own[concept], shares.get(concept, 0.0), n < self.config.carriers,
                    tuple(self.sentences.mentions(row, concept)), self.sentences.naming(row, [concept]),
                )
                for n, concept in enumerate(order)
            ]  # fmt: skip
            if not own:
                wording.append(row)
        return links, wording

    def _elsewhere(self, concept: int) -> tuple[Evidence, ...]:
        sections, counts = row_of(self.graph.holders, concept)
        order = sorted(zip((-counts).tolist(), sections.tolist(), strict=True))
        rows = [int(row) for _, row in order if row not in self.rows][: self.config.listed]
        found = (self.sentences.naming(row, [concept]) for row in rows)
        return tuple(evidence for evidence in found if evidence is not None)
