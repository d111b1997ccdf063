"""Headings in text: Markdown's ATX and setext forms, and the path of nested headings to each stretch of text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kg.records import Part

MAX_HEADING = 200
"""Characters; a longer line is text, whatever it begins with."""

_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)")
_CLOSING = re.compile(r"(?:^|[ \t])#+[ \t]*$")
_ATTRIBUTES = re.compile(r"[ \t]*\{[#.][^{}]*\}$")
_EMPHASIS = re.compile(r"([*_]{1,3})([^*_]+)\1$")
_UNDERLINE = re.compile(r" {0,3}(={2,}|-{3,})[ \t]*$")
_NO_SETEXT = re.compile(r"[ \t]*(?:[#>|<]|[-*+][ \t]|\d+[.)][ \t]|[-=*_]{3,}[ \t]*$)| {4}|\t")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_NUMBERING = re.compile(
    r"(?:§\s*)?(?:\d+(?:\.\d+)*|(?=[ivx])x{0,2}(?:ix|iv|v?i{0,3}))(?:[.):]\s*|\s+)"  # 2.1, iv.
    r"|[a-z][.):]\s*|[一二三四五六七八九十]+[、.]\s*"  # a), 六、
)
_SECTION_NAME = re.compile(
    r"abstract|summary|introduction|background|related work|literature review|theory|model|data|methods?|methodology"
    r"|materials and methods|methods and materials|experiments|results|findings|results and discussion|discussion"
    r"|limitations|(?:discussion and )?conclusions?|concluding remarks|acknowledge?ments?|references|bibliography"
    r"|appendix|appendices|supplementary materials?|keywords|funding"
)
# "Literature" alone is left out: in economics it heads the review of the literature.
_REFERENCE_LIST = re.compile(
    r"references?(?: list| cited| and notes)?|list of references|notes and references|cited references"
    r"|(?:selected )?bibliography|works cited|literature cited|cited literature"
    r"|literatur(?:verzeichnis)?|quellenverzeichnis|literatuur(?:lijst)?|referenties|referenser|referanser|litteratur"
    r"|références(?: bibliographiques)?|bibliographie|referencias(?: bibliográficas)?|bibliografía"
    r"|referências(?: bibliográficas)?|bibliografia|riferimenti bibliografici|kaynakça|kaynaklar"
    r"|(?:список )?литератур[аы]|参考文献|參考文獻|引用文献|참고 ?문헌|المراجع"
)


@dataclass(frozen=True)
class Block:
    """A heading and the text up to the next one; level 0 is the text before the first heading."""

    level: int
    heading: str
    text: str


def bare_heading(heading: str) -> str:
    """A heading without number, closing punctuation and case: ``2. Methods:`` -> ``methods``."""
    bare = " ".join(unicodedata.normalize("NFKC", heading).casefold().split())
    numbering = _NUMBERING.match(bare)
    return bare[numbering.end() if numbering else 0 :].strip(" .:*_")


def is_section_name(heading: str) -> bool:
    """Whether ``heading`` is one that many papers share, and so says nothing of this one."""
    return _SECTION_NAME.fullmatch(bare_heading(heading)) is not None


def is_reference_list(heading: str) -> bool:
    """Whether ``heading`` as a whole, but for its number, announces a list of references."""
    return _REFERENCE_LIST.fullmatch(bare_heading(heading)) is not None


def markdown_blocks(text: str, *, setext: bool = True) -> list[Block]:
    """Split Markdown at its headings; lines in fenced code are text. Without ``setext`` only ``#`` counts."""
    blocks: list[Block] = []
    level, heading, held = 0, "", list[str]()
    fence = ""
    for line in text.split("\n"):
        found: tuple[int, str] | None = None
        if fence:
            if _closes(line, fence):
                fence = ""
        elif opening := _FENCE.match(line[:MAX_HEADING]):
            # A back-tick in the info string means inline code, not a fence.
            fence = "" if opening[1][0] == "`" and "`" in opening[2] else opening[1]
        elif len(line) <= MAX_HEADING:
            found = _atx(line) or (_setext(line, held) if setext else None)
        if found is None:
            held.append(line)
            continue
        if found[0] <= 2 and _UNDERLINE.match(line):
            held.pop()
        blocks.append(Block(level, heading, "\n".join(held).strip()))
        (level, heading), held = found, []
    blocks.append(Block(level, heading, "\n".join(held).strip()))
    return [block for block in blocks if block.level or block.text]


def nested_parts(blocks: Iterable[Block]) -> tuple[Part, ...]:
    """Parts headed by the path of their headings, as in ``Method > Data``; headings without text fall out."""
    return tuple(Part(path, text) for path, text in _paths(blocks) if text)


def text_parts(text: str) -> tuple[Part, ...]:
    """The parts of a text that may hold ``#`` headings; one that is nothing but headings is text after all."""
    if not text:
        return ()
    return nested_parts(markdown_blocks(text, setext=False)) or (Part("", text),)


def _paths(blocks: Iterable[Block]) -> Iterator[tuple[str, str]]:
    trail: list[tuple[int, str]] = []
    for block in blocks:
        while trail and trail[-1][0] >= block.level:
            trail.pop()
        if block.heading:
            trail.append((block.level, block.heading))
        yield " > ".join(heading for _, heading in trail), block.text


def _atx(line: str) -> tuple[int, str] | None:
    found = _ATX.match(line)
    if not found:
        return None
    heading = _plain(_CLOSING.sub("", found[2]))
    return (len(found[1]), heading) if heading else None


def _setext(line: str, held: list[str]) -> tuple[int, str] | None:
    """The heading that ``line`` underlines, if it is an underline and the line before stands alone."""
    underline = _UNDERLINE.match(line)
    if not underline or not held or not held[-1].strip() or len(held[-1]) > MAX_HEADING:
        return None
    if (len(held) > 1 and held[-2].strip()) or _NO_SETEXT.match(held[-1]):
        return None
    heading = _plain(held[-1])
    return (1 if underline[1][0] == "=" else 2, heading) if heading else None


def _closes(line: str, fence: str) -> bool:
    mark = line.strip()
    return len(mark) >= len(fence) and not mark.strip(fence[0])


def _plain(heading: str) -> str:
    """A heading's words: without attributes, and without emphasis where it spans the whole."""
    words = " ".join(_ATTRIBUTES.sub("", heading.strip()).split())
    emphasised = _EMPHASIS.match(words)
    return emphasised[2].strip() if emphasised else words
