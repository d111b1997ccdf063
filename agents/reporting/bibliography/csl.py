"""References as CSL-JSON (data schema of CSL 1.0.2), which Zotero, pandoc and citeproc read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from agents.reporting.bibliography.citekeys import citation_keys
from agents.reporting.bibliography.details import is_bibliographic
from agents.reporting.bibliography.entries import arxiv_id, doi_url, is_address, title_of
from agents.reporting.bibliography.names import PersonName, parse_authors
from agents.reporting.bibliography.page_numbers import join_pages
from agents.reporting.escape import one_line
from agents.reporting.model import Reference, is_blank
from kg.records import normalise_doi

# What a source calls a detail, and the variable that has it.
_VARIABLES = {
    "volume": "volume", "issue": "issue", "number": "issue", "pages": "page", "page": "page", "pmid": "PMID",
    "pmcid": "PMCID", "issn": "ISSN", "isbn": "ISBN", "publisher": "publisher", "edition": "edition",
    "series": "collection-title", "url": "URL", "language": "language", "abstract": "abstract", "note": "note",
    "keywords": "keyword",
}  # fmt: skip


def render_csl_json(references: Sequence[Reference]) -> str:
    """A JSON array of items; an item's ``id`` is its key in BibTeX.

    Type ``article-journal`` where there is a venue, ``article`` (a preprint) where there is an arXiv id, else
    ``document``. Bibliographic details without a variable are kept under ``custom``; others stay in the report's data.
    """
    items = [_item(reference, key) for reference, key in zip(references, citation_keys(references), strict=True)]
    return json.dumps(items, ensure_ascii=False, indent=1) + "\n"


def csl_name(name: PersonName) -> dict[str, str]:
    """A name-variable: ``literal`` alone, or family name and what goes with it."""
    parts = {
        "family": name.family, "given": name.given, "non-dropping-particle": name.particle,
        "dropping-particle": name.dropping_particle, "suffix": name.suffix, "literal": name.literal,
    }  # fmt: skip
    return {key: value for key, value in parts.items() if value}


def _item(reference: Reference, key: str) -> dict[str, Any]:
    item: dict[str, Any] = {"id": key, "type": "document", "title": title_of(reference)}
    names, more = parse_authors(reference.authors)
    if names:
        item["author"] = [*map(csl_name, names), *([{"literal": "others"}] if more else [])]
    if not is_blank(reference.venue):
        item |= {"type": "article-journal", "container-title": one_line(reference.venue)}
    if reference.year is not None:
        item["issued"] = {"date-parts": [[reference.year]]}
    others = [
        (name, one_line(value)) for name, value in reference.details if is_bibliographic(name) and not is_blank(value)
    ]
    doi = normalise_doi(one_line(reference.doi))
    if doi_url(doi):
        item["DOI"] = doi
    elif not is_blank(doi):
        others.append(("doi", one_line(reference.doi)))
    custom: dict[str, str] = {}
    for name, value in others:
        if name.strip().casefold() != "arxiv" or not _add_arxiv(item, value):
            _add(item, custom, name, value)
    if "number" in item:
        item.setdefault("URL", f"https://arxiv.org/abs/{item['number'].removeprefix('arXiv:')}")
    if custom:
        item["custom"] = custom
    return item


def _add_arxiv(item: dict[str, Any], value: str) -> bool:
    """Where Zotero keeps the id; whether it is one, and the place was free."""
    number = f"arXiv:{arxiv_id(value)}"
    if not arxiv_id(value) or item.get("number", number) != number:
        return False
    item["number"] = number
    if item["type"] == "document":
        item["type"] = "article"
    return True


def _add(item: dict[str, Any], custom: dict[str, str], name: str, value: str) -> None:
    """Put a detail into its variable; into ``custom`` where there is none, or it is taken."""
    lower = name.strip().casefold()
    variable = _VARIABLES.get(lower, "")
    if variable == "page":
        value = join_pages(value, "-")
    if lower == "year" and "issued" not in item:
        item["issued"] = {"literal": value}
    elif variable and item.get(variable, value) == value and (variable != "URL" or is_address(value)):
        item[variable] = value
    else:
        label, count = name, 1
        while label in custom:
            count += 1
            label = f"{name} ({count})"
        custom[label] = value
