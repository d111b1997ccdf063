"""Which names are one: the lateral merge that makes one node of the same concept in many papers (BizSage 3.1).

Pairs of names (``kg.candidates``) are judged one by one: by rules on their forms alone, by the cosine of their
embeddings, or by a trained scorer of what they share and what surrounds them (``kg.pair_scorer``). Names that may be
one are joined by complete linkage; where the evidence is uncertain, a weighted *same as* edge stands instead of a join.
The result is a function of the set of names and of where they stand: neither the order of papers nor which came last
matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy import sparse
from torch import Tensor

from kg.candidates import CandidateConfig, candidate_pairs
from kg.distinctions import most
from kg.evidence import EVIDENCE, evidence_of, refused, rule_score
from kg.linkage import complete_linkage
from kg.names import name_form
from kg.near import NearConfig, distinct_pairs, pairs_without
from kg.overrules import OVERRULED, Overrules
from kg.pair_features import FEATURES, Surroundings, pair_features
from kg.pair_scorer import load_scorer
from kg.profiles import Expansions, Profile, profile

__all__ = ["EVIDENCE", "MENTIONS", "MergeConfig", "Merged", "Names", "merge_names", "pair_cosines"]

Rungs = Literal["rules", "embeddings", "scorer"]
_SAME_NAME = EVIDENCE.index("same name")
_CLOSED = 12
"""Names likely one with a name, at most, that are compared with each other for its sake."""


@dataclass(frozen=True)
class MergeConfig:
    """How far merging goes (each of ``rungs`` includes those before it) and from where on.

    Two groups join for a pair of probability ``join`` or more if no pair across them is below ``tolerated``; pairs from
    ``same_as`` on that are not joined become edges. ``linked``: most that a pair is given which something tells
    apart (``kg.distinctions``). ``by_rules``: whether the scorer leaves accepted what the
    rules accept. ``scorer``: a file of weights, "" for those that come with the
    installation. ``overrules``: pairs of names that are, or are not, one whatever the evidence.
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


MENTIONS = MergeConfig(
    join=0.25,
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
    """

    types: Sequence[str]
    surfaces: Sequence[str]
    vectors: Tensor
    contexts: Tensor | None = None
    sections: sparse.csr_matrix | None = None
    expansions: Expansions = field(default_factory=dict)
    explained: frozenset[str] = frozenset()

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
    probability, evidence = judge_pairs(names, profiles, pairs, config)
    further = _closing_pairs(len(profiles), pairs[probability >= config.join])
    further = pairs_without(further, pairs, len(profiles))
    if len(further):
        more, why = judge_pairs(names, profiles, further, config)
        pairs, probability = np.concatenate([pairs, further]), np.concatenate([probability, more])
        evidence = np.concatenate([evidence, why])
    pairs, probability, evidence = config.overrules.applied(names, profiles, pairs, probability, evidence)
    kept = probability >= min(config.same_as, config.tolerated)
    pairs, probability, evidence = pairs[kept], probability[kept], evidence[kept]
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    pairs, probability, evidence = pairs[order], probability[order], evidence[order]
    said = evidence == OVERRULED
    accepted = (probability >= config.tolerated) & ~(said & (probability == 0))
    group = complete_linkage(
        len(profiles), pairs[accepted], probability[accepted], config.join, pairs[said & (probability == 1)]
    )
    parted = config.overrules.parted(names, group, pairs)
    return Merged(group, pairs[~parted], probability[~parted], evidence[~parted])


def judge_pairs(
    names: Names, profiles: Sequence[Profile], pairs: np.ndarray, config: MergeConfig
) -> tuple[np.ndarray, np.ndarray]:
    """(probability float64 [m], evidence int8 [m]) of pairs int64 [m, 2]."""
    features = pair_values(names, profiles, pairs)
    evidence = evidence_of(features)
    if config.rungs == "scorer":
        probability = np.where(refused(features), 0.0, load_scorer(config.scorer).probabilities(features))
        if config.by_rules:  # but for one name in two places: whether it is one thing, the places say
            told = np.where(evidence == _SAME_NAME, 0.0, rule_score(features, evidence, np.inf))
            probability = np.maximum(probability, told)
    else:
        floor = config.embedding_cosine if config.rungs == "embeddings" else np.inf
        probability = rule_score(features, evidence, floor)
    explained = names.explained | names.expansions.keys()
    for row in np.flatnonzero(probability > min(config.join, config.linked)).tolist():
        i, j = pairs[row]
        probability[row] = min(probability[row], most(profiles[i], profiles[j], config.linked, explained))
    return probability, evidence


def pair_values(names: Names, profiles: Sequence[Profile], pairs: np.ndarray) -> np.ndarray:
    """``kg.pair_features`` of pairs int64 [m, 2], float32 [m, features]."""
    cosines = pair_cosines(names.vectors, pairs)
    contexts = None if names.contexts is None else pair_cosines(names.contexts, pairs)
    known = None if names.contexts is None else names.contexts.abs().sum(dim=1).numpy() > 0
    together, uses = _together(names.sections, pairs)
    features = np.empty((len(pairs), len(FEATURES)), dtype=np.float32)
    for row, (i, j) in enumerate(pairs.tolist()):
        context = contexts[row] if contexts is not None and known is not None and known[i] and known[j] else None
        around = Surroundings(cosines[row], context, together[row], uses[row])
        features[row] = pair_features(profiles[i], profiles[j], around)
    return features


def pair_cosines(vectors: Tensor, pairs: np.ndarray, block: int = 65536) -> np.ndarray:
    """Cosines float64 [m], rounded to 1e-6: summed pair by pair, they do not depend on what else is compared."""
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
    sections: sparse.csr_matrix | None, pairs: np.ndarray, block: int = 65536
) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """Share of the sections of the rarer name that hold both, float64 [m], and how many hold each of the two, [m]."""
    if sections is None or not len(pairs):
        return np.zeros(len(pairs)), [(1, 1)] * len(pairs)
    present = presence(sections)
    counts = np.maximum(np.diff(present.indptr), 1)[pairs]
    both = [
        np.asarray(present[part[:, 0]].multiply(present[part[:, 1]]).sum(axis=1)).ravel()
        for part in (pairs[start : start + block] for start in range(0, len(pairs), block))
    ]
    return np.concatenate(both) / counts.min(axis=1), list(map(tuple, counts.tolist()))


def _closing_pairs(n: int, likely: np.ndarray) -> np.ndarray:
    """Pairs of names that are both likely one with a third: complete linkage asks for them."""
    near: dict[int, list[int]] = {}
    for i, j in likely.tolist():
        near.setdefault(i, []).append(j)
        near.setdefault(j, []).append(i)
    found = [(a, b) for own in near.values() if len(own) <= _CLOSED for k, a in enumerate(own) for b in own[k + 1 :]]
    return distinct_pairs([np.asarray(found, dtype=np.int64).reshape(-1, 2)], n)
