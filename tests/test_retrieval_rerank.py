"""A cross-encoder from a folder, made here with random weights: what it says is what decides."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from kg.build import Tools, build_graph, open_graph
from kg.errors import InputError, ModelError
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


def without(*names: str) -> Callable[[Path], None]:
    """What takes these weights out of a folder."""

    def take(folder: Path) -> None:
        from safetensors.torch import load_file, save_file

        weights = load_file(folder / "model.safetensors")
        kept = {name: weight for name, weight in weights.items() if name not in names}
        assert len(kept) == len(weights) - len(names)
        save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})

    return take


def with_weight(value: float) -> Callable[[Path], None]:
    def put(folder: Path) -> None:
        from safetensors.torch import load_file, save_file

        weights = load_file(folder / "model.safetensors")
        weights["classifier.weight"].fill_(value)
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})

    return put


def truncated(share: float) -> Callable[[Path], None]:
    def cut(folder: Path) -> None:
        data = (folder / "model.safetensors").read_bytes()
        (folder / "model.safetensors").write_bytes(data[: int(len(data) * share)])

    return cut


def configured(**fields: object) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        known = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(known | fields))

    return write


def holding(name: str, content: str | None) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / name).unlink() if content is None else (folder / name).write_text(content)

    return write


def without_tokenizer(folder: Path) -> None:
    for name in ("vocab.txt", "tokenizer.json"):
        (folder / name).unlink(missing_ok=True)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (without("classifier.weight", "classifier.bias"), r"no weights for its score \(classifier\.bias and 1 more\)"),
        (without("classifier.bias"), r"no weights for its score \(classifier\.bias\)"),
        (without("bert.encoder.layer.0.output.LayerNorm.weight"), r"no weights for its score \(bert\.encoder"),
        (with_weight(float("nan")), r"cannot be loaded \(.*no numbers"),
        (without_tokenizer, r"cannot be loaded \(.*no vocabulary"),
        *((truncated(share), "cannot be loaded") for share in (0.0, 0.001, 0.5, 0.999)),
        (holding("model.safetensors", "no weights at all"), "cannot be loaded"),
        (holding("model.safetensors", None), "cannot be loaded"),
        *((holding("config.json", text), "cannot be loaded") for text in ("{", "[]", "3", "null", "[" * 100_000)),
        (configured(hidden_size="large"), "cannot be loaded"),
        (configured(hidden_size=32), "cannot be loaded"),
        (configured(model_type=[]), "cannot be loaded"),
        (configured(architectures=3), "cannot be loaded"),
        (configured(id2label=3), "cannot be loaded"),
        (configured(vocab_size=None), "cannot be loaded"),
    ],
)
def test_a_damaged_model_is_refused(folder: Path, tmp_path: Path, damage: Callable[[Path], None], words: str) -> None:
    shutil.copytree(folder, tmp_path / "model")
    damage(tmp_path / "model")
    with pytest.raises(InputError, match=rf"The model in .*{words}.*name a cross-encoder") as caught:
        CrossEncoderReranker.load(None, tmp_path / "model", device="cpu")  # type: ignore[arg-type]
    assert str(tmp_path) in str(caught.value)


def test_an_encoder_is_no_cross_encoder(folder: Path, tmp_path: Path) -> None:
    from transformers import BertConfig, BertModel

    shutil.copytree(folder, tmp_path / "encoder")
    BertModel(BertConfig.from_pretrained(folder, architectures=None)).save_pretrained(tmp_path / "encoder")
    with pytest.raises(InputError, match=r"has no weights for its score \(classifier\.bias and 1 more\)"):
        CrossEncoderReranker.load(None, tmp_path / "encoder", device="cpu")  # type: ignore[arg-type]


def test_a_model_saved_by_sentence_transformers_loads_alike(
    folder: Path, tmp_path: Path, sample_graph: LateralGraph
) -> None:
    from sentence_transformers import CrossEncoder

    CrossEncoder(str(folder), device="cpu").save_pretrained(str(tmp_path / "saved"))
    both = [CrossEncoderReranker.load(sample_graph, path, device="cpu") for path in (folder, tmp_path / "saved")]
    scores = [reranker.scores("loss aversion", [0, 1, 2]).tolist() for reranker in both]
    assert scores[0] == scores[1]


def test_a_score_that_is_no_number_is_refused(sample_graph: LateralGraph) -> None:
    class Broken:
        def predict(self, pairs: Sequence[tuple[str, str]], **how: object) -> np.ndarray:
            return np.asarray([1.0, np.nan], dtype=np.float32)

    with pytest.raises(ModelError, match="no finite score for 'Why"):
        CrossEncoderReranker(sample_graph, Broken()).scores("Why?", [0, 1])  # type: ignore[arg-type]
