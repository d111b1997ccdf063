"""What a name says by its form alone: its core without type words, its letters as an acronym, its numbers."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile

import regex
from anyascii import anyascii

from kg.acronyms import SMALL_WORDS
from kg.names import GREEK_NAMES, form_key, name_form, token_form
from kg.opposites import in_words
from kg.typewords import LEADING, LEGAL_FORMS, TYPE_WORDS, core_words

_CITATION = regex.compile(
    r"\s*[\(\[](?:[^()\[\]]*\bet al\b[^()\[\]]*|[^()\[\]]*\p{Lu}\p{L}+[^()\[\]]*,\s*(?:1[89]|20)\d\d[a-z]?"
    r"|\d+(?:\s*[,–-]\s*\d+)*)[\)\]]"
)
_PARENTHESIS = regex.compile(r"^(.{2,}?)\s*\(([^()]{2,})\)\s*$")
_PIECES = regex.compile(r"\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?[\p{Ll}\p{M}]+|\p{Lu}+|\d+|[\p{L}\p{M}]+")
_WORDS = regex.compile(r"[\p{L}\p{N}\p{M}]+")
_OTHER_SCRIPT = regex.compile(r"[^\p{Latin}\p{Common}\p{Inherited}]")
_DOTS = regex.compile(r"(?<=\b\p{L})\.")
_APART = regex.compile(r"(?<=\p{L})(?=\d)|(?<=\d)(?=\p{L})")
_ORDINAL = regex.compile(r"\d+(?:st|nd|rd|th)$")
_INITIAL = regex.compile(r"\p{Lu}\.")
_DEEPEST = 3
"""Acronyms within expansions of acronyms that are spelled out: BiLSTM, bidirectional LSTM, ..."""
_TITLED = regex.compile(r"(?:[Tt]he\s+)?\p{Lu}\p{Ll}+\.?\s+\p{Lu}")
_POSSESSED = regex.compile(r"(?:['’]s|s['’])\s+\p{L}+$")
_MOST_CHARACTERS = 400
_LONGEST = 24
"""Words of a name that are matched one by one."""

Expansions = Mapping[str, tuple[str, ...]]
"""Key of an acronym -> the words it stands for in these papers."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Words are normal forms (``kg.names``).

    - ``words``: all; ``core``: those without type words, titles, legal forms and articles, known acronyms spelled out,
      never empty; ``dropped``: what only ``words`` has
    - ``acronym``: the letters of a name written as one, else ""
    - ``initials``: first letters of the words, with and without small words, and of pieces in camel case
    - ``latin``: the core in Latin letters, without spaces; ``inside``: what stands in parentheses at the end, likewise
    - ``capital``: every word begins with a capital, ``named``: the first of the core does; ``foreign``: it holds
      letters of another script than Latin; ``turned``: it holds a comma, which may turn its words around
    - ``rest``: words beyond the first 24, which are compared as they are
    """

    kind: str
    words: tuple[str, ...]
    core: tuple[str, ...]
    dropped: frozenset[str]
    acronym: str
    initials: frozenset[str]
    latin: str
    inside: str
    capital: bool
    foreign: bool
    named: bool = False
    turned: bool = False
    rest: tuple[str, ...] = ()


def profile(kind: str, surface: str, expansions: Expansions | None = None) -> Profile:
    """The profile of a name of a type, from one of its spellings.

    >>> profile("dataset", "the CIFAR-10 dataset").core, profile("", "Penn TreeBank").initials >= {"pt", "ptb"}
    (('cifar', '10'), True)
    >>> profile("", "deep LSTMs", {"lstm": ("long", "short", "term", "memory")}).core
    ('deep', 'long', 'short', 'term', 'memory')
    """
    surface = " ".join(unicodedata.normalize("NFKC", surface).split())
    short = len(surface) <= _MOST_CHARACTERS  # a longer one is a text, in which a parenthesis says nothing of a name
    plain = (_CITATION.sub("", surface).strip() if short else "") or surface
    match = _PARENTHESIS.match(plain) if short else None
    outside, inside = (match[1], match[2]) if match else (plain, "")
    words, rest = _split(name_form(outside))
    capital = all(word[0].isupper() or word[0].isdigit() for word in outside.split() if word[0].isalnum())
    bare = core_words(words, bool(_TITLED.match(outside)), capital or len(words) == 1)
    if _POSSESSED.search(outside):  # Newton's method is not Newton
        bare = words[1:] if len(words) > 1 and words[0] in LEADING else words
    if _INITIAL.match(outside) and bare[:1] != words[:1]:  # "A. Bohr" begins with no article
        bare = (words[0], *bare)
    core = core_words(_spelled_out(bare, outside, expansions)) if expansions else bare
    return Profile(
        kind=kind,
        words=words,
        core=core,
        dropped=frozenset(words) - frozenset(core),
        acronym=_acronym(outside, bare),
        initials=_initials(outside, words, bare),
        latin=_latin((*core, *rest)),
        inside=_latin(core_words(_split(name_form(inside))[0])) if inside and name_form(inside) else "",
        capital=capital,
        foreign=not outside.isascii() and bool(_OTHER_SCRIPT.search(outside)),
        named=_as_written(outside, bare)[:1].isupper(),
        turned="," in outside,
        rest=rest,
    )


def _split(form: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The first words and the rest, numbers apart from letters but for ordinals: "cifar10" is "cifar 10", "twenty
    first" is "21"."""
    words = [
        word for token in form.split() for word in (_APART.split(token) if not _ORDINAL.match(token) else (token,))
    ]
    for place in range(len(words) - 1, 0, -1):
        if (number := in_words(words[place - 1], words[place])) is not None:
            words[place - 1 : place + 1] = [str(number)]
    return tuple(words[:_LONGEST]), tuple(words[_LONGEST:])


def _latin(words: tuple[str, ...]) -> str:
    joined = form_key(" ".join(words))
    latin = joined if joined.isascii() else anyascii(joined).casefold().replace(" ", "")
    return latin or joined


def _spelled_out(words: tuple[str, ...], surface: str, expansions: Expansions) -> tuple[str, ...]:
    """Words that the surface writes as acronyms, replaced by what they stand for."""
    written = {token_form(word) for word in _WORDS.findall(surface) if sum(ch.isupper() for ch in word) >= 2}
    for _ in range(_DEEPEST):
        if not (found := [word for word in words if word in written and word in expansions]):
            break
        written = {inner for word in found for inner in expansions[word]} - written
        words = tuple(inner for word in words for inner in (expansions[word] if word in found else (word,)))
    return words[:_LONGEST]


def _acronym(surface: str, core: tuple[str, ...]) -> str:
    """Letters and digits of a core that is one short word with two capitals or more, or dotted; a number or a Greek
    letter may follow."""
    letters = "".join(core)
    counted = all(word.isdigit() or word in GREEK_NAMES for word in core[1:])
    if not 2 <= len(letters) <= 9 or len(core) > 2 or not counted:
        return ""
    word = _as_written(surface, core)
    capitals, alphabetic = sum(ch.isupper() for ch in word), sum(ch.isalpha() for ch in word)
    enough = capitals >= 2 or (capitals >= 1 and len(letters) <= 3)
    return letters if enough and capitals >= 0.4 * alphabetic else ""


def _as_written(surface: str, core: tuple[str, ...]) -> str:
    """The word of the surface that the core begins with, "" where there is none."""
    words = _WORDS.findall(_DOTS.sub("", surface))
    return next((word for word in words if token_form(word) == core[0]), "") if core else ""


def _initials(surface: str, words: tuple[str, ...], core: tuple[str, ...]) -> frozenset[str]:
    """Of the words; a number stands for itself."""
    found = set()
    pieces = [piece.casefold() for piece in _PIECES.findall(surface)]
    spaced = [word for token in surface.split() if (word := "".join(_WORDS.findall(token)).casefold())]
    plain = [piece for piece in pieces if piece not in TYPE_WORDS and piece not in LEGAL_FORMS]
    before = [list(takewhile(lambda word: word != "and", words)), [word for word in words if not word.isdigit()]]
    for chosen in (words, core, spaced, pieces, plain, *before):
        for kept in (chosen, [word for word in chosen if word not in SMALL_WORDS]):
            if len(kept) > 1:
                found.add("".join(word if word.isdigit() else word[0] for word in kept))
    return frozenset(initials for initials in found if 2 <= len(initials) <= 10)
