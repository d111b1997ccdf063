"""JSON: one object a line, an array of objects, or objects printed over many lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from kg.ingest.encoding import decode_head, load_text, place_of, read_lines
from kg.ingest.record import FieldError, build_document
from kg.ingest.report import ReadReport
from kg.records import Document

_OPENING = re.compile(r"""\{\s*(?:["'}]|[A-Za-z_]\w*\s*:)|\[\s*(?:[{"]|\]?\s*\Z)""")
_RECORD = re.compile(r'\{\s*"')
_SPACE = re.compile(r"[\s,]*")
# Control characters within strings are common in exports, and harmless; int() refuses numbers of more
# than 4,300 digits, which therefore stay text.
_DECODER = json.JSONDecoder(strict=False, parse_int=lambda digits: int(digits) if len(digits) < 4000 else digits)


def accepts(path: Path, head: bytes) -> bool:
    """Whether the file begins like JSON, or at least half of its first lines do (the first may be damaged)."""
    text = decode_head(head).lstrip()
    if _OPENING.match(text):
        return True
    lines = [line for line in text.split("\n")[:20] if line.strip()]
    return sum(bool(_RECORD.match(line.lstrip())) for line in lines) * 2 > len(lines)


def read(path: Path, report: ReadReport) -> Iterator[Document]:
    """Yield the documents; a line that is no record is rejected alone, by file, line and field.

    Raises ``Unreadable`` (objects over many lines only) or ``OSError``.
    """
    place = place_of(path)
    found, rejected = False, len(report.rejected)
    for where, value, fault in _values(path, report):
        found = True
        origin = f"{place}, {where}"
        if fault:
            report.reject(origin, fault)
        elif not isinstance(value, dict):
            report.reject(origin, "holds no JSON object; give each paper as an object with id, title and text")
        else:
            try:
                document = build_document(value, origin=origin)
            except FieldError as error:
                report.reject(origin, str(error))
            else:
                yield document
    if not found and len(report.rejected) == rejected:
        report.reject(place, "is empty: it holds no records; give one JSON object a line")


def _values(path: Path, report: ReadReport) -> Iterator[tuple[str, object, str]]:
    """(place, value, fault) of each record; line by line where the file is written so, else from the whole text."""
    is_first = True
    for number, line in read_lines(path, report):
        stripped = line.strip()
        if not stripped:
            continue
        if is_first and (stripped[0] == "[" or not (stripped[-1] == "}" or _is_by_line(path, number))):
            yield from _scan(load_text(path))
            return
        is_first = False
        yield f"line {number}", *_parse(line)


def _is_by_line(path: Path, first: int) -> bool:
    """Whether the next line that is not blank begins a record of its own, so that the first is merely damaged."""
    later = (line.strip() for number, line in read_lines(path, ReadReport()) if number > first)
    return bool(_RECORD.match(next(filter(None, later), "")))


def _parse(line: str) -> tuple[object, str]:
    """(value, fault) of one line."""
    try:
        return _DECODER.decode(line), ""
    except json.JSONDecodeError as error:
        return None, f"is not JSON: {error.msg} at column {error.colno:,}; write one complete JSON object a line"
    except RecursionError:
        return None, "is nested too deeply; give each paper as a flat object with id, title and text"


def _scan(text: str) -> Iterator[tuple[str, object, str]]:
    """The elements of an array, or the objects that follow each other.

    After a fault, reading goes on at the next line that begins an object at the depth of the faulty one.
    """
    text = text.removeprefix("\ufeff")
    at = _skip(text, 0)
    is_array = text[at] == "["
    at = _skip(text, at + is_array)
    line, counted, record = 1, 0, 0
    while at < len(text) and not (is_array and text[at] == "]"):
        line, counted, record = line + text.count("\n", counted, at), at, record + 1
        fault, value, end = "", None, at
        try:
            value, end = _DECODER.raw_decode(text, at)
        except json.JSONDecodeError as error:
            fault = f"is not JSON: {error.msg} at line {error.lineno:,}, column {error.colno:,}"
        except RecursionError:
            fault = "is nested too deeply"
        if fault:
            indent = at - (text.rfind("\n", 0, at) + 1)
            resume = re.compile(rf"^[ \t]{{{indent}}}\{{", re.MULTILINE).search(text, at + 1)
            end = resume.end() - 1 if resume else len(text)
            rest = "only this record was left out" if resume else "the file was read up to here"
            fault = f"{fault}; {rest}, mend it and read the file again"
        yield f"line {line}, record {record}", value, fault
        at = _skip(text, end)
    if text[at + 1 :].strip():
        line += text.count("\n", counted, at)
        yield f"line {line}", None, "ends the list, but more follows, which was left out; put all records in one list"


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at
