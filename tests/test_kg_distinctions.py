"""Names that something tells apart are linked at most, however likely the scorer thinks that they are one."""

from __future__ import annotations

import pytest

from kg.distinctions import most
from kg.profiles import profile


def greatest(left: str, right: str, explained: frozenset[str] = frozenset()) -> float:
    both = [
        most(profile("", one), profile("", other), 0.75, explained) for one, other in ((left, right), (right, left))
    ]
    assert both[0] == both[1]
    return both[0]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("CIFAR-10", "the CIFAR-10 dataset"), ("BLEU", "BLEU score"), ("Apple", "Apple Inc."), ("Dr. Smith", "Smith"),
        ("naïve Bayes", "naive bayes"),
        ("Smith, John", "John Smith"), ("theory of evolution", "evolution theory"), ("Volvo", "Volvo AB"),
        ("Parkinson's disease", "Parkinson disease"), ("ImageNet", "ImageNet dataset"),
        ("convolutional neural network", "Convolutional neural networks (CNN)"), ("Palo Alto", "Palo Alto Company"),
        ("World War II", "Second World War"), ("FDR", "false discovery rate"), ("J. Smith", "John Smith"),
        ("randomised", "randomized"), ("asset prices", "asset pricing"),
    ],
)  # fmt: skip
def test_spellings_may_be_joined(left: str, right: str) -> None:
    assert greatest(left, right) == 1.0


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("supply chain", "supply chain management"), ("prospect", "prospect theory"), ("Oslo", "Oslo fjord"),
        ("employer", "employment"), ("graph", "graph approach"), ("relativity", "general relativity"),
        ("Parkinson's law", "Parkinson's disease"), ("control", "control group"), ("York", "New York"),
        ("machine translation", "neural machine translation"), ("M weights", "model weights"),
        ("oil palm", "palm oil"), ("Henry James", "James Henry"), ("VEGF", "VEGFR"), ("Standard Model", "standard"),
        ("Newton's method", "Newton"), ("El Salvador", "Salvador"), ("Manhattan", "Manhattan Project"),
        ("blood type", "blood type AB"), ("SIR epidemic model", "epidemic model"),
        ("Rev response element", "response element"),
        ("optimal", "optimisation"), ("school", "schooling"),
    ],
)  # fmt: skip
def test_narrower_names_are_linked_at_most(left: str, right: str) -> None:
    assert greatest(left, right) == 0.75


def test_a_negation_is_not_even_linked() -> None:
    assert greatest("responder", "non responder") == 0.0


def test_an_acronym_is_what_the_papers_say() -> None:
    assert greatest("CRF", "case report form") == 1.0
    assert greatest("CRF", "case report form", frozenset({"crf"})) == 0.75
