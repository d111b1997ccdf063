"""One entry of the list of references, as pieces of plain text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args
from urllib.parse import quote

from agents.reporting.bibliography.names import format_authors
from agents.reporting.bibliography.page_numbers import join_pages
from agents.reporting.escape import one_line
from agents.reporting.model import Reference, is_blank
from kg.errors import InputError
from kg.records import normalise_doi

CitationForm: TypeAlias = Literal["numbered", "author_year"]
_DOI = re.compile(r"10\.\d{4,9}/\S+", re.ASCII)
_ARXIV = re.compile(r"(?:arxiv:\s*)?((?:\d{4}\.\d{4,5}|[a-z][a-z.-]*/\d{7})(?:v\d+)?)", re.ASCII | re.IGNORECASE)
_ADDRESS = re.compile(r"https?://\S+", re.IGNORECASE)


@dataclass(frozen=True)
class CitationStyle:
    """How papers are cited. Of more than ``max_authors`` names the list shows the first ``shown`` and "et al."."""

    form: CitationForm = "numbered"
    max_authors: int = 6
    shown: int = 3

    def __post_init__(self) -> None:
        if self.form not in get_args(CitationForm):
            raise InputError(f"there is no citation style {self.form!r}; use {' or '.join(get_args(CitationForm))}")
        if not 1 <= self.shown <= self.max_authors:
            raise InputError(
                f"a list of up to {self.max_authors} authors cannot be shortened to {self.shown}; "
                "show at least one, and no more than stand there unshortened"
            )


NUMBERED = CitationStyle()
AUTHOR_YEAR = CitationStyle("author_year")


@dataclass(frozen=True)
class Piece:
    """A stretch of an entry, plain text; ``url`` makes it a link."""

    text: str
    italic: bool = False
    url: str = ""


def reference_pieces(reference: Reference, style: CitationStyle = NUMBERED, year: str = "") -> tuple[Piece, ...]:
    """``Family, Given; Family, Given (Year). Title. Venue, volume(issue), pages. https://doi.org/...``, or title first.

    The order is that of APA (7th ed., 9.4), the form of names that of ``format_authors``. ``year`` stands in for the
    reference's own, as where a letter tells two labels apart.
    """
    authors = format_authors(reference.authors, style.max_authors, style.shown)
    year = year or year_of(reference)
    title = title_of(reference)
    opening = f"{authors} ({year}). {ended(title)}" if authors else f"{title} ({year})."
    pieces = [Piece(opening)]
    issue = detail(reference, "issue") or detail(reference, "number")
    numbered = detail(reference, "volume") + (f"({issue})" if issue else "")
    pages = join_pages(detail(reference, "pages") or detail(reference, "page"), "–")
    rest = ", ".join(piece for piece in (numbered, pages) if piece)
    if venue := one_line(reference.venue):
        pieces += [Piece(" "), Piece(venue, italic=True), Piece(ended(f", {rest}" if rest else "", venue))]
    elif rest:
        pieces.append(Piece(f" {ended(rest)}"))
    return (*pieces, *_locator(reference))


def year_of(reference: Reference) -> str:
    """The year, else what the source says in its place ("in press"), else "n.d."."""
    return (detail(reference, "year") or "n.d.") if reference.year is None else str(reference.year)


def title_of(reference: Reference) -> str:
    """The title on one line; a paper without one goes by its id."""
    return reference.doc_id if is_blank(reference.title) else one_line(reference.title)


def doi_url(doi: str) -> str:
    """The address of a DOI; "" for what is none."""
    doi = normalise_doi(one_line(doi))
    return f"https://doi.org/{quote(doi, safe='/:;().-_')}" if _DOI.fullmatch(doi) else ""


def arxiv_id(text: str) -> str:
    """An id of arXiv, old or new, without "arXiv:"; "" for what is none."""
    found = _ARXIV.fullmatch(one_line(text))
    return found[1] if found else ""


def is_address(text: str) -> bool:
    """Whether ``text`` is an address on the web, and nothing that could act."""
    return _ADDRESS.fullmatch(text) is not None


def detail(reference: Reference, name: str) -> str:
    """What the source says under ``name``, however it writes the name, on one line; "" for nothing."""
    return one_line(next((value for key, value in reference.details if key.casefold() == name), ""))


def ended(text: str, before: str = "") -> str:
    """``text`` with a full stop, unless it (or ``before``, where ``text`` is empty) ends a sentence already."""
    return text if (before + text).endswith((".", "?", "!", "…", "。", "？", "！")) else f"{text}."


def _locator(reference: Reference) -> tuple[Piece, ...]:
    """The DOI as a link; what is no DOI as plain text; else the id in PubMed or arXiv; else the source's address."""
    if url := doi_url(reference.doi):
        return Piece(" "), Piece(url, url=url)
    ids = (("DOI", one_line(reference.doi)), ("PMID", detail(reference, "pmid")), ("arXiv", detail(reference, "arxiv")))
    for label, value in ids:
        if not is_blank(value):
            return (Piece(f" {label}: {value}"),)
    address = detail(reference, "url")
    return (Piece(" "), Piece(address, url=address)) if is_address(address) else ()
