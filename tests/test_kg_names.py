"""One key for all spellings of a name, and different keys for different things, in every script."""

from __future__ import annotations

import unicodedata
from itertools import combinations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kg.mentions import surface_form
from kg.names import form_key, name_form, name_key, token_form

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]))
WORDS = st.sampled_from(
    [
        "C++", "β", "TGF-β1", "don't", "'", "∇", "U.S.", "3,000", "naïve", "量子", "学习", "हिन्दी", "ไทย", "(", "++",
        "-", "\u0308", "SVMs", "GPS", "womens", "ﬁt", "½", "λόγος", "ἀρχή", "🙂", "s", "’s", "a.b", "\u200d", "ΣΑΣ",
        "Straße",
    ]
)  # fmt: skip
NAMES = st.one_of(ANY_TEXT, st.lists(WORDS, max_size=5).map(" ".join), st.lists(WORDS, max_size=5).map("".join))


@pytest.mark.parametrize(
    "spellings",
    [
        (
            "supply chain",
            "supply-chain",
            "Supply chains",
            "SUPPLY CHAIN",
            "Supply\u2010Chain",
            "supply\u00a0chain",
            "supplychain",
        ),
        ("data set", "dataset", "data-sets", "Datasets"),
        ("TGF-β", "TGF-beta", "TGFβ", "tgf beta"),
        ("β-VAE", "beta-VAE", "β VAE"),
        ("U.S.", "US", "U.S"),
        ("Parkinson's disease", "Parkinson’s disease", "parkinson disease"),
        ("ResNet-50", "ResNet 50", "ResNet50"),
        ("SVM", "SVMs"),
        ("phenomena", "phenomenon"),
        ("women's health", "woman health", "Women’s health"),
        ("µ-opioid receptor", "μ-opioid receptors", "mu opioid receptor"),
        ("Müller", "Mu\u0308ller", "MÜLLER"),
        ("ﬁne-tuning", "fine tuning"),
        ("ＧＰＴ－２", "GPT-2"),
        ("x²", "x2"),
        ("ΛΌΓΟΣ", "λόγος"),
    ],
)
def test_spellings_of_one_name_have_one_key(spellings: tuple[str, ...]) -> None:
    assert {name_key(spelling) for spelling in spellings} == {name_key(spellings[0])}


@pytest.mark.parametrize(
    "names",
    [
        ("量子计算", "β-VAE", "naïve Bayes", "Müller"),
        ("Müller", "Muller", "Mueller"),
        ("C++", "C", "C#"),
        ("GPT-2", "GPT-3", "GPT"),
        ("ResNet-50", "ResNet-501", "ResNet-5"),
        ("1 10", "110", "11 0"),
        ("α-synuclein", "β-synuclein"),
        ("量子计算", "量子力学", "机器学习"),
        ("हिन्दी", "हिन्दू"),
        ("การเรียนรู้", "การเรียน"),
        ("تعلم الآلة", "تعلم عميق"),
        ("GPS", "GP"),
        ("ἀρχή", "ἀκμή"),
        ("∇", "∂", "++", "🙂"),
        ("'", "’s"),
        ("H1", "H2"),
    ],
)
def test_different_things_keep_different_keys(names: tuple[str, ...]) -> None:
    keys = [name_key(name) for name in names]
    assert all(keys)
    assert all(a != b for a, b in combinations(keys, 2))


@pytest.mark.parametrize(
    "name", ["शिक्षा नीति", "การเรียนรู้ของเครื่อง", "تعلم الآلة", "машинное обучение", "機械学習", "기계 학습"]
)
def test_words_of_every_script_survive(name: str) -> None:
    assert name_form(name) == unicodedata.normalize("NFKC", name)


@pytest.mark.parametrize(
    ("token", "form"),
    [
        ("analyses", "analysis"), ("studies", "study"), ("classes", "class"), ("boxes", "box"), ("matrices", "matrix"),
        ("mice", "mouse"), ("womens", "woman"), ("ties", "tie"), ("βs", "beta"),
        ("bias", "bias"), ("analysis", "analysis"), ("economics", "economics"), ("virus", "virus"), ("loss", "loss"),
        ("diabetes", "diabetes"), ("series", "series"), ("gas", "gas"), ("GPS", "gps"), ("OLS", "ols"),
        ("GPUs", "gpu"), ("APIs", "api"), ("ConvS2S", "convs2s"),
        ("κB", "kappab"), ("λόγος", "λόγοσ"),
    ],
)  # fmt: skip
def test_plurals_fold_and_words_that_only_look_plural_do_not(token: str, form: str) -> None:
    assert token_form(token) == form


@given(NAMES)
@example("'")
@example("\u200d")
def test_a_key_is_empty_only_without_a_visible_character(name: str) -> None:
    visible = any(
        not ch.isspace() and unicodedata.category(ch) not in {"Cc", "Cf"} for ch in unicodedata.normalize("NFKC", name)
    )
    assert bool(name_form(name)) == bool(name_key(name)) == visible


@settings(max_examples=300)
@given(NAMES)
@example("∇ operator")
@example("++ --")
@example("' a'")
def test_word_by_word_gives_the_same_form(name: str) -> None:
    assert surface_form(name) == name_form(name)


@settings(max_examples=300)
@given(NAMES)
@example("α\u0308")
@example("Βs")
def test_the_form_of_a_form_is_itself(name: str) -> None:
    # In capitals a final s is no plural, which lower case cannot tell any more: AIDS is not an aid.
    form = name_form(unicodedata.normalize("NFKC", name).lower())
    assert name_form(form) == form


@given(NAMES)
def test_keys_do_not_depend_on_the_unicode_form(name: str) -> None:
    assert name_key(unicodedata.normalize("NFD", name)) == name_key(unicodedata.normalize("NFC", name))


@given(NAMES)
def test_forms_have_single_spaces_and_keys_only_those_between_digits(name: str) -> None:
    form = name_form(name)
    assert form == " ".join(form.split())
    key = form_key(form)
    assert key.replace(" ", "") == form.replace(" ", "")
    assert all(key[i - 1].isdecimal() and key[i + 1].isdecimal() for i, ch in enumerate(key) if ch == " ")
