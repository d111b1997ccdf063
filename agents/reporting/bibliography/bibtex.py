"""References as BibTeX, for LaTeX and reference managers: UTF-8, readable keys, all that describes the publication."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from agents.reporting.bibliography.citekeys import citation_keys
from agents.reporting.bibliography.details import is_bibliographic
from agents.reporting.bibliography.entries import arxiv_id, doi_url, is_address, title_of
from agents.reporting.bibliography.latex import is_balanced, latex_text, latex_title
from agents.reporting.bibliography.names import PersonName, parse_authors
from agents.reporting.bibliography.page_numbers import join_pages
from agents.reporting.escape import one_line
from agents.reporting.model import Reference, is_blank
from kg.records import normalise_doi

# What a source calls a detail, and the field that has it.
_FIELDS = {
    "volume": "volume", "issue": "number", "number": "number", "pages": "pages", "page": "pages", "month": "month",
    "publisher": "publisher", "issn": "issn", "isbn": "isbn", "series": "series", "edition": "edition", "url": "url",
    "language": "language", "abstract": "abstract", "keywords": "keywords", "note": "note", "pmid": "pmid",
    "pmcid": "pmcid", "arxiv": "eprint", "year": "year",
}  # fmt: skip
_ORDER = ("author", "title", "journal", "year", "month", "volume", "number", "pages", "doi", "eprint", "archiveprefix")
_NOT_IN_ADDRESSES = {ord(ch): f"%{ord(ch):02X}" for ch in "{}\\"}


def render_bibtex(references: Sequence[Reference]) -> str:
    """One entry per reference, ``@article`` where there is a venue, else ``@misc``; "" for no references.

    All authors are named, in BibTeX's form "von Last, Jr, First". Bibliographic details that BibTeX has no field for,
    or whose field is taken, stand as ``x-...``, which styles ignore, and none of them can act. Other details, and that
    the text read was a summary, are left to the report's data: an entry is of the paper itself, for any use.
    """
    from bibtexparser import BibtexFormat, Library, write_string
    from bibtexparser.model import Block, Entry, Field

    layout = BibtexFormat()
    layout.indent, layout.block_separator = "  ", "\n"
    entries: list[Block] = [
        Entry(
            "misc" if is_blank(reference.venue) else "article",
            key,
            [Field(name, value) for name, value in _fields(reference).items()],
        )
        for reference, key in zip(references, citation_keys(references), strict=True)
    ]
    return write_string(Library(entries), bibtex_format=layout)


def bibtex_name(name: PersonName) -> str:
    """One name as BibTeX splits it again: organisations and whatever it would split elsewhere are in braces."""
    if name.literal or not name.given:
        whole = latex_text(name.inverted if name.suffix or name.dropping_particle else name.short)
        simple = not name.literal and " " not in whole and "," not in whole
        return whole if simple and whole.casefold() not in ("and", "others") else f"{{{whole}}}"
    family = _as_last(name)
    given = " ".join(filter(None, (name.given, name.dropping_particle)))
    return ", ".join(part for part in (family, _guard(name.suffix), _guard(given)) if part)


def _as_last(name: PersonName) -> str:
    """Particles before the family name are BibTeX's "von" as they are in lower case; others would be, so are braced."""
    words = name.family.split()
    split = len(words) > 1 and any(map(_is_lower, words))
    family = f"{{{latex_text(name.family)}}}" if split else _guard(name.family)
    if not name.particle:
        return family
    von = all(map(_is_lower, name.particle.split()))
    return f"{latex_text(name.particle)} {family}" if von else f"{{{latex_text(name.short)}}}"


def _is_lower(word: str) -> bool:
    """As BibTeX sees it: by the first letter that has a case."""
    return next((ch.islower() for ch in word if ch.isupper() or ch.islower()), False)


def _guard(part: str) -> str:
    """``part`` in braces where BibTeX would cut it."""
    text = latex_text(part)
    cut = "," in part or any(word.casefold() == "and" for word in part.split())
    return f"{{{text}}}" if cut else text


def _fields(reference: Reference) -> dict[str, str]:
    names, more = parse_authors(reference.authors)
    fields = {"title": latex_title(title_of(reference))}
    if names:
        fields["author"] = " and ".join([*map(bibtex_name, names), *(["others"] if more else [])])
    if not is_blank(reference.venue):
        fields["journal"] = latex_text(reference.venue)
    if reference.year is not None:
        fields["year"] = str(reference.year)
    doi = normalise_doi(one_line(reference.doi))
    others = [(key, value) for key, value in reference.details if is_bibliographic(key)]
    if doi_url(doi) and is_balanced(doi) and "\\" not in doi:
        fields["doi"] = doi
    elif not is_blank(doi):
        others.append(("doi", reference.doi))
    for key, value in others:
        if not is_blank(value):
            _add(fields, key, value)
    known = [name for name in _ORDER if name in fields]
    return {name: fields[name] for name in [*known, *(name for name in fields if name not in known)]}


def _add(fields: dict[str, str], key: str, value: str) -> None:
    """Put a detail into its field, or, where that cannot be, into one named after it."""
    field = _FIELDS.get(key.strip().casefold(), "")
    written = _WRITERS.get(field, latex_text)(value) if field else ""
    if fields.get(field, written) == written != "":
        fields[field] = written
        if field == "eprint":
            fields["archiveprefix"] = "arXiv"
        return
    slug = re.sub(r"[^a-z0-9]+", "-", key.casefold()).strip("-")
    name, count = f"x-{slug}", 1
    while name in fields:
        count += 1
        name = f"x-{slug}-{count}"
    fields[name] = latex_text(value)


def _pages(value: str) -> str:
    return latex_text(join_pages(value, "--"))


def _url(value: str) -> str:
    """An address as it is, as that field is not typeset; braces and backslashes percent-encoded."""
    address = one_line(value)
    return address.translate(_NOT_IN_ADDRESSES) if is_address(address) else ""


_WRITERS: dict[str, Callable[[str], str]] = {"pages": _pages, "eprint": arxiv_id, "url": _url}
