"""What acronyms stand for: a paper's own sense, the dominant one, the nearest papers', or none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg.senses import MARGIN, Senses, group_expansions, same_words

FIELD, FORM = "conditional random field", "case report form"


def senses(*expansions: str, short: str = "CRF") -> Senses:
    """One paper of one section for each expansion."""
    definitions = [(paper, short, expansion) for paper, expansion in enumerate(expansions)]
    return Senses.of(definitions, range(len(expansions) + 5))


def test_a_paper_s_own_sense_comes_first_and_the_dominant_one_elsewhere() -> None:
    found = senses(FIELD, FIELD, FIELD, FIELD, FORM)  # 4 of 5: .8
    assert found.meant("crf", 4, None) == FORM
    assert [found.meant("crf", paper, None) for paper in (0, 6)] == [FIELD, FIELD]
    assert found.known["crf"] == (FIELD, FORM)
    assert found.papers["crf", FORM] == {4}
    assert found.expansions() == {"crf": tuple(FIELD.split())}


def test_a_paper_means_what_it_defines_first() -> None:
    found = Senses.of([(0, "CRF", FORM), (1, "CRF", FIELD)], [0, 0])
    assert found.meant("crf", 0, None) == FORM
    assert FIELD not in found.known["crf"]


def test_without_a_dominant_sense_the_nearest_papers_decide_if_near_enough() -> None:
    found = senses(FIELD, FORM)
    assert found.dominant == {}
    assert found.meant("crf", 3, None) is None
    angles = np.array([0.0, np.pi / 2, 0.1, np.pi / 4, np.pi / 2 - 0.1, 0.0])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    assert found.meant("crf", 2, vectors) == FIELD
    assert found.meant("crf", 4, vectors) == FORM
    assert found.meant("crf", 3, vectors) is None  # equally near
    assert found.meant("crf", 0, vectors) == FIELD
    assert found.meant("cnn", 2, vectors) is None
    assert found.expansions() == {}


@pytest.mark.parametrize(("gap", "decided"), [(MARGIN + 0.01, True), (MARGIN - 0.01, False)])
def test_the_margin_is_a_difference_of_cosines(gap: float, decided: bool) -> None:
    found = senses(FIELD, FORM)
    cosines = 0.5 + gap, 0.5
    rest = np.sqrt(1 - cosines[0] ** 2 - cosines[1] ** 2)
    vectors = np.array([[1.0, 0, 0], [0, 1.0, 0], [cosines[0], cosines[1], rest]])
    assert found.meant("crf", 2, vectors) == (FIELD if decided else None)


def test_the_best_of_a_sense_s_papers_counts() -> None:
    found = senses(FIELD, FIELD, FORM)
    vectors = np.array([[-1.0, 0], [1.0, 0], [0, 1.0], [1.0, 0]])
    assert found.meant("crf", 3, vectors) == FIELD


def test_two_letters_are_explained_only_where_they_are_defined() -> None:
    found = senses("machine translation", "machine translation", short="MT")
    assert found.meant("mt", 0, None) == "machine translation"
    assert found.meant("mt", 5, np.ones((7, 2))) is None
    assert found.expansions() == {"mt": ("machine", "translation")}


def test_spellings_of_a_sense_are_put_under_the_one_of_most_papers() -> None:
    found = senses("multilayer perceptron", "multi-layer perceptron", "Multi-layer perceptrons", short="MLP")
    assert found.known["mlp"] == ("multi layer perceptron",)
    assert found.meant("mlp", 0, None) == "multi layer perceptron"
    assert found.papers["mlp", "multi layer perceptron"] == {0, 1, 2}


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("convolutional neural network", "convolution neural network", True),
        ("analysis of variance", "variance analysis", True),
        ("bleu", "bleu score", True),
        ("statistical mt", "statistical machine translation", True),
        (FIELD, FORM, False),
        ("j smith", "john smith", False),
        ("mean square error", "root mean square error", False),
        ("supervised learning", "unsupervised learning", False),
    ],
)
def test_same_words(left: str, right: str, same: bool) -> None:
    assert same_words(left, right) == same_words(right, left) == same


@given(st.dictionaries(st.sampled_from([FIELD, FORM, "conditional random fields", "a b", "c d"]), st.integers(1, 9)))
def test_every_spelling_is_in_one_group_the_most_frequent_first(forms: dict[str, int]) -> None:
    groups = group_expansions(forms)
    assert sorted(form for group in groups for form in group) == sorted(forms)
    for group in groups:
        assert group == sorted(group, key=lambda form: (-forms[form], form))
        assert all(same_words(group[0], form) for form in group)


def test_nothing_defined_nothing_meant() -> None:
    found = Senses.of([], [])
    assert found.meant("crf", 0, None) is None
    assert found.expansions() == {}


@given(st.permutations(range(5)))
def test_the_order_of_papers_does_not_matter(order: list[int]) -> None:
    said = [FIELD, FORM, "case report forms", "conditional random fields", FIELD]
    found = Senses.of([(paper, "CRF", said[paper]) for paper in order], range(5))
    assert found == senses(*said)
