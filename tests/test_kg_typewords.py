"""Type words, articles, titles and legal forms are left out of a core that still names something."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg.names import name_form
from kg.typewords import DEGREES, LEADING, LEGAL_FORMS, TITLES, TYPE_WORDS, core_words


@pytest.mark.parametrize(
    ("name", "core"),
    [
        ("the cifar 10 dataset", "cifar 10"), ("bleu score", "bleu"), ("acme holding co ltd", "acme"),
        ("prof dr jane doe phd", "jane doe"), ("data set", "data set"), ("the dataset", "the dataset"),
        ("dataset 2", "dataset 2"), ("world war", "world"), ("network x", "network x"), ("x method", "x method"),
        ("mrs smith", "smith"), ("rev prof sir john smith dphil", "john smith"), ("the new york city", "new york"),
        ("score test", "score test"), ("la", "la"), ("the", "the"), ("量子 method", "量子"), ("", ""),
    ],
)  # fmt: skip
def test_cores(name: str, core: str) -> None:
    assert core_words(tuple(name.split())) == tuple(core.split())


ADJECTIVES = "new standard original general major private".split()
NAMES_OF_PEOPLE = "king queen prince pope bishop mayor judge father lord saint captain president".split()


@pytest.mark.parametrize("word", [*ADJECTIVES, *NAMES_OF_PEOPLE, "ms", "mr", "md", "jr", "sr", "il", "miss"])
def test_words_that_may_be_part_of_a_name_stay(word: str) -> None:
    # New York, general relativity, Burger King, Nancy Pope, MS lesion, MR imaging, IL 1, Holmes Jr.
    assert core_words((word, "x", "y")) == (word, "x", "y")
    assert core_words(("x", "y", word)) == ("x", "y", word)


def test_a_novel_behind_a_name_is_a_book_and_before_it_an_adjective() -> None:
    assert core_words(("dracula", "novel")) == ("dracula",)
    assert core_words(("novel", "coronavirus")) == ("novel", "coronavirus")


def test_type_words_are_the_forms_that_names_take() -> None:
    assert {name_form(word) for word in TYPE_WORDS if "-" not in word} == {w for w in TYPE_WORDS if "-" not in w}


WORDS = st.one_of(
    st.sampled_from(sorted(TYPE_WORDS | LEADING | LEGAL_FORMS | TITLES | DEGREES)), st.sampled_from(["x", "7", "deep"])
)


@given(st.lists(WORDS, max_size=6).map(tuple))
def test_a_core_is_a_run_of_the_words_and_never_empty(words: tuple[str, ...]) -> None:
    core = core_words(words)
    assert bool(core) == bool(words)
    assert any(words[start : start + len(core)] == core for start in range(len(words) + 1))
    assert core_words(core) == core
