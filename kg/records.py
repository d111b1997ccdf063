"""What the graph is made of: documents, sections, and what an extractor found in a section.

All records are frozen and hold clean text only: Unicode NFC, no lone surrogates, no NUL. Content
hashes leave out where a record was read from, so that the same paper is the same on every machine.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote

_MARK = "[\u0300-\u034e\u0350-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0]"
_LONG_RUN = re.compile(f"({_MARK}{{30}})(?={_MARK})")
"""Runs of combining marks, which normalisation sorts in quadratic time, are divided as the Stream-Safe Text Format of
Unicode (UAX 15, 13) says: U+034F after every 30."""


NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""A character that XML 1.0 has no place for (2.2, Char)."""


def clean_text(text: str) -> str:
    """Return ``text`` in NFC without lone surrogates or NUL (each becomes U+FFFD), newlines as ``\\n``."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "\ufffd")
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return unicodedata.normalize("NFC", _LONG_RUN.sub("\\1\u034f", text))


def content_hash(*fields: object) -> str:
    """SHA-256 (hex) of the JSON form of ``fields``: unambiguous, whatever the fields contain."""
    canonical = json.dumps(fields, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8")).hexdigest()


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a document as its source divides it; ``heading`` may be empty."""

    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """One paper. ``details`` keeps what the source says besides (volume, pages, pmid, ...), sorted by key.

    ``origin`` says where it was read, for messages; it is no part of the content hash.
    """

    doc_id: str
    title: str
    parts: tuple[Part, ...] = ()
    authors: tuple[str, ...] = ()
    year: int | None = None
    venue: str = ""
    doi: str = ""
    field: str = ""
    details: tuple[tuple[str, str], ...] = ()
    origin: str = dataclasses.field(default="", compare=False)

    @property
    def content_hash(self) -> str:
        """SHA-256 of all that the source says of this paper (DESIGN 3, Ids)."""
        return content_hash(
            self.doc_id, self.title, [[p.heading, p.text] for p in self.parts], self.authors, self.year,
            self.venue, self.doi, self.field, self.details,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Section:
    """The unit of retrieval and citation. ``lead`` is the paper's title in its first section, else empty.

    The title counts once per paper: in every section it would make the paper's topic a hub.
    """

    section_id: str
    doc_id: str
    heading: str
    text: str
    lead: str = ""

    @property
    def sha256(self) -> str:
        """SHA-256 of the text, as citations quote it."""
        return hashlib.sha256(self.text.encode("utf-8")).hexdigest()

    @property
    def content_hash(self) -> str:
        """Key of the extraction cache: everything an extractor may look at."""
        return content_hash(self.lead, self.heading, self.text)

    def full_text(self) -> str:
        """Title (first section only), heading and text, as encoders and indexes read them."""
        return "\n".join(piece for piece in (self.lead, self.heading, self.text) if piece)


@dataclass(frozen=True, slots=True)
class Mention:
    """A name found in a section: how often, and in which of its sentences (numbers of ``Extraction.sentences``).

    ``independent`` counts the occurrences that are not part of a longer name.
    """

    name: str
    type: str
    count: int
    sentences: tuple[int, ...]
    independent: int = 0


@dataclass(frozen=True, slots=True)
class Triple:
    """A directed relation that a sentence of a section asserts (or suggests, with ``weight`` in (0, 1])."""

    subject: str
    relation: str
    object: str
    sentence: int
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Extraction:
    """All that an extractor found in one section; a function of the section's content alone.

    ``sentences`` are [start, end) character spans of ``Section.text``; sentence -1 is title and heading.
    ``definitions`` are (acronym, expansion) pairs that the text itself introduces.
    """

    mentions: tuple[Mention, ...] = ()
    triples: tuple[Triple, ...] = ()
    definitions: tuple[tuple[str, str], ...] = ()
    sentences: tuple[tuple[int, int], ...] = ()


def encode_id(raw: str) -> str:
    """Make a declared id safe to stand in a TREC file: white space and ``%`` percent-encoded, NFC."""
    stripped = clean_text(raw).strip()
    return "".join(quote(ch, safe="") if ch.isspace() or ch == "%" else ch for ch in stripped)


def document_id(
    *,
    declared: str = "",
    doi: str = "",
    pmid: str = "",
    arxiv: str = "",
    title: str = "",
    year: int | None = None,
    authors: Iterable[str] = (),
) -> str:
    """The id of a paper (DESIGN 3): declared, else DOI, PMID, arXiv id, else a hash of title, year, first author."""
    if declared.strip():
        return encode_id(declared)
    if doi.strip():
        return encode_id(normalise_doi(doi))
    if pmid.strip():
        return encode_id(f"pmid:{pmid.strip()}")
    if arxiv.strip():
        return encode_id(f"arxiv:{arxiv.strip().lower().removeprefix('arxiv:')}")
    words = "".join(ch if ch.isalnum() else " " for ch in unicodedata.normalize("NFKC", title).casefold()).split()
    first = next((a for a in authors if a.strip()), "")
    return "h" + content_hash(" ".join(words), year, first.casefold().strip())[:16]


def normalise_doi(doi: str) -> str:
    """DOI in lower case without resolver prefix: ``https://doi.org/10.1/A`` -> ``10.1/a``."""
    doi = doi.strip().lower()
    for prefix in ("https://", "http://", "dx.doi.org/", "doi.org/", "doi:"):
        doi = doi.removeprefix(prefix).strip()
    return doi


def split_section_id(section_id: str) -> tuple[str, int]:
    """``doc_id#n`` -> (doc_id, n); split from the right, since ids of sources may hold ``#``.

    Raises ``ValueError`` for anything else.
    """
    doc_id, mark, ordinal = section_id.rpartition("#")
    if not mark or not doc_id or not ordinal.isdecimal():
        raise ValueError(f"{section_id!r} is not a section id; one looks like 10.2307/1879431#0")
    return doc_id, int(ordinal)
