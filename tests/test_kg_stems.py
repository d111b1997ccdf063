"""Inflection, accents and British spelling folded; what an encoder can read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg.stems import american, readable, signature, stem


@pytest.mark.parametrize(
    ("british", "folded"),
    [
        ("colour", "color"), ("behavioural", "behavioral"), ("labelled", "labelled"), ("organisation", "organization"),
        ("generalised", "generalized"), ("analyse", "analyze"), ("centre", "center"), ("haemoglobin", "hemoglobin"),
        ("catalogue", "catalog"), ("naïve", "naive"), ("schrödinger", "schrodinger"), ("four", "four"),
        ("wise", "wise"), ("fibre", "fiber"), ("more", "more"),
    ],
)  # fmt: skip
def test_british_spelling_and_accents(british: str, folded: str) -> None:
    assert american(british) == folded


@pytest.mark.parametrize("word", ["москва", "量子计算", "β", "한국", "🙂", ""])
def test_words_of_other_scripts_are_unchanged(word: str) -> None:
    assert american(word) == stem(word) == word


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("modelling", "models", True), ("modeling", "models", True), ("networks", "network", True),
        ("optimisation", "optimization", True), ("analysed", "analyzing", True), ("hypertension", "hypotension", False),
        ("café", "cafe", True),
    ],
)  # fmt: skip
def test_stems(one: str, other: str, equal: bool) -> None:
    assert (stem(one) == stem(other)) == equal


@given(st.permutations("climates modelling of 量子 risk colours 2".split()))
def test_a_signature_is_the_same_for_any_order(words: list[str]) -> None:
    assert signature(" ".join(words)) == "2 climat color model of risk 量子"


@given(st.text(max_size=30))
def test_any_text_has_a_stem(text: str) -> None:
    assert stem(text) == stem(american(text))


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("random forest", True), ("β vae", True), ("naïve bayes 2", True), ("", True), ("量子计算", False),
        ("москва", False), ("gpt 量子", False), ("x" * 60, True), ("x" * 61, False), ("word " * 60, True),
    ],
)  # fmt: skip
def test_what_an_encoder_reads(form: str, expected: bool) -> None:
    assert readable(form) == expected
