"""Merging joins spellings and expansions of one thing, and nothing else, whatever comes between them."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kg.build import Tools, build_graph, open_graph
from kg.candidates import Name, candidate_pairs
from kg.lateral import LateralGraph
from kg.merge import MergeConfig, compatible, complete_linkage, merge_names, pair_cosines, pair_score, score_pairs
from kg.names import name_form, name_key
from kg.records import Document
from tests.conftest import HashEncoder, paper

# --- complete linkage -------------------------------------------------------------------------------------------

GRAPHS = st.integers(1, 9).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.dictionaries(
            st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] < p[1]),
            st.sampled_from([0.85, 0.9, 0.95, 1.0]),
        ),
    )
)


def arrays(scored: dict[tuple[int, int], float]) -> tuple[np.ndarray, np.ndarray]:
    return np.asarray(list(scored), dtype=np.int64).reshape(-1, 2), np.asarray(list(scored.values()), dtype=np.float64)


def greedy(n: int, scored: dict[tuple[int, int], float]) -> list[int]:
    """Complete linkage by its definition: sets of names, best pair first, every cross pair looked up."""
    groups = [{i} for i in range(n)]
    for i, j in sorted(scored, key=lambda pair: (-scored[pair], pair)):
        left = next(g for g in groups if i in g)
        right = next(g for g in groups if j in g)
        if left is not right and all((min(a, b), max(a, b)) in scored for a in left for b in right):
            groups.remove(right)
            left |= right
    return [min(next(g for g in groups if i in g)) for i in range(n)]


@settings(max_examples=300)
@given(GRAPHS, st.randoms(use_true_random=False))
def test_groups_are_cliques_of_accepted_pairs_whatever_their_order(
    graph: tuple[int, dict[tuple[int, int], float]], random: object
) -> None:
    n, scored = graph
    group = complete_linkage(n, *arrays(scored))
    assert group.tolist() == greedy(n, scored)
    for i, j in combinations(range(n), 2):
        assert group[i] != group[j] or (i, j) in scored
    items = list(scored.items())
    random.shuffle(items)  # type: ignore[attr-defined]
    assert np.array_equal(complete_linkage(n, *arrays(dict(items))), group)


def test_a_chain_does_not_glue_its_ends() -> None:
    assert complete_linkage(3, *arrays({(0, 1): 0.95, (1, 2): 0.97})).tolist() == [0, 1, 1]
    assert complete_linkage(4, *arrays({(0, 1): 0.95, (1, 2): 0.95, (2, 3): 0.95})).tolist() == [0, 0, 2, 2]
    square = {(0, 1): 0.9, (2, 3): 0.9, (0, 2): 0.8, (0, 3): 0.8, (1, 2): 0.8}
    assert complete_linkage(4, *arrays(square)).tolist() == [0, 0, 2, 2]
    assert complete_linkage(4, *arrays(square | {(1, 3): 0.8})).tolist() == [0, 0, 0, 0]


def test_a_clique_with_one_pair_refused_is_two_groups() -> None:
    # Dense but not complete: two groups that can never join must not be compared name by name for each pair.
    n = 600
    pairs = np.asarray([p for p in combinations(range(n), 2) if p != (0, n - 1)], dtype=np.int64)
    group = complete_linkage(n, pairs, np.full(len(pairs), 0.95))
    assert group.tolist() == [0] * (n - 1) + [n - 1]


def test_nothing_to_join() -> None:
    assert complete_linkage(0, *arrays({})).tolist() == []
    assert complete_linkage(3, *arrays({})).tolist() == [0, 1, 2]


# --- one pair of names ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("resnet 50", "resnet 101"), ("gpt 2", "gpt 3"), ("type i error", "type ii error"), ("h1", "h2"),
        ("covid 19", "covid"), ("vitamin c", "vitamin d"), ("c", "c++"),
        ("supervised learning", "unsupervised learning"), ("linear model", "nonlinear model"),
        ("hypotension", "hypertension"), ("microeconomics", "macroeconomics"), ("male patient", "female patient"),
        ("primary outcome", "secondary outcome"), ("supply shock", "demand shock"), ("convex", "concave"),
        ("symmetric information", "asymmetric information"), ("parametric test", "nonparametric test"),
        ("supply chain", "supply chain management"), ("employer", "employment"), ("import tariff", "export tariff"),
        ("responder", "non responder"), ("inflation", "deflation"), ("encoder", "decoder"),
    ],
)  # fmt: skip
def test_opposites_numbers_and_narrower_names_are_refused_however_near(left: str, right: str) -> None:
    assert not compatible(left, right)
    assert not compatible(right, left)
    assert pair_score(left, right, 1.0) == pair_score(right, left, 1.0) == 0.0


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("behavioural economics", "behavioral economics"), ("climate modelling", "modeling climate"),
        ("randomised trial", "randomized trial"), ("naïve bayes", "naive bayes"), ("regression", "regressions"),
        ("neural network", "neural networks"),
        ("data centre", "data center"), ("consumer behaviour", "consumer behavior"), ("carbon fibre", "carbon fiber"),
    ],
)  # fmt: skip
def test_variants_are_joined(left: str, right: str) -> None:
    assert pair_score(left, right, 0.9) > 0
    assert pair_score(left, right, 0.9) == pair_score(right, left, 0.9)
    assert pair_score(left, right, 0.5) == 0.0  # the same stems of far vectors: organ and organisation


def test_other_names_are_joined_by_a_high_cosine_alone() -> None:
    config = MergeConfig()
    at, below = config.embedding_cosine, config.embedding_cosine - 1e-6
    assert pair_score("heart attack", "myocardial infarction", at) == at
    assert pair_score("heart attack", "myocardial infarction", below) == 0.0


@given(
    st.lists(
        st.sampled_from("supply demand risk i ii 2 neural nets networks β c un non a".split()), min_size=1, max_size=3
    ),
    st.lists(
        st.sampled_from("supply demand risk i ii 2 neural nets networks β c un non a".split()), min_size=1, max_size=3
    ),
    st.floats(0.0, 1.0),
)
def test_scores_are_symmetric_and_bounded(left: list[str], right: list[str], cosine: float) -> None:
    score = pair_score(" ".join(left), " ".join(right), cosine)
    assert score == pair_score(" ".join(right), " ".join(left), cosine)
    assert 0.0 <= score <= 1.0


def test_cosines_are_those_of_float64_whatever_stands_beside() -> None:
    vectors = HashEncoder().encode_documents([f"name {chr(97 + i)} of many" for i in range(20)])
    pairs = np.asarray(list(combinations(range(20), 2)))
    exact = (vectors.double() @ vectors.double().T).numpy()[pairs[:, 0], pairs[:, 1]]
    cosines = pair_cosines(vectors, pairs)
    assert np.abs(cosines - exact).max() <= 1e-6
    assert np.array_equal(pair_cosines(vectors, pairs, block=7), cosines)
    assert pair_cosines(vectors, pairs[5:6])[0] == cosines[5]


def test_pairs_of_different_types_score_nothing() -> None:
    names: list[Name] = [("company", "ford"), ("person", "ford")]
    assert score_pairs(names, torch.ones(2, 1), np.asarray([[0, 1]]), MergeConfig()).tolist() == [0.0]


# --- sets of names ----------------------------------------------------------------------------------------------


def groups_of(forms: list[str], vectors: torch.Tensor | None = None) -> set[frozenset[str]]:
    forms = sorted(forms)
    found = HashEncoder().encode_documents(forms) if vectors is None else vectors
    group = merge_names([("term", form) for form in forms], found)
    return {frozenset(f for f, g in zip(forms, group, strict=True) if g == number) for number in group}


def test_a_chain_of_near_vectors_stays_apart_at_its_ends() -> None:
    # Cosines: a-b .96, b-c .96, a-c about .85: b goes with a (the smaller pair), c stays.
    angles = torch.tensor([0.0, 0.28, 0.56])
    vectors = torch.stack([angles.cos(), angles.sin()], dim=1)
    forms = ["alpha premium", "beta return", "gamma yield"]
    assert groups_of(forms, vectors) == {frozenset(forms[:2]), frozenset(forms[2:])}


def test_a_group_is_numbered_by_its_least_name() -> None:
    vectors = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    names: list[Name] = [("term", form) for form in ("asset", "bond", "capital", "debenture")]
    assert merge_names(names, vectors).tolist() == [0, 1, 0, 1]


def test_very_long_and_very_short_names() -> None:
    long = " ".join(["verylongword"] * 25)[:300]
    assert groups_of([long, long[:-1] + "z", "ai", "ml", "it"]) >= {
        frozenset({"ai"}),
        frozenset({"ml"}),
        frozenset({"it"}),
    }
    assert groups_of([]) == set()
    assert groups_of(["x"]) == {frozenset({"x"})}


def test_many_variants_of_one_name_are_one() -> None:
    parts = [("behavioural", "behavioral"), ("modelling", "modeling"), ("analyse", "analyze"), ("centre", "center")]
    forms = [""]
    for choices in parts:
        forms = [f"{form} {choice}".strip() for form in forms for choice in choices]
    forms += [" ".join(reversed(form.split())) for form in forms]
    vectors = torch.nn.functional.normalize(torch.ones(len(forms), 4), dim=1)
    assert groups_of(forms, vectors) == {frozenset(forms)}


# --- through a graph of papers ----------------------------------------------------------------------------------


@pytest.fixture
def graph_of(tools: Tools, tmp_path: Path):
    def build(*documents: Document) -> LateralGraph:
        build_graph(tmp_path / "graph", documents, tools, overwrite=True)
        return open_graph(tmp_path / "graph")

    return build


def holders(graph: LateralGraph, name: str) -> dict[str, set[str]]:
    """concept_id -> papers, of the concepts that have ``name`` among their aliases."""
    paper_of = graph.documents["doc_id"].take(graph.sections["document"]).to_pylist()
    found: dict[str, set[str]] = {}
    for row in graph.mentions.to_pylist():
        if name_key(row["surface"]) == name_key(name):
            concept = graph.concepts["concept_id"][row["concept"]].as_py()
            found.setdefault(concept, set()).add(paper_of[row["section"]])
    return found


def concept_count(graph: LateralGraph, *names: str) -> int:
    return len({concept for name in names for concept in holders(graph, name)})


def test_an_acronym_and_its_expansion_are_one_concept_in_all_papers(graph_of) -> None:
    graph = graph_of(
        paper("a", "The capital asset pricing model (CAPM) prices risk. We test the CAPM on stocks."),
        paper("b", "The CAPM fails. Tests of the CAPM reject it."),
        paper("c", "A capital asset pricing model with habits is solved."),
    )
    assert concept_count(graph, "CAPM", "capital asset pricing model") == 1
    (papers,) = holders(graph, "CAPM").values()
    assert papers == {"a", "b"}
    (papers,) = holders(graph, "capital asset pricing model").values()
    assert papers == {"a", "c"}


def test_an_acronym_of_two_senses_stays_two(graph_of) -> None:
    graph = graph_of(
        paper("a", "A conditional random field (CRF) labels words. The CRF is trained."),
        paper("b", "The case report form (CRF) is signed. Each CRF is archived."),
        paper("c", "A CRF is used here without a word on what it is."),
    )
    found = holders(graph, "CRF")
    assert sorted(map(sorted, found.values())) == [["a"], ["b"], ["c"]]
    (field,) = holders(graph, "conditional random field")
    (form,) = holders(graph, "case report form")
    assert field != form
    assert {field, form} < found.keys()


def test_spellings_are_one_concept_and_other_scripts_stay_their_own(graph_of) -> None:
    graph = graph_of(
        paper("a", "The supply chain is long. A β-VAE is trained. We cite Müller."),
        paper("b", "The supply-chain is short. 量子计算是新的。 We use naïve Bayes."),
        paper("c", "Supply chains are fragile. The ResNet-50 and the ResNet-101 differ; GPT-2 is no GPT-3."),
    )
    assert [sorted(p) for p in holders(graph, "supply chain").values()] == [["a", "b", "c"]]
    names = ["量子计算", "β-VAE", "naïve Bayes", "Müller", "ResNet-50", "ResNet-101", "GPT-2", "GPT-3"]
    assert all(len(holders(graph, name)) == 1 for name in names)
    assert concept_count(graph, *names) == len(names)
    assert "" not in graph.concepts["form"].to_pylist()
    assert "" not in graph.concepts["label"].to_pylist()


def test_opposites_in_papers_stay_apart(graph_of) -> None:
    graph = graph_of(
        paper("a", "The supervised learning task is solved. Patients with hypotension recover."),
        paper("b", "The unsupervised learning task is open. Patients with hypertension suffer."),
    )
    assert concept_count(graph, "supervised learning", "unsupervised learning") == 2
    assert concept_count(graph, "hypotension", "hypertension") == 2


def test_a_thousand_spellings_of_one_name_are_one_concept(graph_of) -> None:
    words = "supply chain risk sharing".split()
    spellings = []
    for number in range(1000):
        cased = [w.upper() if number >> i & 1 else w for i, w in enumerate(words[:3])]
        text = "".join(w + " -"[number >> 3 + i & 1] for i, w in enumerate(cased)) + "sharing"
        spellings.append(text.capitalize() if number & 64 else text)
    graph = graph_of(*(paper(f"p{i:04d}", f"The {spelling} is studied.") for i, spelling in enumerate(spellings)))
    ((_, papers),) = holders(graph, "supply chain risk sharing").items()
    assert len(papers) == 1000


@pytest.mark.parametrize(
    "names",
    [
        ["通胀", "就业", "贸易", "货币"],
        ["供給網", "損失回避"],
        ["기계학습", "손실회피"],
        ["ตลาดแรงงาน", "ดนตรี"],
        ["ფიზიკა", "ქიმია"],
        ["ֆիզիկա", "քիմիա"],
        ["x" * 150, "y" * 150],
    ],
)
def test_names_that_an_encoder_cannot_read_stay_apart_whatever_their_vectors(names: list[str]) -> None:
    vectors = torch.nn.functional.normalize(torch.ones(len(names), 8), dim=1)
    forms = sorted(map(name_form, names))
    groups = merge_names([("term", form) for form in forms], vectors)
    assert len(set(groups.tolist())) == len(names)


def test_thousands_of_equal_vectors_of_unreadable_names_are_no_work() -> None:
    forms = sorted({chr(0x10D0 + i % 33) + chr(0x10D0 + i // 33 % 33) + chr(0x10D0 + i // 1089) for i in range(5000)})
    vectors = torch.nn.functional.normalize(torch.ones(len(forms), 8), dim=1)
    assert len(candidate_pairs([("term", form) for form in forms], vectors)) == 0
