"""Extractors under one interface: names in normal form, each once, best first; a missing package is named."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from kg.errors import InputError
from kg.keyphrase import KeyphraseExtractor
from kg.records import Section
from scripts.extractors import METHODS, distinct, mention_table, ranked

PACKAGES = {"yake": "yake", "keybert": "keybert"}
SECTIONS = [
    Section("a#0", "a", "", "Capital asset pricing models (CAPM) price assets. The CAPM is old. Loss aversion is not."),
    Section("a#1", "a", "", "The CAPM and loss aversion. Loss aversion again."),
    Section("b#0", "b", "", ""),
]


def test_a_name_is_one_term_however_it_is_spelled() -> None:
    terms = ranked(mention_table(SECTIONS, KeyphraseExtractor()), KeyphraseExtractor())
    assert {"capital asset pricing model", "capm"} in terms[0]
    assert sum("capm" in term for term in terms[0]) == 1
    assert terms[2] == []


@pytest.mark.parametrize("method", ["ours", "plain", "alone"])
def test_ours_ranks_the_sections_asked_for(method: str) -> None:
    rank = METHODS[method](SECTIONS)
    assert rank(SECTIONS[1:2]) == [rank(SECTIONS)[1]]
    assert frozenset({"loss aversion"}) in rank(SECTIONS)[1][:2]


def test_alone_knows_nothing_of_other_sections() -> None:
    assert METHODS["alone"](SECTIONS)(SECTIONS)[1] == METHODS["alone"]([])(SECTIONS[1:2])[0]
    assert METHODS["alone"](SECTIONS)(SECTIONS)[1] != METHODS["ours"](SECTIONS)(SECTIONS)[1]


def test_the_names_of_others_are_joined_by_their_keys() -> None:
    assert distinct(["Data sets", "dataset", "", "data-set", "Loss"]) == [frozenset({"data set"}), frozenset({"loss"})]


@pytest.mark.parametrize("method", PACKAGES)
def test_a_missing_package_is_named_with_the_way_to_it(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, PACKAGES[method], None)
    with pytest.raises(InputError, match=r"bench"):
        METHODS[method](SECTIONS)


@pytest.mark.skipif(importlib.util.find_spec("yake") is None, reason="needs the extra bench")
@pytest.mark.filterwarnings("default")
def test_yake_finds_names() -> None:
    terms = METHODS["yake"](SECTIONS)(SECTIONS[:1])[0]
    assert frozenset({"loss aversion"}) in terms
    assert len(set(terms)) == len(terms)
