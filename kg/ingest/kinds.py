"""Files that hold no text we read, told by their first bytes, each with the way to make one that we do."""

from __future__ import annotations

import re
import unicodedata

_BINARY: tuple[tuple[bytes, str, str], ...] = (
    (b"\xff\xfe\x00\x00", "UTF-32 text", "convert it with: iconv -f UTF-32 -t UTF-8 FILE > NEW"),
    (b"\x00\x00\xfe\xff", "UTF-32 text", "convert it with: iconv -f UTF-32 -t UTF-8 FILE > NEW"),
    (b"%PDF-", "a PDF", "convert it with: pdftotext FILE.pdf FILE.txt"),
    (b"%!PS", "a PostScript file", "convert it with: ps2ascii FILE.ps FILE.txt"),
    (b"{\\rtf", "an RTF document", "save it as plain text"),
    (b"\xd0\xcf\x11\xe0", "an old Microsoft Office document", "save it as plain text or Markdown"),
    (b"\x89PNG", "a PNG image", "give the text of the paper instead"),
    (b"\xff\xd8\xff", "a JPEG image", "give the text of the paper instead"),
    (b"GIF8", "a GIF image", "give the text of the paper instead"),
    (b"II*\x00", "a TIFF image", "give the text of the paper instead"),
    (b"MM\x00*", "a TIFF image", "give the text of the paper instead"),
    (b"\x1f\x8b", "a gzip archive", "unpack it with gunzip"),
    (b"BZh", "a bzip2 archive", "unpack it with bunzip2"),
    (b"\xfd7zXZ", "an xz archive", "unpack it with unxz"),
    (b"(\xb5/\xfd", "a zstd archive", "unpack it with unzstd"),
    (b"7z\xbc\xaf", "a 7-Zip archive", "unpack it with 7z x"),
    (b"SQLite format 3", "an SQLite database", "export its papers as JSON lines"),
    (b"PAR1", "a Parquet table", "export it as JSON lines"),
)
_ZIPPED: tuple[tuple[bytes, str, str], ...] = (
    (b"word/", "a DOCX document", "convert it with: pandoc FILE.docx -o FILE.md"),
    (b"application/epub", "an EPUB book", "convert it with: pandoc FILE.epub -o FILE.md"),
    (b"opendocument", "an OpenDocument file", "convert it with: pandoc FILE.odt -o FILE.md"),
    (b"xl/", "an Excel workbook", "export its papers as JSON lines"),
    (b"ppt/", "a PowerPoint file", "save it as plain text"),
)
_TEXTUAL: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (re.compile(r"<!doctype html|<html\b", re.I), "an HTML page", "convert it with: pandoc FILE.html -o FILE.md"),
    (re.compile(r"<\?xml\b"), "an XML file", "convert it to Markdown or JSON lines"),
    (re.compile(r"TY  - "), "a RIS file", "convert it to JSON lines, one object with title and abstract a line"),
    (re.compile(r"PMID- *\d"), "a PubMed file", "convert it to JSON lines, one object with title and abstract a line"),
    (
        re.compile(r"@\w+\s*\{[^{}\n]*,\s*$", re.M),
        "a BibTeX file",
        "convert it to JSON lines, one object with title and abstract a line",
    ),
)
_COLUMNS = frozenset(
    {"id", "title", "abstract", "authors", "author", "doi", "pmid", "year", "text", "query-id", "corpus-id"}
)


def unread_kind(head: bytes, text: str) -> tuple[str, str] | None:
    """(kind, way out) when a file that begins with ``head`` (decoded: ``text``) is of a kind that is not read.

    ``text`` must be empty where the head holds NUL bytes that no byte order mark explains.
    """
    for magic, kind, remedy in _BINARY:
        if head.startswith(magic):
            return kind, remedy
    if head.startswith(b"PK\x03\x04"):
        for mark, kind, remedy in _ZIPPED:
            if mark in head:
                return kind, remedy
        return "a ZIP archive", "unpack it with unzip"
    if not text and b"\x00" in head:
        wide = _unmarked_utf16(head)
        if wide:
            return f"{wide} without a byte order mark", f"convert it with: iconv -f {wide} -t UTF-8 FILE > NEW"
        return "a binary file (it holds NUL bytes)", "give the text of the paper instead"
    start = text.lstrip()
    for pattern, kind, remedy in _TEXTUAL:
        if pattern.match(start):
            return kind, remedy
    if _is_table(start):
        return "a table", "convert it to JSON lines, one object with title and abstract a line"
    return None


def _unmarked_utf16(head: bytes) -> str:
    """``UTF-16LE`` or ``UTF-16BE`` where every other byte of a head with NULs is one, else an empty string."""
    for codec, nul in (("UTF-16LE", 1), ("UTF-16BE", 0)):
        plane = head[nul::2]
        if plane and plane.count(0) > 0.5 * len(plane):
            text = head[: len(head) // 2 * 2].decode(codec, "ignore")
            if not any(unicodedata.category(ch) == "Cc" and not ch.isspace() for ch in text):
                return codec
    return ""


def _is_table(start: str) -> bool:
    """Comma, semicolon or tab separated with a header that names columns of a bibliography."""
    header, _, rest = start.partition("\n")
    for separator in ("\t", ",", ";"):
        cells = [cell.strip().strip('"').casefold() for cell in header.split(separator)]
        if len(cells) >= 3 and all(len(cell) <= 40 for cell in cells) and len(_COLUMNS.intersection(cells)) >= 2:
            return rest.partition("\n")[0].count(separator) >= len(cells) - 1
    return False
