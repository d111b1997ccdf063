"""Which names to compare: a deterministic function of the set of names, near-linear in its size (DESIGN 3).

Each rung puts a name under a few short keys and pairs those that share one, or pairs it with its neighbours in an
order:

- equal stems of the core, whatever their order; equal letters in Latin script
- an acronym and the names whose initials it is, or whose words it spells
- a name that stands within a longer one ("BLEU" in "BLEU score")
- names that share a rare word
- neighbours in the order of their letters, read from either end: spelling errors (sorted neighbourhood: Hernandez and
  Stolfo, SIGMOD 1995)
- near neighbours by embedding (``kg.near``) of the name, or of what surrounds it

A key that too many names share says nothing and pairs none of them but neighbours. Nothing here is trained.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
import torch
from rapidfuzz.distance import Levenshtein
from torch import Tensor

from kg.near import NearConfig, distinct_pairs, near_pairs
from kg.profiles import Profile
from kg.stems import readable, signature, stem
from kg.typewords import TYPE_WORDS
from kg.wordlists import ALONE, EDGE

_WINDOW = 3
_SIMILAR = 0.75
"""Least similarity of the letters of neighbours in their order."""
_LONGEST_WITHIN = 8
"""Words of a core within which shorter names are looked for."""


@dataclass(frozen=True)
class CandidateConfig:
    """Most names that share a key and are all compared: of a ``block``, of an acronym's spelling (``spelled``), of a
    ``rare`` word, of names that hold a shorter one (``within``); the ``near`` neighbours by
    embedding, and, where mentions are few and say little, those by what is ``around`` them."""

    block: int = 48
    spelled: int = 48
    rare: int = 24
    within: int = 256
    near: NearConfig = NearConfig()
    around: NearConfig | None = None


def candidate_pairs(
    profiles: Sequence[Profile],
    forms: Sequence[str],
    vectors: Tensor,
    contexts: Tensor | None = None,
    config: CandidateConfig = CandidateConfig(),
) -> np.ndarray:
    """Pairs int64 [m, 2] of name numbers (i < j), sorted; ``vectors`` and ``contexts`` are unit rows, float32 [n, d].

    Names of two known types are never paired.
    """
    n = len(profiles)
    found = [
        _as_array(_blocks(profiles, lambda p: (signature(" ".join(p.core)),), config.block)),
        _as_array(_blocks(profiles, lambda p: (p.latin, p.inside) if p.inside else (p.latin,), config.block)),
        _as_array(_acronyms(profiles, config)),
        _as_array(_within(profiles, config.within)),
        _as_array(_blocks(profiles, _rare_keys, config.rare, neighbours=False)),
        _as_array(_in_order(profiles)),
    ]
    meaningful = np.flatnonzero([readable(form) for form in forms])
    found.append(meaningful[near_pairs(vectors[torch.from_numpy(meaningful)], config.near)])
    if contexts is not None and config.around is not None:
        placed = torch.nonzero(contexts.abs().sum(dim=1) > 0).flatten()
        found.append(placed.numpy()[near_pairs(contexts[placed], config.around)])
    pairs = distinct_pairs(found, n)
    number = {kind: i for i, kind in enumerate(sorted({p.kind.casefold() for p in profiles}))}
    kinds = np.asarray([number[p.kind.casefold()] for p in profiles], dtype=np.int64)
    left, right = kinds[pairs[:, 0]], kinds[pairs[:, 1]]
    unknown = number.get("", -1)
    return pairs[(left == right) | (left == unknown) | (right == unknown)]


def _as_array(pairs: Iterable[tuple[int, int]]) -> np.ndarray:
    return np.fromiter((number for pair in pairs for number in pair), dtype=np.int64).reshape(-1, 2)


def _blocks(
    profiles: Sequence[Profile], keys: Callable[[Profile], Iterable[str]], largest: int, neighbours: bool = True
) -> Iterator[tuple[int, int]]:
    """Pairs that share a key; of a larger block only neighbours in its order, if any."""
    blocks: dict[str, list[int]] = defaultdict(list)
    for number, own in enumerate(profiles):
        for key in keys(own):
            blocks[key].append(number)
    for block in blocks.values():
        if len(block) <= largest:
            yield from combinations(block, 2)
        elif neighbours:
            yield from pairwise(block)
            yield from ((block[0], other) for other in block[1:])


def _rare_keys(own: Profile) -> Iterable[str]:
    return {stem(word) for word in own.core if len(word) > 1} if len(own.core) <= _LONGEST_WITHIN else ()


def _acronyms(profiles: Sequence[Profile], config: CandidateConfig) -> Iterator[tuple[int, int]]:
    """An acronym with names of its initials, and with names whose initials it holds in order, the first one first."""
    short: dict[str, list[int]] = defaultdict(list)
    spelled: dict[str, list[int]] = defaultdict(list)
    for number, own in enumerate(profiles):
        if own.acronym:
            short[own.acronym].append(number)
        elif len(own.words) == 1 and len(own.words[0]) <= 6:
            short[own.words[0]].append(number)
    for number, own in enumerate(profiles):
        if own.acronym or len(own.words) < 2:
            continue
        for initials in own.initials:
            if initials in short and len(short[initials]) <= config.block:
                yield from ((number, other) for other in short[initials])
            if len(initials) <= 5:
                spelled[initials].append(number)
    for letters, owners in short.items():
        if not 3 <= len(letters) <= 7 or len(owners) > config.block:
            continue
        for length in range(1, len(letters) - 1):
            for places in combinations(range(1, len(letters)), length):
                names = spelled.get(letters[0] + "".join(letters[place] for place in places), ())
                if len(names) <= config.spelled:
                    yield from ((owner, name) for owner in owners for name in names)


def _within(profiles: Sequence[Profile], largest: int) -> Iterator[tuple[int, int]]:
    """Names whose core is a run of words of another's; words too common to name anything alone are left out."""
    whole: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, own in enumerate(profiles):
        if len(own.core) > 1 or (own.core and own.core[0] not in _WEAK):
            whole[own.core].append(number)
    holders: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, own in enumerate(profiles):
        n = len(own.core)
        if 1 < n <= _LONGEST_WITHIN:
            for start in range(n):
                for end in range(start + 1, n + (start > 0)):
                    if (run := own.core[start:end]) in whole:
                        holders[run].append(number)
    for run, longer in holders.items():
        names = whole[run]
        if len(names) * len(longer) <= largest:
            yield from ((name, other) for name in names for other in longer)
        else:  # too many to compare with each; the least name stands for them, and the shortest hold it
            nearest = sorted(longer, key=lambda number: (len(profiles[number].core), number))[:largest]
            yield from ((names[0], other) for other in nearest)


_WEAK = TYPE_WORDS | ALONE | EDGE


def _in_order(profiles: Sequence[Profile]) -> Iterator[tuple[int, int]]:
    for letters in ([own.latin for own in profiles], [own.latin[::-1] for own in profiles]):
        order = sorted((number for number in range(len(letters)) if len(letters[number]) > 4), key=letters.__getitem__)
        for place, number in enumerate(order):
            for other in order[place + 1 : place + 1 + _WINDOW]:
                if Levenshtein.normalized_similarity(letters[number], letters[other], score_cutoff=_SIMILAR):
                    yield number, other
