"""What a brief is made of: sections that were found, grouped under concepts, and the report that quotes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from agents.key_sentences import KeySentence
from agents.reporting.bibliography.names import short_authors
from agents.reporting.body import VERBATIM
from agents.reporting.model import (
    Citation,
    Figure,
    Note,
    Paragraph,
    Passage,
    QuoteBlock,
    Reference,
    Report,
    ReportSection,
    Sentence,
    number_references,
)
from agents.reporting.wording import number_of
from kg.lateral import LateralGraph
from kg.papers import read_document
from kg.records import Document
from retrieval.method_names import Method
from retrieval.paths import ConceptPaths, concept_paths


@dataclass(frozen=True)
class Found:
    """A section in the brief: row, place and score in the ranking, quoted sentences, and the concepts that carried it
    (share of its score)."""

    row: int
    rank: int
    score: float
    quotes: list[KeySentence]
    carriers: list[tuple[int, float]]


LONGEST_WAY = 4
"""Concepts on a way that is told as a reason."""
Group: TypeAlias = tuple[int | None, list[Found]]
"""A concept, None where none leads to all of them, and the sections under it."""


def group_by_concept(found: Sequence[Found], groups: int, carriers: int = 4) -> list[Group]:
    """Sections under the concept that carried them, largest groups first; None holds those that no concept carried.

    Greedy cover: the concept that carries most of what is not yet grouped comes first (sum of share / rank over the
    best ``carriers`` of each section, as scores have no common sign or scale); what is left after ``groups`` of them
    stands under None, too.
    """
    remaining = list(found)
    grouped: list[Group] = []
    while remaining and len(grouped) < groups:
        gain: dict[int, float] = {}
        for section in remaining:
            for concept, share in section.carriers[:carriers]:
                gain[concept] = gain.get(concept, 0.0) + share / section.rank
        if not gain:
            break
        best = min(gain, key=lambda concept: (-gain[concept], concept))
        own = [s for s in remaining if best in {concept for concept, _ in s.carriers[:carriers]}]
        grouped.append((best, own))
        remaining = [s for s in remaining if s not in own]
    if remaining:
        grouped.append((None, remaining))
    return grouped


def in_quotes(words: Sequence[str]) -> str:
    """The words, each in quotation marks, with commas between."""
    return ", ".join(f"“{word}”" for word in words)


class BriefWriter:
    """Turns found sections into a report; holds what all its parts need. ``seeds``: the question's concepts, rows, of
    which it names ``named``."""

    def __init__(self, graph: LateralGraph, question: str, seeds: Sequence[int], named: Sequence[int]) -> None:
        self.graph = graph
        self.question = question
        self.labels: list[str] = graph.concepts["label"].to_pylist()
        self.seeds = list(seeds)
        self.named = frozenset(named)
        self.paths: ConceptPaths = concept_paths(graph, self.seeds)
        self.documents: dict[int, Document] = {}
        self.sentences = 0

    def near(self, carriers: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
        """Those of the carriers that a short way leads to; a chain of many concepts explains nothing."""
        return [(concept, share) for concept, share in carriers if 1 <= len(self.paths.to(concept)) <= LONGEST_WAY]

    def report(
        self,
        groups: Sequence[Group],
        cautions: Sequence[str],
        method: str,
        left_out: Mapping[str, Sequence[int]],
        figure: Figure | None = None,
    ) -> Report:
        """Groups, references and notes. ``left_out``: why sections that were ranked are not quoted, and which."""
        grouped = [(concept, self._reading_order(own)) for concept, own in self._by_rank(groups)]
        why = {section.row: self._why(section, concept) for concept, own in grouped for section in own}
        found = sorted((section for _, own in groups for section in own), key=lambda section: section.rank)
        passages = {section.row: self._passage(section, why[section.row]) for section in found}
        sections = tuple(
            ReportSection(
                self._heading(concept, len(grouped)),
                tuple(block for section in own for block in self._blocks(section, why[section.row])),
            )
            for concept, own in grouped
        )
        if figure is not None:
            sections += (ReportSection("How the passages were found", (figure,)),)
        sections += self._left_out(left_out)
        cited = {passages[section.row].section_id.rpartition("#")[0]: self._document(section.row) for section in found}
        references = number_references(sections, cited)
        counts = (
            f"{number_of(self.sentences, 'quotation')} from {number_of(len(found), 'section')} of "
            f"{number_of(len(references), 'paper')}, word for word and grouped by the concepts that led to them. "
            "Whether they answer the question is for the reader to judge."
        )
        summaries = "“Summary of” marks the words of a summary of the paper, not of the paper itself."
        return self._report(
            sections, cautions, (counts, *([summaries] if any(r.is_summary for r in references) else []), method),
            references, tuple(passages.values()),
        )  # fmt: skip

    def nothing(self, ranked: Sequence[int], method: str, unknown: Sequence[str]) -> Report:
        """What there is to hand over where nothing was found."""
        searched = f"{number_of(self.graph.n_sections, 'section')} of {number_of(self.graph.n_documents, 'paper')}"
        words = f" No paper here speaks of {in_quotes(unknown)}." if unknown else ""
        caution = f"None of {searched} is near the question, so nothing is quoted.{words}"
        return self._report(self._left_out({"Nearest, and not near enough to quote": ranked}), [caution], (method,))

    def _report(
        self,
        sections: tuple[ReportSection, ...],
        cautions: Sequence[str],
        notes: tuple[str, ...],
        references: tuple[Reference, ...] = (),
        passages: tuple[Passage, ...] = (),
    ) -> Report:
        return Report(
            title="Evidence brief",
            question=self.question,
            language="en",
            sections=sections,
            references=references,
            cautions=tuple(cautions),
            notes=notes,
            passages=passages,
        )

    def method_note(self, method: Method, ranked: int) -> str:
        """What ranks and scores mean."""
        return (
            f"Ranks are places among {number_of(self.graph.n_sections, 'section')} by the method {method}, of which "
            f"the first {ranked:,} were read; scores compare sections of this question only."
        )

    def _left_out(self, why: Mapping[str, Sequence[int]]) -> tuple[ReportSection, ...]:
        """The sections that were ranked and are not quoted, by name, in the order of their rank."""
        notes = tuple(Note(f"{reason}: {'; '.join(map(self._where, rows))}.") for reason, rows in why.items() if rows)
        return (ReportSection("Ranked, but not quoted", notes),) if notes else ()

    def _by_rank(self, groups: Sequence[Group]) -> list[Group]:
        """Groups by their best section; what no concept leads to comes last."""
        return sorted(groups, key=lambda group: (group[0] is None, min(section.rank for section in group[1])))

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

    def _blocks(self, section: Found, why: str) -> list[Paragraph | QuoteBlock | Note]:
        summary = "summary of " if Reference.of(self._document(section.row), 1).is_summary else ""
        where = summary + self._where(section.row)
        blocks: list[Paragraph | QuoteBlock | Note] = [
            QuoteBlock(self._sentence(section.row, quote), where if quote is section.quotes[-1] else "")
            for quote in section.quotes
        ]
        return [*blocks, Note(why)]

    def _where(self, row: int) -> str:
        """Authors, year and heading; the title where no author is known."""
        document, heading = self._document(row), self.graph.sections["heading"][row].as_py()
        authors = short_authors(document.authors) or document.title
        return f"{authors} ({document.year or 'n.d.'})" + (f", {heading}" if heading else "")

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

    def _passage(self, section: Found, why: str) -> Passage:
        row = section.row
        return Passage(
            section_id=self.graph.sections["section_id"][row].as_py(),
            heading=self.graph.sections["heading"][row].as_py(),
            text=self.graph.sections["text"][row].as_py(),
            score=section.score,
            found=why,
            rank=section.rank,
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
            return "Found by its wording and meaning; no short way from a concept of the question leads here."
        path = self.paths.to(carrier)
        if len(path) <= 1:
            others = [self.labels[c] for c, _ in section.carriers[:4] if c != carrier][:2]
            also = f", with {' and '.join(others)}" if others else ""
            what = "which the question names" if carrier in self.named else "a concept near the question"
            return f"Found by “{self.labels[carrier]}”, {what}{also}."
        return "Found along " + " → ".join(f"“{self.labels[c]}”" for c in path) + "."
