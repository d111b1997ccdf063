"""Citation styles: what stands in the text where a paper is cited, and the list of references, as data.

Renderers differ in how they set a piece in italics or make a link, never in what is said; so all of them read this.
"""

from __future__ import annotations

from dataclasses import dataclass

from agents.reporting.bibliography.entries import (
    AUTHOR_YEAR,
    NUMBERED,
    CitationForm,
    CitationStyle,
    Piece,
    detail,
    doi_url,
    ended,
    reference_pieces,
)
from agents.reporting.bibliography.labels import author_year_labels
from agents.reporting.model import Citation, Reference, Report, Sentence

__all__ = [
    "AUTHOR_YEAR",
    "NUMBERED",
    "Bibliography",
    "CitationForm",
    "CitationStyle",
    "Entry",
    "Mark",
    "Piece",
    "detail",
    "doi_url",
    "ended",
    "reference_pieces",
]


@dataclass(frozen=True)
class Mark:
    """One paper that a sentence cites: its label in the text, and the passages of it that are cited."""

    label: str
    reference: Reference
    citations: tuple[Citation, ...]


@dataclass(frozen=True)
class Entry:
    """An entry of the list of references; ``label`` is its number, or "" where entries are not numbered."""

    reference: Reference
    label: str
    pieces: tuple[Piece, ...]


class Bibliography:
    """The references of a report in one style.

    ``entries`` is the list: by number, or by author and year. Marks of a sentence are shown as
    ``opening + separator.join(labels) + closing``; no two papers have the same label.
    """

    def __init__(self, report: Report, style: CitationStyle = NUMBERED) -> None:
        self.style = style
        numbered = style.form == "numbered"
        self.opening, self.separator, self.closing = ("[", ", ", "]") if numbered else ("(", "; ", ")")
        self._labels: dict[str, str] = {}
        self.entries: tuple[Entry, ...] = self._numbered(report) if numbered else self._author_year(report)

    def marks(self, sentence: Sentence) -> tuple[Mark, ...]:
        """One mark per cited paper, in the order of the list; none for a sentence without citations."""
        cited: dict[str, list[Citation]] = {}
        for citation in sentence.citations:
            cited.setdefault(citation.doc_id, []).append(citation)
        return tuple(
            Mark(self._labels[entry.reference.doc_id], entry.reference, tuple(cited[entry.reference.doc_id]))
            for entry in self.entries
            if entry.reference.doc_id in cited
        )

    def _numbered(self, report: Report) -> tuple[Entry, ...]:
        self._labels = {reference.doc_id: str(reference.number) for reference in report.references}
        return tuple(
            Entry(reference, str(reference.number), reference_pieces(reference, self.style))
            for reference in report.references
        )

    def _author_year(self, report: Report) -> tuple[Entry, ...]:
        labels = author_year_labels(report.references)
        self._labels = {
            reference.doc_id: label.text for reference, label in zip(report.references, labels, strict=True)
        }
        ordered = sorted(zip(report.references, labels, strict=True), key=lambda pair: pair[1].order)
        return tuple(
            Entry(reference, "", reference_pieces(reference, self.style, label.year)) for reference, label in ordered
        )
