"""The report as a Word document (Office Open XML): real headings, a table of contents, links from text to reference.

A mark in the text leads to its reference, a reference to its DOI and to the cited passages, which stand in full at the
end with the quotes highlighted. What is drawn is what the data says; formulas stay as their TeX source.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from agents.reporting.bibliography.citing import NUMBERED, Bibliography, CitationStyle, Entry
from agents.reporting.bibliography.entries import title_of
from agents.reporting.body import DOUBTS
from agents.reporting.counting import cited_sections, count, uncited
from agents.reporting.docx_floats import add_figure, add_table
from agents.reporting.docx_styles import new_document
from agents.reporting.escape import one_line
from agents.reporting.model import (
    Block,
    BulletList,
    Citation,
    Figure,
    Note,
    Paragraph,
    QuoteBlock,
    Report,
    ReportSection,
    Sentence,
    Table,
    is_blank,
    walk,
)
from agents.reporting.ooxml import (
    add_bookmark,
    add_contents,
    add_link,
    add_run,
    same_bytes,
    set_direction,
)
from agents.reporting.spans import union
from agents.reporting.wording import CAUTION, NOT_STORED, PASSAGES, SUMMARY_PASSAGE, SUMMARY_REFERENCE

if TYPE_CHECKING:
    from docx.text.paragraph import Paragraph as WordParagraph

_DEEPEST_HEADING = 9
_CONTENTS_DEPTH = 3


def render_docx(report: Report, style: CitationStyle = NUMBERED) -> bytes:
    """The whole report as a ``.docx`` file; equal reports give equal bytes.

    Raises ``InputError`` if a figure cannot be drawn.
    """
    return _Writer(report, style).package()


class _Writer:
    def __init__(self, report: Report, style: CitationStyle) -> None:
        self.report = report
        self.bibliography = Bibliography(report, style)
        self.document = new_document(report.title, report.language)
        self.quotes: dict[str, list[Citation]] = {}
        for _, sentence in walk(report.sections):
            for citation in sentence.citations:
                self.quotes.setdefault(citation.section_id, []).append(citation)
        self.passages = {passage.section_id: passage for passage in report.passages}
        self.cited = cited_sections(report)
        shown = (section_id for e in self.bibliography.entries for section_id in self.cited[e.reference.doc_id])
        self.bookmark_of = {section_id: f"passage{number}" for number, section_id in enumerate(shown, start=1)}
        self.quoted: WordParagraph
        """The last paragraph of the latest quote."""
        self.bookmarks = 0
        self._heading_count = 0
        self.tables = 0
        self.figures = 0

    def package(self) -> bytes:
        """The document's file, written from the title to the last passage; call it once."""
        self._line(self.report.title, "Title")
        if not is_blank(self.report.question):
            self._line(self.report.question, "Subtitle")
        for caution in self.report.cautions:
            self._caution(caution)
        self._line(count(self.report).line, "Counts")
        for note in self.report.notes:
            self._line(note, "Note")
        headings = [*_headings(self.report.sections), *((1, title) for title in self._appendices())]
        if len(headings) > 1:
            shown = [(level, text) for level, text in headings if level <= _CONTENTS_DEPTH]
            bookmarks = [f"section{i}" for i, (level, _) in enumerate(headings) if level <= _CONTENTS_DEPTH]
            self._line("Contents", "TOC Heading")
            add_contents(self.document, shown, bookmarks, _CONTENTS_DEPTH)
        for section in self.report.sections:
            self._section(section, 1)
        if self.bibliography.entries:
            self._heading("References", 1)
            for entry in self.bibliography.entries:
                self._entry(entry)
            self._heading("Cited passages", 1)
            self._line(PASSAGES, "Passage Note")
            for entry in self.bibliography.entries:
                for section_id in self.cited[entry.reference.doc_id]:
                    self._passage(entry, section_id)
        if remark := uncited(self.report):
            self._line(remark, "Note")
        made = io.BytesIO()
        self.document.save(made)
        return same_bytes(made.getvalue())

    def _appendices(self) -> list[str]:
        return ["References", "Cited passages"] if self.bibliography.entries else []

    def _line(self, text: str, style: str) -> WordParagraph:
        paragraph = self.document.add_paragraph(style=style)
        add_run(paragraph, one_line(text))
        set_direction(paragraph)
        return paragraph

    def _caution(self, text: str) -> None:
        if is_blank(text):
            return
        paragraph = self.document.add_paragraph(style="Caution")
        add_run(paragraph, f"{CAUTION}. ").bold = True
        add_run(paragraph, one_line(text))
        set_direction(paragraph)

    def _bookmark(self, paragraph: WordParagraph, name: str) -> None:
        self.bookmarks += 1
        add_bookmark(paragraph, name, self.bookmarks)

    def _heading(self, text: str, level: int) -> None:
        paragraph = self._line(text, f"Heading {min(level, _DEEPEST_HEADING)}")
        self._bookmark(paragraph, f"section{self._heading_count}")
        self._heading_count += 1

    def _section(self, section: ReportSection, level: int) -> None:
        self._heading(section.heading, level)
        for preceding, block in zip((None, *section.blocks), section.blocks, strict=False):
            self._block(block, preceding)
        for child in section.sections:
            self._section(child, level + 1)

    def _block(self, block: Block, preceding: Block | None) -> None:
        match block:
            case Paragraph(sentences):
                self._sentences(sentences, "Body Text")
            case BulletList(items):
                for item in items:
                    self._sentences(item.sentences, "List Bullet")
            case QuoteBlock(sentence, attribution):
                if isinstance(preceding, QuoteBlock) and is_blank(preceding.attribution):
                    self.quoted.paragraph_format.keep_with_next = True  # one attribution for both
                self._quote(sentence, attribution)
            case Note(text) if isinstance(preceding, QuoteBlock):
                self.quoted.paragraph_format.keep_with_next = True
                self.quoted.paragraph_format.space_after = 0
                self._line(text, "Quote Note")
            case Note(text):
                self._line(text, "Note")
            case Table():
                self.tables += 1
                add_table(self.document, block, self.tables)
            case Figure():
                self.figures += 1
                add_figure(self.document, block, self.figures)

    def _sentences(self, sentences: Sequence[Sentence], style: str) -> None:
        if not sentences:
            return
        paragraph = self.document.add_paragraph(style=style)
        for number, sentence in enumerate(sentences):
            add_run(paragraph, (" " if number else "") + one_line(sentence.text))
            self._marks(paragraph, sentence)
        set_direction(paragraph)

    def _quote(self, sentence: Sentence, attribution: str) -> None:
        paragraph = self.document.add_paragraph(style="Quote")
        add_run(paragraph, f"“{one_line(sentence.text)}”")
        self._marks(paragraph, sentence)
        set_direction(paragraph)
        if not is_blank(attribution):
            paragraph.paragraph_format.keep_with_next = True
            paragraph = self._line(f"— {attribution}", "Attribution")
        self.quoted = paragraph

    def _marks(self, paragraph: WordParagraph, sentence: Sentence) -> None:
        marks = self.bibliography.marks(sentence)
        for number, mark in enumerate(marks):
            add_run(paragraph, self.bibliography.separator if number else f"\u00a0{self.bibliography.opening}")
            add_link(paragraph, mark.label, bookmark=f"reference{mark.reference.number}", style="Internet Link")
        if marks:
            add_run(paragraph, self.bibliography.closing)
        if doubt := DOUBTS.get(sentence.verdict):
            add_run(paragraph, f" ({doubt})", style="Doubt")

    def _entry(self, entry: Entry) -> None:
        paragraph = self.document.add_paragraph(style="Bibliography")
        if entry.label:
            add_run(paragraph, f"{entry.label}.\t")
        for piece in entry.pieces:
            if piece.url:
                add_link(paragraph, piece.text, url=piece.url, style="Internet Link")
            else:
                add_run(paragraph, piece.text, italic=piece.italic)
        if entry.reference.is_summary:
            add_run(paragraph, f" {SUMMARY_REFERENCE}", style="Doubt")
        for number, section_id in enumerate(self.cited[entry.reference.doc_id]):
            add_run(paragraph, ", " if number else "  Cited: ", style="Quiet")
            name = self._name_of(section_id) or f"passage {number + 1}"
            add_link(paragraph, name, bookmark=self.bookmark_of[section_id], style="Internet Link")
        self._bookmark(paragraph, f"reference{entry.reference.number}")
        set_direction(paragraph)

    def _name_of(self, section_id: str) -> str:
        passage = self.passages.get(section_id)
        return one_line(passage.heading) if passage else ""

    def _passage(self, entry: Entry, section_id: str) -> None:
        passage, citations = self.passages.get(section_id), self.quotes[section_id]
        paragraph = self.document.add_paragraph(style="Passage Heading")
        if entry.label:
            bookmark = f"reference{entry.reference.number}"
            add_link(paragraph, f"[{entry.label}]", bookmark=bookmark, style="Internet Link")
        name = ": ".join(filter(None, (title_of(entry.reference), self._name_of(section_id))))
        add_run(paragraph, f" {name}" if entry.label else name)
        self._bookmark(paragraph, self.bookmark_of[section_id])
        set_direction(paragraph)
        summary = SUMMARY_PASSAGE if entry.reference.is_summary else ""
        for remark in (summary, passage.how if passage else NOT_STORED):
            if not is_blank(remark):
                self._line(remark, "Passage Note")
        if passage:
            marked = union((citation.start, citation.end) for citation in citations)
            self._passage_text(passage.text, marked)
        else:
            for _, quote in sorted({(citation.start, citation.quote) for citation in citations}):
                self._passage_text(quote, [(0, len(quote))])

    def _passage_text(self, text: str, marked: Sequence[tuple[int, int]]) -> None:
        for start, end in _paragraphs(text):
            own = self.document.add_paragraph(style="Passage")
            at = start
            for left, right in marked:
                left, right = max(left, start), min(right, end)
                if left < right:
                    _add_text(own, text[at:left])
                    _add_text(own, text[left:right], "Quoted")
                    at = right
            _add_text(own, text[at:end])
            set_direction(own)


def _headings(sections: Sequence[ReportSection], level: int = 1) -> Iterator[tuple[int, str]]:
    for section in sections:
        yield level, one_line(section.heading)
        yield from _headings(section.sections, level + 1)


def _add_text(paragraph: WordParagraph, text: str, style: str | None = None) -> None:
    if text:
        add_run(paragraph, text, style=style)


def _paragraphs(text: str) -> list[tuple[int, int]]:
    """[start, end) of the paragraphs of a text, which blank lines divide."""
    return [match.span() for match in re.finditer(r"\S(?:.*?\S)??(?=\s*\n\s*\n|\s*$)", text, re.DOTALL)]
