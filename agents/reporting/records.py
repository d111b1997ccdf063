"""The shapes of ``report.json`` and of a line of ``claims.jsonl``, and the way between them and a ``Report``.

Texts of sentences stand once, in ``claims.jsonl``; ``report.json`` refers to them by id. Keys that are not named
here are ignored; a change that older readers would get wrong raises ``FORMAT``.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import Annotated, Literal, TypeAlias

from pydantic import Base64Bytes, BaseModel, Field

from agents.reporting import model
from agents.reporting.model import Block, Citation, Passage, Reference, Report, ReportSection, Sentence, walk

FORMAT = 2
"""2 added figures, cautions and ranks; a report of format 1 is read as it is."""


class ClaimRecord(BaseModel):
    """One line of ``claims.jsonl``: a sentence, and the headings it stands under, outermost first."""

    sentence_id: str
    kind: model.SentenceKind
    section_path: tuple[str, ...]
    text: str
    citations: tuple[Citation, ...]
    verdict: model.Verdict
    confidence: float | None
    checker: str

    def sentence(self) -> Sentence:
        """The sentence of this line."""
        return Sentence(
            self.sentence_id, self.kind, self.text, self.citations, self.verdict, self.confidence, self.checker
        )


class ParagraphRecord(BaseModel):
    """Ids of sentences."""

    type: Literal["paragraph"] = "paragraph"
    sentences: tuple[str, ...]


class BulletsRecord(BaseModel):
    """Ids of sentences, item by item."""

    type: Literal["bullets"] = "bullets"
    items: tuple[tuple[str, ...], ...]


class QuoteRecord(BaseModel):
    """Id of the sentence that is the passage."""

    type: Literal["quote"] = "quote"
    sentence: str
    attribution: str


class NoteRecord(BaseModel):
    """A remark."""

    type: Literal["note"] = "note"
    text: str


class TableRecord(BaseModel):
    """Rows of cells."""

    type: Literal["table"] = "table"
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str


class FigureRecord(BaseModel):
    """A picture; ``content`` is the file in Base64."""

    type: Literal["figure"] = "figure"
    media_type: model.MediaType
    content: Base64Bytes
    alt: str
    caption: str


BlockRecord: TypeAlias = Annotated[
    ParagraphRecord | BulletsRecord | QuoteRecord | NoteRecord | TableRecord | FigureRecord, Field(discriminator="type")
]


class SectionRecord(BaseModel):
    """A node of the section tree."""

    heading: str
    blocks: tuple[BlockRecord, ...]
    sections: tuple[SectionRecord, ...]


class FormatRecord(BaseModel):
    """What every version of ``report.json`` has."""

    format: int


class ReportRecord(FormatRecord):
    """``report.json``. ``claims_sha256`` is the hash of the ``claims.jsonl`` that belongs to it."""

    title: str
    question: str
    language: str
    cautions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    sections: tuple[SectionRecord, ...]
    references: tuple[Reference, ...]
    passages: tuple[Passage, ...] = ()
    claims_sha256: str | None = None

    def report(self, sentences: Mapping[str, Sentence]) -> Report:
        """The report with its sentences put in; ``KeyError`` for one that ``sentences`` lacks, ``InputError`` as it."""
        return Report(
            title=self.title, question=self.question, language=self.language, notes=self.notes,
            sections=tuple(_section(section, sentences) for section in self.sections),
            references=self.references, passages=self.passages, cautions=self.cautions,
        )  # fmt: skip


def claim_records(report: Report) -> list[ClaimRecord]:
    """One record per sentence, in reading order."""
    return [
        ClaimRecord(
            sentence_id=s.sentence_id, kind=s.kind, section_path=path, text=s.text, citations=s.citations,
            verdict=s.verdict, confidence=s.confidence, checker=s.checker,
        )
        for path, s in walk(report.sections)
    ]  # fmt: skip


def report_record(report: Report, claims_sha256: str) -> ReportRecord:
    """The report without the texts of its sentences."""
    return ReportRecord(
        format=FORMAT, title=report.title, question=report.question, language=report.language, notes=report.notes,
        sections=tuple(map(_section_record, report.sections)), references=report.references,
        passages=report.passages, cautions=report.cautions, claims_sha256=claims_sha256,
    )  # fmt: skip


def _section_record(section: ReportSection) -> SectionRecord:
    return SectionRecord(
        heading=section.heading,
        blocks=tuple(map(_block_record, section.blocks)),
        sections=tuple(map(_section_record, section.sections)),
    )


def _block_record(block: Block) -> BlockRecord:
    match block:
        case model.Paragraph(sentences):
            return ParagraphRecord(sentences=_ids(sentences))
        case model.BulletList(items):
            return BulletsRecord(items=tuple(_ids(item.sentences) for item in items))
        case model.QuoteBlock(sentence, attribution):
            return QuoteRecord(sentence=sentence.sentence_id, attribution=attribution)
        case model.Note(text):
            return NoteRecord(text=text)
        case model.Table(header, rows, caption):
            return TableRecord(header=header, rows=rows, caption=caption)
        case model.Figure(media_type, content, alt, caption):
            return FigureRecord(media_type=media_type, content=b64encode(content), alt=alt, caption=caption)


def _section(record: SectionRecord, sentences: Mapping[str, Sentence]) -> ReportSection:
    return ReportSection(
        heading=record.heading,
        blocks=tuple(_block(block, sentences) for block in record.blocks),
        sections=tuple(_section(section, sentences) for section in record.sections),
    )


def _block(record: BlockRecord, sentences: Mapping[str, Sentence]) -> Block:
    match record:
        case ParagraphRecord():
            return _paragraph(record.sentences, sentences)
        case BulletsRecord():
            return model.BulletList(tuple(_paragraph(item, sentences) for item in record.items))
        case QuoteRecord():
            return model.QuoteBlock(sentences[record.sentence], record.attribution)
        case NoteRecord():
            return model.Note(record.text)
        case TableRecord():
            return model.Table(record.header, record.rows, record.caption)
        case FigureRecord():
            return model.Figure(record.media_type, record.content, record.alt, record.caption)


def _paragraph(ids: Iterable[str], sentences: Mapping[str, Sentence]) -> model.Paragraph:
    return model.Paragraph(tuple(sentences[sentence_id] for sentence_id in ids))


def _ids(sentences: Iterable[Sentence]) -> tuple[str, ...]:
    return tuple(sentence.sentence_id for sentence in sentences)
