"""Which words stand for each other, against pairs worked by hand; swapping two names swaps the alignment."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg.alignment import KINDS, align, number_of, word_match
from kg.names import name_form


@pytest.mark.parametrize(
    ("a", "b", "kind"),
    [
        ("rate", "rate", "same"),
        ("modelling", "model", "stem"),
        ("colour", "color", "stem"),
        ("ii", "second", "number"),
        ("2nd", "2", "number"),
        ("007", "7", "number"),
        ("14", "2014", "number"),
        ("14", "2015", None),
        ("98", "1998", "number"),
        ("7", "2007", None),  # no year is written by one digit, nor by a word
        ("ii", "2002", None),
        ("twelve", "2012", None),
        ("xiii", "13", "number"),
        ("xiv", "xvi", None),
        ("fourteenth", "14th", "number"),
        ("twentieth", "20", "number"),
        ("thirteenth", "thirtieth", None),
        ("fourteen", "forty", None),
        ("21st", "22nd", None),
        ("21st", "21", "number"),
        ("3", "3.0", "number"),
        ("3", "3.5", None),
        ("2", "3", None),
        ("50", "101", None),
        ("1", "one", "number"),
        ("two", "word", None),
        ("william", "bill", "nickname"),
        ("clasification", "classification", "spelling"),
        ("univ", "university", "abbreviation"),
        ("dept", "department", "abbreviation"),
        ("j", "john", "initial"),
        ("c", "css", None),  # no word
        ("lambda", "lambdamart", None),
        ("face", "facebook", None),
        ("bond", "bondholder", None),
        ("ratio", "rationing", None),
        ("k", "john", None),
        ("x1", "x2", None),
        ("hypotension", "hypertension", None),
        ("supervised", "unsupervised", None),
        ("march", "may", None),
        ("量子计算", "量子通信", None),
    ],
)
def test_word_matches(a: str, b: str, kind: str | None) -> None:
    assert word_match(a, b) == word_match(b, a) == kind


@pytest.mark.parametrize(
    ("token", "number"),
    [
        ("xii", "12"), ("twelfth", "12"), ("000", "0"), ("i", "1"), ("2014", "2014"), ("mix", None), ("xxxix", "39"),
        ("iiii", None), ("mdl", None), ("nineteen", "19"), ("ninety", "90"), ("ninetieth", "90"), ("hundredth", "100"),
        ("112th", "112"), ("th", None), ("", None), ("7x", None), ("量子", None), ("tenth", "10"), ("tennis", None),
    ],
)  # fmt: skip
def test_numbers_by_word_and_digit(token: str, number: str | None) -> None:
    assert number_of(token) == number


def test_roman_numbers_are_those_of_their_letters() -> None:
    # Tens, then ones: 4 and 9 are written by what is lacking.
    ones = ["", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"]
    assert [number_of("x" * (n // 10) + ones[n % 10]) for n in range(1, 40)] == [str(n) for n in range(1, 40)]


def test_strongest_matches_come_first_and_what_is_left_is_told() -> None:
    found = align(["model", "modelling"], ["modelling", "x"])
    assert (found.kinds, found.left, found.right) == (("same",), ("model",), ("x",))
    assert align(["gpt", "2"], ["gpt", "3"]).left == ("2",)
    assert not align(["rate", "error"], ["error", "rate"]).ordered
    assert align([], ["x"]).right == ("x",)


def test_letters_stand_for_a_run_of_words_either_way_round() -> None:
    for left, right in ((["statistical", "mt"], ["statistical", "machine", "translation"]),):
        assert align(left, right).kinds == align(right, left).kinds == ("same", "acronym")
        assert align(left, right).left == align(right, left).right == ()
    small = align(["aov"], ["analysis", "of", "variance"])
    assert (small.kinds, small.right) == (("acronym",), ())
    assert align(["av"], ["analysis", "of", "variance"]).kinds == ("acronym",)


def test_of_two_runs_that_exclude_each_other_one_is_taken_whichever_name_comes_first() -> None:
    # "ab" spells "ac bx", and "ac" spells "ab cd"; both cannot be.
    one, other = align(["ab", "cd"], ["ac", "bx"]), align(["ac", "bx"], ["ab", "cd"])
    assert one.kinds == ("acronym",)
    assert (one.left, one.right, one.ordered) == (other.right, other.left, other.ordered)


WORDS = st.one_of(
    st.sampled_from(
        "j john smith smyth ii 2 second 14 2014 mt machine translation modelling model of 量子 москва 🙂 x univ "
        "university intl 7 supervised unsupervised may march deep network ab ac bx cd".split()
    ),
    st.text(max_size=12).map(lambda text: "".join(name_form(text).split())).filter(bool),
    st.just("a" * 300),
)
NAMES = st.lists(WORDS, max_size=5)


@settings(max_examples=150)
@given(NAMES, NAMES)
def test_swapping_the_names_swaps_what_is_left(left: list[str], right: list[str]) -> None:
    one, other = align(left, right), align(right, left)
    assert (one.kinds, one.ordered) == (other.kinds, other.ordered)
    assert (one.left, one.right) == (other.right, other.left)


@settings(max_examples=80)
@given(NAMES, NAMES)
def test_words_are_matched_at_most_once(left: list[str], right: list[str]) -> None:
    found = align(left, right)
    assert not Counter(found.left) - Counter(left)
    assert not Counter(found.right) - Counter(right)
    assert len(found.kinds) <= min(len(left), len(right))
    assert [KINDS.index(kind) for kind in found.kinds] == sorted(KINDS.index(kind) for kind in found.kinds)


@given(NAMES)
def test_a_name_is_aligned_with_itself(words: list[str]) -> None:
    found = align(words, words)
    assert found.kinds == ("same",) * len(words)
    assert found.left == found.right == ()
