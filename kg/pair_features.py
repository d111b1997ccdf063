"""What two names have in common and what tells them apart, as numbers: what the scorer of pairs sees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from rapidfuzz.distance import JaroWinkler, Levenshtein
from rapidfuzz.process import cpdist

from kg.acronyms import spells
from kg.pair_words import pair_words
from kg.profile_table import TYPES, ProfileTable
from kg.profiles import Profile

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
_LONGEST = 20
"""Letters beyond which a name is long."""


@dataclass(frozen=True)
class Surroundings:
    """Of m pairs: ``cosine`` float64 [m] of the names' vectors; ``context`` of what surrounds them, NaN where one has
    nothing; ``together``: share of the sections of the rarer name that hold both; ``uses`` int64 [m, 2]: how many hold
    each."""

    cosine: np.ndarray
    context: np.ndarray
    together: np.ndarray
    uses: np.ndarray


def pair_features(table: ProfileTable, pairs: np.ndarray, around: Surroundings) -> np.ndarray:
    """float32 [m, features] of pairs int64 [m, 2], in the order of ``FEATURES``; the order within a pair does not
    matter."""
    swapped = table.order[pairs[:, 0]] > table.order[pairs[:, 1]]
    a, b = np.where(swapped[:, None], pairs[:, ::-1], pairs).T
    abbreviates, loose, inside = _of_letters(table, a, b)
    explained = (abbreviates > 0) | loose
    words = pair_words(table, a, b)
    columns = {
        **_surroundings(around),
        **_equal(table, a, b, words, explained),
        "inside": inside,
        "acronym": abbreviates > 0,
        "acronym_length": abbreviates,
        "acronym_loose": loose,
        "acronym_other": _unexplained(table, a, b, explained),
        **_shared(table, a, b, words, explained),
        **{name: words[name] for name in _COUNTED},
        **_telling(words, explained),
        **_shape(table, a, b),
    }
    return np.stack([np.asarray(columns[name], dtype=np.float32) for name in FEATURES], axis=1)


_COUNTED = ("dropped_both", "stem", "spelling", "abbreviation", "initial", "nickname", "acronym_run", "ordered")
Columns = dict[str, np.ndarray]


def _surroundings(around: Surroundings) -> Columns:
    return {
        "cosine": around.cosine,
        "context": np.nan_to_num(around.context),
        "context_known": ~np.isnan(around.context),
        "together": around.together,
        "uses_rarer": np.log(around.uses.min(axis=1, initial=np.iinfo(np.int64).max)),
        "uses_other": np.log(around.uses.max(axis=1, initial=1)),
    }


def _of_letters(table: ProfileTable, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(letters of an acronym that are the other's initials, whether it spells the other loosely, whether what one has
    in parentheses is the other), of the pairs that have such."""
    abbreviates, loose, inside = np.zeros(len(a), np.int64), np.zeros(len(a), bool), np.zeros(len(a), bool)
    of = table.profiles
    for row in np.flatnonzero(table.acronym[a] | table.acronym[b]).tolist():
        x, y = of[a[row]], of[b[row]]
        abbreviates[row] = max(_abbreviates(x, y), _abbreviates(y, x))
        loose[row] = not abbreviates[row] and (_spells(x, y) or _spells(y, x))
    for row in np.flatnonzero(table.inside[a] | table.inside[b]).tolist():
        x, y = of[a[row]], of[b[row]]
        inside[row] = (bool(x.inside) and x.inside in {y.latin, y.inside}) or (bool(y.inside) and y.inside == x.latin)
    return abbreviates, loose, inside


def _unexplained(table: ProfileTable, a: np.ndarray, b: np.ndarray, explained: np.ndarray) -> np.ndarray:
    """1 for two different acronyms, .5 for one beside a name that it does not abbreviate."""
    both = table.acronym[a] & table.acronym[b]
    one = table.acronym[a] ^ table.acronym[b]
    return np.where(both, 1.0 * (table.core[a] != table.core[b]), 0.5 * (one & ~explained))


def _equal(table: ProfileTable, a: np.ndarray, b: np.ndarray, words: Columns, explained: np.ndarray) -> Columns:
    return {
        "same_key": table.key[a] == table.key[b],
        "same_core": table.letters[a] == table.letters[b],
        "same_words": (words["exact"] > 0) & ~explained & (words["left"] + words["right"] == 0),
        "same_latin": table.latin[a] == table.latin[b],
    }


def _shared(table: ProfileTable, a: np.ndarray, b: np.ndarray, words: Columns, explained: np.ndarray) -> Columns:
    longest = np.maximum(np.maximum(table.length[a], table.length[b]), 1)
    unmatched = {
        "left_over": words["left"] + words["right"],
        "left_over_both": np.minimum(words["left"], words["right"]),
    }
    within = ("only_type_words", "only_weak_words", "in_front", "at_end")
    return {
        "shared": words["shared"],
        "share": words["shared"] / longest,
        **{name: np.where(explained, 0, values) for name, values in unmatched.items()},
        **{name: words[name] for name in within},
    }


def _telling(words: Columns, explained: np.ndarray) -> Columns:
    """An acronym that the other name explains has no numbers or letters of its own."""
    told = ("number_both", "number_one", "year_one", "letter_both", "letter_one")
    return {**{name: (words[name] > 0) & ~explained for name in told}, "opposed": words["opposed"]}


def _shape(table: ProfileTable, a: np.ndarray, b: np.ndarray) -> Columns:
    of = table.profiles
    both = [sorted((of[i].latin, of[j].latin)) for i, j in zip(a.tolist(), b.tolist(), strict=True)]
    least, greatest = [one for one, _ in both], [other for _, other in both]  # in one order: Winkler's differs by it
    return {
        "edit": cpdist(least, greatest, scorer=Levenshtein.normalized_similarity),
        "winkler": cpdist(least, greatest, scorer=JaroWinkler.similarity),
        "shortest": np.minimum(np.minimum(table.size[a], table.size[b]), _LONGEST),
        "words_short": table.length[a],
        "words_long": table.length[b],
        "capital_both": table.capital[a] & table.capital[b],
        "capital_one": table.capital[a] ^ table.capital[b],
        "foreign_one": table.foreign[a] ^ table.foreign[b],
        "foreign_both": table.foreign[a] & table.foreign[b],
        "type_known": table.known[a] & table.known[b],
        **{name: table.types[a, number] | table.types[b, number] for number, name in enumerate(TYPES)},
        "last_word": table.last[a] == table.last[b],
        "first_word": table.first[a] == table.first[b],
        "single_last": (table.length[a] == 1) & (table.length[b] > 1) & (table.first[a] == table.last[b]),
    }


def _abbreviates(short: Profile, long: Profile) -> int:
    """Letters of an acronym that are the initials of the other name; 0 if they are not."""
    if not short.acronym or short.acronym not in long.initials:
        return 0
    return 0 if long.acronym and len(long.acronym) <= len(short.acronym) else len(short.acronym)


def _spells(short: Profile, long: Profile) -> bool:
    return len(short.acronym) > 2 and not long.acronym and spells(short.acronym, " ".join(long.words))
