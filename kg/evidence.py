"""Why two names may be one, in a word, and what the rules alone make of it."""

from __future__ import annotations

import numpy as np

from kg.pair_features import FEATURES

EVIDENCE = (
    "embedding", "one name within the other", "spelling", "initials", "letters of an acronym", "letters in order",
    "abbreviated words", "known acronym", "transliteration", "word order or inflection", "type words", "parentheses",
    "same name", "overruled",
)  # fmt: skip
"""Kinds, strongest last; a pair is put under the strongest that it shows."""

_AT = {name: number for number, name in enumerate(FEATURES)}
SCORES = {
    "spelling": 0.8, "abbreviated words": 0.8, "known acronym": 0.95, "transliteration": 0.9, "type words": 0.9,
    "word order or inflection": 0.9, "parentheses": 0.95, "same name": 1.0,
}  # fmt: skip
"""What the rules give a pair, where nothing tells the two apart; kinds that are not here prove nothing by
themselves."""
LEAST_COSINE = {
    "word order or inflection": 0.85,
    "spelling": 0.85,
    "type words": 0.5,
    "abbreviated words": 0.7,
    "transliteration": 0.0,
}
"""Cosine that the rules ask for besides."""


RARE_USES = 3
"""Sections that a misspelled name may stand in."""


def refused(features: np.ndarray) -> np.ndarray:
    """bool [m]: what is left of the two tells them apart: two numbers or versions, two letters, opposites."""
    return (column(features, "number_both") + column(features, "letter_both") + column(features, "opposed")) > 0


def column(features: np.ndarray, name: str) -> np.ndarray:
    """One feature of all pairs, [m]."""
    values: np.ndarray = features[:, _AT[name]]
    return values


def evidence_of(features: np.ndarray) -> np.ndarray:
    """int8 [m]: the strongest kind of ``EVIDENCE`` that each pair shows."""
    has = {name: column(features, name) > 0 for name in FEATURES}
    explained = has["acronym"] | has["acronym_loose"]  # as a whole: no word of it stands for a word of the other
    nothing_left = (column(features, "left_over") == 0) & (column(features, "shared") > 0) & ~explained
    within = column(features, "shared") > column(features, "acronym_run")
    kinds = {
        "one name within the other": (column(features, "left_over_both") == 0) & (column(features, "shared") > 0),
        "spelling": nothing_left & has["spelling"] | (column(features, "edit") >= 0.85),
        "initials": nothing_left & has["initial"],
        "letters of an acronym": has["acronym"] | nothing_left & has["acronym_run"],
        "letters in order": has["acronym_loose"],
        "abbreviated words": nothing_left & (has["abbreviation"] | has["nickname"]) & ~has["initial"],
        # Letters prove nothing alone (CRF), but beside words that both have (statistical MT), or spelled out by papers.
        "known acronym": has["same_core"] & explained | nothing_left & has["acronym_run"] & within,
        "transliteration": has["same_latin"] & has["foreign_one"],
        "word order or inflection": has["same_words"] | has["same_latin"] & ~has["foreign_one"] & ~explained,
        "type words": has["same_core"] & ~explained & ~has["dropped_both"],
        "parentheses": has["inside"],
        "same name": has["same_key"],
    }
    evidence = np.zeros(len(features), dtype=np.int8)
    for kind, shown in kinds.items():
        evidence[shown] = EVIDENCE.index(kind)
    return evidence


def rule_score(features: np.ndarray, evidence: np.ndarray, embedding_cosine: float) -> np.ndarray:
    """float64 [m]: what rules alone say; from ``embedding_cosine`` on, any pair that nothing tells apart is
    accepted."""
    cosine = column(features, "cosine")  # in its own precision: a cosine of 0.95 must reach a floor of 0.95
    score = np.zeros(len(features))
    for kind, value in SCORES.items():
        shown = (evidence == EVIDENCE.index(kind)) & (cosine >= LEAST_COSINE.get(kind, 0.0))
        score[shown] = value
    # Who misspells a name does so once or twice; two that stand in many sections are two: dysphagia, dysphasia.
    rare = column(features, "uses_rarer") <= np.log(RARE_USES) + 1e-6
    score[(evidence == EVIDENCE.index("spelling")) & ~rare] = 0.0
    # A person's initials are enough where the surname is the same.
    person = (column(features, "person") > 0) & (column(features, "last_word") > 0)
    score[(evidence == EVIDENCE.index("initials")) & person] = 0.8
    unclear = (column(features, "number_one") + column(features, "letter_one") + column(features, "dropped_both")) > 0
    near = (cosine >= embedding_cosine) & (column(features, "left_over_both") > 0)
    score = np.where(near, np.maximum(score, 0.85), score)
    return np.where(refused(features) | unclear, 0.0, score)
