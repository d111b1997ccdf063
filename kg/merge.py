"""Which names are one: the lateral merge that makes one node of the same concept in many papers (BizSage 3.1).

Pairs of names (``kg.candidates``) are judged one by one: by rules on their forms alone, by the cosine of their
embeddings, or by a trained scorer of what they share and what surrounds them (``kg.pair_scorer``). Names that may be
one are joined by complete linkage; where the evidence is uncertain, a weighted *same as* edge stands instead of a join.
The result is a function of the set of names and of where they stand: neither the order of papers nor which came last
matters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from scipy import sparse
from torch import Tensor

from kg.candidates import CandidateConfig, candidate_pairs
from kg.distinctions import most
from kg.evidence import EVIDENCE, evidence_of, refused, rule_score
from kg.homonyms import HomonymConfig
from kg.linkage import complete_linkage
from kg.names import name_form
from kg.near import NearConfig, distinct_pairs, pairs_without
from kg.overrules import OVERRULED, Overrules
from kg.pair_features import Surroundings, pair_features
from kg.pair_scorer import load_scorer
from kg.profile_table import ProfileTable
from kg.profiles import Expansions, Profile, profile
from kg.stems import signature

__all__ = ["EVIDENCE", "MENTIONS", "MergeConfig", "Merged", "Names", "merge_names", "pair_cosines"]

Rungs = Literal["rules", "embeddings", "scorer"]
_SAME_NAME = EVIDENCE.index("same name")
_CLOSED = 12
"""Names likely one with a name, at most, that are compared with each other for its sake."""
_BLOCK = 1 << 17
"""Pairs that are judged at once; of each block only those that may be one are kept."""


@dataclass(frozen=True)
class MergeConfig:
    """How far merging goes (each of ``rungs`` includes those before it) and from where on.

    Two groups join for a pair of probability ``join`` or more if no pair across them is below ``tolerated``; pairs from
    ``same_as`` on that are not joined become edges. ``linked``: most that a pair is given which something tells apart
    (``kg.distinctions``). ``by_rules``: whether the scorer leaves accepted what the rules accept. ``scorer``: a file of
    weights, "" for those that come with the installation. ``overrules``: pairs of names that are, or are not, one
    whatever the evidence. ``homonyms``: which names of a graph are parted by what surrounds them, before any are
    joined.
    """

    rungs: Rungs = "scorer"
    join: float = 0.8
    tolerated: float = 0.2
    same_as: float = 0.1
    linked: float = 0.75
    embedding_cosine: float = 0.95
    scorer: str = ""
    by_rules: bool = True
    candidates: CandidateConfig = CandidateConfig()
    overrules: Overrules = Overrules()
    homonyms: HomonymConfig = HomonymConfig()


MENTIONS = MergeConfig(
    join=0.2,
    by_rules=False,
    candidates=CandidateConfig(
        block=512, near=NearConfig(floor=0.3, neighbours=16), around=NearConfig(floor=0.3, neighbours=6)
    ),
)
"""For a list of mentions, each a unit of its own, where a missed join costs as much as a false one; ``join`` is chosen
on the boards of ``training/names``, each left out once."""


@dataclass(frozen=True)
class Names:
    """What merging sees: columns of n names, or of n mentions where the same name may stand for several things.

    - ``types``: "" where unknown; names of two known types are never one
    - ``surfaces``: how each is written
    - ``vectors`` float32 [n, d]: unit rows; ``contexts`` float32 [n, d]: unit rows of what surrounds them, zeros where
      nothing does
    - ``sections`` CSR [n, sections]: where each stands
    - ``expansions``: what acronyms stand for in these papers; ``explained``: keys of all that they define
    - ``spellings`` int64 [n]: names with one number are senses of one spelling, linked at most (``kg.homonyms``)
    """

    types: Sequence[str]
    surfaces: Sequence[str]
    vectors: Tensor
    contexts: Tensor | None = None
    sections: sparse.csr_matrix | None = None
    expansions: Expansions = field(default_factory=dict)
    explained: frozenset[str] = frozenset()
    spellings: np.ndarray | None = None

    @cached_property
    def placed(self) -> np.ndarray:
        """bool [n]: something surrounds the name."""
        n = len(self.surfaces)
        return np.zeros(n, dtype=bool) if self.contexts is None else (self.contexts != 0).any(dim=1).numpy()

    @cached_property
    def present(self) -> sparse.csr_matrix | None:
        """``sections`` with 1 wherever a name stands."""
        return None if self.sections is None else presence(self.sections)

    @cached_property
    def acronyms(self) -> frozenset[str]:
        """Keys of all acronyms that these papers explain."""
        return self.explained | self.expansions.keys()

    def profiles(self) -> list[Profile]:
        """What each name says by its form."""
        return [
            profile(kind, surface, self.expansions) for kind, surface in zip(self.types, self.surfaces, strict=True)
        ]


@dataclass(frozen=True)
class Merged:
    """``group`` int64 [n]: names with one number are one, numbered by their least member. Of the pairs with evidence
    that they are one, sorted: ``pairs`` int64 [m, 2], ``probability`` float64 [m], ``evidence`` int8 [m] (of
    ``EVIDENCE``)."""

    group: np.ndarray
    pairs: np.ndarray
    probability: np.ndarray
    evidence: np.ndarray


def merge_names(names: Names, config: MergeConfig = MergeConfig()) -> Merged:
    """Join names, and say of each pair that is joined or nearly so why."""
    profiles = names.profiles()
    forms = [name_form(surface) for surface in names.surfaces]
    pairs = candidate_pairs(profiles, forms, names.vectors, names.contexts, config.candidates)
    table = ProfileTable.of(profiles)
    pairs, probability, evidence = judge_pairs(names, table, pairs, config)
    further = _closing_pairs(len(profiles), pairs[probability >= config.join])
    judged = judge_pairs(names, table, pairs_without(further, pairs, len(profiles)), config)
    pairs, probability, evidence = (
        np.concatenate(both) for both in zip((pairs, probability, evidence), judged, strict=True)
    )
    pairs, probability, evidence = config.overrules.applied(names, profiles, pairs, probability, evidence)
    kept = probability >= min(config.same_as, config.tolerated)
    pairs, probability, evidence = pairs[kept], probability[kept], evidence[kept]
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    pairs, probability, evidence = pairs[order], probability[order], evidence[order]
    said = evidence == OVERRULED
    accepted = (probability >= config.tolerated) & ~(said & (probability == 0))
    alike = _too_many(profiles, config.candidates.block)
    if names.spellings is not None:
        senses = np.diff(names.spellings[pairs], axis=1).ravel() == 0
        accepted &= ~senses
        probability[senses] = np.minimum(probability[senses], config.linked)
        alike[np.bincount(names.spellings)[names.spellings] > 1] = -1
    alike[config.overrules.set_apart(names)] = -1
    group = complete_linkage(
        len(profiles), pairs[accepted], probability[accepted], config.join, pairs[said & (probability == 1)], alike
    )
    parted = config.overrules.parted(names, group, pairs)
    return Merged(group, pairs[~parted], probability[~parted], evidence[~parted])


def judge_pairs(
    names: Names, table: ProfileTable, pairs: np.ndarray, config: MergeConfig
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(pairs int64 [k, 2], probability float64 [k], evidence int8 [k]): of ``pairs`` [m, 2] those that may be one."""
    parts = [_judged(names, table, pairs[start : start + _BLOCK], config) for start in range(0, len(pairs), _BLOCK)]
    none = (np.zeros((0, 2), np.int64), np.zeros(0), np.zeros(0, np.int8))
    kept, probability, evidence = map(np.concatenate, zip(none, *parts, strict=True))
    return kept, probability, evidence


def _judged(
    names: Names, table: ProfileTable, pairs: np.ndarray, config: MergeConfig
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    features = pair_values(names, table, pairs)
    evidence = evidence_of(features)
    if config.rungs == "scorer":
        probability = np.where(refused(features), 0.0, load_scorer(config.scorer).probabilities(features))
        if config.by_rules:  # but for one name in two places: whether it is one thing, the places say
            told = np.where(evidence == _SAME_NAME, 0.0, rule_score(features, evidence, np.inf))
            probability = np.maximum(probability, told)
    else:
        floor = config.embedding_cosine if config.rungs == "embeddings" else np.inf
        probability = rule_score(features, evidence, floor)
    for row in np.flatnonzero(probability > min(config.join, config.linked)).tolist():
        a, b = (table.profiles[i] for i in pairs[row])
        probability[row] = min(probability[row], most(a, b, config.linked, names.acronyms))
    kept = probability >= min(config.same_as, config.tolerated)
    return pairs[kept], probability[kept], evidence[kept]


def pair_values(names: Names, table: ProfileTable, pairs: np.ndarray) -> np.ndarray:
    """``kg.pair_features`` of pairs int64 [m, 2], float32 [m, features]."""
    context = np.full(len(pairs), np.nan)
    if names.contexts is not None:
        known = names.placed[pairs].all(axis=1)
        context[known] = pair_cosines(names.contexts, pairs[known])
    together, uses = _together(names.present, pairs)
    return pair_features(table, pairs, Surroundings(pair_cosines(names.vectors, pairs), context, together, uses))


def pair_cosines(vectors: Tensor, pairs: np.ndarray, block: int = 2048) -> np.ndarray:
    """Cosines float64 [m], rounded to 1e-6: summed pair by pair, they do not depend on what else is compared.

    A block in double precision fits the processor's cache.
    """
    rows = vectors.numpy()
    parts = [
        np.einsum("ij,ij->i", rows[part[:, 0]].astype(np.float64), rows[part[:, 1]].astype(np.float64))
        for part in (pairs[start : start + block] for start in range(0, len(pairs), block))
    ]
    return np.round(np.concatenate(parts), 6) if parts else np.zeros(0)


def presence(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    """1 wherever ``counts`` stores a number."""
    present = counts.copy()
    present.data = np.ones_like(present.data)
    return present


def _together(
    present: sparse.csr_matrix | None, pairs: np.ndarray, block: int = 65536
) -> tuple[np.ndarray, np.ndarray]:
    """Share of the sections of the rarer name that hold both, float64 [m], and how many hold each, int64 [m, 2]."""
    if present is None or not len(pairs):
        return np.zeros(len(pairs)), np.ones((len(pairs), 2), dtype=np.int64)
    counts = np.maximum(np.diff(present.indptr), 1)[pairs].astype(np.int64)
    both = [
        np.asarray(present[part[:, 0]].multiply(present[part[:, 1]]).sum(axis=1)).ravel()
        for part in (pairs[start : start + block] for start in range(0, len(pairs), block))
    ]
    return np.concatenate(both) / counts.min(axis=1), counts


def _too_many(profiles: Sequence[Profile], most_compared: int) -> np.ndarray:
    """int64 [n]: a number for each set of names that differ by inflection and order alone, where there are so many that
    not all are compared; -1 for other names."""
    names: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, own in enumerate(profiles):
        names[own.kind, signature(" ".join(own.words))].append(number)
    found = np.full(len(profiles), -1, dtype=np.int64)
    for number, own_names in enumerate(names.values()):
        if len(own_names) > most_compared:
            found[own_names] = number
    return found


def _closing_pairs(n: int, likely: np.ndarray) -> np.ndarray:
    """Pairs of names that are both likely one with a third: complete linkage asks for them."""
    near: dict[int, list[int]] = {}
    for i, j in likely.tolist():
        near.setdefault(i, []).append(j)
        near.setdefault(j, []).append(i)
    found = [(a, b) for own in near.values() if len(own) <= _CLOSED for k, a in enumerate(own) for b in own[k + 1 :]]
    return distinct_pairs([np.asarray(found, dtype=np.int64).reshape(-1, 2)], n)
