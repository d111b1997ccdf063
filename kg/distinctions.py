"""What tells two names apart however likely they are one: words that only one of them has, and what papers say.

A narrower name (supply chain management beside supply chain), another role (employer, employment), and an acronym that
papers explain otherwise are linked at most, never joined; a negation is not even that.
"""

from __future__ import annotations

from collections.abc import Collection

from kg.acronyms import SMALL_WORDS
from kg.alignment import align
from kg.opposites import opposed
from kg.profiles import Profile
from kg.stems import american
from kg.typewords import DEGREES, LEADING, LEGAL_FORMS, PLAIN_TYPES, TITLES, TYPE_WORDS

_NEGATIONS = frozenset("non not no without".split())
_SAYS_NOTHING = PLAIN_TYPES | LEADING | TITLES | DEGREES | SMALL_WORDS | (LEGAL_FORMS - {"group"})


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
    left, right = frozenset(a.words), frozenset(b.words)
    if a.latin == b.latin or (a.inside and a.inside == b.latin) or (b.inside and b.inside == a.latin):
        own: frozenset[str] = frozenset()
    elif a.acronym in b.initials or b.acronym in a.initials:
        own = frozenset()
    else:
        alignment = align(a.core, b.core)
        own = frozenset((*alignment.left, *alignment.right)) - a.dropped - b.dropped
        if "initial" in alignment.kinds and not (a.capital and b.capital):
            return True  # J. Smith is John Smith; M weights may be anything
        if "stem" in alignment.kinds and len(a.core) == len(b.core) == 1 and american(*a.core) != american(*b.core):
            return True  # of one word the ending says what it is: optimal, optimisation
    own |= {word for word in a.dropped ^ b.dropped if word in TYPE_WORDS and word not in left & right}
    if own and len(a.core) == len(b.core) == 1 and not (a.capital or b.capital or a.acronym or b.acronym):
        return True  # a graph approach is no graph: one plain word needs its type
    return bool(own - _SAYS_NOTHING) or any(opposed(x, y) for x in left - right for y in right - left)
