"""Candidates of a section by their counts, and the choice of terms from counts over the corpus."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg.keyphrase import KeyphraseConfig, KeyphraseExtractor
from kg.mentions import MentionTable, encode_extraction, read_mentions
from kg.names import form_key, name_form
from kg.records import Extraction, Mention, Section

EXTRACTOR = KeyphraseExtractor()


def extract(text: str, *, lead: str = "", heading: str = "") -> dict[str, Mention]:
    extraction = EXTRACTOR.extract(Section("d#0", "d", heading, text, lead))
    return {mention.name: mention for mention in extraction.mentions}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The equity premium puzzle is old.", "equity premium puzzle"),
        ("Wir untersuchen naïve Bayes.", "naïve Bayes"),
        ("A β-VAE learns.", "β-VAE"),
        ("We write C++ here.", "C++"),
        ("The ResNet-50 wins.", "ResNet-50"),
        ("Says Müller.", "Müller"),
        ("量子计算是新的。", "量子计算"),
        ("Мы изучаем машинное обучение.", "машинное обучение"),
        ("An analysis of variance (ANOVA) is made.", "analysis of variance"),
    ],
)
def test_names_are_found_in_every_script(text: str, name: str) -> None:
    assert name in extract(text)


def test_phrases_end_at_stop_words_and_punctuation() -> None:
    found = extract("Loss aversion, mental accounting and the equity premium of stocks.")
    assert {"Loss aversion", "mental accounting", "equity premium"} <= found.keys()
    assert not [name for name in found if "aversion mental" in name or " and " in name or " of " in name]


def test_small_words_numbers_and_adverbs_name_nothing() -> None:
    assert extract("It was shown that 12.5 and 2019 were, rather significantly, the same as these.") == {}
    assert extract("") == {}


@pytest.mark.parametrize(
    ("text", "names", "others"),
    [
        ("We train neural networks.", {"neural networks"}, {"train", "train neural networks"}),
        ("Drugs can not only slow tumour growth.", {"tumour growth"}, {"slow tumour growth", "slow"}),
        ("They significantly smooth noisy signals.", {"noisy signals"}, {"smooth noisy signals"}),
        ("The supply-chain broke the firm.", {"supply-chain"}, {"supply-chain broke", "broke"}),
        (
            "A fully connected layer of locally advanced cancer.",
            {"fully connected layer", "connected layer"},
            {"fully"},
        ),
        ("It is strongly correlated with income.", {"income"}, {"strongly", "strongly correlated"}),
        ("It was significantly reduced mortality.", {"mortality"}, {"significantly reduced mortality"}),
        ("PASCAL VOC 2012 and ICDAR 2015 data.", {"PASCAL VOC 2012", "ICDAR 2015"}, {"2012", "2015"}),
        ("In Table 2012 of Smith 2010, HR 0.8 and CI 95.", set(), {"HR 0.8", "CI 95", "Smith 2010", "HR", "CI"}),
        ("AP and QA are reported, US and II as well.", {"AP", "QA"}, {"US", "II"}),
        ("We test Faster R-CNN.", {"R-CNN"}, {"test Faster R-CNN"}),
    ],
)
def test_fragments_are_not_names(text: str, names: set[str], others: set[str]) -> None:
    found = extract(text).keys()
    assert names <= found
    assert not others & found


def test_a_verb_is_left_out_and_what_follows_is_not() -> None:
    """Only the word after "we" is a verb, even where the list of verbs knows it too."""
    assert "neural networks" in extract("We find neural networks here.")
    assert "deep neural networks" in extract("We also find deep neural networks here.")


def test_counts_and_sentences_are_those_of_the_text() -> None:
    found = extract(
        "Loss aversion is strong. A loss aversion coefficient is estimated. We like loss aversion and loss aversion.",
        heading="On loss aversion",
    )
    mention = found["loss aversion"]
    assert mention.count == 4  # heading, second and third sentence
    assert mention.sentences == (-1, 1, 2)
    assert mention.independent == 3  # not inside the coefficient
    assert found["Loss aversion"].sentences == (0,)
    assert found["loss aversion coefficient"].independent == 1


def test_title_and_heading_count_as_no_sentence() -> None:
    assert extract("", lead="Prospect theory")["Prospect theory"].sentences == (-1,)
    assert extract("", heading="Prospect theory")["Prospect theory"].count == 1


def test_sentence_spans_cover_what_they_say() -> None:
    text = "Loss aversion is strong. Mental accounting is not."
    extraction = EXTRACTOR.extract(Section("d#0", "d", "", text))
    assert [text[start:end] for start, end in extraction.sentences] == [
        "Loss aversion is strong.",
        "Mental accounting is not.",
    ]


def test_terms_are_as_long_as_configured() -> None:
    text = "Bayesian vector autoregression forecast combination scheme weights."
    assert max(len(name.split()) for name in extract(text)) == 5
    short = KeyphraseExtractor(KeyphraseConfig(max_words=2))
    found = short.extract(Section("d#0", "d", "", text)).mentions
    assert max(len(mention.name.split()) for mention in found) == 2
    assert short.fingerprint != EXTRACTOR.fingerprint


@settings(max_examples=150)
@given(st.text(st.sampled_from("abcdeß β-VAEC++量子计算的.,;()\n'’#/éस्क ؟م 12")), st.text(max_size=20))
def test_any_text_gives_names_that_stand_in_it(text: str, lead: str) -> None:
    section = Section("d#0", "d", "", text, lead)
    extraction = EXTRACTOR.extract(section)
    assert extraction == EXTRACTOR.extract(dataclasses.replace(section, section_id="e#4", doc_id="e"))
    texts = {-1: lead} | {n: text[start:end] for n, (start, end) in enumerate(extraction.sentences)}
    for mention in extraction.mentions:
        assert 0 <= mention.independent <= mention.count
        assert 1 <= len(mention.sentences) <= mention.count
        for sentence in mention.sentences:
            assert " ".join(mention.name.split()) in " ".join(texts[sentence].split())


def table_of(sections: list[list[tuple[str, int, int]]], words: float = 120.0) -> MentionTable:
    """A table of sections of (name, count, independent)."""
    extractions = [Extraction(tuple(Mention(n, "term", c, (0,), i) for n, c, i in rows)) for rows in sections]
    blobs = [encode_extraction(extraction) for extraction in extractions]
    return read_mentions(blobs, list(range(len(blobs))), [words] * len(blobs))[0]


def reference_scores(sections: list[list[tuple[str, int, int]]]) -> list[dict[str, float]]:
    """The formula of ``scores``, term by term, with the default weights."""
    total: dict[str, int] = {}
    alone: dict[str, int] = {}
    holding: dict[str, set[int]] = {}
    tf: list[dict[str, int]] = [{} for _ in sections]
    own: list[dict[str, int]] = [{} for _ in sections]
    coined: list[set[str]] = [set() for _ in sections]
    for number, rows in enumerate(sections):
        for name, count, independent in rows:
            form = name_form(name)
            total[form] = total.get(form, 0) + count
            alone[form] = alone.get(form, 0) + independent
            holding.setdefault(form, set()).add(number)
            tf[number][form] = tf[number].get(form, 0) + count
            own[number][form] = own[number].get(form, 0) + independent
            if name in COINED:
                coined[number].add(form)
    return [
        {
            form: (1 + math.log(count))
            * math.log2(1 + len(form.split()))
            * math.log(1 + len(sections) / len(holding[form])) ** 0.25
            * max((alone[form] + 0.5) / (total[form] + 1), (own[number][form] + 0.5) / (count + 1))
            * (1.0 if len(holding[form]) > 1 else 0.7)
            * (1.25 if form in coined[number] else 1.0)
            for form, count in counts.items()
        }
        for number, counts in enumerate(tf)
    ]


NAMES = [
    "alpha risk",
    "Alpha risks",
    "beta",
    "gamma delta",
    "epsilon zeta eta",
    "theta",
    "iota kappa",
    "lamda",
    "mu nu",
    "BLEU",
    "Bleu",
    "GPT-2 loss",
]
COINED = {"BLEU", "GPT-2 loss"}
SECTION = st.dictionaries(st.sampled_from(NAMES), st.tuples(st.integers(1, 5), st.integers(0, 5)), max_size=9).map(
    lambda found: [(name, count, min(count, alone)) for name, (count, alone) in found.items()]
)


@settings(max_examples=100)
@given(st.lists(SECTION, min_size=1, max_size=6))
def test_the_best_terms_by_the_formula_are_kept_in_whatever_order(sections: list[list[tuple[str, int, int]]]) -> None:
    config = KeyphraseConfig(words_per_term=40.0, min_terms=1)
    table = table_of(sections)
    kept = KeyphraseExtractor(config).select(table)
    scores = reference_scores(sections)
    ranked = [sorted(own, key=lambda form: (-round(own[form], 9), form_key(form))) for own in scores]
    chosen_by = Counter(form for own in ranked for form in own[:3])
    for number in range(len(sections)):
        rows = np.flatnonzero(table.section == number)
        chosen = {table.forms[table.name[row]] for row in rows if kept[row]}
        dropped = {table.forms[table.name[row]] for row in rows if not kept[row]}
        assert not chosen & dropped  # all spellings of a name go together
        shared = {form for form in ranked[number][3:6] if chosen_by[form] >= 2}
        assert chosen == {*ranked[number][:3], *shared}
    order = np.random.default_rng(len(table.section)).permutation(len(table.section))
    shuffled = dataclasses.replace(
        table,
        section=table.section[order],
        surface=table.surface[order],
        name=table.name[order],
        count=table.count[order],
        independent=table.independent[order],
    )
    assert np.array_equal(KeyphraseExtractor(config).select(shuffled), kept[order])


@settings(max_examples=50)
@given(st.lists(SECTION, min_size=1, max_size=6))
def test_scores_are_those_of_the_formula(sections: list[list[tuple[str, int, int]]]) -> None:
    table = table_of(sections)
    if not len(table.section):
        return
    section_of, name_of, row_pair, score = EXTRACTOR.scores(table)
    assert np.array_equal(section_of[row_pair], table.section)
    assert np.array_equal(name_of[row_pair], table.name)
    found: list[dict[str, float]] = [{} for _ in sections]
    for section, name, value in zip(section_of, name_of, score, strict=True):
        found[section][table.forms[name]] = float(value)
    for own, expected in zip(found, reference_scores(sections), strict=True):
        assert own == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "coined"),
    [
        ("ImageNet", True),
        ("GPT-2", True),
        ("BLEU score", True),
        ("Markov chain", False),
        ("2d", False),
        ("CONCLUSIONS", False),
    ],
)
def test_coined_names_weigh_more(name: str, coined: bool) -> None:
    scores = [
        KeyphraseExtractor(KeyphraseConfig(coined=weight)).scores(table_of([[(name, 1, 1)]]))[3][0]
        for weight in (1.0, 2.0)
    ]
    assert scores[1] == scores[0] * (2 if coined else 1)


def test_no_mentions_select_none() -> None:
    assert EXTRACTOR.select(table_of([[], []])).shape == (0,)
    assert EXTRACTOR.select(table_of([])).shape == (0,)


def test_longer_sections_keep_more_terms_within_bounds() -> None:
    rows = [(f"name{'abcdefghijklmnopqrstuvwxyz'[i % 26]}{chr(97 + i // 26)}", 1, 1) for i in range(100)]
    kept = [int(EXTRACTOR.select(table_of([rows], words)).sum()) for words in (0.0, 60.0, 120.0, 300.0, 10_000.0)]
    assert kept == [6, 6, 10, 25, 40]
