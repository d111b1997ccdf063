"""A cross-encoder from a folder, made here with random weights: what it says is what decides."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from kg.build import Tools, build_graph, open_graph
from kg.errors import InputError
from kg.lateral import LateralGraph
from kg.records import Document, Part
from retrieval.methods import Methods
from retrieval.rerank import CrossEncoderReranker, RerankConfig


def write_cross_encoder(path: Path, seed: int = 718) -> Path:
    """A BERT of one layer with one output, written into ``path``."""
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    path.mkdir(parents=True, exist_ok=True)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "loss", "aversion", "risk", "premium", "the", "of"]
    (path / "vocab.txt").write_text("\n".join(words))
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=64, num_labels=1,
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(path)
    BertTokenizer(str(path / "vocab.txt"), model_max_length=64).save_pretrained(path)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_cross_encoder(tmp_path_factory.mktemp("model"))


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


class Listens:
    """A model that keeps what it is given and scores it by its length."""

    def __init__(self) -> None:
        self.read: list[tuple[str, str]] = []

    def predict(self, pairs: Sequence[tuple[str, str]], **how: object) -> np.ndarray:
        self.read = list(pairs)
        return np.asarray([len(text) for _, text in pairs], dtype=np.float32)


def test_the_model_reads_what_the_other_methods_do(sample_graph: LateralGraph, tools: Tools, tmp_path: Path) -> None:
    papers = [
        Document("a", "Loss aversion", (Part("Method", "We ask."), Part("", "They answer.")), year=1979),
        Document("b", "A title alone"),
        Document("c", "", (Part("", "No title."),)),
        Document("d", "Risk", (Part("Results", "None."),)),
    ]
    build_graph(tmp_path / "g", papers, tools)
    for graph in (open_graph(tmp_path / "g"), sample_graph):
        texts = [section.full_text() for paper in graph.papers() for section in paper.sections]
        model = Listens()
        rows = list(range(len(texts)))[::-1]
        scores = CrossEncoderReranker(graph, model).scores("Why?", rows)  # type: ignore[arg-type]
        assert model.read == [("Why?", texts[row]) for row in rows]
        assert scores.tolist() == [len(texts[row]) for row in rows]
    first = CrossEncoderReranker(open_graph(tmp_path / "g"), model)  # type: ignore[arg-type]
    first.scores("Why?", [0, 1, 2])
    assert [text for _, text in model.read] == ["Loss aversion\nMethod\nWe ask.", "They answer.", "A title alone"]


def test_what_is_no_reranker_is_refused(folder: Path, sample_graph: LateralGraph, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no model"):
        CrossEncoderReranker.load(sample_graph, tmp_path)
    with pytest.raises(InputError, match="holds no model"):
        RerankConfig(tmp_path / "nowhere")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InputError, match="cannot be loaded"):
        CrossEncoderReranker.load(sample_graph, tmp_path)
    with pytest.raises(InputError, match="reads 0 sections"):
        CrossEncoderReranker.load(sample_graph, folder, depth=0)
    with pytest.raises(InputError, match="reads 0 sections"):
        CrossEncoderReranker(sample_graph, Listens(), depth=0)  # type: ignore[arg-type]


def test_a_model_is_known_by_all_its_files(folder: Path, tmp_path: Path) -> None:
    known = RerankConfig(folder).fingerprint
    for name in ("here", "there"):
        shutil.copytree(folder, tmp_path / name)
        assert RerankConfig(tmp_path / name, depth=7).fingerprint == known
    (tmp_path / "here" / ".cache").mkdir()
    (tmp_path / "here" / ".cache" / "fetched").write_text("today")
    assert RerankConfig(tmp_path / "here").fingerprint == known
    (tmp_path / "here" / "pytorch_model.bin").write_bytes(b"weights")
    added = RerankConfig(tmp_path / "here").fingerprint
    (tmp_path / "here" / "pytorch_model.bin").rename(tmp_path / "here" / "other.bin")
    renamed = RerankConfig(tmp_path / "here").fingerprint
    assert len({known, added, renamed}) == 3
    retrained = write_cross_encoder(tmp_path / "retrained", seed=719)
    assert RerankConfig(retrained).fingerprint != known
