"""Markdown with or without YAML front matter: one file, one paper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from kg.ingest.encoding import decode_head, load_text, place_of
from kg.ingest.front_matter import FrontMatterError, line_of_field, split_front_matter
from kg.ingest.headings import Block, is_section_name, markdown_blocks, nested_parts
from kg.ingest.record import FieldError, build_document, named_fields
from kg.ingest.report import ReadReport
from kg.records import Document, clean_text

_EMPHASIS = re.compile(r"(\*\*\*|\*\*|__)(?=\S)(.+?)(?<=\S)\1")
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?:---|\.\.\.|[A-Za-z_][\w -]*:)")


def accepts(path: Path, head: bytes) -> bool:
    """Whether the text begins with front matter or a heading, or holds two headings: one may be chance."""
    text = clean_text(decode_head(head))
    if _FRONT_MATTER.match(text):
        return True
    blocks = markdown_blocks(text)
    return bool(blocks) and (blocks[0].level > 0 or len(blocks) > 2)


def read(path: Path, report: ReadReport) -> Iterator[Document]:
    """Yield the one document of the file. Raises ``Unreadable`` or ``OSError``."""
    text = clean_text(load_text(path))
    place = place_of(path)
    try:
        record, body = split_front_matter(text)
        given = named_fields(record)[0].get("title")
        title, blocks, distinctive = _take_title(markdown_blocks(body), given if isinstance(given, str) else "")
        yield build_document(
            record,
            origin=place,
            body=nested_parts(list(map(_plain, blocks))),
            title=title or path.stem,
            distinctive=distinctive,
        )
    except FrontMatterError as error:
        report.reject(f"{place}, line {error.line}", str(error))
    except FieldError as error:
        report.reject(f"{place}, line {line_of_field(text, re.split(r'[.[]', error.name)[0])}", str(error))


def _take_title(blocks: list[Block], given: str) -> tuple[str, list[Block], bool]:
    """(title, blocks without its heading, whether the title is this paper's own).

    The title is the given one, else the first level-1 heading, else the first heading; headings that many
    papers share, such as Introduction, are never titles.
    """
    headed = [number for number, block in enumerate(blocks) if block.level]
    first_level_1 = next((number for number in headed if blocks[number].level == 1), None)
    if given:
        if first_level_1 is not None and _same(blocks[first_level_1].heading, given):
            return given, _without_heading(blocks, first_level_1), True
        return given, blocks, True
    if first_level_1 is not None:
        title = blocks[first_level_1].heading
        return ("", blocks, False) if is_section_name(title) else (title, _without_heading(blocks, first_level_1), True)
    if not headed or is_section_name(blocks[headed[0]].heading):
        return "", blocks, False
    first = blocks[headed[0]]
    if all(blocks[number].level > first.level for number in headed[1:]):
        return first.heading, _without_heading(blocks, headed[0]), True
    return first.heading, blocks, False


def _plain(block: Block) -> Block:
    """The block as it reads: without the marks of strong emphasis, so that quotations are prose."""
    return Block(block.level, _EMPHASIS.sub(r"\2", block.heading), _EMPHASIS.sub(r"\2", block.text))


def _without_heading(blocks: list[Block], number: int) -> list[Block]:
    return [Block(b.level, "", b.text) if position == number else b for position, b in enumerate(blocks)]


def _same(left: str, right: str) -> bool:
    return "".join(filter(str.isalnum, left.casefold())) == "".join(filter(str.isalnum, right.casefold()))
