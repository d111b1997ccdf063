"""The report as one HTML file: every citation opens its passage, with the quote marked where it stands.

The passages stand once in the page, as its appendix; a citation is a link there, and the script shows that passage
beside the text. Without the script all of it can still be read. Texts are escaped by Jinja; marks and formulas alone
are markup made in Python (``agents.reporting.marking``).
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from agents.reporting.bibliography.citing import NUMBERED, Bibliography, CitationStyle, Entry
from agents.reporting.counting import cited_sections, count, uncited
from agents.reporting.images import image_size
from agents.reporting.marking import marked, rich
from agents.reporting.model import (
    BulletList,
    Citation,
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
)
from agents.reporting.pages import asset, render_page
from agents.reporting.wording import CAUTION, NOT_STORED, PASSAGES, SUMMARY_PASSAGE, SUMMARY_REFERENCE, verdict_words

_LONG_TITLE = 160
_PROSE = 40
_NUMBER = re.compile(r"\s*[<>≤≥±+\-−]?\s*[\d.,\u2009\u00a0 ]*\d\s*(?:%|\*{1,3})?\s*")


def render_html(report: Report, style: CitationStyle = NUMBERED) -> str:
    """The whole report as one page that needs no network, for screens of any width, the keyboard, and paper.

    Equal reports give equal pages. Citations are numbered 1..n in reading order: citation k is the link ``#cite-k``
    (the first of those that share a mark) and leads to ``#passage-k``; sentence s is ``#sentence-s``.
    """
    page = _Page(report, style)
    sections = [page.section(path, section) for path, section in _outline(report.sections)]
    return render_page(
        "report.html",
        [asset("report.js")],
        title=_window_title(report),
        language=report.language,
        styles=["report.css"],
        report=report,
        long_title=len(report.title) > _LONG_TITLE,
        cautions=[caution for caution in report.cautions if not is_blank(caution)],
        counts=count(report),
        sections=sections,
        papers=page.papers(),
        citations=page.citations,
        uncited=uncited(report),
        words={
            "caution": CAUTION,
            "passage": SUMMARY_PASSAGE,
            "reference": SUMMARY_REFERENCE,
            "lost": NOT_STORED,
            "passages": PASSAGES,
        },
        brackets=(page.bibliography.opening, page.bibliography.separator, page.bibliography.closing),
        rich=rich,
        is_blank=is_blank,
    )


def _window_title(report: Report) -> str:
    """Question first: that is what tells one of several open reports from the next."""
    if is_blank(report.question) or report.question == report.title:
        return report.title
    return f"{report.question} · {report.title}"


@dataclass(frozen=True)
class _Mark:
    """A paper that a sentence cites; its passages are the citations ``first`` .. ``first + count - 1``."""

    label: str
    first: int
    count: int


@dataclass(frozen=True)
class _Sentence:
    anchor: str
    kind: str
    text: Any
    verdict: str
    says: str
    """The verdict in words, with confidence and checker; "" where nothing was checked."""
    marks: tuple[_Mark, ...]


@dataclass(frozen=True)
class _Block:
    """A block as the template sets it; only what its kind needs is filled."""

    kind: str
    number: int = 0
    text: str = ""
    paragraphs: tuple[tuple[_Sentence, ...], ...] = ()
    table: Table | None = None
    columns: tuple[str, ...] = ()
    url: str = ""
    alt: str = ""
    size: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class _Section:
    anchor: str
    level: int
    heading: str
    blocks: tuple[_Block, ...]


@dataclass(frozen=True)
class _Cited:
    """A section of a paper in the appendix; ``texts`` is the whole passage, or its quotes where that is not stored."""

    heading: str
    texts: tuple[Any, ...]
    stored: bool
    how: str


@dataclass(frozen=True)
class _Paper:
    number: int
    entry: Entry
    back: tuple[tuple[str, int], ...]
    """(heading of a section that cites the paper, its first citation there)."""
    passages: tuple[_Cited, ...]


class _Page:
    """Numbers citations, tables and figures in reading order; knows then what the lists at the end need."""

    def __init__(self, report: Report, style: CitationStyle) -> None:
        self.bibliography = Bibliography(report, style)
        self.citations = 0
        self._sections = cited_sections(report)
        self._cited: dict[str, list[tuple[int, Citation]]] = {}
        self._back: dict[str, dict[str, int]] = {}
        self._passages = {passage.section_id: passage for passage in report.passages}
        self._tables = 0
        self._figures = 0

    def section(self, path: tuple[int, ...], section: ReportSection) -> _Section:
        """Sections in reading order; ``path`` holds positions from 1, outermost first."""
        blocks = tuple(self._block(block, section.heading) for block in section.blocks)
        return _Section("section-" + "-".join(map(str, path)), len(path) + 1, section.heading, blocks)

    def papers(self) -> list[_Paper]:
        """The references, once all sections are numbered, with the passages cited of each."""
        return [
            _Paper(
                entry.reference.number,
                entry,
                tuple(self._back.get(entry.reference.doc_id, {}).items()),
                tuple(map(self._cited_section, self._sections[entry.reference.doc_id])),
            )
            for entry in self.bibliography.entries
        ]

    def _block(self, block: object, heading: str) -> _Block:
        match block:
            case Paragraph():
                return _Block("paragraph", paragraphs=(self._sentences(block.sentences, heading),))
            case BulletList(items):
                return _Block("list", paragraphs=tuple(self._sentences(item.sentences, heading) for item in items))
            case QuoteBlock(sentence, attribution):
                return _Block("quote", paragraphs=(self._sentences([sentence], heading),), text=attribution)
            case Note(text):
                return _Block("note", text=text)
            case Table():
                self._tables += 1
                return _Block("table", self._tables, block.caption, table=block, columns=_columns(block))
            case Figure(media_type, content, alt, caption):
                self._figures += 1
                width, height = (max(1, round(length)) for length in image_size(media_type, content))
                url = f"data:{media_type};base64,{b64encode(content).decode('ascii')}"
                return _Block("figure", self._figures, caption, url=url, alt=alt, size=(width, height))
        raise TypeError(f"no such block: {block!r}")

    def _sentences(self, sentences: Sequence[Sentence], heading: str) -> tuple[_Sentence, ...]:
        return tuple(
            _Sentence(
                anchor=f"sentence-{quote(sentence.sentence_id, safe='')}",
                kind=sentence.kind,
                text=rich(sentence.text),
                verdict=sentence.verdict,
                says=verdict_words(sentence),
                marks=tuple(self._marks(sentence, heading)),
            )
            for sentence in sentences
        )

    def _marks(self, sentence: Sentence, heading: str) -> Iterator[_Mark]:
        for mark in self.bibliography.marks(sentence):
            first = self.citations + 1
            for citation in mark.citations:
                self.citations += 1
                self._cited.setdefault(citation.section_id, []).append((self.citations, citation))
            self._back.setdefault(mark.reference.doc_id, {}).setdefault(heading, first)
            yield _Mark(mark.label, first, len(mark.citations))

    def _cited_section(self, section_id: str) -> _Cited:
        cited = self._cited[section_id]
        passage: Passage | None = self._passages.get(section_id)
        if passage is not None:
            spans = [(citation.start, citation.end, number) for number, citation in cited]
            return _Cited(passage.heading, (marked(passage.text, spans),), True, passage.how)
        quotes: dict[tuple[int, str], list[int]] = {}
        for number, citation in cited:
            quotes.setdefault((citation.start, citation.quote), []).append(number)
        texts = (marked(text, [(0, len(text), n) for n in numbers]) for (_, text), numbers in sorted(quotes.items()))
        return _Cited("", tuple(texts), False, "")


def _outline(sections: Iterable[ReportSection]) -> Iterator[tuple[tuple[int, ...], ReportSection]]:
    """Sections in reading order with their paths; no recursion, as they may nest to any depth."""
    waiting = _below((), sections)
    while waiting:
        path, section = waiting.pop()
        yield path, section
        waiting += _below(path, section.sections)


def _below(path: tuple[int, ...], sections: Iterable[ReportSection]) -> list[tuple[tuple[int, ...], ReportSection]]:
    """The last of ``sections`` first."""
    return [((*path, number), section) for number, section in enumerate(sections, start=1)][::-1]


def _columns(table: Table) -> tuple[str, ...]:
    """What the cells of each column are, so that numbers line up and prose is not squeezed on a phone."""
    kinds = []
    for column in range(len(table.header)):
        cells = [row[column] for row in table.rows if not is_blank(row[column])]
        if max(map(len, cells), default=0) > _PROSE:
            kinds.append("prose")
        else:
            kinds.append("number" if cells and all(map(_NUMBER.fullmatch, cells)) else "")
    return tuple(kinds)
