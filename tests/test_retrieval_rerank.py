"""A cross-encoder from a folder, made here with random weights: what it says is what decides."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from kg.errors import InputError
from kg.lateral import LateralGraph
from retrieval.methods import Methods
from retrieval.rerank import CrossEncoderReranker


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of one layer with one output."""
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    path = tmp_path_factory.mktemp("model")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "loss", "aversion", "risk", "premium", "the", "of"]
    (path / "vocab.txt").write_text("\n".join(words))
    torch.manual_seed(718)
    config = BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=64, num_labels=1,
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(path)
    BertTokenizer(str(path / "vocab.txt"), model_max_length=64).save_pretrained(path)
    return path


def test_the_first_are_in_the_order_of_the_model(folder: Path, sample_graph: LateralGraph) -> None:
    reranker = CrossEncoderReranker.load(sample_graph, folder, depth=6)
    methods = Methods(sample_graph, None)
    plain = methods.retriever("bm25").rank("loss aversion", 10)
    ranked = methods.retriever("bm25", reranker).rank("loss aversion", 10)
    ids = sample_graph.sections["section_id"].to_pylist()
    rows = [ids.index(section_id) for section_id in plain.ids[:6]]
    scores = reranker.scores("loss aversion", rows)
    order = sorted(range(6), key=lambda n: (-float(scores[n]), rows[n]))
    assert ranked.ids[:6] == tuple(plain.ids[n] for n in order)
    assert ranked.ids[6:] == plain.ids[6:]
    assert reranker.scores("loss aversion", []).tolist() == []


def test_what_is_no_reranker_is_refused(folder: Path, sample_graph: LateralGraph, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no model"):
        CrossEncoderReranker.load(sample_graph, tmp_path)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InputError, match="cannot be loaded"):
        CrossEncoderReranker.load(sample_graph, tmp_path)
    with pytest.raises(InputError, match="reads 0 sections"):
        CrossEncoderReranker.load(sample_graph, folder, depth=0)
