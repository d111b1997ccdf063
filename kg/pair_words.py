"""What the words of two names say: how those that match do, and which are left over (``kg.alignment``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from kg.alignment import align, number_of
from kg.names import GREEK_NAMES
from kg.opposites import opposed
from kg.profile_table import ProfileTable
from kg.profiles import Profile
from kg.typewords import TYPE_WORDS
from kg.wordlists import ALONE, EDGE

PAIR_WORDS = (
    # Both lost type words, and different ones; words that match, all of them exactly; those left over on each side.
    "dropped_both", "shared", "exact", "left", "right",
    "stem", "spelling", "abbreviation", "initial", "nickname", "acronym_run", "ordered",
    # Of what only the longer has: nothing but type words, or words of no content; where it stands.
    "only_type_words", "only_weak_words", "in_front", "at_end",
    "number_both", "number_one", "year_one", "letter_both", "letter_one", "opposed",
)  # fmt: skip
_EXACT = frozenset(("same", "stem", "number"))
_COUNTED = ("stem", "spelling", "abbreviation", "initial", "nickname", "acronym")
_WEAK = TYPE_WORDS | ALONE | EDGE
_NOTHING_TOLD = (0, 0, 0, 0, 0, 0)


def pair_words(table: ProfileTable, a: np.ndarray, b: np.ndarray) -> dict[str, np.ndarray]:
    """Columns float32 [m] by the names of ``PAIR_WORDS``, of pairs of profiles ``a``, ``b`` int64 [m]."""
    found = np.zeros((len(a), len(PAIR_WORDS)), dtype=np.float32)
    columns = dict(zip(PAIR_WORDS, found.T, strict=True))
    equal = table.core[a] == table.core[b]  # most pairs of large blocks: nothing to match
    columns["shared"][equal] = table.length[a][equal]
    columns["exact"][equal] = columns["ordered"][equal] = 1
    of = table.profiles
    for row in np.flatnonzero(~equal).tolist():
        found[row, 1:] = _values(of[a[row]], of[b[row]])
    for row, (i, j) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        if of[i].dropped and of[j].dropped:
            one, other = of[i].dropped & TYPE_WORDS, of[j].dropped & TYPE_WORDS
            found[row, 0] = bool(one - of[j].dropped and other - of[i].dropped)
    return columns


def _values(a: Profile, b: Profile) -> tuple[float, ...]:
    alignment = align(a.core, b.core)
    left, right = alignment.left, alignment.right
    if b.dropped:  # "World War II" has the "war" that was dropped from "Second World War" as a type word
        left = tuple(word for word in left if word not in b.dropped)
    if a.dropped:
        right = tuple(word for word in right if word not in a.dropped)
    if a.rest != b.rest:
        left, right = (*left, *_only(a.rest, b.rest)), (*right, *_only(b.rest, a.rest))
    kinds = alignment.kinds
    return (
        len(kinds),
        _EXACT.issuperset(kinds),
        len(left),
        len(right),
        *map(kinds.count, _COUNTED),
        alignment.ordered,
        *_within(a, b, left, right),
        *(_telling(left, right) if left or right else _NOTHING_TOLD),
    )


def _only(words: Sequence[str], others: Sequence[str]) -> list[str]:
    """Words that ``others`` lacks, each as often."""
    return sorted((Counter(words) - Counter(others)).elements())


def _within(a: Profile, b: Profile, left: Sequence[str], right: Sequence[str]) -> tuple[bool, ...]:
    """What only one has, where the other has nothing of its own."""
    if bool(left) == bool(right):
        return (False, False, False, False)
    longer, whole = (right, b.core) if right else (left, a.core)
    return TYPE_WORDS.issuperset(longer), _WEAK.issuperset(longer), whole[0] in longer, whole[-1] in longer


def _telling(left: Sequence[str], right: Sequence[str]) -> tuple[bool, ...]:
    """Left-over words that tell apart."""
    one, other = [word for word in left if _is_number(word)], [word for word in right if _is_number(word)]
    letter, letter_too = any(map(_is_letter, left)), any(map(_is_letter, right))
    return (
        bool(one and other),
        bool(one) != bool(other),
        bool(one) != bool(other) and all(map(_is_year, one or other)),
        letter and letter_too,
        letter != letter_too,
        any(opposed(x, y) for x in left for y in right),
    )


@lru_cache(maxsize=1 << 16)
def _is_number(word: str) -> bool:
    return number_of(word) is not None or any(map(str.isdigit, word))


def _is_letter(word: str) -> bool:
    return (len(word) == 1 and word.isalpha()) or word in GREEK_NAMES


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isdigit() and word[:2] in {"18", "19", "20"}
