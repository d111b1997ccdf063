"""Citation styles: what stands in the text where a paper is cited, and the list of references, as data.

Renderers differ in how they set a piece in italics or make a link, never in what is said; so all of them read this.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias
from urllib.parse import quote

from agents.reporting.escape import one_line
from agents.reporting.model import Citation, Reference, Report, Sentence, is_blank
from agents.reporting.names import format_authors
from kg.records import normalise_doi

CitationForm: TypeAlias = Literal["numbered", "author_year"]
_DOI = re.compile(r"10\.\d{4,9}/\S+", re.ASCII)


@dataclass(frozen=True)
class CitationStyle:
    """How papers are cited. Of more than ``max_authors`` names the list shows the first ``shown`` and "et al."."""

    form: CitationForm = "numbered"
    max_authors: int = 6
    shown: int = 3


NUMBERED = CitationStyle()
AUTHOR_YEAR = CitationStyle("author_year")


@dataclass(frozen=True)
class Mark:
    """One paper that a sentence cites: its label in the text, and the passages of it that are cited."""

    label: str
    reference: Reference
    citations: tuple[Citation, ...]


@dataclass(frozen=True)
class Piece:
    """A stretch of an entry, plain text; ``url`` makes it a link."""

    text: str
    italic: bool = False
    url: str = ""


@dataclass(frozen=True)
class Entry:
    """An entry of the list of references; ``label`` is its number, or "" where entries are not numbered."""

    reference: Reference
    label: str
    pieces: tuple[Piece, ...]


class Bibliography:
    """The references of a report in one style.

    Marks of a sentence are shown as ``opening + separator.join(labels) + closing``.
    """

    def __init__(self, report: Report, style: CitationStyle = NUMBERED) -> None:
        self.style = style
        numbered = style.form == "numbered"
        self.opening, self.separator, self.closing = ("[", ", ", "]") if numbered else ("(", "; ", ")")
        self.entries = tuple(
            Entry(reference, str(reference.number) if numbered else "", reference_pieces(reference, style))
            for reference in report.references
        )
        self._labels = {entry.reference.doc_id: entry.label or "?" for entry in self.entries}

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


def reference_pieces(reference: Reference, style: CitationStyle = NUMBERED) -> tuple[Piece, ...]:
    """``Authors (Year). Title. Venue, volume(issue), pages. https://doi.org/...``, or title first."""
    authors = format_authors(reference.authors, style.max_authors, style.shown)
    year = (detail(reference, "year") or "n.d.") if reference.year is None else str(reference.year)
    title = reference.doc_id if is_blank(reference.title) else one_line(reference.title)
    opening = f"{authors} ({year}). {ended(title)}" if authors else f"{title} ({year})."
    pieces = [Piece(opening)]
    issue = detail(reference, "issue") or detail(reference, "number")
    numbered = detail(reference, "volume") + (f"({issue})" if issue else "")
    rest = ", ".join(piece for piece in (numbered, detail(reference, "pages")) if piece)
    if venue := one_line(reference.venue):
        pieces += [Piece(" "), Piece(venue, italic=True), Piece(ended(f", {rest}" if rest else "", venue))]
    elif rest:
        pieces.append(Piece(f" {ended(rest)}"))
    return (*pieces, *_locator(reference))


def doi_url(doi: str) -> str:
    """The address of a DOI; "" for what is none."""
    doi = normalise_doi(one_line(doi))
    return f"https://doi.org/{quote(doi, safe='/:;().-_')}" if _DOI.fullmatch(doi) else ""


def detail(reference: Reference, name: str) -> str:
    """What the source says under ``name``, however it writes the name, on one line; "" for nothing."""
    return one_line(next((value for key, value in reference.details if key.casefold() == name), ""))


def ended(text: str, before: str = "") -> str:
    """``text`` with a full stop, unless it (or ``before``, where ``text`` is empty) ends a sentence already."""
    return text if (before + text).endswith((".", "?", "!", "…", "。", "？", "！")) else f"{text}."


def _locator(reference: Reference) -> tuple[Piece, ...]:
    """The DOI as a link; what is no DOI as plain text; else the id in PubMed or arXiv."""
    if url := doi_url(reference.doi):
        return Piece(" "), Piece(url, url=url)
    ids = (("DOI", one_line(reference.doi)), ("PMID", detail(reference, "pmid")), ("arXiv", detail(reference, "arxiv")))
    for label, value in ids:
        if not is_blank(value):
            return (Piece(f" {label}: {value}"),)
    return ()
