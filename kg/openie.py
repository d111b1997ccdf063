"""Triples that are ready: what open information extraction (OpenIE) has found, passage by passage.

The file is HippoRAG's (Gutiérrez et al. 2024): ``{"docs": [{"passage", "title"?, "text"?, "extracted_entities",
"extracted_triples": [[subject, relation, object], ...]}, ...]}``, where ``passage`` is the title, a line break and the
text. Language models wrote it, so rows of any shape occur; what is no triple of three names is counted and left out.

What becomes of them in a graph is ``kg.ready_triples``'s.
"""

from __future__ import annotations

import json
import reprlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kg.errors import InputError
from kg.names import name_key
from kg.records import clean_text

LONGEST = 1000
"""Characters of a name or a relation; what is longer is a model that repeats itself, not a name."""

_TEXTS = ("title", "text", "passage")
_ONE = {"triples": "triple", "entities": "entity", "passages": "passage"}

Row = tuple[str, str, str]
"""Subject, relation, object."""


@dataclass(frozen=True)
class Skipped:
    """What was left out for one ``reason``: how many, and the ``first`` by its place and content."""

    what: str
    reason: str
    count: int
    first: str

    def __str__(self) -> str:
        return f"{_counted(self.count, self.what)} {self.reason}, first {self.first}"


@dataclass(frozen=True)
class Passage:
    """What is ready for one passage: names and rows, distinct and sorted; each end of a row is one of the names."""

    names: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()

    def __or__(self, other: Passage) -> Passage:
        names, rows = {*self.names, *other.names}, {*self.rows, *other.rows}
        return Passage(tuple(sorted(names)), tuple(sorted(rows)))


@dataclass(frozen=True)
class OpenIE:
    """A file as read. ``passages`` by their words (``words_of``); ``with_text`` leads from a text to its passages.

    ``read`` counts all rows of the file: those kept, those in ``skipped``, ``repeated`` ones (a passage's same row once
    more), and ``loops``, which join a name to itself and so relate nothing; the name of a loop is kept.
    """

    passages: Mapping[str, Passage]
    with_text: Mapping[str, tuple[str, ...]]
    read: int = 0
    repeated: int = 0
    loops: int = 0
    skipped: tuple[Skipped, ...] = ()

    def left_out(self, what: str) -> int:
        """How many ``triples``, ``entities`` or ``passages`` were left out."""
        return sum(entry.count for entry in self.skipped if entry.what == what)

    def summary(self) -> str:
        """One line: what was read, and what of it was left out."""
        parts = [f"{_counted(self.read, 'triples')} of {_counted(len(self.passages), 'passages')}"]
        if bad := self.left_out("triples"):
            parts.append(f"{bad:,} malformed and skipped")
        if self.repeated:
            parts.append(f"{self.repeated:,} given twice")
        if self.loops:
            parts.append(f"{self.loops:,} of a name with itself")
        others = {what: self.left_out(what) for what in ("entities", "passages")}
        parts += [f"{_counted(count, what)} skipped" for what, count in others.items() if count]
        return ", ".join(parts)


def _counted(count: int, what: str) -> str:
    return f"{count:,} {_ONE[what] if count == 1 else what}"


def words_of(text: str) -> str:
    """What a text is known by: its clean characters, with one space for any white space."""
    return " ".join(clean_text(text).split())


def read_openie(path: Path) -> OpenIE:
    """Read HippoRAG's file. Raises ``InputError`` if it is no such file; faults within it are counted instead.

    The order of passages, and of rows within one, does not matter; a passage given twice has the rows of both.
    """
    form = 'give an OpenIE file of HippoRAG, {"docs": [{"passage": ..., "extracted_triples": ...}, ...]}'
    if path.exists() and not path.is_file():
        raise InputError(f"The triples {path} cannot be read, as they are no file; {form}.")
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"), strict=False, parse_int=_number)
    except OSError as error:
        raise InputError(f"The triples {path} cannot be read ({error.strerror}); {form}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"The triples {path} are no UTF-8 text (byte {error.start:,}); {form}.") from error
    except json.JSONDecodeError as error:
        where = f"{error.msg} at line {error.lineno:,}, column {error.colno:,}"
        raise InputError(f"The triples {path} are not JSON ({where}); {form}.") from error
    except RecursionError as error:
        raise InputError(f"The triples {path} are nested too deeply; {form}.") from error
    docs = content.get("docs") if isinstance(content, dict) else None
    if not isinstance(docs, list):
        raise InputError(f'The triples {path} hold no list named "docs"; {form}.')
    reader = _Reader()
    for number, doc in enumerate(docs, 1):
        reader.add(f"passage {number:,}", doc)
    result = reader.result()
    if not result.passages:
        raise InputError(f"The triples {path} hold no passage with text ({len(docs):,} entries in all); {form}.")
    return result


@dataclass
class _Reader:
    """Collects passages, and what is left out of them."""

    passages: dict[str, Passage] = field(default_factory=dict)
    with_text: dict[str, set[str]] = field(default_factory=dict)
    skipped: dict[tuple[str, str], list[Any]] = field(default_factory=dict)
    read: int = 0
    repeated: int = 0
    loops: int = 0

    def add(self, place: str, doc: object) -> None:
        """Take one entry of ``docs``; what is no passage is counted, with ``place`` to find it."""
        if not isinstance(doc, dict):
            self._skip("passages", "that are no object", place, doc)
            return
        title, text, whole = (words_of(v) if isinstance(v := doc.get(key), str) else "" for key in _TEXTS)
        whole = whole or (f"{title} {text}".strip() if text else "")
        rows = self._list("triples", place, doc.get("extracted_triples"))
        self.read += len(rows)
        if not whole:
            self._skip("passages", "without text", place, doc)
            for row in rows:
                self._skip("triples", "of a passage without text", place, row)
            return
        sound = list(self._rows(place, rows))
        related = [row for row in sound if name_key(row[0]) != name_key(row[2])]
        names = [*self._names(place, self._list("entities", place, doc.get("extracted_entities", [])))]
        names += [end for subject, _, object_ in sound for end in (subject, object_)]
        before = self.passages.get(whole, Passage())
        self.passages[whole] = merged = before | Passage(tuple(names), tuple(related))
        self.loops += len(sound) - len(related)
        self.repeated += len(before.rows) + len(related) - len(merged.rows)
        if text:
            self.with_text.setdefault(text, set()).add(whole)

    def _list(self, what: str, place: str, rows: object) -> list[Any]:
        if isinstance(rows, list):
            return rows
        self._skip(what, "that stand in no list", place, rows)
        self.read += what == "triples"
        return []

    def _names(self, place: str, entities: list[Any]) -> Iterator[str]:
        for entity in entities:
            if fault := _fault(entity):
                self._skip("entities", fault, place, entity)
            else:
                yield words_of(entity)

    def _rows(self, place: str, rows: list[Any]) -> Iterator[Row]:
        for row in rows:
            fault = "" if isinstance(row, list) and len(row) == 3 else "not of three entries"
            fault = fault or next(filter(None, map(_fault, row)), "")
            if fault:
                self._skip("triples", fault, place, row)
            else:
                subject, relation, object_ = map(words_of, row)
                yield subject, relation, object_

    def _skip(self, what: str, reason: str, place: str, content: object) -> None:
        entry = self.skipped.setdefault((what, reason), [0, f"in {place}: {reprlib.repr(content)}"])
        entry[0] += 1

    def result(self) -> OpenIE:
        skipped = (Skipped(*key, *entry) for key, entry in sorted(self.skipped.items()))
        with_text = {text: tuple(sorted(whole)) for text, whole in self.with_text.items()}
        return OpenIE(self.passages, with_text, self.read, self.repeated, self.loops, tuple(skipped))


def _fault(entry: object) -> str:
    """Why ``entry`` names nothing, or ""."""
    if not isinstance(entry, str):
        return "with an entry that is no text"
    if len(entry) > LONGEST:
        return f"with an entry of more than {LONGEST:,} characters"
    return "" if name_key(clean_text(entry)) else "with an empty entry"


def _number(digits: str) -> float:
    """``int`` refuses more than 4,300 digits; a number that long need only be told from text."""
    return int(digits) if len(digits) < 4000 else float(digits)
