"""Profiles of names as columns, so that what they say alike is compared for all pairs at once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from kg.profiles import Profile

_TYPES = {
    "person": ("per", "person", "people", "author"),
    "organization": ("org", "company", "institution"),
    "place": ("loc", "gpe", "place", "city", "country"),
}
"""How names of the types that the scorer knows begin."""
TYPES = tuple(_TYPES)


@dataclass(frozen=True)
class ProfileTable:
    """Columns of n ``profiles``.

    - ``order`` int64 [n]: their place by length, core, words and letters, equal where all four are
    - ``key``, ``core``, ``letters``, ``latin``, ``first``, ``last`` int64 [n]: equal numbers for equal words joined,
      cores, cores joined, Latin letters, first and last words of the core
    - ``length`` int64 [n]: words of the core; ``size``: characters of its Latin letters
    - ``acronym``, ``inside``, ``capital``, ``foreign``, ``known`` bool [n]: whether there is an acronym, something in
      parentheses, ...; ``types`` bool [n, TYPES]
    """

    profiles: Sequence[Profile]
    order: np.ndarray
    key: np.ndarray
    core: np.ndarray
    letters: np.ndarray
    latin: np.ndarray
    first: np.ndarray
    last: np.ndarray
    length: np.ndarray
    size: np.ndarray
    acronym: np.ndarray
    inside: np.ndarray
    capital: np.ndarray
    foreign: np.ndarray
    known: np.ndarray
    types: np.ndarray

    @classmethod
    def of(cls, profiles: Sequence[Profile]) -> ProfileTable:
        """The columns of some profiles."""
        word: dict[str, int] = {}  # first and last words are compared with each other

        def flags(values: Iterable[object]) -> np.ndarray:
            return np.fromiter(map(bool, values), dtype=bool, count=len(profiles))

        def integers(values: Iterable[int]) -> np.ndarray:
            return np.fromiter(values, dtype=np.int64, count=len(profiles))

        kinds = [own.kind.casefold() for own in profiles]
        return cls(
            profiles=profiles,
            order=_places([(len(own.core), own.core, own.words, own.rest, own.latin) for own in profiles]),
            key=_numbered("".join((*own.words, *own.rest)) for own in profiles),
            core=_numbered((own.core, own.rest) for own in profiles),
            letters=_numbered("".join((*own.core, *own.rest)) for own in profiles),
            latin=_numbered(own.latin for own in profiles),
            first=integers(word.setdefault("".join(own.core[:1]), len(word)) for own in profiles),
            last=integers(word.setdefault("".join(own.core[-1:]), len(word)) for own in profiles),
            length=integers(len(own.core) for own in profiles),
            size=integers(len(own.latin) for own in profiles),
            acronym=flags(own.acronym for own in profiles),
            inside=flags(own.inside for own in profiles),
            capital=flags(own.capital for own in profiles),
            foreign=flags(own.foreign for own in profiles),
            known=flags(kinds),
            types=np.stack([flags(kind.startswith(names) for kind in kinds) for names in _TYPES.values()], axis=1),
        )

    def __len__(self) -> int:
        return len(self.profiles)


def _numbered(values: Iterable[Hashable]) -> np.ndarray:
    number: dict[Hashable, int] = {}
    return np.asarray([number.setdefault(value, len(number)) for value in values], dtype=np.int64)


def _places(keys: Sequence[tuple[object, ...]]) -> np.ndarray:
    places = {key: place for place, key in enumerate(sorted(set(keys)))}
    return np.asarray([places[key] for key in keys], dtype=np.int64)
