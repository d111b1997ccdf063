"""Features of pairs of names: values worked by hand, symmetry, and numbers for whatever is written."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg.pair_features import FEATURES, Surroundings, pair_features
from kg.profile_table import ProfileTable
from kg.profiles import Profile, profile

ONCE = (1, 1)
KNOWN = {"mt": ("machine", "translation")}


def around(
    cosine: float = 0.5, context: float = math.nan, together: float = 0.0, uses: tuple[int, int] = ONCE
) -> Surroundings:
    """Of one pair."""
    return Surroundings(np.asarray([cosine]), np.asarray([context]), np.asarray([together]), np.asarray([uses]))


def values(a: Profile, b: Profile, where: Surroundings) -> list[float]:
    found = pair_features(ProfileTable.of([a, b]), np.asarray([[0, 1]]), where)
    assert found.dtype == np.float32
    return list(map(float, found[0]))


def features(a: str, b: str, where: Surroundings | None = None, kinds: tuple[str, str] = ("", "")) -> dict[str, float]:
    found = values(profile(kinds[0], a), profile(kinds[1], b), where or around())
    return dict(zip(FEATURES, found, strict=True))


def test_names_are_distinct_and_one_value_belongs_to_each() -> None:
    assert len(set(FEATURES)) == len(FEATURES)
    assert len(values(profile("", "a"), profile("", "b"), around(0.0))) == len(FEATURES)


def test_no_pairs_have_no_features() -> None:
    nothing = Surroundings(np.zeros(0), np.zeros(0), np.zeros(0), np.ones((0, 2), np.int64))
    for names in ([], [profile("", "a")]):
        assert pair_features(ProfileTable.of(names), np.zeros((0, 2), np.int64), nothing).shape == (0, len(FEATURES))


def test_surroundings_go_in_as_they_are() -> None:
    found = features("x ray", "x rays", around(0.25, 0.75, 0.5, (8, 2)))
    assert (found["cosine"], found["context"], found["context_known"], found["together"]) == (0.25, 0.75, 1.0, 0.5)
    assert (found["uses_rarer"], found["uses_other"]) == pytest.approx((math.log(2), math.log(8)))
    nothing = features("x ray", "x rays")
    assert (nothing["context"], nothing["context_known"], nothing["uses_rarer"]) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("GPT-2", "GPT-3", {"number_both": 1, "shared": 1, "left_over": 2, "left_over_both": 1, "same_core": 0}),
        ("ResNet-50", "ResNet-101", {"number_both": 1, "same_words": 0}),
        ("ResNet", "ResNet-50", {"number_both": 0, "number_one": 1, "year_one": 0, "at_end": 1}),
        ("WMT", "WMT 2014", {"number_one": 1, "year_one": 1}),
        ("WMT'14", "WMT 2014", {"number_both": 0, "same_words": 1, "left_over": 0}),
        ("type I error", "type II error", {"number_both": 1}),
        ("World War II", "Second World War", {"left_over": 0, "number_both": 0, "number_one": 0, "ordered": 0}),
        ("March 31, 1954", "October 31, 1954", {"opposed": 1, "shared": 2}),
        ("vitamin C", "vitamin D", {"letter_both": 1, "shared": 1}),
        ("TNF-α", "TNF-beta", {"letter_both": 1}),
        ("vitamin C", "vitamin", {"letter_one": 1, "letter_both": 0}),
        ("CIFAR-10", "the CIFAR-10 dataset", {"same_core": 1, "same_key": 0, "dropped_both": 0}),
        ("Parkinson law", "Parkinson disease", {"same_core": 1, "dropped_both": 1}),
        ("Newton's method", "Newton", {"same_core": 0, "at_end": 1}),
        ("Conditional Random Field", "CRF", {"acronym": 1, "acronym_length": 3, "left_over": 0, "acronym_other": 0}),
        ("CRF", "CNN", {"acronym": 0, "acronym_other": 1}),
        ("CRF", "hidden Markov model", {"acronym": 0, "acronym_loose": 0, "acronym_other": 0.5}),
        ("Penn Treebank", "PTB", {"acronym_loose": 1, "acronym": 0}),
        ("false discovery rate (FDR)", "FDR", {"inside": 1}),
        ("Москва", "Moskva", {"same_latin": 1, "foreign_one": 1, "foreign_both": 0}),
        ("量子计算", "量子通信", {"same_latin": 0, "foreign_both": 1, "foreign_one": 0, "same_key": 0}),
        ("J. Smith", "John Smith", {"initial": 1, "last_word": 1, "first_word": 0}),
        ("Smith", "John Smith", {"single_last": 1, "in_front": 1, "at_end": 0}),
        ("BLEU", "BLEU score", {"same_core": 1}),
        ("supervised learning", "unsupervised learning", {"opposed": 1}),
    ],
)  # fmt: skip
def test_pairs_worked_by_hand(a: str, b: str, expected: dict[str, float]) -> None:
    found = features(a, b)
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (("person", "person"), (1, 1, 0, 0)), (("ORG", ""), (0, 0, 1, 0)), (("", "GPE"), (0, 0, 0, 1)),
        (("", ""), (0, 0, 0, 0)), (("method", "method"), (1, 0, 0, 0)),
    ],
)  # fmt: skip
def test_types(kinds: tuple[str, str], expected: tuple[int, ...]) -> None:
    found = features("ab c", "ab d", kinds=kinds)
    assert tuple(found[name] for name in ("type_known", "person", "organization", "place")) == expected


def test_a_name_with_itself() -> None:
    found = features("random forest", "random forest", around(1.0))
    assert (found["same_key"], found["same_core"], found["same_words"], found["same_latin"]) == (1, 1, 1, 1)
    assert (found["share"], found["edit"], found["winkler"], found["left_over"]) == (1, 1, 1, 0)


ODD = st.one_of(
    st.text(max_size=30),
    st.lists(
        st.sampled_from(
            "GPT 2 3 II J. John Smith CRF conditional random field (CRF) the dataset law disease 量子计算 Москва "
            "Moskva 🙂 MT machine translation '14 2014 x of BLEU score World War Second of".split()
        ),
        max_size=5,
    ).map(" ".join),
    st.sampled_from(["", " ", "a", "7", "x" * 300, "word " * 60, "()", "K.K."]),
)


@settings(max_examples=150)
@given(ODD, ODD, st.sampled_from([("", ""), ("org", ""), ("", "person"), ("person", "person")]))
def test_symmetric_and_finite(a: str, b: str, kinds: tuple[str, str]) -> None:
    one, two = profile(kinds[0], a, KNOWN), profile(kinds[1], b, KNOWN)
    found = values(one, two, around(0.5, 0.25, 0.5, (3, 7)))
    assert found == values(two, one, around(0.5, 0.25, 0.5, (7, 3)))
    assert all(map(math.isfinite, found))


@settings(max_examples=30)
@given(st.lists(st.tuples(ODD, st.sampled_from(["", "person"])), min_size=2, max_size=6))
def test_a_pair_depends_on_itself_alone(names: list[tuple[str, str]]) -> None:
    profiles = [profile(kind, name, KNOWN) for name, kind in names]
    pairs = np.asarray([(i, j) for i in range(len(names)) for j in range(i + 1, len(names))])
    m = len(pairs)
    together = Surroundings(np.full(m, 0.5), np.full(m, np.nan), np.zeros(m), np.ones((m, 2), np.int64))
    found = pair_features(ProfileTable.of(profiles), pairs, together)
    for row, (i, j) in enumerate(pairs.tolist()):
        assert found[row].tolist() == values(profiles[i], profiles[j], around())
