"""Words that differ by a meaning stay apart, and spellings of one word do not count as opposites."""

from __future__ import annotations

from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg.opposites import opposed

MONTHS = "january february march april may june july august september october november december".split()
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
SEASONS = "spring summer autumn winter".split()
COMPASS = "north east south west".split()
NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million"
).split()
ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth fortieth fiftieth sixtieth seventieth "
    "eightieth ninetieth hundredth thousandth millionth"
).split()
SHORT = "jan feb mar apr jun jul aug sept sep oct nov dec mon tue tues wed thu thur thurs fri sat sun".split()


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("hypotension", "hypertension"), ("microeconomics", "macroeconomics"), ("male", "female"), ("left", "right"),
        ("supply", "demand"), ("convex", "concave"), ("supervised", "unsupervised"), ("linear", "nonlinear"),
        ("symmetric", "asymmetric"), ("encoder", "decoder"), ("inflation", "deflation"), ("import", "export"),
        ("employer", "employment"), ("employer", "employee"), ("lessor", "lessee"), ("trainer", "trainee"),
        ("before", "after"), ("pretest", "posttest"), ("pre", "post"), ("inter", "intra"), ("am", "pm"), ("bc", "ad"),
        ("univariate", "bivariate"), ("bigram", "trigram"), ("monomer", "dimer"), ("single", "double"),
        ("jr", "sr"), ("jr", "senior"),
    ],
)  # fmt: skip
def test_opposites_and_roles(left: str, right: str) -> None:
    assert opposed(left, right)
    assert opposed(right, left)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("colour", "color"), ("centre", "center"), ("behaviour", "behavior"), ("network", "networks"),
        ("model", "modelling"), ("supply", "chain"), ("before", "behind"), ("may", "monday"), ("march", "marching"),
        ("sun", "moon"), ("april", "spring"), ("adviser", "advisor"), ("north", "northern"), ("seven", "seventh"),
        ("double", "dual"), ("jr", "junior"), ("second", "secondly"), ("ten", "tennis"), ("one", "once"),
    ],
)  # fmt: skip
def test_spellings_inflections_and_other_words_are_no_opposites(left: str, right: str) -> None:
    assert not opposed(left, right)
    assert not opposed(right, left)


@pytest.mark.parametrize("members", [SEASONS, COMPASS, [f"{point}ern" for point in COMPASS]])
def test_any_two_of_a_closed_class_are_told_apart(members: list[str]) -> None:
    assert all(opposed(x, y) and opposed(y, x) for x, y in combinations(members, 2))


def test_any_two_numbers_in_words_are_told_apart_and_an_ordinal_is_its_number() -> None:
    assert len(NUMBERS) == len(ORDINALS)
    for i, j in product(range(len(NUMBERS)), repeat=2):
        for x, y in ((NUMBERS[i], NUMBERS[j]), (NUMBERS[i], ORDINALS[j]), (ORDINALS[i], ORDINALS[j])):
            assert opposed(x, y) == opposed(y, x) == (i != j)


@pytest.mark.parametrize("members", [MONTHS, WEEKDAYS])
def test_any_two_months_or_weekdays_are_told_apart_however_they_are_written(members: list[str]) -> None:
    written = {word: [word, *(short for short in SHORT if word.startswith(short))] for word in members}
    written = {word: forms for word, forms in written.items() if word in members}
    for one, other in combinations(members, 2):
        assert all(opposed(x, y) and opposed(y, x) for x, y in product(written[one], written[other]))
    for forms in written.values():
        assert not any(opposed(x, y) for x, y in product(forms, forms))


WORDS = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ["", "un", "量子", "Москва", "🙂", "x" * 300, *MONTHS, *WEEKDAYS, *SHORT, "before", "after", "user"]
    ),
)


@given(WORDS, WORDS)
def test_it_is_symmetric_over_any_strings(left: str, right: str) -> None:
    assert opposed(left, right) == opposed(right, left)


@given(WORDS)
def test_no_word_is_opposed_to_itself(word: str) -> None:
    assert not opposed(word, word)
