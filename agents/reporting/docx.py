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
from agents.reporting.body import DOUBTS
from agents.reporting.docx_styles import PAGE_WIDTH, new_document
from agents.reporting.escape import one_line
from agents.reporting.images import image_size, svg_to_png
from agents.reporting.model import (
    Block,
    BulletList,
    Figure,
    Note,
    Paragraph,
    Passage,
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
    add_field,
    add_link,
    add_run,
    element,
    same_bytes,
    set_direction,
)
from agents.reporting.spans import union
from kg.records import split_section_id

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
        self.quotes: dict[str, list[tuple[int, int]]] = {}
        for _, sentence in walk(report.sections):
            for citation in sentence.citations:
                self.quotes.setdefault(citation.section_id, []).append((citation.start, citation.end))
        self.passage_of = {p.section_id: number for number, p in enumerate(report.passages, start=1)}
        self.bookmarks = 0
        self._heading_count = 0
        self.tables = 0
        self.figures = 0

    def package(self) -> bytes:
        """The document's file, written from the title to the last passage; call it once."""
        self._line(self.report.title, "Title")
        if not is_blank(self.report.question):
            self._line(self.report.question, "Subtitle")
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
        if self.report.passages:
            self._heading("Cited passages", 1)
            for passage in self.report.passages:
                self._passage(passage)
        made = io.BytesIO()
        self.document.save(made)
        return same_bytes(made.getvalue())

    def _appendices(self) -> list[str]:
        present = (("References", self.bibliography.entries), ("Cited passages", self.report.passages))
        return [title for title, content in present if content]

    def _line(self, text: str, style: str) -> WordParagraph:
        paragraph = self.document.add_paragraph(style=style)
        add_run(paragraph, one_line(text))
        set_direction(paragraph)
        return paragraph

    def _bookmark(self, paragraph: WordParagraph, name: str) -> None:
        self.bookmarks += 1
        add_bookmark(paragraph, name, self.bookmarks)

    def _heading(self, text: str, level: int) -> None:
        paragraph = self._line(text, f"Heading {min(level, _DEEPEST_HEADING)}")
        self._bookmark(paragraph, f"section{self._heading_count}")
        self._heading_count += 1

    def _section(self, section: ReportSection, level: int) -> None:
        self._heading(section.heading, level)
        for block in section.blocks:
            self._block(block)
        for child in section.sections:
            self._section(child, level + 1)

    def _block(self, block: Block) -> None:
        match block:
            case Paragraph(sentences):
                self._sentences(sentences, "Body Text")
            case BulletList(items):
                for item in items:
                    self._sentences(item.sentences, "List Bullet")
            case QuoteBlock(sentence, attribution):
                self._quote(sentence, attribution)
            case Note(text):
                self._line(text, "Note")
            case Table():
                self._table(block)
            case Figure():
                self._figure(block)

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
            self._line(f"— {attribution}", "Attribution")

    def _marks(self, paragraph: WordParagraph, sentence: Sentence) -> None:
        marks = self.bibliography.marks(sentence)
        for number, mark in enumerate(marks):
            add_run(paragraph, self.bibliography.separator if number else f"\u00a0{self.bibliography.opening}")
            add_link(paragraph, mark.label, bookmark=f"reference{mark.reference.number}", style="Internet Link")
        if marks:
            add_run(paragraph, self.bibliography.closing)
        if doubt := DOUBTS.get(sentence.verdict):
            add_run(paragraph, f" ({doubt})", style="Doubt")

    def _table(self, table: Table) -> None:
        self.tables += 1
        self._caption("Table", self.tables, table.caption).paragraph_format.keep_with_next = True
        grid = self.document.add_table(rows=0, cols=len(table.header), style="Report Table")
        for number, row in enumerate((table.header, *table.rows)):
            cells = grid.add_row().cells
            for cell, text in zip(cells, row, strict=True):
                paragraph = cell.paragraphs[0]
                add_run(paragraph, one_line(text)).bold = number == 0 or None
                paragraph.style = "Table Text"
                set_direction(paragraph)
        header = grid.rows[0]._tr.get_or_add_trPr()
        header.append(element("cantSplit"))
        header.append(element("tblHeader"))
        self.document.add_paragraph(style="Table Text")

    def _figure(self, figure: Figure) -> None:
        from docx.shared import Pt

        self.figures += 1
        width, height = image_size(figure.media_type, figure.content)
        png = svg_to_png(figure.content) if figure.media_type == "image/svg+xml" else figure.content
        # 96 CSS pixels are an inch, 72 points; a figure fits the text's width and three quarters of a page's height.
        points = min(width * 0.75, PAGE_WIDTH, 560.0 * width / height)
        paragraph = self.document.add_paragraph(style="Figure")
        shape = paragraph.add_run().add_picture(io.BytesIO(png), width=Pt(points))
        shape._inline.docPr.set("descr", one_line(figure.alt))
        self._caption("Figure", self.figures, figure.caption)

    def _caption(self, kind: str, number: int, text: str) -> WordParagraph:
        paragraph = self.document.add_paragraph(style="Caption")
        add_run(paragraph, f"{kind} ")
        add_field(paragraph, f"SEQ {kind} \\* ARABIC", str(number))
        if not is_blank(text):
            add_run(paragraph, f". {one_line(text)}")
        return paragraph

    def _entry(self, entry: Entry) -> None:
        paragraph = self.document.add_paragraph(style="Bibliography")
        if entry.label:
            add_run(paragraph, f"{entry.label}.\t")
        for piece in entry.pieces:
            if piece.url:
                add_link(paragraph, piece.text, url=piece.url, style="Internet Link")
            else:
                add_run(paragraph, piece.text, italic=piece.italic)
        passages = [p for p in self.report.passages if split_section_id(p.section_id)[0] == entry.reference.doc_id]
        for number, passage in enumerate(passages):
            add_run(paragraph, ", " if number else "  Cited: ", style="Quiet")
            name = one_line(passage.heading) or f"passage {self.passage_of[passage.section_id]}"
            add_link(paragraph, name, bookmark=f"passage{self.passage_of[passage.section_id]}", style="Internet Link")
        self._bookmark(paragraph, f"reference{entry.reference.number}")
        set_direction(paragraph)

    def _passage(self, passage: Passage) -> None:
        doc_id = split_section_id(passage.section_id)[0]
        entry = next((e for e in self.bibliography.entries if e.reference.doc_id == doc_id), None)
        title = one_line(entry.reference.title) if entry else doc_id
        paragraph = self.document.add_paragraph(style="Passage Heading")
        add_run(paragraph, f"{title or doc_id}: {one_line(passage.heading)}" if passage.heading else title or doc_id)
        self._bookmark(paragraph, f"passage{self.passage_of[passage.section_id]}")
        set_direction(paragraph)
        how = [passage.found, f"Score {passage.score:.4g}." if passage.score is not None else ""]
        if remark := " ".join(part for part in how if part):
            self._line(remark, "Note").paragraph_format.keep_with_next = True
        marked = union(self.quotes.get(passage.section_id, []))
        for start, end in _paragraphs(passage.text):
            own = self.document.add_paragraph(style="Passage")
            at = start
            for left, right in marked:
                left, right = max(left, start), min(right, end)
                if left < right:
                    _add_text(own, passage.text[at:left])
                    _add_text(own, passage.text[left:right], "Quoted")
                    at = right
            _add_text(own, passage.text[at:end])
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
