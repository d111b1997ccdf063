"""Merging joins spellings and expansions of one thing, and nothing else, whatever comes between them."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, islice, permutations
from random import Random

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kg.candidates import CandidateConfig
from kg.merge import EVIDENCE, MENTIONS, MergeConfig, Merged, Names, merge_names, pair_cosines
from kg.near import NearConfig
from kg.overrules import Overrules, Said
from kg.profiles import Expansions
from tests.conftest import HashEncoder

RULES = MergeConfig(rungs="rules")
EMBEDDINGS = MergeConfig(rungs="embeddings")
EVERY_RUNG = pytest.mark.parametrize("config", [RULES, EMBEDDINGS, MergeConfig(), MENTIONS])


def merged(
    surfaces: list[str],
    config: MergeConfig,
    vectors: torch.Tensor | None = None,
    contexts: torch.Tensor | None = None,
    types: list[str] | None = None,
    expansions: Expansions | None = None,
) -> Merged:
    rows = HashEncoder().encode_documents(surfaces) if vectors is None else vectors
    return merge_names(
        Names(types or ["term"] * len(surfaces), surfaces, rows, contexts, None, expansions or {}), config
    )


def groups_of(surfaces: list[str], config: MergeConfig, vectors: torch.Tensor | None = None) -> set[frozenset[str]]:
    group = merged(surfaces, config, vectors).group
    return {frozenset(s for s, g in zip(surfaces, group, strict=True) if g == number) for number in group}


def at_cosine(cosine: float) -> torch.Tensor:
    """Two unit rows."""
    return torch.tensor([[1.0, 0.0], [cosine, (1 - cosine**2) ** 0.5]])


# --- two names ----------------------------------------------------------------------------------------------------


@EVERY_RUNG
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("ResNet-50", "ResNet-101"), ("GPT-2", "GPT-3"), ("type I error", "type II error"), ("H1", "H2"),
        ("vitamin C", "vitamin D"), ("March 31, 1954", "October 31, 1954"),
        ("Monday effect", "Friday effect"), ("before the merger", "after the merger"),
        ("two-stage model", "three-stage model"), ("supervised learning", "unsupervised learning"),
        ("linear model", "nonlinear model"), ("hypotension", "hypertension"), ("microeconomics", "macroeconomics"),
        ("male patient", "female patient"), ("primary outcome", "secondary outcome"),
        ("supply shock", "demand shock"), ("convex set", "concave set"), ("import tariff", "export tariff"),
        ("symmetric information", "asymmetric information"), ("parametric test", "nonparametric test"),
        ("employer branding", "employee branding"), ("inflation", "deflation"), ("encoder", "decoder"),
        ("thirteenth century", "thirtieth century"), ("Louis XIV", "Louis XVI"), ("pre-training", "post-training"),
        ("Spring 2014", "Summer 2014"), ("North Carolina", "South Carolina"), ("unigram model", "bigram model"),
        ("Holmes Jr.", "Holmes Sr."), ("WMT'14", "WMT 2015"), ("Halo 3", "Halo 2003"), ("50 BC", "50 AD"),
    ],
)  # fmt: skip
def test_opposites_numbers_and_dates_are_refused_however_near(config: MergeConfig, left: str, right: str) -> None:
    for names in ([left, right], [right, left]):
        assert merged(names, config, torch.ones(2, 1)).group.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("left", "right", "config"), [("employer", "employment", RULES), ("responder", "non responder", MENTIONS)]
)
def test_roles_and_separate_prefixes_are_refused(left: str, right: str, config: MergeConfig) -> None:
    assert merged([left, right], config, torch.ones(2, 1)).group.tolist() == [0, 1]


@EVERY_RUNG
@pytest.mark.parametrize(
    ("left", "right"), [("AI", "ML"), ("量子计算", "量子通信"), ("x" * 150, "y" * 150), ("supply chain", "tax")]
)
def test_far_names_stay_apart(config: MergeConfig, left: str, right: str) -> None:
    assert merged([left, right], config, torch.eye(2)).group.tolist() == [0, 1]


@pytest.mark.parametrize("config", [RULES, EMBEDDINGS, MENTIONS])
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("behavioural economics", "behavioral economics"), ("climate risk modelling", "risk modeling climate"),
        ("randomised trial", "randomized trial"), ("naïve bayes", "naive bayes"), ("data centre", "data center"),
        ("consumer behaviour", "consumer behavior"), ("carbon fibre", "carbon fiber"), ("Москва", "Moskva"),
        ("World War II", "Second World War"), ("WMT'14", "WMT 2014"), ("Jan 2014", "January 2014"),
        ("13th century", "thirteenth century"), ("Apollo XIII", "Apollo 13"), ("Dr. Smith", "Smith"),
    ],
)  # fmt: skip
def test_variants_are_joined(config: MergeConfig, left: str, right: str) -> None:
    for names in ([left, right], [right, left]):
        assert merged(names, config, at_cosine(0.9)).group.tolist() == [0, 0]


@pytest.mark.parametrize("config", [RULES, EMBEDDINGS, MergeConfig()])
@pytest.mark.parametrize(("left", "right"), [("COVID-19", "COVID"), ("C", "C++"), ("ResNet-50", "ResNet")])
def test_a_number_or_sign_that_only_one_has_is_not_dropped(config: MergeConfig, left: str, right: str) -> None:
    for names in ([left, right], [right, left]):
        assert merged(names, config, at_cosine(0.7)).group.tolist() == [0, 1]


@pytest.mark.parametrize(("cosine", "groups"), [(0.5, [0, 1]), (0.9, [0, 0])])
def test_the_same_stems_of_far_vectors_are_not_one_by_rules(cosine: float, groups: list[int]) -> None:
    assert merged(["data centre", "data center"], RULES, at_cosine(cosine)).group.tolist() == groups


@pytest.mark.parametrize("config", [RULES, EMBEDDINGS, MergeConfig()])
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("New York", "York"), ("general relativity", "relativity"), ("standard deviation", "deviation"),
        ("Burger King", "Burger"), ("Captain America", "America"), ("MR imaging", "imaging"), ("IL-1", "1"),
    ],
)  # fmt: skip
def test_half_a_name_is_not_the_name(config: MergeConfig, left: str, right: str) -> None:
    for names in ([left, right], [right, left]):
        assert merged(names, config, at_cosine(0.8)).group.tolist() == [0, 1]


def test_other_names_are_joined_by_a_high_cosine_where_embeddings_decide() -> None:
    names = ["heart attack", "myocardial infarction"]
    config = replace(EMBEDDINGS, join=0.7)
    floor = config.embedding_cosine
    assert merged(names, config, at_cosine(floor + 1e-3)).group.tolist() == [0, 0]
    assert merged(names, config, at_cosine(floor - 1e-3)).group.tolist() == [0, 1]
    assert merged(names, replace(RULES, join=0.7), at_cosine(1.0)).group.tolist() == [0, 1]


@pytest.mark.parametrize("config", [RULES, EMBEDDINGS])
@pytest.mark.parametrize("names", [["ML", "maximum likelihood"], ["crf", "case report form"]])
def test_letters_alone_join_nothing_by_rules(config: MergeConfig, names: list[str]) -> None:
    assert merged(names, config, at_cosine(0.94)).group.tolist() == [0, 1]


def test_an_acronym_is_what_the_papers_say_it_is() -> None:
    names = ["CAPM", "capital asset pricing model"]
    told = merged(names, MergeConfig(), expansions={"capm": ("capital", "asset", "pricing", "model")})
    assert told.group.tolist() == [0, 0]
    untold = merged(names, RULES)
    assert untold.group.tolist() == [0, 1]  # initials alone prove nothing
    (evidence,) = merged(names, MergeConfig()).evidence
    assert EVIDENCE[evidence] == "letters of an acronym"


def test_an_acronym_is_not_what_the_papers_say_it_is_not() -> None:
    names = ["CAPM", "capital asset pricing model"]
    told = merged(names, MergeConfig(), expansions={"capm": ("cluster", "analysis", "of", "plant", "membrane")})
    assert told.group.tolist() == [0, 1]
    # Where papers give it several senses no expansion is told, but that it is explained.
    rows = at_cosine(0.99)
    several = merge_names(Names(["", ""], names, rows, explained=frozenset({"capm"})))
    assert several.group.tolist() == [0, 1]
    assert max(several.probability) <= MergeConfig().linked


def test_cosines_are_those_of_float64_whatever_stands_beside() -> None:
    vectors = HashEncoder().encode_documents([f"name {chr(97 + i)} of many" for i in range(20)])
    pairs = np.asarray(list(combinations(range(20), 2)))
    exact = (vectors.double() @ vectors.double().T).numpy()[pairs[:, 0], pairs[:, 1]]
    cosines = pair_cosines(vectors, pairs)
    assert np.abs(cosines - exact).max() <= 1e-6
    assert np.array_equal(pair_cosines(vectors, pairs, block=7), cosines)
    assert pair_cosines(vectors, pairs[5:6])[0] == cosines[5]


# --- homonyms -----------------------------------------------------------------------------------------------------


@EVERY_RUNG
def test_names_of_two_types_are_two(config: MergeConfig) -> None:
    found = merged(["Ford", "Ford"], config, torch.ones(2, 1), types=["company", "person"])
    assert found.group.tolist() == [0, 1]
    assert len(found.pairs) == 0


def test_mentions_in_two_fields_are_two_and_in_one_field_one() -> None:
    # Texts of one field are near (cosine about .99), those of the two fields far (about .1 and less).
    contexts = torch.tensor([[1.0, 0.1, 0.0, 0.0], [1.0, 0.0, 0.1, 0.0], [0.0, 0.0, 1.0, 0.1], [0.1, 0.0, 1.0, 0.0]])
    contexts = torch.nn.functional.normalize(contexts, dim=1)
    names = ["CRF"] * 4
    assert merged(names, MENTIONS, contexts=contexts, types=[""] * 4).group.tolist() == [0, 0, 2, 2]
    assert merged(names, MENTIONS, contexts=contexts[[0, 2, 1, 3]], types=[""] * 4).group.tolist() == [0, 1, 0, 1]
    assert merged(names, MENTIONS, contexts=contexts[[0, 1, 0, 1]]).group.tolist() == [0, 0, 0, 0]
    assert merged(names, MENTIONS, contexts=torch.zeros(4, 4)).group.tolist() == [0, 0, 0, 0]  # nothing is known


# --- sets of names ------------------------------------------------------------------------------------------------


def test_a_chain_of_near_vectors_stays_apart_at_its_ends() -> None:
    # Angles 0, .28, .56: cosines a-b and b-c .96, a-c .85. Of equal scores the pair of the smaller numbers is joined.
    angles = torch.tensor([0.0, 0.28, 0.56])
    vectors = torch.stack([angles.cos(), angles.sin()], dim=1)
    names = ["asset premium", "bond return", "credit yield"]
    config = replace(EMBEDDINGS, join=0.7)
    assert merged(names, config, vectors).group.tolist() == [0, 0, 2]
    assert merged(names, EMBEDDINGS, vectors).group.tolist() == [0, 1, 2]


def test_a_group_is_numbered_by_its_least_name() -> None:
    vectors = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    names = ["asset", "bond", "capital", "debenture"]
    assert merged(names, replace(EMBEDDINGS, join=0.7), vectors).group.tolist() == [0, 1, 0, 1]


def test_two_that_are_each_likely_one_with_a_third_are_compared() -> None:
    # No rung pairs the last two (far vectors, no key in common) but that both are near the first.
    vectors = torch.nn.functional.normalize(torch.tensor([[1.0, 0.0], [1.0, 0.2], [1.0, -0.2]]), dim=1)
    near = CandidateConfig(near=NearConfig(floor=0.95))
    names = ["asset", "bond", "debenture"]
    config = replace(EMBEDDINGS, join=0.7, embedding_cosine=0.9, candidates=near)
    assert merged(names, config, vectors).group.tolist() == [0, 0, 0]  # cosine of the last two: .923


ODD = st.sampled_from(
    [
        "CRF", "crf", "conditional random field", "量子计算", "量子通信", "Москва", "Moskva", "🙂", "∇", "AI", "ML",
        "x", "x" * 300, " ".join(["verylongword"] * 23), "GPT-2", "GPT-3", "2", "14", "2014", "BLEU", "BLEU score",
        "modelling of climate", "climate modeling", "C++", "C", "naïve Bayes", "Naive Bayes",
    ]
)  # fmt: skip


@EVERY_RUNG
@settings(max_examples=25)
@given(names=st.lists(ODD, unique=True, max_size=10), random=st.randoms(use_true_random=False))
def test_the_order_of_names_does_not_matter(config: MergeConfig, names: list[str], random: Random) -> None:
    def judged(order: list[str]) -> dict[frozenset[str], tuple[float, int]]:
        found = merged(order, config)
        assert found.pairs.tolist() == sorted(found.pairs.tolist())
        assert all(found.group[number] == number for number in found.group)
        values = zip(found.probability.tolist(), found.evidence.tolist(), strict=True)
        return {frozenset((order[i], order[j])): value for (i, j), value in zip(found.pairs, values, strict=True)}

    pairs = judged(names)
    shuffled = list(names)
    random.shuffle(shuffled)
    assert judged(shuffled) == pairs
    scores = [score for score, _ in pairs.values()]
    assert all(0.0 <= score <= 1.0 for score in scores)
    if len(set(scores)) == len(scores):  # ties are broken by the numbers of the names
        assert groups_of(shuffled, config) == groups_of(names, config)


@EVERY_RUNG
def test_very_long_very_short_one_and_no_names(config: MergeConfig) -> None:
    long = " ".join(["verylongword"] * 25)[:300]
    apart = {frozenset({"AI"}), frozenset({"ML"}), frozenset({"IT"})}
    assert groups_of([long, long[:-1] + "z", "AI", "ML", "IT"], config) >= apart
    assert groups_of(["x"], config) == {frozenset({"x"})}
    nothing = merged([], config)
    assert (nothing.group.tolist(), nothing.pairs.shape, nothing.probability.tolist()) == ([], (0, 2), [])


def test_a_name_without_a_visible_character_is_one_with_nothing() -> None:
    assert merged(["", "x", "\u200b"], RULES).group.tolist()[1] == 1


def test_many_variants_of_one_name_are_one() -> None:
    parts = [("behavioural", "behavioral"), ("modelling", "modeling"), ("analyse", "analyze"), ("centre", "center")]
    forms = [""]
    for choices in parts:
        forms = [f"{form} {choice}".strip() for form in forms for choice in choices]
    forms += [" ".join(reversed(form.split())) for form in forms]
    vectors = torch.nn.functional.normalize(torch.ones(len(forms), 4), dim=1)
    assert groups_of(forms, RULES, vectors) == {frozenset(forms)}


def test_ten_thousand_variants_of_one_name_are_one() -> None:
    words = "behaviour centre supply risk chain model value".split()
    names = [" ".join(order) for order in islice(permutations(words), 5000)]
    names += [name.replace("behaviour", "behavior").replace("centre", "center") for name in names]
    vectors = torch.nn.functional.normalize(torch.ones(len(names) + 1, 4), dim=1)
    group = merged([*names, "supply chain risk model"], MergeConfig(), vectors).group
    assert group[:-1].max() == 0
    assert group[-1] == len(names)


def test_names_of_more_words_than_are_matched_differ_by_those_behind() -> None:
    start = " ".join(f"w{chr(97 + n)}x" for n in range(26))
    vectors = torch.ones(2, 1)
    for left, right in (("1995", "2007"), ("supervised", "unsupervised")):
        found = merged([f"{start} {left}", f"{start} {right}"], MENTIONS, vectors)
        assert (found.group.tolist(), found.pairs.tolist()) == ([0, 1], [])
    assert merged([f"{start} france", f"{start} japan"], MergeConfig(), vectors).group.tolist() == [0, 1]
    assert merged([f"{start} rates", f"{start} rate"], MergeConfig(), vectors).group.tolist() == [0, 0]


def test_what_is_said_to_be_different_is_so_among_very_many_variants_too() -> None:
    words = "graph attention layer update".split()
    names = [" ".join(order) for order in permutations(words)]
    names += [name.replace("graph", "graphs") for name in names] + [name.replace("layer", "layered") for name in names]
    vectors = torch.ones(len(names), 1)
    plain = merged(names, RULES, vectors).group
    assert len(set(plain.tolist())) == 1
    for left, right in ((0, 40), (3, 71), (70, 5)):
        said = Overrules.of([Said("different", names[left], names[right])])
        group = merged(names, replace(RULES, overrules=said), vectors).group
        assert group[left] != group[right]
        assert len(set(group.tolist())) <= 3


@EVERY_RUNG
@pytest.mark.parametrize(
    "names",
    [
        ["通胀", "就业", "贸易", "货币"], ["供給網", "損失回避"], ["기계학습", "손실회피"], ["ตลาดแรงงาน", "ดนตรี"],
        ["ფიზიკა", "ქიმია"], ["ֆիզիկա", "քիմիա"], ["x" * 150, "y" * 150],
    ],
)  # fmt: skip
def test_names_that_an_encoder_cannot_read_stay_apart_whatever_their_vectors(
    config: MergeConfig, names: list[str]
) -> None:
    vectors = torch.nn.functional.normalize(torch.ones(len(names), 8), dim=1)
    assert len(groups_of(names, config, vectors)) == len(names)
