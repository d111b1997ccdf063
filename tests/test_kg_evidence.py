"""Why two names may be one: the strongest kind that their features show, and what rules make of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg.evidence import EVIDENCE, LEAST_COSINE, SCORES, evidence_of, refused, rule_score
from kg.overrules import OVERRULED
from kg.pair_features import FEATURES, Surroundings, pair_features
from kg.profile_table import ProfileTable
from kg.profiles import Profile, profile


def features(**values: float) -> np.ndarray:
    """One row, zero where nothing is said: float32 [1, features]."""
    row = np.zeros((1, len(FEATURES)), dtype=np.float32)
    for name, value in values.items():
        row[0, FEATURES.index(name)] = value
    return row


def of_names(left: str, right: str, cosine: float = 1.0, kind: str = "") -> np.ndarray:
    return of_profiles(profile(kind, left), profile(kind, right), cosine)


def of_profiles(left: Profile, right: Profile, cosine: float) -> np.ndarray:
    alone = Surroundings(np.asarray([cosine]), np.asarray([np.nan]), np.zeros(1), np.ones((1, 2), np.int64))
    return pair_features(ProfileTable.of([left, right]), np.asarray([[0, 1]]), alone)


def kind_of(row: np.ndarray) -> str:
    return EVIDENCE[evidence_of(row)[0]]


def score_of(row: np.ndarray, embedding_cosine: float = np.inf) -> float:
    return float(rule_score(row, evidence_of(row), embedding_cosine)[0])


@pytest.mark.parametrize(
    ("left", "right", "kind"),
    [
        ("heart attack", "myocardial infarction", "embedding"),
        ("supply chain", "supply chain management", "one name within the other"),
        ("Hernandez theorem", "Hernandes theorem", "spelling"),
        ("J. Smith", "John Smith", "initials"),
        ("CAPM", "capital asset pricing model", "letters of an acronym"),
        ("PARAFAC", "parallel factors", "letters in order"),
        ("univ Vienna", "university Vienna", "abbreviated words"),
        ("Москва", "Moskva", "transliteration"),
        ("climate modelling", "modeling climate", "word order or inflection"),
        ("BLEU", "BLEU score", "type words"),
        ("MLP (multilayer perceptron)", "multilayer perceptron", "parentheses"),
        ("Supply-Chains", "supply chain", "same name"),
    ],
)
def test_each_kind_is_seen_in_names(left: str, right: str, kind: str) -> None:
    assert kind_of(of_names(left, right)) == kind_of(of_names(right, left)) == kind


def test_a_known_acronym_is_spelled_out_to_the_same_core() -> None:
    assert kind_of(features(same_core=1, acronym=4)) == "known acronym"


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("CRF", "conditional random field"), ("crf", "case report form"), ("ML", "maximum likelihood"),
        ("AI", "artificial insemination"), ("SVM", "support vector machine"), ("CAPM", "capital asset pricing model"),
    ],
)  # fmt: skip
def test_letters_alone_prove_nothing(short: str, long: str) -> None:
    for row in (of_names(short, long), of_names(long, short)):
        assert kind_of(row) == "letters of an acronym"
        assert score_of(row) == 0.0


def test_letters_beside_words_that_both_names_have_are_an_acronym() -> None:
    row = of_names("statistical MT", "statistical machine translation", 0.0)
    assert kind_of(row) == "known acronym"
    assert score_of(row) == SCORES["known acronym"]


def test_an_acronym_that_papers_explain_is_known() -> None:
    known = {"crf": ("conditional", "random", "field")}
    row = of_profiles(profile("", "CRF", known), profile("", "conditional random field", known), 0.0)
    assert kind_of(row) == "known acronym"
    assert score_of(row) == SCORES["known acronym"]


@pytest.mark.parametrize(
    ("left", "right"), [("the 21st century", "the twenty-first century"), ("A. Bohr", "Aage Bohr")]
)
def test_numbers_in_words_and_initials_are_not_told_apart(left: str, right: str) -> None:
    row = of_names(left, right, kind="person" if left.startswith("A.") else "")
    assert not refused(row)[0]
    assert score_of(row) > 0


def test_the_strongest_kind_counts() -> None:
    shown = {"shared": 2.0, "spelling": 1.0}
    assert kind_of(features(**shown)) == "spelling"
    assert kind_of(features(**shown, inside=1)) == "parentheses"
    assert kind_of(features(**shown, inside=1, same_key=1)) == "same name"
    assert kind_of(features()) == "embedding"


def test_kinds_are_named_once_and_the_overrule_is_the_strongest() -> None:
    assert len(set(EVIDENCE)) == len(EVIDENCE) == OVERRULED + 1
    assert EVIDENCE[OVERRULED] == "overruled"
    assert set(SCORES) | set(LEAST_COSINE) <= set(EVIDENCE)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("GPT-2", "GPT-3"), ("ResNet-50", "ResNet-101"), ("type I error", "type II error"), ("vitamin C", "vitamin D"),
        ("March 31, 1954", "October 31, 1954"), ("before the war", "after the war"), ("Monday effect", "Friday effect"),
        ("two-stage model", "three-stage model"), ("hypotension", "hypertension"),
    ],
)  # fmt: skip
def test_what_tells_two_names_apart_is_refused_however_near_they_are(left: str, right: str) -> None:
    for row in (of_names(left, right), of_names(right, left)):
        assert refused(row).tolist() == [True]
        assert score_of(row, embedding_cosine=0.5) == 0.0


@pytest.mark.parametrize("name", ["number_one", "letter_one", "dropped_both"])
def test_what_only_one_of_them_has_leaves_it_unclear(name: str) -> None:
    assert score_of(features(same_key=1)) == SCORES["same name"]
    assert score_of(features(same_key=1, **{name: 1})) == 0.0
    assert refused(features(same_key=1, **{name: 1})).tolist() == [False]


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("spelling", {"edit": 0.9}),
        ("word order or inflection", {"same_words": 1}),
        ("type words", {"same_core": 1}),
    ],
)
def test_the_least_cosine_is_asked_for(kind: str, shown: dict[str, float]) -> None:
    at = LEAST_COSINE[kind]
    assert kind_of(features(**shown, left_over_both=1)) == kind
    assert score_of(features(**shown, cosine=at)) == SCORES[kind]
    assert score_of(features(**shown, cosine=at - 1e-3)) == 0.0


@pytest.mark.parametrize("floor", [0.7, 0.85, 0.9, 0.95])
def test_embeddings_take_a_pair_from_the_floor_on(floor: float) -> None:
    # 0.7, 0.9 and 0.95 are not floats of 32 bits: a cosine of the floor itself must pass all the same.
    assert score_of(features(cosine=floor, left_over_both=1), floor) == 0.85
    assert score_of(features(cosine=floor - 1e-3, left_over_both=1), floor) == 0.0
    assert score_of(features(cosine=1.0, left_over_both=0), floor) == 0.0  # one name within the other
    assert score_of(features(cosine=1.0, left_over_both=1)) == 0.0  # rules alone


def test_initials_are_enough_for_a_person_of_the_same_surname_only() -> None:
    assert score_of(of_names("J. Smith", "John Smith", 0.5, "person")) == 0.8
    assert score_of(of_names("J. Smith", "John Smith", 0.5, "dataset")) == 0.0
    assert score_of(of_names("J. Smith", "John Smyth", 0.5, "person")) == 0.0


@given(st.lists(st.lists(st.sampled_from([0.0, 0.5, 0.9, 1.0, 3.0]), min_size=len(FEATURES), max_size=len(FEATURES)),
                min_size=1, max_size=4))  # fmt: skip
def test_rows_are_judged_one_by_one_and_stay_between_zero_and_one(rows: list[list[float]]) -> None:
    block = np.asarray(rows, dtype=np.float32)
    scores = rule_score(block, evidence_of(block), 0.95)
    assert ((scores >= 0) & (scores <= 1)).all()
    assert (scores[refused(block)] == 0).all()
    assert scores.tolist() == [score_of(block[i : i + 1], 0.95) for i in range(len(block))]


def test_no_pairs() -> None:
    nothing = np.zeros((0, len(FEATURES)), dtype=np.float32)
    assert evidence_of(nothing).tolist() == refused(nothing).tolist() == []
    assert rule_score(nothing, evidence_of(nothing), 0.95).tolist() == []
