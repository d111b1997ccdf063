"""Documents to sections, the units of retrieval and citation; and text to sentences."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from kg.errors import InputError
from kg.ingest.headings import is_reference_list
from kg.records import Document, Section

Span = tuple[int, int]
"""[start, end) of a stretch of text."""

Unit = tuple[Span, float]
"""A span and its words."""

Splitter = Callable[[str], list[Span]]

_GAP = re.compile(r"\n[^\S\n]*\n\s*")
_CLAUSE = re.compile(r"[；;]\s*")
# Scripts written without spaces between words: CJK and kana, Thai, Lao, Tibetan, Burmese, Khmer.
_DENSE = (
    "\u0e00-\u109f\u1780-\u17ff\u3001-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uff60\U00020000-\U0003ffff"
)
_DENSE_CHARACTER = re.compile(f"[{_DENSE}]")
_LONG_TOKEN = 40
_ATOM = re.compile(rf"[{_DENSE}]|[^\s{_DENSE}]{{1,{_LONG_TOKEN}}}")


@dataclass(frozen=True)
class SectioningConfig:
    """Bounds of a section, in words as ``count_words`` counts.

    No section is longer than ``max_words``. A split that leaves a piece shorter than ``min_words`` at
    paragraph borders is made at sentence ends instead.
    """

    max_words: int = 700
    min_words: int = 40

    def __post_init__(self) -> None:
        if self.max_words < 1 or not 0 <= self.min_words <= self.max_words:
            raise InputError(
                f"max_words {self.max_words} and min_words {self.min_words} must satisfy 0 <= min_words <= max_words, "
                "max_words >= 1; the defaults are 700 and 40"
            )


def split_sections(document: Document, config: SectioningConfig = SectioningConfig()) -> list[Section]:
    """The sections of a document, numbered from 0 in order; none for a document without title and text.

    Lists of references are dropped, with what is nested in them; parts without text vanish; longer parts
    than ``config.max_words`` are split and no text is lost. The title leads the first section; where it is
    all there is, it is the one section's text.
    """
    pieces = [
        (part.heading, part.text[start:end])
        for part in document.parts
        if not any(is_reference_list(heading) for heading in part.heading.split(" > "))
        for start, end in split_spans(part.text, config)
    ]
    lead = document.title
    if not pieces and lead.strip():
        pieces, lead = [("", lead)], ""
    return [
        Section(f"{document.doc_id}#{number}", document.doc_id, heading, text, lead if number == 0 else "")
        for number, (heading, text) in enumerate(pieces)
    ]


def count_words(text: str) -> float:
    """Words by white space; two characters of a script without spaces are one word, as are 40 in an endless token."""
    dense = 0
    if not text.isascii():
        text, dense = _DENSE_CHARACTER.subn(" ", text)
    sizes = list(map(len, text.split()))
    words = float(len(sizes))
    if sizes and max(sizes) > _LONG_TOKEN:
        words += sum(size / _LONG_TOKEN - 1 for size in sizes if size > _LONG_TOKEN)
    return words + dense / 2


def split_spans(text: str, config: SectioningConfig) -> list[Span]:
    """Spans of at most ``config.max_words`` that hold all of ``text`` but white space: cut at paragraph borders
    into as few pieces as will do, of sizes as even as can be; a paragraph that is too long at sentence ends,
    a sentence at semicolons, then at white space, then between characters.
    """  # fmt: skip
    limit = config.max_words
    if not text.strip():
        return []
    if count_words(text) <= limit:
        return [_trim(text, 0, len(text))]
    pieces: list[tuple[Span, float]] = []
    for levels in ((_paragraphs, sentence_spans, _clauses), (sentence_spans, _clauses)):
        pieces = _balance(list(_units(text, 0, levels, limit)), limit)
        if all(words >= config.min_words for _, words in pieces):
            break
    return [span for span, _ in pieces]


def _units(text: str, offset: int, levels: Sequence[Splitter], limit: int) -> Iterator[Unit]:
    """Units of at most ``limit`` words, split by the first of ``levels`` and only where need be by the next."""
    if not levels:
        yield from _chunks(text, offset, limit)
        return
    for start, end in levels[0](text):
        words = count_words(text[start:end])
        if words <= limit:
            yield (offset + start, offset + end), words
        else:
            yield from _units(text[start:end], offset + start, levels[1:], limit)


def _chunks(text: str, offset: int, limit: int) -> Iterator[Unit]:
    """Chunks of even size, cut at white space; a token that is longer than ``limit`` between characters."""
    atoms: list[Unit] = []
    for token in re.finditer(r"\S+", text):
        words = count_words(token[0])
        if words <= limit:
            atoms.append((token.span(), words))
            continue
        for atom in _ATOM.finditer(text, *token.span()):
            words = 0.5 if _DENSE_CHARACTER.match(atom[0]) else 1.0
            is_mark = unicodedata.category(text[atom.start()])[0] == "M"
            if is_mark and atoms and atoms[-1][0][1] == atom.start() and atoms[-1][1] + words <= limit:
                atoms[-1] = (atoms[-1][0][0], atom.end()), atoms[-1][1] + words  # a mark stays with its letter
            else:
                atoms.append((atom.span(), words))
    left = sum(words for _, words in atoms)
    start, held = 0, 0.0
    for number, (_, words) in enumerate(atoms):
        target = (left + held) / math.ceil((left + held) / limit)
        if held and (held + words > limit or held + words / 2 > target):
            yield (offset + atoms[start][0][0], offset + atoms[number - 1][0][1]), held
            start, held = number, 0.0
        held, left = held + words, left - words
    yield (offset + atoms[start][0][0], offset + atoms[-1][0][1]), held


def _balance(units: list[Unit], limit: int) -> list[Unit]:
    """Join neighbours into the fewest pieces of at most ``limit`` words, and of these the most even.

    Dynamic programme over cuts, least (number of pieces, sum of squared sizes). Very small units are joined
    first, which bounds the work by the number of words.
    """
    units = _coarsen(units, limit)
    ends = [0.0, *accumulate(words for _, words in units)]
    best: list[tuple[int, float, int]] = [(0, 0.0, 0)]
    for end in range(1, len(ends)):
        choices: list[tuple[int, float, int]] = []
        for start in range(end - 1, -1, -1):
            size = ends[end] - ends[start]
            if size > limit + 1e-6 and choices:
                break
            choices.append((best[start][0] + 1, best[start][1] + size * size, start))
        best.append(min(choices))
    pieces = []
    end = len(units)
    while end:
        start = best[end][2]
        pieces.append(((units[start][0][0], units[end - 1][0][1]), ends[end] - ends[start]))
        end = start
    return pieces[::-1]


def _coarsen(units: list[Unit], limit: int) -> list[Unit]:
    grain = limit / 32
    if len(units) * grain <= sum(words for _, words in units):
        return units
    joined: list[Unit] = []
    for span, words in units:
        if joined and joined[-1][1] < grain and joined[-1][1] + words <= limit:
            joined[-1] = (joined[-1][0][0], span[1]), joined[-1][1] + words
        else:
            joined.append((span, words))
    return joined


def _paragraphs(text: str) -> list[Span]:
    return _between(text, [gap.span() for gap in _GAP.finditer(text)])


def _clauses(text: str) -> list[Span]:
    return _between(text, [(mark.end(), mark.end()) for mark in _CLAUSE.finditer(text)])


def _between(text: str, gaps: list[Span]) -> list[Span]:
    borders = [0, *(border for gap in gaps for border in gap), len(text)]
    spans = (_trim(text, start, end) for start, end in zip(borders[::2], borders[1::2], strict=True))
    return [(start, end) for start, end in spans if start < end]


def _trim(text: str, start: int, end: int) -> Span:
    """The span without white space at its ends; an empty one where there is nothing else."""
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    return start, max(start, end - (len(piece) - len(piece.rstrip())))


# Sentences. A candidate is a run of closing punctuation before white space, a wide full stop, or a blank line.
_BREAK = re.compile(
    r"[.!?…।॥؟۔。！？｡\n]"
    r"(?:(?<=\n)[^\S\n]*\n\s*"
    r"|(?<=[。！？｡])[。！？｡.!?…]*[\"'”’»)\]」』）》]*"
    r"|(?<=[.!?…।॥؟۔])(?<![.!?…].)[.!?…]*[\"'”’»)\]]*(?:\[[0-9,–\- ]{1,30}\])?(?=\s))"
)
_NEXT = re.compile(r"(\s*)([\"'“‘«(\[]*)(\S[\w-]*)")
_TOKEN = re.compile(r"[^\s\"'“‘«(\[/–—,;:]+$")
# Words that begin sentences in lower case: p53, mRNA, gamma-Tocopherol.
_INNER_CAPITAL = re.compile(r"[a-z]{1,3}(?:[A-Z]|-?[0-9])|[a-z]+-[A-Z]")
_NEVER_LAST = re.compile(
    r"[Ee]\.?g|[Ii]\.?e|[Cc]f|[Vv]s|VS|[Vv]iz|[Ff]igs?|FIGS?|[Ee]qs?|[Ee]qns?|[DM]r|Mrs|Ms|Prof|St|[Aa]pprox|ca|[Rr]esp"
    r"|[Vv]ol|pp|[Tt]hm|[Ii]ncl|Univ|Dept"
)
_BEFORE_NUMBERS = re.compile(
    r"[Nn]os?|[Ss]ect?|[Cc]h|[Cc]hap|[Rr]efs?|[Tt]ab|[Aa]rt|[Aa]pp|[Dd]ef|[Ll]em|[Pp]rop|Jan|Feb|Mar|Apr|Jun|Jul|Aug"
    r"|Sept?|Oct|Nov|Dec"
)
_SELDOM_LAST = re.compile(r"al|etc|[Ii]nc|[Ll]td|[Cc]o|Corp|[JS]r|spp?|subsp|var")
_STARTER = re.compile(
    r"An?|The|Th(?:is|ese|at|ose|ere|ey|us|en|erefore|ough)|We|Our|Its?|I[nf]|On|At|By|For|From|To|With|He(?:re|nce)|However"
    r"|Moreover|Furthermore|Finally|Also|Although|Because|Since|Whi(?:le|ch)|Whe(?:n|re)|As|After|Before|But|And|Both|Each"
    r"|Such|Some|Most|Many|Among|Using|Based|Next|Results|Methods|Conclusions?|Background|Objectives?|Patients|Overall"
    r"|Similarly|Recent|Previous|Given|Despite|Unlike|Instead"
)


def sentence_spans(text: str) -> list[Span]:
    """[start, end) of each sentence: trimmed, in order, together holding all of ``text`` but white space.

    Rules, not a model: full stops of abbreviations, initials, enumerators and numbers end nothing; a blank
    line always ends a sentence.
    """
    spans = []
    begin = 0
    for found in _BREAK.finditer(text):
        mark = text[found.start()]
        if mark == "\n":
            span = _trim(text, begin, found.start())
        elif mark in "。！？｡।॥" or _ends_sentence(text, begin, found.start(), found.end()):
            span = _trim(text, begin, found.end())
        else:
            continue
        begin = found.end()
        if span[0] < span[1]:
            spans.append(span)
    last = _trim(text, begin, len(text))
    return [*spans, last] if last[0] < last[1] else spans


def _ends_sentence(text: str, begin: int, stop: int, end: int) -> bool:
    """Whether the punctuation at ``stop`` to ``end`` closes the sentence that starts at ``begin``."""
    following = _NEXT.match(text, end)
    if following is None:
        return True
    space, openers, word = following.groups()
    if word[0] in ".!?…":  # spaced dots, as in tables of contents
        return False
    if word[0].islower() and not _INNER_CAPITAL.match(word):
        return "\n" in space and _GAP.match(space) is not None
    if stop - begin <= 12 and text[begin:stop].replace(".", "").strip().isdigit():
        return False  # an enumerator
    if end - stop > 1 or text[stop] != ".":
        return True
    if text[stop - 1].isdigit():
        return not word[0].isdigit() or bool(openers)
    found = _TOKEN.search(text, max(begin, stop - 24), stop)
    if found is None:
        return True
    token = found[0]
    starts = not openers and _STARTER.fullmatch(word) is not None
    if _NEVER_LAST.fullmatch(token) or (word[0].isdigit() and _BEFORE_NUMBERS.fullmatch(token)):
        return False
    tail = re.split(r"[.\-’]", token)[-1]
    if len(tail) == 1 and tail.isalpha() and not _DENSE_CHARACTER.match(tail):
        return "." in token and starts  # J. M. Keynes; but: in the U.S. The ...
    return starts or not _SELDOM_LAST.fullmatch(token)
