"""What stands in a report: sentences with their citations, in blocks, in a tree of sections.

Texts are cleaned as ``kg.records`` demands, so that a report stored and read again is equal to the one built.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from agents.reporting.images import image_size
from kg.errors import InputError
from kg.records import clean_text, split_section_id

SentenceKind: TypeAlias = Literal["claim", "proposal", "connective"]
Verdict: TypeAlias = Literal["supported", "partial", "unsupported", "unchecked"]
MediaType: TypeAlias = Literal["image/svg+xml", "image/png"]
DOUBTS: dict[Verdict, str] = {"partial": "partly supported", "unsupported": "not supported"}
"""What a reader is told where a check left doubt."""
VERBATIM = "verbatim"
"""Checker of quotations: the sentence is a stretch of the cited section, which says nothing of what it proves."""
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
        clean(self)
        try:
            split_section_id(self.section_id)
        except ValueError as error:
            raise InputError(f"a citation cannot be followed: {error}") from None
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
        clean(self)
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
        clean(self)


@dataclass(frozen=True, slots=True)
class Note:
    """A remark of the program, not of a source: why a passage was found, what was left out."""

    text: str

    def __post_init__(self) -> None:
        clean(self)


@dataclass(frozen=True, slots=True)
class Table:
    """Plain cells; every row is as long as ``header``."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""

    def __post_init__(self) -> None:
        clean(self)
        if not self.header:
            raise InputError(f"the table {self.caption!r} has no column; give it a header")
        if wrong := next((row for row in self.rows if len(row) != len(self.header)), None):
            raise InputError(
                f"the table {self.caption!r} has {len(self.header)} columns, but a row with {len(wrong)} cells: {wrong}"
            )


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture: ``content`` is the whole file, ``alt`` says what it shows to those who cannot see it.

    Raises ``InputError`` if ``content`` is not what ``media_type`` says, or ``alt`` is empty.
    """

    media_type: MediaType
    content: bytes
    alt: str
    caption: str = ""

    def __post_init__(self) -> None:
        clean(self)
        if self.media_type not in get_args(MediaType):
            raise InputError(f"a figure is of type {self.media_type!r}; use {', '.join(get_args(MediaType))}")
        if is_blank(self.alt):
            raise InputError(f"the figure {self.caption!r} does not say in words what it shows; give it an alt text")
        image_size(self.media_type, self.content)


Block: TypeAlias = Paragraph | BulletList | QuoteBlock | Note | Table | Figure


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A heading, what stands under it, and the sections below it."""

    heading: str
    blocks: tuple[Block, ...] = ()
    sections: tuple[ReportSection, ...] = ()

    def __post_init__(self) -> None:
        clean(self)
        if is_blank(self.heading):
            raise InputError("a section of the report has no heading; give it one")


def sentences_of(block: Block) -> tuple[Sentence, ...]:
    """The sentences of a block in reading order; notes, tables and figures have none."""
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


def clean(record: Any) -> None:
    """Clean all text of a frozen record in place; texts of a graph are clean already and stay as they are."""
    for field in dataclasses.fields(record):
        object.__setattr__(record, field.name, _cleaned(getattr(record, field.name)))


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    return tuple(map(_cleaned, value)) if isinstance(value, tuple | list) else value
