"""Feedback: moved vectors by hand, and a fact that leads where the question alone does not."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import torch

from kg.build import Tools, build_graph, open_graph
from kg.errors import InputError
from kg.lateral import LateralGraph
from retrieval.facts import has_facts, read_facts
from retrieval.feedback import FactScorer, FeedbackConfig, RocchioScorer
from retrieval.methods import FACT_WEIGHTS, HYBRID_WEIGHTS, Methods, MethodsConfig
from tests.conftest import HashEncoder
from tests.test_kg_ready_triples import PAPERS, ROME, ready

QUESTION = "What drives the equity premium?"


def test_rocchio_adds_the_mean_of_the_first_sections(sample_graph: LateralGraph, hash_encoder: HashEncoder) -> None:
    dense = Methods(sample_graph, hash_encoder).scorer("dense")
    config = FeedbackConfig(sections=2, weight=0.7)
    vector, x = hash_encoder.encode_queries([QUESTION])[0], sample_graph["section"].x
    first = dense.score([QUESTION])[0].topk(2).indices
    moved = torch.nn.functional.normalize(vector + 0.7 * x[first].mean(dim=0), dim=0)
    found = RocchioScorer(sample_graph, hash_encoder, dense, config).score([QUESTION])[0]
    assert torch.allclose(found, x @ moved, atol=1e-6)
    usable = torch.ones(1, len(x), dtype=torch.bool)
    usable[0, first] = False
    elsewhere = RocchioScorer(sample_graph, hash_encoder, dense, config).score([QUESTION], usable)[0]
    assert not torch.allclose(found, elsewhere, atol=1e-4)
    still = RocchioScorer(sample_graph, hash_encoder, dense, config).score([QUESTION], torch.zeros_like(usable))[0]
    assert torch.allclose(still, x @ vector, atol=1e-6)


@pytest.fixture
def triples_graph(hash_encoder: HashEncoder, tools: Tools, tmp_path: Path) -> LateralGraph:
    rows = [tuple(row) for row in ROME["extracted_triples"]]
    extractor = ready(PAPERS[0].parts[0].text, *rows)
    build_graph(tmp_path / "g", PAPERS[:1], dataclasses.replace(tools, extractor=extractor))
    return open_graph(tmp_path / "g")


def test_facts_are_asserted_relations_with_the_concepts_names(
    triples_graph: LateralGraph, sample_graph: LateralGraph, hash_encoder: HashEncoder
) -> None:
    facts = read_facts(triples_graph, hash_encoder)
    labels = triples_graph.concepts["label"].to_pylist()
    assert set(facts.texts) == {"Rome lies in Italy", "Tiber crosses Rome"}
    for subject, object_, text in zip(facts.subject.tolist(), facts.object.tolist(), facts.texts, strict=True):
        assert text.startswith(labels[subject])
        assert text.endswith(labels[object_])
    assert torch.allclose(facts.x, hash_encoder.encode_documents(facts.texts), atol=1e-6)
    again = read_facts(triples_graph, hash_encoder)
    assert torch.equal(again.x, facts.x)
    assert len(read_facts(sample_graph, hash_encoder)) == 0  # co-occurrence asserts nothing


def test_the_best_fact_counts(triples_graph: LateralGraph, hash_encoder: HashEncoder) -> None:
    facts = read_facts(triples_graph, hash_encoder)
    question = "Which river crosses the capital of Italy?"
    x, vector = triples_graph["section"].x, hash_encoder.encode_queries([question])[0]
    found = FactScorer(triples_graph, hash_encoder, facts, FeedbackConfig(facts=2)).score([question])[0]
    expected = [
        max(
            float(facts.x[n] @ vector + row @ hash_encoder.encode_queries([f"{question} {text}"])[0])
            for n, text in enumerate(facts.texts)
        )
        for row in x
    ]
    assert found.tolist() == pytest.approx(expected, abs=1e-5)


def test_without_facts_it_is_the_plain_cosine(sample_graph: LateralGraph, hash_encoder: HashEncoder) -> None:
    methods = Methods(sample_graph, hash_encoder)
    assert torch.equal(methods.scorer("facts").score([QUESTION]), methods.scorer("dense").score([QUESTION]))


def test_settings_that_mean_nothing_are_refused() -> None:
    for wrong in ({"sections": 0}, {"facts": 0}, {"weight": -1.0}, {"weight": float("nan")}):
        with pytest.raises(InputError, match="Feedback is set to"):
            FeedbackConfig(**wrong)


def test_the_weights_of_hybrid_hang_on_whether_the_graph_has_facts(
    sample_graph: LateralGraph, triples_graph: LateralGraph, hash_encoder: HashEncoder
) -> None:
    assert not has_facts(sample_graph)
    assert has_facts(triples_graph)
    assert Methods(sample_graph, hash_encoder).hybrid_weights == HYBRID_WEIGHTS
    assert Methods(triples_graph, hash_encoder).hybrid_weights == FACT_WEIGHTS
    given = {"bm25": 1.0, "lkg": 2.0}
    assert Methods(triples_graph, hash_encoder, MethodsConfig(fused=given)).hybrid_weights == given
