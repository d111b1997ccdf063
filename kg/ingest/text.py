"""Plain text: one file, one paper; only lines that are clearly headings divide it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from kg.ingest.encoding import load_text, place_of
from kg.ingest.headings import MAX_HEADING, Block, bare_heading, is_reference_list, is_section_name, nested_parts
from kg.ingest.record import FieldError, build_document
from kg.ingest.report import ReadReport
from kg.records import Document, clean_text

_NUMBERED = re.compile(r"([0-9]{1,2}(?:\.[0-9]{1,2}){0,3})\.?[ \t]+(\S.*)")
_SENTENCE_ENDS = tuple(".,;:?!。，；：？！")
_APPENDIX = re.compile(r"appendix\b|appendices\b|supplement|anhang\b|annexe?\b|附录", re.IGNORECASE)


def accepts(path: Path, head: bytes) -> bool:
    """Any file that no other reader takes; what is no text is found when it is read."""
    return True


def read(path: Path, report: ReadReport) -> Iterator[Document]:
    """Yield the one document of the file. Raises ``Unreadable`` or ``OSError``."""
    lines = clean_text(load_text(path)).replace("\f", "\n").split("\n")
    place = place_of(path)
    title, rest = _take_title(lines)
    try:
        yield build_document(
            {}, origin=place, body=nested_parts(text_blocks(rest)), title=title or path.stem, distinctive=bool(title)
        )
    except FieldError as error:
        report.reject(place, str(error))


def text_blocks(lines: list[str]) -> list[Block]:
    """Split lines at those that stand alone between blank lines and are a numbered heading in sequence
    (``2 Data``, ``2.1 Sample``), short and all in capitals, or a well-known name such as Discussion.
    """  # fmt: skip
    blocks: list[Block] = []
    level, heading, held = 0, "", list[str]()
    number: tuple[int, ...] = (0,)
    for position, line in enumerate(lines):
        found = None
        if _stands_alone(lines, position):
            found = _heading(line.strip(), number, in_references=is_reference_list(heading))
        if found is None:
            held.append(line)
            continue
        blocks.append(Block(level, heading, "\n".join(held).strip()))
        number = found or number
        level, heading, held = len(found) or 1, " ".join(line.split()), []
    blocks.append(Block(level, heading, "\n".join(held).strip()))
    return blocks


def _stands_alone(lines: list[str], position: int) -> bool:
    return (
        bool(lines[position].strip())
        and (position == 0 or not lines[position - 1].strip())
        and (position + 1 == len(lines) or not lines[position + 1].strip())
    )


def _heading(line: str, last: tuple[int, ...], *, in_references: bool) -> tuple[int, ...] | None:
    """The number of a heading, () for one without a number, None for what is no heading."""
    if len(line) > MAX_HEADING:
        return None
    numbered = _NUMBERED.fullmatch(line)
    number = tuple(map(int, numbered[1].split("."))) if numbered else ()
    if is_section_name(line) or is_reference_list(line):
        return number
    if in_references:  # entries of the list look like headings; only an appendix ends it
        return () if _APPENDIX.match(bare_heading(line)) and not line.endswith(_SENTENCE_ENDS) else None
    if line.endswith(_SENTENCE_ENDS):
        return None
    if numbered:
        words = numbered[2].split()
        in_sequence = number > last and number[0] <= last[0] + 1
        return number if in_sequence and len(words) <= 12 and words[0][0].isalpha() and not words[0].islower() else None
    words = line.split()
    is_capitals = (
        line.isupper() and len(line) <= 60 and len(words) <= 8 and any(len(w) >= 4 and w.isalpha() for w in words)
    )
    return () if is_capitals else None


def _take_title(lines: list[str]) -> tuple[str, list[str]]:
    """(title, lines after it): the first line that is not blank, if it stands alone and is no section's heading."""
    position = next((number for number, line in enumerate(lines) if line.strip()), 0)
    line = lines[position].strip()
    if not line or len(line) > MAX_HEADING or not _stands_alone(lines, position):
        return "", lines
    if is_section_name(line) or is_reference_list(line) or _NUMBERED.fullmatch(line):
        return "", lines
    return line, lines[position + 1 :]
