"""What two names have in common and what tells them apart, as numbers: what the scorer of pairs sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log

from rapidfuzz.distance import JaroWinkler, Levenshtein

from kg.acronyms import spells
from kg.alignment import Alignment, align, number_of
from kg.opposites import opposed
from kg.profiles import Profile
from kg.typewords import TYPE_WORDS
from kg.wordlists import ALONE, EDGE

FEATURES = (
    # What surrounds the two: cosines of the names and of their contexts, share of the sections that hold both, and how
    # many hold each (natural logarithm): the context of a name in many sections is blurred.
    "cosine", "context", "context_known", "together", "uses_rarer", "uses_other",
    # Equal in one way or another.
    "same_key", "same_core", "same_words", "same_latin", "inside",
    # Both have type words, and different ones: Parkinson's law, Parkinson's disease.
    # One abbreviates the other: by initials, by letters in order; both are acronyms, or one is and nothing explains it.
    "dropped_both", "acronym", "acronym_length", "acronym_loose", "acronym_other",
    # Words that match, by kind, and those left over on one or both sides.
    "shared", "share", "left_over", "left_over_both", "only_type_words", "only_weak_words", "in_front", "at_end",
    "stem", "spelling", "abbreviation", "initial", "nickname", "acronym_run", "ordered",
    # Left-over words that tell apart.
    "number_both", "number_one", "year_one", "letter_both", "letter_one", "opposed",
    "edit", "winkler", "shortest", "words_short", "words_long", "capital_both", "capital_one", "foreign_one",
    "foreign_both", "type_known", "person", "organization", "place", "last_word", "first_word", "single_last",
)  # fmt: skip
_TYPES = {
    "person": ("per", "person", "people", "author"),
    "organization": ("org", "company", "institution"),
    "place": ("loc", "gpe", "place", "city", "country"),
}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """``cosine`` of the names' vectors, of their ``context`` (None where one has none), the share of the sections of
    the rarer name that hold both, and how many sections hold the rarer and the other (``uses``)."""

    cosine: float
    context: float | None = None
    together: float = 0.0
    uses: tuple[int, int] = (1, 1)


def pair_features(a: Profile, b: Profile, around: Surroundings) -> list[float]:
    """Values in the order of ``FEATURES``; symmetric."""
    if (len(b.core), b.core, b.words, b.latin) < (len(a.core), a.core, a.words, a.latin):
        a, b = b, a
    alignment = align(a.core, b.core)
    if a.dropped or b.dropped:  # "World War II" has the "war" that was dropped from "Second World War" as a type word
        alignment = Alignment(
            alignment.kinds,
            tuple(word for word in alignment.left if word not in b.dropped),
            tuple(word for word in alignment.right if word not in a.dropped),
            alignment.ordered,
        )
    acronym = max(_abbreviates(a, b), _abbreviates(b, a))
    loose = not acronym and (_spells(a, b) or _spells(b, a))
    explained = bool(acronym or loose)
    return [
        around.cosine, around.context or 0.0, around.context is not None, around.together,
        log(min(around.uses)), log(max(around.uses)),
        *_equal(a, b, alignment, explained),
        bool(acronym), acronym, loose,
        _unexplained(a, b, explained),
        *_shared(a, b, alignment, explained),
        *map(alignment.kinds.count, ("stem", "spelling", "abbreviation", "initial", "nickname", "acronym")),
        alignment.ordered,
        *_telling(alignment, explained),
        *_shape(a, b),
    ]  # fmt: skip


def _unexplained(a: Profile, b: Profile, explained: bool) -> float:
    """1 for two different acronyms, .5 for one beside a name that it does not abbreviate."""
    if a.acronym and b.acronym:
        return float(a.core != b.core)
    return 0.5 * (bool(a.acronym or b.acronym) and not explained)


def _equal(a: Profile, b: Profile, alignment: Alignment, explained: bool) -> list[float]:
    left, right = "".join(a.core), "".join(b.core)
    exact = all(kind in {"same", "stem", "number"} for kind in alignment.kinds)
    return [
        "".join(a.words) == "".join(b.words),
        left == right,
        exact and not explained and not alignment.left and not alignment.right,
        a.latin == b.latin,
        (bool(a.inside) and a.inside in {b.latin, b.inside}) or (bool(b.inside) and b.inside == a.latin),
        bool(a.dropped & TYPE_WORDS - b.dropped and b.dropped & TYPE_WORDS - a.dropped),
    ]


def _shared(a: Profile, b: Profile, alignment: Alignment, explained: bool) -> list[float]:
    few, many = sorted((len(alignment.left), len(alignment.right)))
    matched = len(alignment.kinds)
    longer, whole = (
        (alignment.right, b.core) if len(alignment.right) >= len(alignment.left) else (alignment.left, a.core)
    )
    contained = many > 0 and few == 0
    return [
        matched,
        matched / max(len(a.core), len(b.core), 1),
        0 if explained else few + many,
        0 if explained else few,
        contained and all(word in TYPE_WORDS for word in longer),
        contained and all(word in TYPE_WORDS or word in ALONE or word in EDGE for word in longer),
        contained and whole[0] in longer,
        contained and whole[-1] in longer,
    ]


def _telling(alignment: Alignment, explained: bool) -> list[float]:
    if not alignment.left and not alignment.right:
        return [False] * 6
    left, right = _numbers(alignment.left), _numbers(alignment.right)
    one_side = bool(left) != bool(right)
    letters = [any(len(word) == 1 and word.isalpha() for word in side) for side in (alignment.left, alignment.right)]
    return [
        bool(left and right) and not explained,
        one_side and not explained,
        one_side and all(_is_year(number) for number in left or right),
        all(letters) and not explained,
        letters[0] != letters[1] and not explained,
        any(opposed(x, y) for x in alignment.left for y in alignment.right),
    ]


def _shape(a: Profile, b: Profile) -> list[float]:
    kind = (a.kind or b.kind).casefold()
    return [
        Levenshtein.normalized_similarity(a.latin, b.latin),
        JaroWinkler.similarity(min(a.latin, b.latin), max(a.latin, b.latin)),
        min(len(a.latin), len(b.latin), 20), len(a.core), len(b.core),
        a.capital and b.capital, a.capital != b.capital, a.foreign != b.foreign, a.foreign and b.foreign,
        bool(a.kind and b.kind),
        *(kind.startswith(names) for names in _TYPES.values()),
        a.core[-1:] == b.core[-1:], a.core[:1] == b.core[:1],
        len(a.core) == 1 and len(b.core) > 1 and a.core[0] == b.core[-1],
    ]  # fmt: skip


def _abbreviates(short: Profile, long: Profile) -> int:
    """Letters of an acronym that are the initials of the other name; 0 if they are not."""
    if not short.acronym or short.acronym not in long.initials:
        return 0
    return 0 if long.acronym and len(long.acronym) <= len(short.acronym) else len(short.acronym)


def _spells(short: Profile, long: Profile) -> bool:
    return len(short.acronym) > 2 and not long.acronym and spells(short.acronym, " ".join(long.words))


def _numbers(words: Sequence[str]) -> list[str]:
    return [word for word in words if _is_number(word)]


@lru_cache(maxsize=1 << 16)
def _is_number(word: str) -> bool:
    return number_of(word) is not None or any(map(str.isdigit, word))


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isdigit() and word[:2] in {"18", "19", "20"}
