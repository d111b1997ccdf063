"""The report as data: its sections, the papers it cites, the passages it quotes.

Whoever writes a report builds this; renderers and judges read only this (DESIGN 3, Citations). The parts that a
section is made of are in ``agents.reporting.body`` and can be had from here as well.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents.reporting.body import (
    VERBATIM,
    Block,
    BulletList,
    Citation,
    Figure,
    MediaType,
    Note,
    Paragraph,
    QuoteBlock,
    ReportSection,
    Sentence,
    SentenceKind,
    Table,
    Verdict,
    clean,
    is_blank,
    sentences_of,
    walk,
)
from kg.errors import InputError
from kg.records import Document

__all__ = [
    "Block",
    "BulletList",
    "Citation",
    "Figure",
    "MediaType",
    "Note",
    "Paragraph",
    "Passage",
    "QuoteBlock",
    "Reference",
    "Report",
    "ReportSection",
    "Sentence",
    "SentenceKind",
    "Table",
    "Verdict",
    "is_blank",
    "number_references",
    "sentences_of",
    "walk",
]


DEEPEST = 50
"""Levels of sections; JSON readers give up at about 100."""
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8}){0,4}")


@dataclass(frozen=True, slots=True)
class Reference:
    """A cited paper as the graph knows it; ``number`` counts from 1 in order of first citation.

    ``details`` is what the source says besides, as in ``kg.records.Document``: volume, issue, pages, pmid, ...
    """

    number: int
    doc_id: str
    title: str
    authors: tuple[str, ...] = ()
    year: int | None = None
    venue: str = ""
    doi: str = ""
    details: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        clean(self)

    @property
    def is_summary(self) -> bool:
        """Whether the source says (``kind: summary``) that its text is a summary, not the paper's own words."""
        return dict(self.details).get("kind", "").strip().casefold() == "summary"

    @classmethod
    def of(cls, document: Document, number: int) -> Reference:
        """The reference to ``document``: nothing in it comes from elsewhere."""
        return cls(
            number=number, doc_id=document.doc_id, title=document.title, authors=document.authors, year=document.year,
            venue=document.venue, doi=document.doi, details=document.details,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Passage:
    """A cited section in full, so that a reader can see the quote where it stands.

    ``score`` is what retrieval gave it and ``rank`` its place (1 is first), since a score alone has no scale;
    ``found`` says how it was found.
    """

    section_id: str
    heading: str
    text: str
    score: float | None = None
    found: str = ""
    rank: int | None = None

    def __post_init__(self) -> None:
        clean(self)
        if self.score is not None:
            object.__setattr__(self, "score", float(self.score))
            if not math.isfinite(self.score):
                raise InputError(f"the passage {self.section_id} has the score {self.score}; give a finite one")
        if self.rank is not None and self.rank < 1:
            raise InputError(f"the passage {self.section_id} has the rank {self.rank}; the first has rank 1")

    @property
    def how(self) -> str:
        """Rank, score and way in one line, as every renderer says them; "" where none is known."""
        rank = "" if self.rank is None else f"Rank {self.rank}"
        score = "" if self.score is None else f"score {self.score:.3g}"
        place = f"{rank}, {score}" if rank and score else (rank or score.capitalize())
        return " ".join(filter(None, (place and f"{place}.", self.found.strip())))

    @property
    def sha256(self) -> str:
        """SHA-256 (hex) of the text, as citations give it."""
        return hashlib.sha256(self.text.encode("utf-8")).hexdigest()


@dataclass(frozen=True, slots=True)
class Report:
    """A whole report; cannot be built with a citation that leads nowhere.

    ``language`` is a tag such as ``en``. ``cautions`` are what a reader must know before trusting the report (that the
    papers hardly speak of the question); they stand first and set apart. ``notes`` are other remarks on the whole.
    Raises ``InputError`` if a sentence id is used twice, if the references are not the cited papers numbered
    1..n in order of first citation (``number_references`` makes them so), or if a quote is not in its passage.
    """

    title: str
    question: str
    language: str
    sections: tuple[ReportSection, ...]
    references: tuple[Reference, ...] = ()
    notes: tuple[str, ...] = ()
    passages: tuple[Passage, ...] = ()
    cautions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        clean(self)
        if is_blank(self.title):
            raise InputError("the report has no title; give it one")
        if not _LANGUAGE.fullmatch(self.language):
            raise InputError(f"the report's language is {self.language[:40]!r}; give a tag such as en or pt-BR")
        _check_depth(self.sections)
        _check_sentence_ids(self.sections)
        _check_references(self.sections, self.references)
        _check_passages(self.sections, self.passages)

    def reference_numbers(self) -> dict[str, int]:
        """doc_id -> number."""
        return {reference.doc_id: reference.number for reference in self.references}


def number_references(sections: Sequence[ReportSection], documents: Mapping[str, Document]) -> tuple[Reference, ...]:
    """One reference per cited paper, numbered 1..n in order of first citation.

    ``documents`` maps doc_id to the graph's document. Raises ``InputError`` for a cited paper that is not there.
    """
    cited = _cited(sections)
    if missing := [doc_id for doc_id in cited if doc_id not in documents]:
        raise InputError(f"the report cites {missing[0]}, which is not in the graph; cite its documents only")
    return tuple(Reference.of(documents[doc_id], number) for number, doc_id in enumerate(cited, start=1))


def _cited(sections: Sequence[ReportSection]) -> list[str]:
    """doc_ids in order of first citation."""
    return list(dict.fromkeys(c.doc_id for _, sentence in walk(sections) for c in sentence.citations))


def _check_depth(sections: Sequence[ReportSection]) -> None:
    level, depth = list(sections), 0
    while level:
        depth += 1
        if depth > DEEPEST:
            raise InputError(f"the report nests sections deeper than {DEEPEST} levels; nest fewer")
        level = [child for section in level for child in section.sections]


def _check_sentence_ids(sections: Sequence[ReportSection]) -> None:
    seen: set[str] = set()
    for path, sentence in walk(sections):
        if sentence.sentence_id in seen:
            raise InputError(
                f"two sentences have the id {sentence.sentence_id}, one under {path[-1]!r}; give each its own"
            )
        seen.add(sentence.sentence_id)


def _check_references(sections: Sequence[ReportSection], references: Sequence[Reference]) -> None:
    cited = _cited(sections)
    given = [reference.doc_id for reference in references]
    if missing := [doc_id for doc_id in cited if doc_id not in set(given)]:
        raise InputError(f"the report cites {missing[0]} without a reference; number_references makes them")
    if extra := [doc_id for doc_id in given if doc_id not in set(cited)]:
        raise InputError(f"reference {extra[0]} is cited nowhere in the report; leave it out")
    if given != cited or [reference.number for reference in references] != list(range(1, len(cited) + 1)):
        raise InputError("references are not numbered 1..n in order of first citation; number_references makes them so")


def _check_passages(sections: Sequence[ReportSection], passages: Sequence[Passage]) -> None:
    by_id = {passage.section_id: passage for passage in passages}
    if len(by_id) != len(passages):
        raise InputError("two passages of the report have one section id; give each section once")
    hashes = {section_id: passage.sha256 for section_id, passage in by_id.items()}
    for _, sentence in walk(sections):
        if sentence.checker == VERBATIM and sentence.text not in {citation.quote for citation in sentence.citations}:
            raise InputError(
                f"sentence {sentence.sentence_id} is said to be quoted word for word and is none of its quotes; "
                "give the quote as its text, or leave the verdict to a check"
            )
        for citation in sentence.citations:
            passage = by_id.get(citation.section_id)
            if passage is None:
                continue
            if hashes[citation.section_id] != citation.sha256:
                raise InputError(f"sentence {sentence.sentence_id} cites another text of {citation.section_id}")
            if passage.text[citation.start : citation.end] != citation.quote:
                raise InputError(f"the quote of sentence {sentence.sentence_id} is not in {citation.section_id} there")
