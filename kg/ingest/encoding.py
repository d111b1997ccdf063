"""Bytes to text: UTF-8 with or without byte order mark, UTF-16 with one; anything else is refused by name."""

from __future__ import annotations

import codecs
import shlex
from collections.abc import Iterator
from pathlib import Path

from kg.ingest.report import ReadReport
from kg.records import clean_text

HEAD_BYTES = 65536
"""How much of a file is looked at to recognise its format."""

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Unreadable(Exception):
    """A file that is no text we read; the message is the reason of its rejection."""


def place_of(path: Path) -> str:
    """``path`` for messages and origins; file names may hold bytes that are no text."""
    return clean_text(str(path))


def read_head(path: Path) -> bytes:
    """The first bytes of a file, enough to recognise what it is. Raises ``OSError``."""
    with path.open("rb") as file:
        return file.read(HEAD_BYTES)


def decode_head(head: bytes) -> str:
    """The text a file begins with, damage and a cut last character ignored; empty when it holds binary data."""
    if head.startswith(_UTF16):
        return head.decode("utf-16", "ignore")
    return "" if b"\x00" in head else head.decode("utf-8-sig", "replace")


def load_text(path: Path) -> str:
    """The whole text of a file, unclean and not blank. Raises ``Unreadable`` or ``OSError``."""
    text = _decode(path, path.read_bytes())
    if not text.strip():
        raise Unreadable("is empty; put a paper in it or remove it")
    return text


def read_lines(path: Path, report: ReadReport) -> Iterator[tuple[int, str]]:
    """(number from 1, line) of a file, in constant memory; a line that is not UTF-8 is rejected alone."""
    with path.open("rb") as file:
        wide = file.read(2).startswith(_UTF16)
    if wide:
        yield from enumerate(load_text(path).split("\n"), 1)
        return
    offset = 0
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            bom = 3 if number == 1 and raw.startswith(codecs.BOM_UTF8) else 0
            try:
                yield number, raw[bom:].decode("utf-8")
            except UnicodeDecodeError as error:
                report.reject(f"{place_of(path)}, line {number}", _not_utf8(path, error, offset + bom))
            offset += len(raw)


def _decode(path: Path, raw: bytes) -> str:
    if raw.startswith(_UTF16):
        try:
            return raw.decode("utf-16", "surrogatepass")
        except UnicodeDecodeError as error:
            raise Unreadable(
                f"begins like UTF-16 but is damaged at byte offset {error.start:,}; save it again as UTF-8"
            ) from None
    if (nul := raw.find(b"\x00")) >= 0:
        raise Unreadable(f"is a binary file (NUL byte at offset {nul:,}); give the text of the paper instead")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(_not_utf8(path, error, 3 if raw.startswith(codecs.BOM_UTF8) else 0)) from None


def _not_utf8(path: Path, error: UnicodeDecodeError, offset: int) -> str:
    """The reason for rejecting bytes that are not UTF-8; ``offset`` is that of the decoded bytes in the file."""
    byte, position = error.object[error.start], offset + error.start
    name = shlex.quote(clean_text(path.name))
    return (
        f"is not UTF-8: byte 0x{byte:02X} at offset {position:,}; convert the file with: "
        f"iconv -f WINDOWS-1252 -t UTF-8 {name} > NEW (after -f, the encoding it was written in)"
    )
