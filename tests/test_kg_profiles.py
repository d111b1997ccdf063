"""What a name says by its form: core, acronym, initials, Latin letters, parentheses; odd names included."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg.names import name_form
from kg.profiles import profile


@pytest.mark.parametrize(
    ("surface", "words", "core"),
    [
        ("the CIFAR-10 dataset", "the cifar 10 dataset", "cifar 10"),
        ("cifar10", "cifar 10", "cifar 10"),
        ("20th century", "20th century", "20th century"),
        ("Dr. Smith", "dr smith", "smith"),
        ("data set", "data set", "data set"),
        ("BLEU (Papineni et al., 2002)", "bleu", "bleu"),
        ("dropout [12, 13]", "dropout", "dropout"),
        ("A. Bohr", "a bohr", "a bohr"),
        ("a Bohr radius", "a bohr radius", "bohr radius"),
        ("twenty-first century", "21 century", "21 century"),
        ("sixty-four thousand dollars", "64 thousand dollar", "64 thousand dollar"),
        ("twenty questions", "twenty question", "twenty question"),
    ],
)
def test_words_and_core(surface: str, words: str, core: str) -> None:
    own = profile("", surface)
    assert own.words == tuple(words.split())
    assert own.core == tuple(core.split())
    assert own.dropped == set(own.words) - set(own.core)


@pytest.mark.parametrize(
    ("surface", "acronym"),
    [
        ("CRF", "crf"), ("LSTMs", "lstm"), ("U.S.", "us"), ("GPT-2", "gpt2"), ("the BLEU score", "bleu"),
        ("Moscow", ""), ("crf", ""), ("Hidden Markov Model", ""), ("AM radio", ""), ("ABCDEFGHIJ", ""), ("", ""),
    ],
)  # fmt: skip
def test_acronyms_are_short_words_in_capitals(surface: str, acronym: str) -> None:
    assert profile("", surface).acronym == acronym


def test_initials_are_those_of_words_and_of_pieces_with_and_without_small_words() -> None:
    assert {"aov", "av"} <= profile("", "Analysis of Variance").initials
    assert {"pt", "ptb"} <= profile("", "Penn TreeBank").initials
    assert "wmt2014" not in profile("", "CRF").initials
    assert profile("", "CRF").initials == frozenset()  # one word has none


def test_acronyms_that_papers_explain_are_spelled_out_where_they_are_written_as_such() -> None:
    known = {"lstm": ("long", "short", "term", "memory"), "bilstm": ("bidirectional", "lstm")}
    assert profile("", "deep LSTMs", known).core == ("deep", "long", "short", "term", "memory")
    assert profile("", "BiLSTM", known).core[0] == "bidirectional"
    assert profile("", "deep lstm", known).core == ("deep", "lstm")
    circular = {"aa": ("bb", "cc"), "bb": ("aa", "dd")}
    assert profile("", "AA BB", circular).core


def test_what_stands_in_parentheses_and_other_scripts() -> None:
    own = profile("", "false discovery rate (FDR)")
    assert (own.inside, own.core) == ("fdr", ("false", "discovery", "rate"))
    moscow = profile("", "Москва")
    assert (moscow.latin, moscow.foreign) == ("moskva", True)
    assert not profile("", "Zürich").foreign
    quantum = profile("", "量子计算"), profile("", "量子通信")
    assert quantum[0].latin != quantum[1].latin
    assert all(own.foreign and own.latin.isascii() for own in quantum)


def test_titles_articles_and_legal_forms_are_dropped_where_they_are_written_as_such() -> None:
    cores = {
        "Sir Isaac Newton": "isaac newton", "SIR epidemic model": "sir epidemic", "Volvo AB": "volvo",
        "Rev response element": "rev response element", "blood type AB": "blood type ab", "El Salvador": "el salvador",
        "Newton's method": "newton method", "the Bayes' theorem": "bayes theorem",
    }  # fmt: skip
    assert {name: " ".join(profile("", name).core) for name in cores} == cores


def test_a_text_in_the_place_of_a_name_takes_no_longer() -> None:
    for name in ("(" + "Aa, 19 " * 20_000, "(" + "et al " * 20_000, "a" + " " * 20_000 + "(b", "x" * 100_000):
        assert profile("", name).words  # a search that starts at every place would take minutes


def test_long_and_empty_names() -> None:
    assert len(profile("", "word " * 60).words) <= 24
    assert profile("", "x" * 300).core == ("x" * 300,)
    assert profile("", "").core == profile("", "").words


@settings(max_examples=80)
@given(st.one_of(st.text(max_size=40), st.sampled_from(["🙂", "a", "7", "II", "(x)", "((", "量子 (QC)", "x" * 300])))
def test_every_name_has_a_profile(surface: str) -> None:
    own = profile("term", surface)
    assert own.kind == "term"
    assert bool(own.core) == bool(own.words)
    assert set(own.core) <= set(own.words)
    assert all(2 <= len(initials) <= 10 for initials in own.initials)
    assert name_form(surface) == "" or own.words or "(" in surface or "[" in surface
