"""Acronyms as texts define them, both ways round, and none where a parenthesis says something else."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg.acronyms import find_definitions, spells


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the false discovery rate (FDR) is controlled", ("FDR", "false discovery rate")),
        ("FDR (false discovery rate) is controlled", ("FDR", "false discovery rate")),
        ("In analysis of variance (ANOVA), groups", ("ANOVA", "analysis of variance")),
        ("heat shock transcription factor (HSF)", ("HSF", "heat shock transcription factor")),
        ("deoxyribonucleic acid (DNA)", ("DNA", "deoxyribonucleic acid")),
        ("tumour necrosis factor-α (TNF-α)", ("TNF-α", "tumour necrosis factor-α")),
        (
            "an immunoreceptor tyrosine-based inhibition motif (ITIM)",
            ("ITIM", "immunoreceptor tyrosine-based inhibition motif"),
        ),
        ("coronavirus disease 2019 (COVID-19)", ("COVID-19", "coronavirus disease 2019")),
        ("the World Health Organization (WHO; Geneva)", ("WHO", "World Health Organization")),
        ("capital asset\npricing model (CAPM)", ("CAPM", "capital asset pricing model")),
        ("a support-vector machine (SVM)", ("SVM", "support-vector machine")),
        ("United States (U.S.)", ("U.S.", "United States")),
        (
            "generalised autoregressive conditional heteroskedasticity (GARCH)",
            ("GARCH", "generalised autoregressive conditional heteroskedasticity"),
        ),
    ],
)
def test_definitions_are_found_in_both_orders(text: str, expected: tuple[str, str]) -> None:
    assert find_definitions(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("support vector machines (SVMs) separate", ("SVMs", "support vector machines")),
        ("SVMs (support vector machines) separate", ("SVMs", "support vector machines")),
        ("graph neural networks (GNNs, for short)", ("GNNs", "graph neural networks")),
    ],
)
def test_acronyms_may_be_plural(text: str, expected: tuple[str, str]) -> None:
    assert find_definitions(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "()",
        "as shown before (see Figure 2)",
        "the effect (Fig. 2A) is large",
        "the estimate (Eq. 3) holds",
        "by Sharpe (2019)",
        "the CAPM (Sharpe, 1964) prices risk",
        "BERT (Devlin et al., 2019) is fine-tuned",
        "the paper (IEEE 2019) says",
        "significant (P < 0.05) results",
        "patients (n = 20)",
        "GDP (see Table 1) grew",
        "offices in the USA (New York) and elsewhere",
        "a large effect (LARGE)",
        "it rains (in the mountains)",
        "International Business Machines (IBM 1990)",
        "量子计算 (QC) 是新的",
    ],
)
def test_none_is_invented(text: str) -> None:
    assert find_definitions(text) == []


def test_the_expansion_ends_at_the_clause() -> None:
    text = "We follow rules; magnetic resonance imaging (MRI) is used. Positron emission tomography (PET) is not."
    assert find_definitions(text) == [
        ("MRI", "magnetic resonance imaging"),
        ("PET", "Positron emission tomography"),
    ]


def test_the_first_definition_of_a_text_stands() -> None:
    text = "A conditional random field (CRF) labels. The case report form (CRF) is signed."
    assert find_definitions(text) == [("CRF", "conditional random field")]


WORD = st.text("abcdefgh", min_size=2, max_size=8)


@given(st.lists(WORD, min_size=3, max_size=5))
def test_initials_are_always_found(words: list[str]) -> None:
    long = " ".join(words)
    short = "".join(word[0] for word in words).upper()
    if short.casefold() not in words:
        assert dict(find_definitions(f"we study the {long} ({short}) here")).keys() == {short}
        assert find_definitions(f"We study {short} ({long}) here") == [(short, long)]


@settings(max_examples=80)
@given(st.text("aAbBcC ()-.,;2βn\n", max_size=60))
def test_every_expansion_stands_in_the_text_and_holds_the_letters_in_order(text: str) -> None:
    for short, long in find_definitions(text):
        assert long in " ".join(text.split())
        assert len(long) > len(short)
        rest = iter(long.casefold())
        assert all(letter in rest for letter in short.casefold().removesuffix("s") if letter.isalnum())


@pytest.mark.parametrize(
    ("letters", "words", "expected"),
    [
        ("ptb", "penn treebank", True),
        ("anova", "analysis of variance", True),
        ("fdr", "false discovery rate", True),
        ("mse", "root mean square error", False),
        ("ptb", "penn tree bank of english", False),
        ("bt", "penn treebank", False),
        ("p", "penn", False),
        ("ab", "ab", False),
        ("ab", "", False),
        ("", "analysis", False),
        ("", "", False),
        ("子", "量子 计算", False),
        ("x" * 300, "analysis of variance", False),
    ],
)
def test_letters_spell_words_in_order(letters: str, words: str, expected: bool) -> None:
    assert spells(letters, words) == expected


def test_words_that_could_give_any_number_of_letters_take_no_longer() -> None:
    assert not spells("a" * 60 + "b", " ".join(["a" * 60] * 30))  # a walk through all divisions would not end
    assert spells("a" * 60, " ".join(["a" * 60] * 30))
