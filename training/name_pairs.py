"""Pairs of names to fit the scorer on: what they share, how far the two are one, and which entities they are of."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

import numpy as np

from kg.candidates import CandidateConfig, candidate_pairs
from kg.merge import MENTIONS, Names, pair_values
from kg.names import name_form
from kg.pair_features import FEATURES
from kg.profile_table import ProfileTable
from training.boosting import Pairs, fit

Shares = Sequence[Mapping[str, float]]
"""For each name the entities that its linked uses speak of, with their shares of them; empty where none is linked."""

UNLABELLED = 0.1
"""Weight of a pair of which only one name is linked, taken for two things: most such pairs are, but not all."""

_CONTEXT = [FEATURES.index("context"), FEATURES.index("context_known")]


def mention_pairs(names: Names, clusters: Sequence[str], candidates: CandidateConfig = MENTIONS.candidates) -> Pairs:
    """Candidate pairs of mentions, each of one thing, ``clusters`` [n]; all weigh 1."""
    pairs, features = _featured(names, candidates)
    same = np.asarray([clusters[i] == clusters[j] for i, j in pairs.tolist()], dtype=np.float64)
    return Pairs(features, same, np.ones(len(pairs)), _entities(pairs, [(cluster,) for cluster in clusters]))


def without_context(pairs: Pairs) -> Pairs:
    """The same pairs as if nothing surrounded the names."""
    features = pairs.features.copy()
    features[:, _CONTEXT] = 0.0
    return Pairs(features, pairs.same, pairs.weight, pairs.entities)


def entity_pairs(
    names: Names, shares: Shares, weight: float, candidates: CandidateConfig = MENTIONS.candidates
) -> Pairs:
    """Candidate pairs of the names of a corpus, at least one of the two linked; where both are, a pair has ``weight``.

    A name may stand for several entities. Two are one as far as a use of one and a use of the other, drawn at random,
    speak of the same: the sum over entities of the product of their shares.
    """
    pairs, features = _featured(names, candidates)
    linked = np.asarray([bool(own) for own in shares], dtype=bool)[pairs]
    same = np.asarray(
        [sum(share * shares[j].get(entity, 0.0) for entity, share in shares[i].items()) for i, j in pairs.tolist()],
        dtype=np.float64,
    )
    weights = weight * np.where(linked.all(axis=1), 1.0, UNLABELLED)
    main_first = [tuple(sorted(own, key=lambda entity: (-own[entity], entity))) for own in shares]
    return Pairs(features, same, weights, _entities(pairs, main_first)).where(linked.any(axis=1))


def entity_key(entity: str) -> str:
    """The name of an entity as SciREX files it: [a-z0-9] of it in lower case, or itself where nothing is left."""
    return "".join(ch for ch in entity.lower() if ch.isascii() and ch.isalnum()) or entity


def fold_of(entity: str, folds: int) -> int:
    """From 0 to ``folds`` - 1, by the CRC-32 of the entity's key, so that it is the same in every collection."""
    return zlib.crc32(entity_key(entity).encode()) % folds


def takes_part(pairs: Pairs, fold: int, folds: int) -> np.ndarray:
    """bool [m]: some entity of the pair is of the fold."""
    number = {entity: fold_of(entity, folds) for own in pairs.entities for entity in own}
    return np.asarray([any(number[entity] == fold for entity in own) for own in pairs.entities], dtype=bool)


def held_out_log_odds(pairs: Pairs, folds: int) -> np.ndarray:
    """float64 [m]: of each pair by trees that have seen no pair of its first entity, nor of any in that one's fold."""
    first = np.asarray([fold_of(own[0], folds) for own in pairs.entities], dtype=np.int64)
    log_odds = np.zeros(len(pairs))
    for fold in np.unique(first).tolist():
        model = fit(pairs.where(~takes_part(pairs, fold, folds)))
        log_odds[first == fold] = model.decision_function(pairs.features[first == fold])
    return log_odds


def _featured(names: Names, candidates: CandidateConfig) -> tuple[np.ndarray, np.ndarray]:
    profiles = names.profiles()
    forms = [name_form(surface) for surface in names.surfaces]
    pairs = candidate_pairs(profiles, forms, names.vectors, names.contexts, candidates)
    return pairs, pair_values(names, ProfileTable.of(profiles), pairs)


def _entities(pairs: np.ndarray, own: Sequence[tuple[str, ...]]) -> np.ndarray:
    """Of both ends of each pair, object [m]; those of the first end first."""
    found = np.empty(len(pairs), dtype=object)
    for row, (i, j) in enumerate(pairs.tolist()):
        found[row] = tuple(dict.fromkeys(own[i] + own[j]))
    return found
