"""A file of what people say about pairs of names: CSV with the columns ``verdict,name,other``, others passed over."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from kg.errors import InputError
from kg.names import name_form
from kg.overrules import VERDICTS, Overrules, Said

COLUMNS = ("verdict", "name", "other")


def read_overrules(path: Path) -> Overrules:
    """What a file (UTF-8) says, whatever the order of its lines.

    Raises:
        InputError: names the file and, for what is wrong within it, the line that the row begins on and the field.
    """
    return Overrules.of(_read(path))


def _read(path: Path) -> Iterator[Said]:
    way_out = f"name a CSV file with the head {','.join(COLUMNS)}"
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise InputError(f"{path} is no file; {way_out}.")
    line = 1
    try:
        with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            reader = csv.reader(file, strict=True)
            head = [column.strip() for column in next(reader, [])]
            if any(head.count(column) != 1 for column in COLUMNS):
                told = ",".join(head).encode("utf-8", "backslashreplace").decode() or "empty"
                raise InputError(f"{path}, line 1: the head is {told}; write {','.join(COLUMNS)} there.")
            line = reader.line_num + 1
            for row in reader:
                if any(field.strip() for field in row):
                    yield _said(row, head, f"{path}, line {line}")
                line = reader.line_num + 1
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); {way_out}.") from error
    except csv.Error as error:
        raise InputError(f"{path}, line {line}: no row of CSV ({error}); mend it.") from error


def _said(row: Sequence[str], head: Sequence[str], place: str) -> Said:
    needed = 1 + max(map(head.index, COLUMNS))  # columns that are passed over may be left out at the end
    if not needed <= len(row) <= len(head):
        raise InputError(f"{place}: {len(row)} fields, not {len(head)}; put a name that holds a comma in quotes.")
    fields = {column: value.strip() for column, value in zip(head, row, strict=False)}
    for column in COLUMNS:
        if any("\ud800" <= ch <= "\udfff" for ch in fields[column]):
            raise InputError(f"{place}: {column} is not UTF-8; save the file in that encoding.")
    if (verdict := fields["verdict"].casefold()) not in VERDICTS:
        raise InputError(f"{place}: verdict is {fields['verdict']!r}; write {' or '.join(VERDICTS)}.")
    for column in ("name", "other"):
        if not name_form(fields[column]):
            raise InputError(f"{place}: {column} is empty; write a name, or take the line out.")
    return Said(verdict, fields["name"], fields["other"], place)
