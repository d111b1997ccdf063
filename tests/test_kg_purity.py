"""The graph is a pure function of its set of papers: any way to a set gives the same rows and bytes (DESIGN 3)."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kg.build import Tools, add_documents, build_graph, open_graph, remove_documents
from kg.lateral import TABLES
from kg.records import Document
from kg.storage import open_generation
from tests.conftest import ROOT, paper

SCIFACT = ROOT.parent / "shared" / "data" / "scifact" / "corpus.jsonl"


def unfriendly() -> list[Document]:
    """Near-duplicate names, chains of them, homonyms, non-Latin names, and papers that say nearly the same."""
    return [
        paper(
            "u1", "Neural networks, neural-network models and neural nets. A neural networks review.", "Neural networks"
        ),
        paper("u2", "The neural netwerk (sic) and the neural networking of a neural network.", "Neural nets"),
        paper("u3", "Conditional random fields (CRF) label sequences. A CRF is a graphical model.", "CRF"),
        paper("u4", "The case report form (CRF) of a trial. Each CRF is signed.", "Case report forms"),
        paper("u5", "Supply chain risk, supply-chain risks, and Supply Chains at risk.", "Supply chains"),
        paper("u6", "β-VAE and VAE learn. TGF-β and TGF-beta signal. naïve Bayes and naive Bayes classify.", "Letters"),
        paper("u7", "量子计算与机器学习。量子计算是新的。 Müller and Muller differ. C++ is not C.", "量子计算"),
        paper(
            "u8", "ResNet-50, ResNet 50 and ResNet-101; GPT-2 and GPT-3; type I error and type II error.", "Versions"
        ),
        paper("u9", "modelling of behaviour, modeling of behavior, behavioural models, behavioral model.", "Spelling"),
        paper("u10", "", "A title without any text"),
        paper("u11", "A capital asset pricing model without its acronym, and stock returns.", "Pricing"),
        paper("u12", "CAPM alone, undefined: what a CAPM says of stock returns.", "CAPM used"),
    ]


@pytest.fixture(scope="module")
def corpus(sample_documents: list[Document]) -> list[Document]:
    """Sixty papers: the sample, the unfriendly ones, and SciFact abstracts where the data are at hand."""
    papers = [*sample_documents, *unfriendly()]
    if SCIFACT.exists():
        with SCIFACT.open(encoding="utf-8") as lines:
            rows = [json.loads(line) for line, _ in zip(lines, range(60 - len(papers)), strict=False)]
        papers += [paper(row["_id"], row["text"], row["title"]) for row in rows]
    return papers


def assert_same(one: Path, other: Path) -> None:
    a, b = open_generation(one), open_generation(other)
    for name in TABLES:
        assert a.tables[name].equals(b.tables[name]), name
    assert a.tensors.keys() == b.tensors.keys()
    for name, tensor in a.tensors.items():
        assert torch.equal(tensor, b.tensors[name]), name
    assert a.manifest == b.manifest


def generation_bytes(directory: Path) -> dict[str, bytes]:
    name = (directory / "CURRENT").read_text().split()[0]
    return {p.name: p.read_bytes() for p in sorted((directory / "generations" / name).iterdir())}


@pytest.fixture(scope="module")
def whole(corpus: list[Document], tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("whole") / "graph"
    build_graph(directory, corpus, tools)
    return directory


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=5)
def test_any_way_to_a_set_of_papers_gives_the_same_graph(
    seed: int, corpus: list[Document], whole: Path, tools: Tools, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rng = random.Random(seed)
    papers = corpus[:]
    rng.shuffle(papers)
    cut = rng.randrange(1, len(papers))
    directory = tmp_path_factory.mktemp("way") / "graph"
    build_graph(directory, papers[:cut], tools)
    add_documents(directory, papers[cut:], tools)
    gone = rng.sample(papers, rng.randrange(1, len(papers) // 2))
    remove_documents(directory, [p.doc_id for p in gone], tools)
    partial = tmp_path_factory.mktemp("partial") / "graph"
    build_graph(partial, [p for p in corpus if p not in gone], tools)
    assert_same(directory, partial)
    rng.shuffle(gone)
    add_documents(directory, gone, tools)
    assert_same(directory, whole)


def test_two_builds_are_byte_identical(corpus: list[Document], whole: Path, tools: Tools, tmp_path: Path) -> None:
    build_graph(tmp_path / "again", corpus[::-1], tools)
    assert generation_bytes(tmp_path / "again") == generation_bytes(whole)


def test_a_changed_paper_is_replaced_and_the_same_recognised(
    corpus: list[Document], whole: Path, tools: Tools, tmp_path: Path
) -> None:
    changed = [paper(corpus[0].doc_id, "Another text on loss aversion and supply chains.", "New title"), *corpus[1:]]
    build_graph(tmp_path / "graph", changed, tools)
    report = add_documents(tmp_path / "graph", corpus, tools)
    assert (report.replaced, report.added) == ([corpus[0].doc_id], [])
    assert len(report.unchanged) == len(corpus) - 1
    assert_same(tmp_path / "graph", whole)
    before = (tmp_path / "graph" / "CURRENT").read_bytes()
    again = add_documents(tmp_path / "graph", corpus, tools)
    assert len(again.unchanged) == len(corpus)
    assert (tmp_path / "graph" / "CURRENT").read_bytes() == before


def test_removing_all_papers_leaves_an_empty_graph(corpus: list[Document], tools: Tools, tmp_path: Path) -> None:
    build_graph(tmp_path / "graph", corpus[:3], tools)
    remove_documents(tmp_path / "graph", [p.doc_id for p in corpus[:3]], tools)
    build_graph(tmp_path / "empty", [], tools)
    assert_same(tmp_path / "graph", tmp_path / "empty")
    assert open_graph(tmp_path / "graph").n_concepts == 0


def test_removal_keeps_what_other_papers_support(tools: Tools, tmp_path: Path) -> None:
    one = paper("a", "Loss aversion shapes portfolio choice. Loss aversion is measured in the laboratory.")
    two = paper("b", "Loss aversion explains the equity premium. Loss aversion and portfolio choice are linked.")
    build_graph(tmp_path / "graph", [one, two], tools)
    remove_documents(tmp_path / "graph", ["b"], tools)
    build_graph(tmp_path / "alone", [one], tools)
    assert_same(tmp_path / "graph", tmp_path / "alone")
    forms = open_graph(tmp_path / "graph").concepts["form"].to_pylist()
    assert "loss aversion" in forms
    assert "equity premium" not in forms
