"""The report as data: a tree of sections whose sentences carry their citations.

Whoever writes a report builds this; renderers and judges read only this (DESIGN 3, Citations). Texts are
cleaned as ``kg.records`` demands, so that a report stored and read again is equal to the one built.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from kg.errors import InputError
from kg.records import Document, clean_text, split_section_id

SentenceKind: TypeAlias = Literal["claim", "proposal", "connective"]
Verdict: TypeAlias = Literal["supported", "partial", "unsupported", "unchecked"]
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Citation:
    """A verbatim passage: ``quote`` is characters [start, end) of the section whose text hashes to ``sha256``."""

    section_id: str
    sha256: str
    quote: str
    start: int
    end: int

    def __post_init__(self) -> None:
        _clean(self)
        try:
            split_section_id(self.section_id)
        except ValueError as error:
            raise InputError(f"a citation names {error}") from None
        if not _SHA256.fullmatch(self.sha256):
            raise InputError(f"the citation of {self.section_id} needs the SHA-256 of the section, 64 hex digits")
        if self.start < 0 or self.end - self.start != len(self.quote) or is_blank(self.quote):
            raise InputError(
                f"the citation of {self.section_id} has a quote of {len(self.quote)} characters at "
                f"[{self.start}, {self.end}); give the passage as it stands there"
            )

    @property
    def doc_id(self) -> str:
        """The paper that the cited section belongs to."""
        return split_section_id(self.section_id)[0]


@dataclass(frozen=True, slots=True)
class Sentence:
    """The unit of checking. A claim says what a source found, a proposal is the writer's own, a connective neither.

    ``sentence_id`` is unique in a report; ``confidence`` in [0, 1] and ``checker`` belong to ``verdict``.
    """

    sentence_id: str
    kind: SentenceKind
    text: str
    citations: tuple[Citation, ...] = ()
    verdict: Verdict = "unchecked"
    confidence: float | None = None
    checker: str = ""

    def __post_init__(self) -> None:
        _clean(self)
        if is_blank(self.sentence_id) or is_blank(self.text):
            raise InputError(f"sentence {self.sentence_id!r} needs an id and a text; leave empty sentences out")
        if self.kind not in get_args(SentenceKind):
            raise InputError(f"sentence {self.sentence_id} is a {self.kind!r}; use {', '.join(get_args(SentenceKind))}")
        if self.verdict not in get_args(Verdict):
            raise InputError(f"sentence {self.sentence_id}: {self.verdict!r}; use {', '.join(get_args(Verdict))}")
        if self.confidence is not None and not (math.isfinite(self.confidence) and 0 <= self.confidence <= 1):
            raise InputError(
                f"sentence {self.sentence_id} has confidence {self.confidence}; give one in [0, 1] or None"
            )


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Sentences that are read as one."""

    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class BulletList:
    """One paragraph per item."""

    items: tuple[Paragraph, ...]


@dataclass(frozen=True, slots=True)
class QuoteBlock:
    """A passage set off from the text: ``sentence.text`` is the passage, ``attribution`` says whose it is."""

    sentence: Sentence
    attribution: str = ""

    def __post_init__(self) -> None:
        _clean(self)


@dataclass(frozen=True, slots=True)
class Note:
    """A remark of the program, not of a source: why a passage was found, what was left out."""

    text: str

    def __post_init__(self) -> None:
        _clean(self)


@dataclass(frozen=True, slots=True)
class Table:
    """Plain cells; every row is as long as ``header``."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""

    def __post_init__(self) -> None:
        _clean(self)
        if not self.header:
            raise InputError(f"the table {self.caption!r} has no column; give it a header")
        if wrong := next((row for row in self.rows if len(row) != len(self.header)), None):
            raise InputError(
                f"the table {self.caption!r} has {len(self.header)} columns, but a row with {len(wrong)} cells: {wrong}"
            )


Block: TypeAlias = Paragraph | BulletList | QuoteBlock | Note | Table


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A heading, what stands under it, and the sections below it."""

    heading: str
    blocks: tuple[Block, ...] = ()
    sections: tuple[ReportSection, ...] = ()

    def __post_init__(self) -> None:
        _clean(self)
        if is_blank(self.heading):
            raise InputError("a section of the report has no heading; give it one")


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
        _clean(self)

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

    ``score`` is what retrieval gave it, ``found`` says how it was found.
    """

    section_id: str
    heading: str
    text: str
    score: float | None = None
    found: str = ""

    def __post_init__(self) -> None:
        _clean(self)
        if self.score is not None and not math.isfinite(self.score):
            raise InputError(f"the passage {self.section_id} has the score {self.score}; give a finite one or None")

    @property
    def sha256(self) -> str:
        """SHA-256 (hex) of the text, as citations give it."""
        return hashlib.sha256(self.text.encode("utf-8")).hexdigest()


@dataclass(frozen=True, slots=True)
class Report:
    """A whole report; cannot be built with a citation that leads nowhere.

    ``language`` is a tag such as ``en``; ``notes`` are remarks on the report as a whole (what could not be answered).
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

    def __post_init__(self) -> None:
        _clean(self)
        if is_blank(self.title):
            raise InputError("the report has no title; give it one")
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


def sentences_of(block: Block) -> tuple[Sentence, ...]:
    """The sentences of a block in reading order; notes and tables have none."""
    if isinstance(block, Paragraph):
        return block.sentences
    if isinstance(block, BulletList):
        return tuple(sentence for item in block.items for sentence in item.sentences)
    return (block.sentence,) if isinstance(block, QuoteBlock) else ()


def walk(sections: Sequence[ReportSection]) -> Iterator[tuple[tuple[str, ...], Sentence]]:
    """Every sentence in reading order, with the headings that lead to it, outermost first."""
    for section in sections:
        for block in section.blocks:
            for sentence in sentences_of(block):
                yield (section.heading,), sentence
        for path, sentence in walk(section.sections):
            yield (section.heading, *path), sentence


def is_blank(text: str) -> bool:
    """Whether nothing of ``text`` can be seen: white space, control and zero-width characters only."""
    return not any(ch.isprintable() and not ch.isspace() for ch in text)


def _clean(record: Any) -> None:
    """Clean all text of a frozen record in place; texts of a graph are clean already and stay as they are."""
    for field in dataclasses.fields(record):
        object.__setattr__(record, field.name, _cleaned(getattr(record, field.name)))


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    return tuple(map(_cleaned, value)) if isinstance(value, tuple | list) else value


def _cited(sections: Sequence[ReportSection]) -> list[str]:
    """doc_ids in order of first citation."""
    return list(dict.fromkeys(c.doc_id for _, sentence in walk(sections) for c in sentence.citations))


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
        for citation in sentence.citations:
            passage = by_id.get(citation.section_id)
            if passage is None:
                continue
            if hashes[citation.section_id] != citation.sha256:
                raise InputError(f"sentence {sentence.sentence_id} cites another text of {citation.section_id}")
            if passage.text[citation.start : citation.end] != citation.quote:
                raise InputError(f"the quote of sentence {sentence.sentence_id} is not in {citation.section_id} there")
