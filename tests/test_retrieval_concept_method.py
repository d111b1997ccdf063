"""Sections by their nearest concepts, against the formula written out."""

from __future__ import annotations

import math

import pytest
import torch

from kg.build import Tools, build_graph, open_graph
from kg.lateral import LateralGraph
from kg.records import Document, Part
from retrieval.concept_method import SHARPNESS, ConceptScorer
from tests.conftest import HashEncoder

QUESTIONS = ["loss aversion", "What drives the equity premium?"]


def test_scores_are_the_soft_maximum_of_the_docstring(sample_graph: LateralGraph, hash_encoder: HashEncoder) -> None:
    found = ConceptScorer(sample_graph, hash_encoder).score(QUESTIONS)
    incidence = sample_graph.incidence.to_dense().double()
    near = (hash_encoder.encode_queries(QUESTIONS).double() @ sample_graph["concept"].x.double().T).tolist()
    for row, cosines in zip(found.tolist(), near, strict=True):
        for score, counts in zip(row, incidence.tolist(), strict=True):
            parts = [
                (1 + math.log(tf)) * math.exp(SHARPNESS * cosine)
                for tf, cosine in zip(counts, cosines, strict=True)
                if tf
            ]
            expected = math.log(math.fsum(parts)) / SHARPNESS if parts else -math.inf
            assert score == pytest.approx(expected, abs=1e-5)


def test_a_row_has_the_same_bits_in_any_batch(sample_graph: LateralGraph, hash_encoder: HashEncoder) -> None:
    scorer = ConceptScorer(sample_graph, hash_encoder)
    together = scorer.score(QUESTIONS)
    assert torch.equal(together, torch.cat([scorer.score([question]) for question in QUESTIONS]))
    assert scorer.score([]).shape == (0, sample_graph.n_sections)


def test_a_section_without_concepts_is_not_found(tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> None:
    directory = tmp_path_factory.mktemp("empty") / "graph"
    papers = [
        Document("a", "Loss aversion", (Part("", "Loss aversion explains the endowment effect in markets."),)),
        Document("b", "", (Part("", "And so it is as it was."),)),
    ]
    build_graph(directory, papers, tools)
    graph = open_graph(directory)
    assert graph.incidence.crow_indices().diff().tolist()[1] == 0
    first, second = ConceptScorer(graph, HashEncoder()).score(["loss aversion"])[0].tolist()
    assert math.isfinite(first)
    assert second == -math.inf
