"""A mapping of bibliographic fields, as JSON or YAML gives it, to a ``Document``."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence

from kg.ingest.headings import text_parts
from kg.records import Document, Part, clean_text, document_id, normalise_doi

# A field and the names it goes by, the first present winning; the losers stay in the details.
_NAMES: dict[str, tuple[str, ...]] = {
    "id": ("id", "_id", "doc_id"),
    "title": ("title",),
    "authors": ("authors", "author"),
    "year": ("year",),
    "venue": ("venue", "journal"),
    "doi": ("doi",),
    "pmid": ("pmid",),
    "arxiv": ("arxiv",),
    "field": ("field",),
    "abstract": ("abstract",),
    "text": ("text",),
    "sections": ("sections",),
}


class FieldError(ValueError):
    """A field of the wrong type: ``name`` is the field, ``problem`` what is wrong and the way out."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"{name} {problem}")
        self.name = name


def named_fields(record: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    """Split a record into known fields, by their canonical names, and all others; empty values fall out.

    Names are matched without regard to case. What stands in a ``metadata`` object (BEIR) counts as if it
    stood in the record, where the record itself does not say otherwise.
    """
    given = {str(key): value for key, value in record.items() if not _is_missing(value)}
    metadata = given.pop("metadata", None)
    if isinstance(metadata, Mapping):
        known = {key.casefold() for key in given}
        for key, value in metadata.items():
            if not _is_missing(value) and str(key).casefold() not in known:
                given[str(key)] = value
    elif metadata is not None:
        given["metadata"] = metadata
    by_name = {key.strip().casefold(): key for key in reversed(given)}
    fields: dict[str, object] = {}
    for field, names in _NAMES.items():
        key = next((by_name[name] for name in names if name in by_name), None)
        if key is not None:
            fields[field] = given.pop(key)
    return fields, given


def build_document(
    record: Mapping[str, object],
    *,
    origin: str,
    body: Sequence[Part] = (),
    title: str = "",
    distinctive: bool = True,
) -> Document:
    """Make the document that ``record`` describes; ``body`` follows the parts that the record itself holds.

    ``title`` stands in for a missing one. A stand-in that other documents may share (a file's stem) is not
    ``distinctive``: an id derived from it then takes the text in. Raises ``FieldError``.
    """
    fields, others = named_fields(record)
    own_title = _line(fields, "title")
    title = own_title or " ".join(clean_text(title).split())
    parts = _parts(fields, body)
    if not any(part.text for part in parts) and not (own_title or (title and distinctive)):
        raise FieldError(
            "record", "has neither title nor text; give it at least one of title, abstract, text, sections"
        )
    doi, pmid, arxiv = (_identifier(fields, name) for name in ("doi", "pmid", "arxiv"))
    authors = _authors(fields.get("authors"))
    year = _year(fields)
    named = (bool(own_title) or distinctive) and any(ch.isalnum() for ch in title)
    doc_id = document_id(
        declared=_identifier(fields, "id"),
        doi=doi,
        pmid=re.sub(r"(?i)^pmid:?\s*", "", pmid),
        arxiv=re.sub(r"(?i)^(https?://)?arxiv\.org/abs/", "", arxiv),
        title=title if named else "\n".join([title, *(f"{part.heading}\n{part.text}" for part in parts)]),
        year=year,
        authors=authors,
    )
    if pmid:
        others["pmid"] = pmid
    if arxiv:
        others["arxiv"] = arxiv
    if year is None and "year" in fields:
        others["year"] = fields["year"]
    return Document(
        doc_id=doc_id,
        title=title,
        parts=parts,
        authors=authors,
        year=year,
        venue=_line(fields, "venue"),
        doi=normalise_doi(doi),
        field=_line(fields, "field"),
        details=_details(others),
        origin=origin,
    )


def _is_missing(value: object) -> bool:
    """Null, NaN (how tables export a missing cell) or nothing but white space."""
    return (
        value is None
        or (isinstance(value, float) and math.isnan(value))
        or (isinstance(value, str) and not value.strip())
    )


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, (list, tuple)) else "of another type"


def _text(value: object, name: str) -> str:
    """``value``, which must be a string, clean and without outer white space; nothing gives ``""``."""
    if _is_missing(value):
        return ""
    if not isinstance(value, str):
        raise FieldError(name, f"is {_kind(value)}; give it as text")
    return clean_text(value).strip()


def _line(fields: Mapping[str, object], name: str) -> str:
    return " ".join(_text(fields.get(name), name).split())


def _identifier(fields: Mapping[str, object], name: str) -> str:
    """An id as text. Whole numbers will do, but for DOI and arXiv id, which lose digits as numbers."""
    value = fields.get(name)
    if name in ("id", "pmid"):
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return _text(value, name)


def _authors(value: object) -> tuple[str, ...]:
    """Names as the source gives them: from a list of strings or objects, or one ``;``-separated string."""
    if value is None:
        return ()
    entries: Sequence[object]
    if isinstance(value, str):
        entries = value.split(";")
    elif isinstance(value, (list, tuple)):
        entries = value
    elif isinstance(value, Mapping):
        entries = [value]
    else:
        raise FieldError("authors", f"is {_kind(value)}; give a list of names, or one text separated by semicolons")
    names = []
    for position, entry in enumerate(entries):
        label = f"authors[{position}]"
        if isinstance(entry, Mapping):
            entry = _person(entry, label)
        name = " ".join(_text(entry, label).split())
        if name:
            names.append(name)
    return tuple(names)


def _person(entry: Mapping[object, object], label: str) -> str:
    """``{name}`` or ``{given, family}`` (also ``first``, ``last``) to ``given family``."""
    for keys in (("name",), ("given", "family"), ("first", "last")):
        name = " ".join(filter(None, (_text(entry.get(key), f"{label}.{key}") for key in keys)))
        if name:
            return name
    raise FieldError(label, "is an object without a name; give it name, or given and family")


def _year(fields: Mapping[str, object]) -> int | None:
    """The year of a number or of a text that is one or begins with one (``1994-05-01``), if it can be one."""
    value = fields.get("year")
    if isinstance(value, (Mapping, list, tuple)):
        raise FieldError("year", f"is {_kind(value)}; give a number such as 1994")
    year = 0
    if isinstance(value, str):
        found = re.match(r"\s*([0-9]{4})(?![0-9])", value)
        year = int(found[1]) if found else 0
    elif (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and 1000 <= value <= 2100
        and value == int(value)
    ):
        year = int(value)
    return year if 1000 <= year <= 2100 else None


def _parts(fields: Mapping[str, object], body: Sequence[Part]) -> tuple[Part, ...]:
    parts = [*text_parts(_text(fields.get("text"), "text")), *_sections(fields.get("sections")), *body]
    abstract = _text(fields.get("abstract"), "abstract")
    if abstract and all(part.text != abstract for part in parts):
        parts.insert(0, Part("Abstract", abstract))
    return tuple(parts)


def _sections(value: object) -> list[Part]:
    """Parts from a list of ``{heading|title, text}`` or of strings, or from an object heading -> text."""
    if value is None:
        return []
    if isinstance(value, Mapping):
        pairs = [(str(heading), text, f"sections[{heading!r}]") for heading, text in value.items()]
    elif isinstance(value, (list, tuple)):
        pairs = []
        for position, entry in enumerate(value):
            label = f"sections[{position}]"
            if isinstance(entry, Mapping):
                heading = entry.get("heading")
                key = "title" if _is_missing(heading) else "heading"
                pairs.append((_text(entry.get(key), f"{label}.{key}"), entry.get("text"), f"{label}.text"))
            else:
                pairs.append(("", entry, label))
    else:
        raise FieldError("sections", f"is {_kind(value)}; give a list of objects with heading and text")
    made = (Part(" ".join(clean_text(heading).split()), _text(text, label)) for heading, text, label in pairs)
    return [part for part in made if part.heading or part.text]


def _details(others: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Scalars and lists of strings as text, sorted by name; anything deeper is not bibliographic."""
    details: dict[str, str] = {}
    for key, value in others.items():
        if isinstance(value, str):
            text = value
        elif isinstance(value, (bool, int, float)):
            text = json.dumps(value)
        elif isinstance(value, (list, tuple)) and value and all(isinstance(item, str) for item in value):
            text = "; ".join(item.strip() for item in value)
        else:
            continue
        details[clean_text(key).strip()] = clean_text(text).strip()
    return tuple(sorted(details.items()))
