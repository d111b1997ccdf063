"""What people say about pairs of names, whatever the evidence: ``same`` or ``different``.

A name is its key (``kg.names.name_key``), of whatever type. What is said holds on: of names said to be the same each is
also the same as every other, and different from whatever any of them is different from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kg.errors import InputError
from kg.evidence import EVIDENCE
from kg.names import form_key, name_form, name_key
from kg.near import pairs_without

if TYPE_CHECKING:
    from kg.merge import Names
    from kg.profiles import Profile

VERDICTS = ("same", "different")
_SHOWN = 12
"""Names of a chain that are all told."""
OVERRULED = EVIDENCE.index("overruled")
Pair = tuple[str, str]


class Said(NamedTuple):
    """One verdict of ``VERDICTS`` on two names; ``place``: where it stands, for errors."""

    verdict: str
    name: str
    other: str
    place: str = ""


@dataclass(frozen=True)
class Overrules:
    """Pairs of names as normal forms (``kg.names.name_form``), each least first, sorted; made by ``of``."""

    same: tuple[Pair, ...] = ()
    different: tuple[Pair, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.same or self.different)

    @classmethod
    def of(cls, said: Iterable[Said]) -> Overrules:
        """What is said, in any order and any spelling of the names; twice counts once.

        Raises:
            InputError: one pair is said to be both, also by a chain of names said to be the same.
        """
        verdicts = list(said)
        least: dict[str, str] = {}  # of spellings with one key the same stands for all, whatever the order
        for name in chain.from_iterable((v.name, v.other) for v in verdicts):
            form = name_form(name)
            key = form_key(form)
            least[key] = min(least.get(key, form), form)
        pairs: dict[str, set[Pair]] = {verdict: set() for verdict in VERDICTS}
        for v in verdicts:
            left, right = sorted((least[name_key(v.name)], least[name_key(v.other)]))
            if left != right or v.verdict == "same":  # a name the same as itself is not parted (``kg.homonyms``)
                pairs[v.verdict].add((left, right))
            else:
                raise InputError(
                    f"{_at(v)}{v.name!r} and {v.other!r} are spellings of one name and cannot be kept apart; "
                    "take this line out."
                )
        overrules = cls(*(tuple(sorted(pairs[verdict])) for verdict in VERDICTS))
        overrules._check(verdicts)
        return overrules

    @classmethod
    def stored(cls, record: Mapping[str, Sequence[Sequence[str]]]) -> Overrules:
        """From its JSON record in the manifest of a graph."""
        same, different = (tuple((left, right) for left, right in record[verdict]) for verdict in VERDICTS)
        return cls(same, different)

    def _check(self, verdicts: Sequence[Said]) -> None:
        number = self._classes()
        spellings = sorted({name for v in verdicts for name in (v.name, v.other)}, reverse=True)
        written = {name_key(name): name for name in spellings}  # the least of each
        for v in sorted(verdicts):
            start, end = name_key(v.name), name_key(v.other)
            if v.verdict == "different" and number[start] == number[end]:
                names = [written[key] for key in self._chain(start, end)]
                names[0], names[-1] = v.name, v.other
                chain = " = ".join(map(repr, names))
                if len(names) > _SHOWN:
                    chain = f"{names[0]!r} = {names[1]!r} = ... = {names[-1]!r}, a chain of {len(names):,} names"
                raise InputError(
                    f"{_at(v)}{v.name!r} and {v.other!r} are said to be different, but also the same "
                    f"({chain}); take one of these out."
                )

    def classes(self) -> list[list[str]]:
        """Names said to be the same, also by a chain, in normal form and sorted; a class for each thing."""
        form = {form_key(name): name for pair in self.same for name in pair}
        number = self._classes()
        found: dict[int, list[str]] = {}
        for key, name in sorted(form.items(), key=lambda entry: entry[1]):
            found.setdefault(number[key], []).append(name)
        return sorted(found.values())

    def _chain(self, start: str, end: str) -> list[str]:
        """Keys from one to the other, each said to be the same as the next; the fewest."""
        neighbours = _neighbours(self.same)
        before = {start: start}
        queue = [start]
        for key in queue:
            for other in sorted(neighbours.get(key, ())):
                if other not in before:
                    before[other] = key
                    queue.append(other)
        keys = [end]
        while keys[-1] != start:
            keys.append(before[keys[-1]])
        return keys[::-1]

    def _classes(self) -> dict[str, int]:
        """Key -> number of its class: first those of names said to be the same, then names that are only told apart."""
        neighbours = _neighbours(self.same)
        number: dict[str, int] = {}
        classes = 0
        for key in sorted(neighbours):
            if key not in number:
                number[key] = classes
                queue = [key]
                for member in queue:
                    new = [other for other in neighbours[member] if other not in number]
                    number.update(dict.fromkeys(new, classes))
                    queue.extend(new)
                classes += 1
        for key in sorted(form_key(form) for pair in self.different for form in pair):
            if key not in number:
                number[key] = classes
                classes += 1
        return number

    def applied(
        self,
        names: Names,
        profiles: Sequence[Profile],
        pairs: np.ndarray,
        probability: np.ndarray,
        evidence: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pairs int64 [m, 2] (i < j), probabilities float64 [m] and evidence int8 [m] with these put in their place.

        A pair said to be the same has probability 1 and a different one 0, both with the evidence "overruled"; pairs
        with the least name of each class are added, so that the pairs of probability 1 tie it together. Names that are
        not there are passed over, but what is said through them holds.
        """
        if not self:
            return pairs, probability, evidence
        number = self._classes()
        of_name = _numbered(names, number)
        joined = {number[form_key(left)] for left, _ in self.same}
        added = pairs_without(_stars(of_name, len(joined)), pairs, len(of_name))
        pairs = np.concatenate([pairs, added])
        probability = np.concatenate([probability, np.zeros(len(added))])
        evidence = np.concatenate([evidence, np.zeros(len(added), dtype=evidence.dtype)])
        low, high = np.sort(of_name[pairs], axis=1).reshape(-1, 2).T
        same = (low == high) & (low >= 0) & (low < len(joined))
        told_apart = [first * len(number) + last for first, last in self._told_apart(number)]
        apart = (low >= 0) & np.isin(low * len(number) + high, told_apart)
        probability = np.where(same, 1.0, np.where(apart, 0.0, probability))
        return pairs, probability, np.where(same | apart, OVERRULED, evidence).astype(np.int8)

    def set_apart(self, names: Names) -> np.ndarray:
        """bool [n]: names of the later class of two that are different, which nothing but a pair of its own joins."""
        number = self._classes()
        later = [last for _, last in self._told_apart(number)]
        return np.isin(_numbered(names, number), later)

    def parted(self, names: Names, group: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        """bool [m]: pairs across two groups (``group`` int64 [n]) of which names are said to be different."""
        if not self.different:
            return np.zeros(len(pairs), dtype=bool)
        number = self._classes()
        told_apart = self._told_apart(number)
        of_name = _numbered(names, number)
        classes: dict[int, set[int]] = {}
        for name in np.flatnonzero(of_name >= 0).tolist():
            classes.setdefault(int(group[name]), set()).add(int(of_name[name]))
        ends = group[pairs]
        parted = np.isin(ends, list(classes)).all(axis=1) & (ends[:, 0] != ends[:, 1])
        for row in np.flatnonzero(parted).tolist():
            left, right = (classes[int(end)] for end in ends[row])
            parted[row] = any((min(a, b), max(a, b)) in told_apart for a in left for b in right)
        return parted

    def _told_apart(self, number: Mapping[str, int]) -> set[tuple[int, int]]:
        """Numbers of classes that are different, the lesser first."""
        ends = ((number[form_key(left)], number[form_key(right)]) for left, right in self.different)
        return {(min(pair), max(pair)) for pair in ends}


def _numbered(names: Names, number: Mapping[str, int]) -> np.ndarray:
    """The class of each name, -1 where nothing is said of it, int64 [n]."""
    return np.asarray([number.get(name_key(surface), -1) for surface in names.surfaces], dtype=np.int64)


def _at(said: Said) -> str:
    return f"{said.place}: " if said.place else ""


def _neighbours(pairs: Iterable[Pair]) -> dict[str, set[str]]:
    """Keys next to each key."""
    neighbours: dict[str, set[str]] = {}
    for left, right in (map(form_key, pair) for pair in pairs):
        neighbours.setdefault(left, set()).add(right)
        neighbours.setdefault(right, set()).add(left)
    return neighbours


def _stars(of_name: np.ndarray, n_classes: int) -> np.ndarray:
    """The least name of each of the first classes with each of the others, int64 [k, 2]."""
    members = np.flatnonzero((of_name >= 0) & (of_name < n_classes))
    _, first, place = np.unique(of_name[members], return_index=True, return_inverse=True)
    centre = members[first][place]
    return np.stack([centre, members], axis=1)[centre != members]
