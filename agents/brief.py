"""A cited brief without a language model: the passages that bear on a question, quoted word for word.

Sections are ranked, grouped by the concepts that carried them, and each is represented by its sentences nearest to the
question, with the way on which it was found: from the question's concepts along relations of the graph. Every sentence
is a quotation, so every claim is supported by construction; what the brief adds of its own is marked as a note.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from torch import Tensor

from agents.key_sentences import KeySentence, key_sentences
from agents.pictures.words import count
from agents.reporting.bibliography.names import short_authors
from agents.reporting.body import VERBATIM
from agents.reporting.model import (
    Citation,
    Figure,
    Note,
    Paragraph,
    Passage,
    QuoteBlock,
    Report,
    ReportSection,
    Sentence,
    number_references,
)
from kg.inspect import section_numbers
from kg.lateral import LateralGraph
from kg.papers import read_document
from kg.protocols import Encoder
from kg.records import Document
from retrieval.paths import ConceptPaths, concept_paths, contributions
from retrieval.questions import NoMatchError
from retrieval.relevance import relevant_sections, unknown_words
from retrieval.sections import Method, Methods, PPRConfig


@dataclass(frozen=True)
class BriefConfig:
    """``top_n`` sections at most, ``sentences`` quoted of each, in at most ``groups`` groups.

    ``picture``: end with a figure of the concepts that led from the question to the sections.
    """

    method: Method = "hybrid"
    top_n: int = 12
    sentences: int = 2
    groups: int = 5
    seeds_named: int = 5
    picture: bool = True
    ppr: PPRConfig = field(default_factory=PPRConfig)


@dataclass(frozen=True)
class Found:
    """A section in the brief: row, score, quoted sentences, and the concepts that carried it (share of its score)."""

    row: int
    score: float
    quotes: list[KeySentence]
    carriers: list[tuple[int, float]]


def write_brief(graph: LateralGraph, encoder: Encoder, question: str, config: BriefConfig = BriefConfig()) -> Report:
    """The brief as data; ``agents.reporting`` stores and renders it.

    Raises:
        NoMatchError: no section of the graph bears on the question.
    """
    vector = encoder.encode_queries([question])[0]
    methods = Methods(graph, encoder, config.ppr)
    _, scores = methods.ppr.diffuse([question])
    ranking = methods.retriever(config.method).retrieve([question], config.top_n)[0]
    rows = section_numbers(graph, ranking.ids)
    relevant = relevant_sections(graph, question, vector, rows, methods.lexical)
    kept = [(row, score) for row, score in zip(rows, ranking.scores, strict=True) if row in relevant]
    if not kept:
        raise NoMatchError(question)
    texts = [graph.sections["text"][row].as_py() for row, _ in kept]
    quotes = key_sentences(texts, vector, encoder, config.sentences)
    found = [
        Found(row, score, own, contributions(graph, row, scores[:, 0], config.ppr.spread_exponent))
        for (row, score), own in zip(kept, quotes, strict=True)
        if own
    ]
    seeds = methods.ppr.seeder.concepts_of(question, vector, config.seeds_named)
    unknown = unknown_words(question, methods.lexical)
    figure = _figure(graph, methods, question, vector, config) if config.picture else None
    return _Writer(graph, question, seeds, config).report(found, len(rows) - len(kept), unknown, figure)


def _figure(graph: LateralGraph, methods: Methods, question: str, vector: Tensor, config: BriefConfig) -> Figure:
    """The way from the question to the first sections, drawn."""
    from agents.pictures.svg import figure_of
    from retrieval.neighbourhood import NeighbourhoodConfig, find_neighbourhood

    limits = NeighbourhoodConfig(method=config.method, sections=min(config.top_n, 10), ppr=config.ppr)
    return figure_of(find_neighbourhood(graph, methods, question, vector, limits))


def group_by_concept(found: Sequence[Found], groups: int, carriers: int = 4) -> list[tuple[int | None, list[Found]]]:
    """Sections under the concept that carried them, largest groups first; None holds those that no concept carried.

    Greedy cover: the concept that carries most of what is not yet grouped (sum of score x share over the best
    ``carriers`` of each section) comes first; what is left after ``groups`` of them stands under None, too.
    """
    remaining = list(found)
    grouped: list[tuple[int | None, list[Found]]] = []
    while remaining and len(grouped) < groups:
        gain: dict[int, float] = {}
        for section in remaining:
            for concept, share in section.carriers[:carriers]:
                gain[concept] = gain.get(concept, 0.0) + section.score * share
        if not gain:
            break
        best = min(gain, key=lambda concept: (-gain[concept], concept))
        own = [s for s in remaining if best in {concept for concept, _ in s.carriers[:carriers]}]
        grouped.append((best, own))
        remaining = [s for s in remaining if s not in own]
    if remaining:
        grouped.append((None, remaining))
    return grouped


def is_summary(document: Document) -> bool:
    """Whether the source says that its text is a summary (``kind: summary``), not the paper's own words."""
    return dict(document.details).get("kind", "").strip().casefold() == "summary"


class _Writer:
    """Turns found sections into a report; holds what all its parts need."""

    def __init__(self, graph: LateralGraph, question: str, seeds: Sequence[int], config: BriefConfig) -> None:
        self.graph = graph
        self.question = question
        self.config = config
        self.labels: list[str] = graph.concepts["label"].to_pylist()
        self.seeds = list(seeds)
        self.paths: ConceptPaths = concept_paths(graph, self.seeds)
        self.documents: dict[int, Document] = {}
        self.sentences = 0

    def report(
        self, found: Sequence[Found], left_out: int, unknown: Sequence[str], figure: Figure | None = None
    ) -> Report:
        """Groups, references and notes.

        ``left_out`` sections ranked high but did not bear on the question; ``unknown`` words of it stand nowhere.
        """
        grouped = [(concept, self._reading_order(own)) for concept, own in group_by_concept(found, self.config.groups)]
        passages = {section.row: self._passage(section) for section in found}
        sections = tuple(
            ReportSection(
                self._heading(concept, len(grouped)),
                tuple(block for section in own for block in self._blocks(section, concept)),
            )
            for concept, own in grouped
        )
        if figure is not None:
            sections += (ReportSection("How the passages were found", (figure,)),)
        documents = {document.doc_id: document for document in self.documents.values()}
        references = number_references(sections, documents)
        notes = [
            f"{count(self.sentences, 'passage')} from {count(len(references), 'paper')}, quoted word for word "
            "and grouped by the concepts that led to them."
        ]
        if any(is_summary(document) for document in self.documents.values()):
            notes.append("“Summary of” marks the words of a summary of the paper, not of the paper itself.")
        if unknown:
            notes.append(f"No section speaks of: {', '.join(unknown)}.")
        if left_out:
            notes.append(f"{count(left_out, 'further section')} ranked high but too far from the question to quote.")
        return Report(
            title="Evidence brief",
            question=self.question,
            language="en",
            sections=sections,
            references=references,
            notes=tuple(notes),
            passages=tuple(passages.values()),
        )

    def _reading_order(self, own: Sequence[Found]) -> list[Found]:
        """Papers by their best section, and within a paper the order of its sections."""
        owner = self.graph.sections["document"]
        papers = list(dict.fromkeys(owner[section.row].as_py() for section in own))
        return sorted(own, key=lambda section: (papers.index(owner[section.row].as_py()), section.row))

    def _heading(self, concept: int | None, groups: int) -> str:
        if concept is None:
            return "Other passages" if groups > 1 else "Passages"
        label = self.labels[concept]
        return label[:1].upper() + label[1:]

    def _blocks(self, section: Found, concept: int | None) -> list[Paragraph | QuoteBlock | Note]:
        document = self._document(section.row)
        heading = self.graph.sections["heading"][section.row].as_py()
        authors = short_authors(document.authors) or document.title
        summary = "summary of " if is_summary(document) else ""
        where = f"{summary}{authors} ({document.year or 'n.d.'})" + (f", {heading}" if heading else "")
        blocks: list[Paragraph | QuoteBlock | Note] = [
            QuoteBlock(self._sentence(section.row, quote), where if quote is section.quotes[-1] else "")
            for quote in section.quotes
        ]
        return [*blocks, Note(self._why(section, concept))]

    def _sentence(self, row: int, quote: KeySentence) -> Sentence:
        text = self.graph.sections["text"][row].as_py()
        self.sentences += 1
        passage = text[quote.start : quote.end]
        citation = Citation(
            section_id=self.graph.sections["section_id"][row].as_py(),
            sha256=self.graph.sections["sha256"][row].as_py(),
            quote=passage,
            start=quote.start,
            end=quote.end,
        )
        return Sentence(f"s{self.sentences}", "claim", passage, (citation,), "supported", 1.0, VERBATIM)

    def _passage(self, section: Found) -> Passage:
        row = section.row
        self._document(row)
        return Passage(
            section_id=self.graph.sections["section_id"][row].as_py(),
            heading=self.graph.sections["heading"][row].as_py(),
            text=self.graph.sections["text"][row].as_py(),
            score=section.score,
            found=self._why(section, None),
        )

    def _document(self, row: int) -> Document:
        number = self.graph.sections["document"][row].as_py()
        if number not in self.documents:
            self.documents[number] = read_document(self.graph.documents.slice(number, 1).to_pylist()[0])
        return self.documents[number]

    def _why(self, section: Found, concept: int | None) -> str:
        """The way from the question to the section, through the group's concept or the one that carried it most."""
        carrier = concept if concept is not None else (section.carriers[0][0] if section.carriers else None)
        if carrier is None:
            return "Found by its wording; no concept of the graph leads here."
        path = self.paths.to(carrier)
        if len(path) <= 1:
            others = [self.labels[c] for c, _ in section.carriers[:4] if c != carrier][:2]
            also = f", with {' and '.join(others)}" if others else ""
            return f"Found by “{self.labels[carrier]}”, a concept of the question{also}."
        return "Found along " + " → ".join(f"“{self.labels[c]}”" for c in path) + "."
