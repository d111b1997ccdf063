"""Which words of two names stand for each other: the same word, its abbreviation, its initial, letters for a run of
words.

Words are matched one to one, whatever their order, strongest matches first; what is left over on either side is what
tells the two names apart. Every rule is general: nothing here knows a field.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import regex
from nicknames import NickNamer
from rapidfuzz.distance import DamerauLevenshtein

from kg.acronyms import SMALL_WORDS
from kg.opposites import NUMBER_WORDS, opposed
from kg.stems import LONGEST_WORD, stem

KINDS = ("same", "stem", "number", "nickname", "spelling", "abbreviation", "initial", "acronym")
"""How two words match, best first."""
_BEST_FIRST = {kind: place for place, kind in enumerate(KINDS)}
_RANK = {"same": 0, "stem": 1, "number": 1, "nickname": 2, "spelling": 2, "abbreviation": 2, "initial": 3}

_LONGEST_CUT = 5
_ROMAN = regex.compile(r"(x{0,3})(ix|iv|v?i{0,3})")
"""Up to 39: further letters make words and acronyms ("mix", "MDL")."""
_DIGITS = regex.compile(r"(\d+)(?:\.0+)?(?:st|nd|rd|th)?")
_DIGIT = regex.compile(r"\d")
_WORD = regex.compile(r"[aeiouy]|[^\x00-\x7f]")
"""A vowel, or a letter that ASCII lacks."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """Matches by kind, and the words left over on each side, in order."""

    kinds: tuple[str, ...]
    left: tuple[str, ...]
    right: tuple[str, ...]
    ordered: bool


@lru_cache(maxsize=1 << 16)
def number_of(token: str) -> str | None:
    """The number a word stands for, as digits ("ii", "second" and "2nd" are "2"); None if it is no number."""
    if token in NUMBER_WORDS:
        return str(NUMBER_WORDS[token])
    if digits := _DIGITS.fullmatch(token):
        return digits[1].lstrip("0") or "0"
    roman = _ROMAN.fullmatch(token) if token else None
    if roman is None:
        return None
    ones = {"iv": 4, "ix": 9}.get(roman[2], 5 * roman[2].count("v") + roman[2].count("i"))
    return str(10 * len(roman[1]) + ones)


def align(left: Sequence[str], right: Sequence[str]) -> Alignment:
    """Match the words (normal forms) of two names; swapping the names swaps ``left`` and ``right``, and no more.

    >>> align(["j", "smith"], ["john", "smith"])
    Alignment(kinds=('same', 'initial'), left=(), right=(), ordered=True)
    """
    if (len(right), *right) < (len(left), *left):  # matched in one order, whichever name comes first
        found = align(right, left)
        return Alignment(found.kinds, found.right, found.left, found.ordered)
    matched: list[tuple[str, int, int]] = []
    free_left: list[int] = []
    rest: list[str | None] = list(right)
    for i, word in enumerate(left):  # equal words first
        if word in rest:
            matched.append(("same", i, j := rest.index(word)))
            rest[j] = None
        else:
            free_left.append(i)
    free_right = [j for j, word in enumerate(rest) if word is not None]
    possible = sorted(
        (_RANK[kind], i, j, kind)
        for i in free_left
        for j in free_right
        if (kind := word_match(left[i], right[j])) is not None
    )
    initials = [match for match in possible if match[3] == "initial"]
    _match_words(possible[: len(possible) - len(initials)], free_left, free_right, matched)
    if free_left and free_right:  # before initials: "ra" is "r a", and not "r" alone
        _match_runs(left, right, free_left, free_right, matched, False)
        _match_runs(right, left, free_right, free_left, matched, True)
        _match_words(initials, free_left, free_right, matched)
    places = [j for _, j in sorted((i, j) for _, i, j in matched)]
    kinds = sorted([kind for kind, _, _ in matched], key=_BEST_FIRST.__getitem__)
    return Alignment(
        tuple(kinds),
        tuple([left[i] for i in free_left]),
        tuple([right[j] for j in free_right]),
        places == sorted(places),
    )


def _match_words(
    possible: Sequence[tuple[int, int, int, str]],
    free_left: list[int],
    free_right: list[int],
    matched: list[tuple[str, int, int]],
) -> None:
    """Matches (rank, left, right, kind), best first, of words that are free."""
    for _, i, j, kind in possible:
        if i in free_left and j in free_right:
            matched.append((kind, i, j))
            free_left.remove(i)
            free_right.remove(j)


def _match_runs(
    short: Sequence[str],
    long: Sequence[str],
    free_short: list[int],
    free_long: list[int],
    matched: list[tuple[str, int, int]],
    swapped: bool,
) -> None:
    """A word whose letters are the initials of a run of free words ("mt" / "machine translation")."""
    for i in tuple(free_short):
        letters = short[i]
        if not 2 <= len(letters) <= 8:
            continue
        for start in range(len(free_long)):
            run = _spelled(letters, [long[j] for j in free_long[start:]])
            if run:
                used = free_long[start : start + run]
                matched.append(("acronym", used[0], i) if swapped else ("acronym", i, used[0]))
                free_short.remove(i)
                del free_long[start : start + run]
                break


def _spelled(letters: str, words: Sequence[str]) -> int:
    """How many of the first ``words`` spell ``letters`` by their initials, small words skipped; 0 if they do not."""
    position = 0
    for number, word in enumerate(words):
        if position < len(letters) and word[0] == letters[position]:
            position += 1
        elif number == 0 or word not in SMALL_WORDS:
            return 0
        if position == len(letters):
            return number + 1 if number else 0
    return 0


@lru_cache(maxsize=1 << 18)
def word_match(a: str, b: str) -> str | None:
    """How two words (normal forms) stand for each other; symmetric. See ``KINDS``."""
    if a == b:
        return "same"
    one, other = number_of(a), number_of(b)
    if one is not None or other is not None:
        return "number" if one == other or _same_year(a, b) else None
    if stem(a) == stem(b):
        return "stem"
    short, long = (a, b) if (len(a), a) < (len(b), b) else (b, a)
    if len(short) == 1:
        # "c" begins "charles", and no "css": without a vowel it is no word.
        return "initial" if long[0] == short and long.isalpha() and _WORD.search(long) else None
    kind = _loose_match(short, long)
    return None if kind is None or _DIGIT.search(short + long) or opposed(a, b) else kind


def _loose_match(short: str, long: str) -> str | None:
    if short in _nicknames(long) or long in _nicknames(short):
        return "nickname"
    least = 0.8 if len(short) > 5 else 0.75
    if (
        len(short) >= 4
        and len(long) <= LONGEST_WORD
        and DamerauLevenshtein.normalized_similarity(short, long, score_cutoff=least) >= least
    ):
        return "spelling"
    return "abbreviation" if short[0] == long[0] and _abbreviates(short, long) else None


def _same_year(a: str, b: str) -> bool:
    """'14 and 2014; a number of one digit, or in words, is no year."""
    short, long = sorted((a, b), key=len)
    return (short + long).isdigit() and len(short) == 2 and len(long) == 4 and long in {f"19{short}", f"20{short}"}


def _abbreviates(short: str, long: str) -> bool:
    """The beginning of a word, cut between a consonant and a vowel, or its first and last letters with others in
    order: "univ", "intl", "dept". "fast" begins faster and "fibrin" fibrinogen, "bond" a bondholder: more than five
    letters, or nearly all, are no abbreviation."""
    if len(short) < 2 or len(long) < len(short) + 2:
        return False
    if long.startswith(short):
        cut = short[-1] not in "aeiou" and long[len(short)] in "aeiouy"
        return cut and 3 <= len(short) <= _LONGEST_CUT and len(long) >= len(short) + 4
    letters = iter(long)
    return len(short) <= 5 and short[-1] in long[-3:] and all(ch in letters for ch in short)


_NAMER = NickNamer()


@lru_cache(maxsize=1 << 16)
def _nicknames(name: str) -> frozenset[str]:
    return frozenset(_NAMER.nicknames_of(name)) if name.isascii() else frozenset()
