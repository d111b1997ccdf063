"""``names`` and ``contexts`` against their formulas by brute force; which questions are names."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from torch import Tensor

from kg.lateral import SAME_AS, LateralGraph
from retrieval.method_names import WITHOUT_ENCODER
from retrieval.methods import Methods
from retrieval.name_lookup import NameLookup
from retrieval.name_methods import ByQuestion, ContextScorer, Floored, NamedConcepts, NameScorer
from tests.conftest import HashEncoder

QUESTION = "false discovery rate and loss aversion"
NOTHING = "zzzz qqqq"


def number(graph: LateralGraph, form: str) -> int:
    return int(graph.concepts["form"].to_pylist().index(form))


@pytest.fixture(scope="module")
def links(sample_graph: LateralGraph) -> np.ndarray:
    """A chain of uncertain links from "false discovery rate", weak ones beside it; dense, symmetric."""
    n, start = sample_graph.n_concepts, number(sample_graph, "false discovery rate")
    a, b, c, d, e = [v for v in range(0, n, 97) if v != start][:5]
    dense = np.zeros((n, n))
    for u, v, p in ((start, a, 0.6), (a, b, 0.5), (b, c, 0.9), (start, b, 0.2), (start, d, 0.1), (d, e, 0.4)):
        dense[u, v] = dense[v, u] = p
    return dense


@pytest.fixture(scope="module")
def graph(sample_graph: LateralGraph, links: np.ndarray) -> LateralGraph:
    made = copy.copy(sample_graph)
    made[SAME_AS].adj_t = torch.from_numpy(links).float().to_sparse_csr()
    return made


@pytest.fixture(scope="module")
def named(graph: LateralGraph) -> NamedConcepts:
    return NamedConcepts(graph, NameLookup(graph))


def paths(links: np.ndarray, start: int) -> np.ndarray:
    """Best product over paths of at most two links, those below .05 not followed."""
    once = np.where(links[start] >= 0.05, links[start], 0.0)
    twice = (once[:, None] * links).max(axis=0)
    best = np.maximum(once, np.where(twice >= 0.05, twice, 0.0))
    best[start] = 1.0
    return best


def test_links_are_followed_twice_and_by_the_best_path(
    graph: LateralGraph, links: np.ndarray, named: NamedConcepts
) -> None:
    start = number(graph, "false discovery rate")
    found = named.alike(start).numpy()
    assert np.allclose(found, paths(links, start), atol=1e-6)
    assert sorted(found[found > 0].tolist()) == pytest.approx([0.1, 0.2 * 0.9, 0.3, 0.6, 1.0])  # e is at .04, too far


def test_what_a_question_names(graph: LateralGraph, named: NamedConcepts) -> None:
    forms = graph.concepts["form"].to_pylist()
    assert [forms[c] for c in named.of("the false discovery rate (metric)")] == ["false discovery rate"]
    assert {forms[c] for c in named.of(QUESTION)} >= {"false discovery rate", "loss aversion"}
    assert named.of(NOTHING) == named.of("") == []


@pytest.mark.parametrize(
    ("question", "is_name"),
    [
        ("loss aversion", True), ("False discovery rates (metric)", True), (QUESTION, False), (NOTHING, False),
        ("", False),
        ("what drives loss aversion in qqqq?", False),
    ],
)  # fmt: skip
def test_a_name_and_nothing_more(named: NamedConcepts, question: str, is_name: bool) -> None:
    assert named.is_name(question) == is_name


def test_names_is_the_formula(graph: LateralGraph, links: np.ndarray, named: NamedConcepts) -> None:
    held = graph.incidence.to_dense().numpy() > 0
    expected = np.zeros(graph.n_sections)
    for concept in named.of(QUESTION):
        alike = paths(links, concept)
        rarity = np.log1p(graph.n_sections / max(graph.concepts["n_sections"][concept].as_py(), 1))
        expected += rarity * np.sqrt((held * alike).max(axis=1))
    found = NameScorer(graph, named).score([QUESTION, NOTHING])
    assert found.shape == (2, graph.n_sections)
    assert torch.equal(found[1], torch.full((graph.n_sections,), -torch.inf))
    assert np.array_equal(np.isneginf(found[0].numpy()), expected <= 0)
    assert np.allclose(found[0].numpy()[expected > 0], expected[expected > 0], atol=1e-5)
    floored = Floored(NameScorer(graph, named)).score([QUESTION, NOTHING])
    assert torch.equal(floored, found.clamp(min=0.0))


def test_contexts_is_the_formula(graph: LateralGraph, named: NamedConcepts) -> None:
    x = graph["section"].x.double().numpy()
    held = graph.incidence.to_dense().numpy() > 0
    total = np.zeros(x.shape[1])
    for concept in named.of(QUESTION):
        mean = x[held[:, concept]].sum(axis=0)
        total += float(named.rarity[concept]) * mean / np.linalg.norm(mean)
    found = ContextScorer(graph, named).score([QUESTION, NOTHING])
    assert np.allclose(found[0].numpy(), x @ (total / np.linalg.norm(total)), atol=1e-5)
    assert bool(torch.isneginf(found[1]).all())


class Constant:
    """A scorer double: one value everywhere, and what it was asked."""

    def __init__(self, value: float) -> None:
        self.value = value
        self.asked: list[tuple[list[str], Tensor | None]] = []

    def score(self, texts: Sequence[str], usable: Tensor | None = None) -> Tensor:
        self.asked.append((list(texts), usable))
        return torch.full((len(texts), 2), self.value)


def test_each_question_goes_to_its_method_with_its_own_sections(named: NamedConcepts) -> None:
    names, others = Constant(1.0), Constant(2.0)
    usable = torch.tensor([[True, False], [False, True], [True, True]])
    texts = ["loss aversion", NOTHING, "false discovery rate"]
    found = ByQuestion(named, names, others).score(texts, usable)
    assert found[:, 0].tolist() == [1.0, 2.0, 1.0]
    assert [asked for asked, _ in names.asked + others.asked] == [[texts[0], texts[2]], [NOTHING]]
    assert torch.equal(names.asked[0][1], usable[[0, 2]])  # type: ignore[arg-type]
    assert torch.equal(others.asked[0][1], usable[[1]])  # type: ignore[arg-type]
    for chosen, value in ((texts[:1], 1.0), (texts[1:2], 2.0)):
        assert ByQuestion(named, names, others).score(chosen).unique().tolist() == [value]


@pytest.mark.parametrize("method", ["names", "contexts"])
def test_no_encoder_is_needed(method: str, sample_graph: LateralGraph, hash_encoder: HashEncoder) -> None:
    assert method in WITHOUT_ENCODER
    without = Methods(sample_graph, None).scorer(method).score([QUESTION])
    assert torch.equal(without, Methods(sample_graph, hash_encoder).scorer(method).score([QUESTION]))
