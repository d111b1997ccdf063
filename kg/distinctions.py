"""What tells two names apart however likely they are one: words that only one of them has, and what papers say.

A narrower name (supply chain management beside supply chain), another role (employer, employment), and an acronym that
papers explain otherwise are linked at most, never joined; a negation is not even that.
"""

from __future__ import annotations

from collections.abc import Collection

from kg.acronyms import SMALL_WORDS
from kg.alignment import Alignment, align
from kg.opposites import opposed
from kg.profiles import Profile
from kg.stems import american
from kg.typewords import LEADING, LEGAL_FORMS, PLAIN_TYPES, TYPE_WORDS

_NEGATIONS = frozenset("non not no without".split())
_SAYS_NOTHING = PLAIN_TYPES | (LEGAL_FORMS - {"group"})


def most(a: Profile, b: Profile, linked: float, explained: Collection[str]) -> float:
    """The greatest probability that the pair may have: 1, ``linked``, or 0. ``explained``: acronyms that papers
    define."""
    if _NEGATIONS & (frozenset(a.words) ^ frozenset(b.words)):
        return 0.0
    if _narrower(a, b) or any(
        short.acronym in explained and short.core != long.core for short, long in ((a, b), (b, a))
    ):
        return linked
    return 1.0


def _narrower(a: Profile, b: Profile) -> bool:
    """Whether a word is left that only one of them has and that says more than what kind of thing it is."""
    left, right = frozenset((*a.words, *a.rest)), frozenset((*b.words, *b.rest))
    if a.rest != b.rest:
        return True
    own: frozenset[str] = frozenset()
    inside = (a.inside and a.inside == b.latin) or (b.inside and b.inside == a.latin)
    if a.latin != b.latin and not inside and a.acronym not in b.initials and b.acronym not in a.initials:
        alignment = align(a.core, b.core)
        if _says_otherwise(a, b, alignment):
            return True
        own = frozenset((*alignment.left, *alignment.right)) - a.dropped - b.dropped - SMALL_WORDS - LEADING
    kinds = {word for word in a.dropped ^ b.dropped if word in TYPE_WORDS and word not in left & right}
    one_word = len(a.core) == len(b.core) == 1
    if (own or kinds) and one_word and not ((a.named and b.named) or a.acronym or b.acronym):
        return True  # a graph approach is no graph, the Standard Model no standard: one plain word needs its type
    return bool(own or kinds - _SAYS_NOTHING) or any(opposed(x, y) for x in left - right for y in right - left)


def _says_otherwise(a: Profile, b: Profile, alignment: Alignment) -> bool:
    """Whether the way in which words match makes two things of them."""
    one_word, two_words = (len(a.core) == len(b.core) == n for n in (1, 2))
    return (
        # J. Smith is John Smith; M weights may be anything.
        ("initial" in alignment.kinds and not (a.capital and b.capital))
        # Of one word the ending says what it is: optimal, optimisation.
        or ("stem" in alignment.kinds and one_word and american(*a.core) != american(*b.core))
        # VEGF is bound by VEGFR.
        or ("spelling" in alignment.kinds and bool(a.acronym or b.acronym))
        # Palm oil is of the oil palm.
        or (not alignment.ordered and two_words and not _may_turn(a, b))
    )


def _may_turn(a: Profile, b: Profile) -> bool:
    """Whether two words may stand in either order: Smith, John; theory of evolution."""
    return a.turned or b.turned or bool(SMALL_WORDS & {*a.words, *b.words})
