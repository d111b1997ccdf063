"""Which names are compared: each rung brings its kind of pair together, and none brings together too many."""

from __future__ import annotations

import tracemalloc
from itertools import islice, permutations
from random import Random

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kg.candidates import CandidateConfig, candidate_pairs
from kg.names import name_form
from kg.near import NearConfig
from kg.profiles import profile
from kg.stems import readable, signature
from tests.conftest import HashEncoder

NOT_NEAR = CandidateConfig(near=NearConfig(neighbours=0))
"""Names alone: no pair comes from vectors."""


def pairs_of(
    surfaces: list[str],
    vectors: torch.Tensor | None = None,
    config: CandidateConfig = NOT_NEAR,
    kinds: list[str] | None = None,
    contexts: torch.Tensor | None = None,
) -> list[list[int]]:
    profiles = [
        profile(kind, surface) for kind, surface in zip(kinds or ["term"] * len(surfaces), surfaces, strict=True)
    ]
    rows = torch.zeros(len(surfaces), 1) if vectors is None else vectors
    pairs = candidate_pairs(profiles, list(map(name_form, surfaces)), rows, contexts, config)
    assert pairs.dtype == np.int64
    found: list[list[int]] = pairs.tolist()
    assert found == [list(pair) for pair in sorted({(i, j) for i, j in found if i < j})]
    return found


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("climate modelling", "modeling climate"), ("behavioural economics", "behavioral economics"),
        ("naïve bayes", "naive bayes"), ("randomised trial", "randomized trial"), ("fibre centre", "fiber center"),
        ("regressions", "regression"), ("Москва", "Moskva"), ("CIFAR-10", "the CIFAR10 dataset"),
        ("MLP (multilayer perceptron)", "multilayer perceptron"), ("CAPM", "capital asset pricing model"),
        ("PTB", "Penn Treebank"), ("BLEU", "BLEU score"), ("supply chain", "supply chain management"),
        ("Cobb-Douglas function", "generalised Douglas production"), ("Hernandes", "Hernandez"),
        ("rnandez", "hernandez"), ("World War II", "Second World War"), ("WMT'14", "WMT 2014"),
    ],
)  # fmt: skip
def test_pairs_of_a_kind_meet_however_far_their_vectors_are(left: str, right: str) -> None:
    assert pairs_of([left, right]) == pairs_of([right, left]) == [[0, 1]]
    # Among other names too.
    assert [0, 3] in pairs_of([left, "tax", "monetary policy", right])


@pytest.mark.parametrize(
    "names", [["量子计算", "机器学习", "машинное обучение"], ["AI", "ML", "IT"], ["tax", "monetary policy", "∇"]]
)
def test_names_with_nothing_in_common_do_not_meet(names: list[str]) -> None:
    assert pairs_of(names) == []


def test_near_names_meet_by_their_vectors_if_these_say_what_they_mean() -> None:
    near = torch.tensor([[1.0, 0.0], [0.8, 0.6]])
    assert pairs_of(["heart attack", "myocardial infarction"], near, CandidateConfig()) == [[0, 1]]
    assert pairs_of(["heart attack", "tax"], torch.eye(2), CandidateConfig()) == []
    # An encoder has one token for all that it cannot read.
    assert pairs_of(["物理", "化学"], near, CandidateConfig()) == []
    assert pairs_of(["x" * 150, "y" * 150], near, CandidateConfig()) == []


def test_names_in_one_place_meet_only_where_that_is_asked_for() -> None:
    around = CandidateConfig(near=NearConfig(neighbours=0), around=NearConfig())
    same = torch.tensor([[1.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    names = ["heart attack", "tax", "infarction", "monetary policy"]
    assert pairs_of(names, config=around, contexts=same) == [[0, 2]]  # rows of zeros stand nowhere
    assert pairs_of(names, config=NOT_NEAR, contexts=same) == []
    assert pairs_of(names, config=around) == []


def test_two_known_types_never_meet_and_an_unknown_one_meets_all() -> None:
    names = ["ford", "ford", "fords", "ford"]
    assert pairs_of(names, torch.ones(4, 1), CandidateConfig(), ["company", "person", "person", ""]) == [
        [0, 3], [1, 2], [1, 3], [2, 3],
    ]  # fmt: skip


def test_no_names_give_no_pairs() -> None:
    assert pairs_of([], torch.zeros(0, 8), CandidateConfig()) == []
    assert pairs_of(["a"], torch.ones(1, 8), CandidateConfig()) == []


FORMS = st.lists(
    st.lists(
        st.sampled_from("model modelling climate β 量子 a 2 risk risky CAPM 🙂 Москва moskva".split()),
        min_size=1, max_size=3,
    ).map(" ".join),
    unique=True, max_size=12,
)  # fmt: skip


@settings(max_examples=60)
@given(FORMS, st.randoms(use_true_random=False))
def test_candidates_are_those_of_the_set_of_names(names: list[str], random: Random) -> None:
    def found(order: list[str]) -> set[frozenset[str]]:
        pairs = pairs_of(order, HashEncoder().encode_documents(order), CandidateConfig())
        return {frozenset((order[i], order[j])) for i, j in pairs}

    pairs = found(names)
    shuffled = list(names)
    random.shuffle(shuffled)
    assert found(shuffled) == pairs
    vectors = HashEncoder().encode_documents(names)
    cosines = vectors.double() @ vectors.double().T
    forms = list(map(name_form, names))
    for i in range(len(names)):
        for j in range(i):
            near = cosines[i, j] >= NearConfig().floor + 1e-4 and readable(forms[i]) and readable(forms[j])
            if near or signature(forms[i]) == signature(forms[j]):
                assert frozenset((names[i], names[j])) in pairs


# --- many names ---------------------------------------------------------------------------------------------------


def test_ten_thousand_variants_of_one_name_are_compared_with_a_few_each() -> None:
    words = "behaviour centre supply risk chain model value".split()
    orders = list(islice(permutations(words), 5000))
    names = [" ".join(order) for order in orders]
    names += [name.replace("behaviour", "behavior").replace("centre", "center") for name in names]
    assert len(set(names)) == 10_000
    # The stems of all are the same: neighbours and one hub, at most two pairs a name from their block; the window of
    # three in either order of letters, and the block of equal letters, give the rest.
    pairs = pairs_of(names)
    assert 10_000 <= len(pairs) <= 10 * len(names)
    assert len(set(np.ravel(pairs).tolist())) == 10_000


def test_memory_grows_with_the_names_and_not_with_their_square() -> None:
    words = "behaviour centre supply risk chain model value".split()
    orders = [" ".join(order) for order in islice(permutations(words), 1400)]
    peaks = []
    for n in (700, 1400):
        profiles = [profile("term", name) for name in orders[:n]]
        vectors = torch.ones(n, 1)
        tracemalloc.start()
        candidate_pairs(profiles, orders[:n], vectors)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 3 * peaks[0]  # of the square it would be four times as much


def test_a_common_word_or_a_common_acronym_pairs_no_two_of_thousands() -> None:
    letters = "abcdefghijklmnopqrst"
    names = [f"{a}{b}{c}zz {c}{b}{a}qq risk" for a in letters for b in letters for c in letters[:5]]
    names += ["CAPM", "risk"]
    assert len(pairs_of(names)) <= 8 * len(names)


def test_vectors_of_thousands_of_unreadable_names_are_not_looked_at() -> None:
    names = sorted({chr(0x10D0 + i % 33) + chr(0x10D0 + i // 33 % 33) + chr(0x10D0 + i // 1089) for i in range(3000)})
    equal = torch.nn.functional.normalize(torch.ones(len(names), 8), dim=1)
    pairs = pairs_of(names, equal, CandidateConfig())
    assert pairs == pairs_of(names)
    assert len(pairs) <= 6 * len(names)
