"""Papers as rows: documents with their sections, to and from the tables that a graph keeps.

What a graph stores of its papers is enough to assemble it again, so add and remove need no source files.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from kg.errors import InputError
from kg.records import Document, Part, Section, clean_text, split_section_id
from kg.sectioning import SectioningConfig, split_sections

DOCUMENT_SCHEMA = pa.schema(
    [
        ("doc_id", pa.string()), ("title", pa.string()), ("authors", pa.list_(pa.string())), ("year", pa.int32()),
        ("venue", pa.string()), ("doi", pa.string()), ("field", pa.string()), ("details", pa.string()),
        ("content_hash", pa.string()), ("n_sections", pa.int32()),
    ]
)  # fmt: skip
SECTION_SCHEMA = pa.schema(
    [
        ("section_id", pa.string()), ("document", pa.int32()), ("heading", pa.string()), ("text", pa.string()),
        ("sha256", pa.string()),
    ]
)  # fmt: skip


@dataclass(frozen=True)
class Paper:
    """A document (its parts dropped) with its sections and the hash of all that its source said."""

    document: Document
    sections: tuple[Section, ...]
    content_hash: str

    @classmethod
    def of(cls, document: Document, config: SectioningConfig) -> Paper:
        """Divide a document into sections; its text is cleaned, so that what no file can hold harms no other paper."""
        if not document.doc_id.strip():
            raise InputError(f"The document {document.title!r} has no id; kg.records.document_id makes one.")
        document = clean_document(document)
        sections = split_sections(document, config)
        if sections and sections[0].text == document.title:  # stands once, as ``read_papers`` reads it
            sections[0] = replace(sections[0], lead="")
        return cls(replace(document, parts=()), tuple(sections), document.content_hash)

    @property
    def title_only(self) -> bool:
        """True where the source had no text but the title, which then is the one section."""
        return [s.text for s in self.sections] == [self.document.title]


def clean_document(document: Document) -> Document:
    """The document with all of its text as ``records.clean_text`` leaves it."""
    return replace(
        document,
        doc_id=clean_text(document.doc_id),
        title=clean_text(document.title),
        venue=clean_text(document.venue),
        doi=clean_text(document.doi),
        field=clean_text(document.field),
        parts=tuple(Part(clean_text(p.heading), clean_text(p.text)) for p in document.parts),
        authors=tuple(map(clean_text, document.authors)),
        # Cleaning may change the order of keys, or make two the same; stored they stand sorted, once each.
        details=tuple(sorted({clean_text(key): clean_text(value) for key, value in document.details}.items())),
    )


def paper_tables(papers: Sequence[Paper]) -> tuple[pa.Table, pa.Table]:
    """(documents, sections) of papers sorted by ``doc_id``; a section's ``document`` is its paper's row."""
    documents = [
        {
            "doc_id": p.document.doc_id, "title": p.document.title, "authors": list(p.document.authors),
            "year": p.document.year, "venue": p.document.venue, "doi": p.document.doi, "field": p.document.field,
            "details": json.dumps(dict(p.document.details), ensure_ascii=False, sort_keys=True),
            "content_hash": p.content_hash, "n_sections": len(p.sections),
        }
        for p in papers
    ]  # fmt: skip
    sections = [(row, section) for row, p in enumerate(papers) for section in p.sections]
    return pa.Table.from_pylist(documents, DOCUMENT_SCHEMA), pa.table(
        [
            pa.array([s.section_id for _, s in sections], pa.string()),
            pa.array([row for row, _ in sections], pa.int32()),
            pa.array([s.heading for _, s in sections], pa.string()),
            pa.array([s.text for _, s in sections], pa.string()),
            pa.array([s.sha256 for _, s in sections], pa.string()),
        ],
        schema=SECTION_SCHEMA,
    )


def read_document(row: dict[str, object]) -> Document:
    """A row of the documents table as a record (without parts)."""
    return Document(
        doc_id=str(row["doc_id"]),
        title=str(row["title"]),
        authors=tuple(row["authors"]),  # type: ignore[arg-type]
        year=row["year"],  # type: ignore[arg-type]
        venue=str(row["venue"]),
        doi=str(row["doi"]),
        field=str(row["field"]),
        details=tuple(json.loads(str(row["details"])).items()),
    )


def read_papers(documents: pa.Table, sections: pa.Table) -> list[Paper]:
    """Inverse of ``paper_tables``."""
    rows = documents.to_pylist()
    grouped: list[list[Section]] = [[] for _ in rows]
    for row in sections.to_pylist():
        owner = rows[row["document"]]
        lead = owner["title"] if split_section_id(row["section_id"])[1] == 0 else ""
        lead = "" if row["text"] == lead else lead  # a title that is the whole text stands once
        grouped[row["document"]].append(Section(row["section_id"], owner["doc_id"], row["heading"], row["text"], lead))
    return [Paper(read_document(row), tuple(own), row["content_hash"]) for row, own in zip(rows, grouped, strict=True)]


def sorted_papers(papers: Iterable[Paper]) -> list[Paper]:
    """In the order of the tables: by ``doc_id``, code point by code point."""
    return sorted(papers, key=lambda paper: paper.document.doc_id)
