"""Which pairs are compared: all near ones while names are few, nearly all of them when they are many."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kg.candidates import CandidateConfig, Name, candidate_pairs, near_pairs, readable, signature, stem
from tests.conftest import HashEncoder

TOLERANCE = 2e-4
"""Pairs this near the floor may fall on either side of it."""


def clustered(n: int, dimension: int = 48, seed: int = 0) -> torch.Tensor:
    """Unit rows around n / 4 centres, many of them within cosine .9 of a neighbour."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((max(n // 4, 1), dimension))
    spread = rng.uniform(0.1, 0.8, (n, 1))
    rows = centres[rng.integers(0, len(centres), n)] + spread * rng.standard_normal((n, dimension))
    return torch.nn.functional.normalize(torch.from_numpy(rows), dim=1).float()


def all_pairs(vectors: torch.Tensor, floor: float) -> set[tuple[int, int]]:
    cosines = vectors.double().numpy() @ vectors.double().numpy().T
    return {(int(i), int(j)) for i, j in np.argwhere(cosines >= floor) if i < j}


def as_set(pairs: np.ndarray) -> set[tuple[int, int]]:
    found = [(int(i), int(j)) for i, j in pairs]
    assert found == sorted(set(found))
    assert all(i < j for i, j in found)
    return set(found)


@settings(max_examples=25)
@given(
    st.one_of(st.integers(0, 40), st.sampled_from([511, 512])), st.integers(0, 99), st.sampled_from([0.5, 0.8, 0.95])
)
def test_few_names_are_compared_exactly(n: int, seed: int, floor: float) -> None:
    vectors = clustered(n, seed=seed)
    found = as_set(near_pairs(vectors, CandidateConfig(floor=floor)))
    assert all_pairs(vectors, floor + TOLERANCE) <= found <= all_pairs(vectors, floor - TOLERANCE)


@pytest.mark.parametrize("offset", [0.0, 3.0])
def test_of_many_names_nearly_all_near_pairs_are_found_and_no_others(offset: float) -> None:
    # With an offset all vectors lie in a narrow cone, as those of many encoders do.
    vectors = torch.nn.functional.normalize(clustered(3000) + offset * clustered(1, seed=5), dim=1)
    config = CandidateConfig(floor=0.8 if not offset else 0.98)
    found = as_set(near_pairs(vectors, config))
    wanted = all_pairs(vectors, 0.9 if not offset else 0.99)
    assert len(wanted) > 1000
    assert len(found & wanted) >= 0.9 * len(wanted)
    assert found <= all_pairs(vectors, config.floor - TOLERANCE)


@pytest.mark.parametrize("n", [200, 1500])
def test_the_order_of_names_does_not_matter(n: int) -> None:
    vectors = clustered(n, seed=3)
    order = np.random.default_rng(1).permutation(n)
    there = {tuple(sorted(order[list(pair)].tolist())) for pair in as_set(near_pairs(vectors[torch.from_numpy(order)]))}
    assert there == as_set(near_pairs(vectors))


def test_a_thousand_equal_vectors_are_one_block() -> None:
    vectors = clustered(1).expand(1000, -1)
    assert len(near_pairs(vectors)) == 1000 * 999 // 2


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("climate modelling", "modeling climate"),
        ("behavioural economics", "behavioral economics"),
        ("naïve bayes", "naive bayes"),
        ("randomised trial", "randomized trial"),
        ("fibre centre", "fiber center"),
        ("regressions", "regression"),
    ],
)
def test_variants_share_a_signature(left: str, right: str) -> None:
    assert signature(left) == signature(right)


def test_signatures_keep_scripts_and_words_apart() -> None:
    forms = ["量子计算", "机器学习", "машинное обучение", "müller", "miller", "neural network", "neural"]
    assert len({signature(form) for form in forms}) == len(forms)
    assert stem("量子计算") == "量子计算"


def test_equal_signatures_meet_however_far_their_vectors_are() -> None:
    names: list[Name] = [("term", "climate model"), ("term", "model climate"), ("term", "tax")]
    assert candidate_pairs(names, torch.eye(3)).tolist() == [[0, 1]]


def test_types_never_meet() -> None:
    names: list[Name] = [("company", "ford"), ("person", "ford"), ("person", "fords")]
    assert candidate_pairs(names, torch.ones(3, 1)).tolist() == [[1, 2]]


def test_no_names_give_no_pairs() -> None:
    assert candidate_pairs([], torch.zeros(0, 8)).shape == (0, 2)
    assert candidate_pairs([("term", "a")], torch.ones(1, 8)).shape == (0, 2)


FORMS = st.lists(
    st.lists(st.sampled_from("model modelling climate β 量子 a 2 risk risky".split()), min_size=1, max_size=3).map(
        " ".join
    ),
    unique=True,
    max_size=12,
)


@settings(max_examples=60)
@given(FORMS, st.randoms(use_true_random=False))
def test_candidates_are_those_of_the_set_of_names(forms: list[str], random: object) -> None:
    names: list[Name] = [("term", form) for form in forms]
    vectors = HashEncoder().encode_documents(forms)
    found = {frozenset((forms[i], forms[j])) for i, j in candidate_pairs(names, vectors)}
    random.shuffle(names)  # type: ignore[attr-defined]
    shuffled = [form for _, form in names]
    pairs = candidate_pairs(names, HashEncoder().encode_documents(shuffled))
    as_set(pairs)
    assert {frozenset((shuffled[i], shuffled[j])) for i, j in pairs} == found
    cosines = vectors.double() @ vectors.double().T
    for i in range(len(forms)):
        for j in range(i):
            near = cosines[i, j] >= 0.8 + TOLERANCE and readable(forms[i]) and readable(forms[j])
            if near or signature(forms[i]) == signature(forms[j]):
                assert frozenset((forms[i], forms[j])) in found
