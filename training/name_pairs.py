"""Pairs of names to fit the scorer on: features, how far the two are one, and what folds are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kg.candidates import CandidateConfig, candidate_pairs
from kg.evidence import refused
from kg.merge import MENTIONS, Names, pair_values
from kg.names import name_form
from kg.pair_features import FEATURES
from training.boosting import Pairs

UNLABELLED = 0.1
"""Weight of a pair of which only one name is known to be of some entity: most such pairs are two things, not all."""
_CONTEXT = [FEATURES.index("context"), FEATURES.index("context_known")]


def mention_pairs(names: Names, clusters: Sequence[str], candidates: CandidateConfig = MENTIONS.candidates) -> Pairs:
    """Candidate pairs of mentions [n] with their clusters; each once as it is and once without its context, so that the
    scorer also knows what names alone say."""
    pairs, features = _featured(names, candidates)
    left, right = (np.asarray(clusters, dtype=object)[pairs[:, side]] for side in (0, 1))
    bare = features.copy()
    bare[:, _CONTEXT] = 0.0
    same = (left == right).astype(np.float64)
    ends = np.stack([left, right], axis=1)
    return Pairs(
        np.concatenate([features, bare]),
        np.concatenate([same, same]),
        np.ones(2 * len(same)),
        np.concatenate([ends, ends]),
    )


def entity_pairs(
    names: Names, shares: Sequence[Mapping[str, float]], weight: float, candidates: CandidateConfig
) -> Pairs:
    """Candidate pairs of a corpus's names, each with its ``shares`` of entities (of its uses, empty where unknown).

    Two names are one as far as their uses speak of the same entity: sum over entities of the product of the shares.
    Pairs of which neither name is known are left out.
    """
    pairs, features = _featured(names, candidates)
    known = np.asarray([bool(own) for own in shares])[pairs]
    same = np.asarray(
        [sum(share * shares[j].get(entity, 0.0) for entity, share in shares[i].items()) for i, j in pairs.tolist()]
    )
    main = np.asarray(
        [max(own, key=lambda entity: (own[entity], entity)) if own else f"~{i}" for i, own in enumerate(shares)],
        dtype=object,
    )
    weights = weight * np.where(known.all(axis=1), 1.0, UNLABELLED)
    return Pairs(features, same, weights, main[pairs]).where(known.any(axis=1))


def candidates_of(names: Names) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Candidate pairs of mentions int64 [m, 2], their features float32 [m, f], and which the merge refuses, bool
    [m]."""
    pairs, features = _featured(names, MENTIONS.candidates)
    return pairs, features, refused(features)


def _featured(names: Names, candidates: CandidateConfig) -> tuple[np.ndarray, np.ndarray]:
    profiles = names.profiles()
    forms = [name_form(surface) for surface in names.surfaces]
    pairs = candidate_pairs(profiles, forms, names.vectors, names.contexts, candidates)
    return pairs, pair_values(names, profiles, pairs)
