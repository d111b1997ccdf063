"""The packaged encoder: vectors depend on the text alone; long texts are read whole; sources are found or refused."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import torch

from kg.errors import ModelError
from kg.protocols import Encoder
from retrieval.encoder import BGE_INSTRUCTION, SentenceEncoder, find_encoder, folder_fingerprint

TEXTS = [f"paper {n} about {'risk and return ' * (n % 7)}of asset {n}" for n in range(16)] + ["", "α", "x" * 60]


def test_a_vector_does_not_depend_on_its_batch(minilm: SentenceEncoder) -> None:
    whole = minilm.encode_documents(TEXTS)
    for seed in range(3):
        rows = list(range(len(TEXTS)))
        random.Random(seed).shuffle(rows)
        rows = rows[: 5 + 4 * seed]
        assert torch.equal(minilm.encode_documents([TEXTS[row] for row in rows]), whole[rows])


def test_vectors_agree_with_sentence_transformers(minilm: SentenceEncoder) -> None:
    reference = minilm._model.encode(TEXTS[:12], convert_to_tensor=True).cpu()
    assert torch.allclose(minilm.encode_documents(TEXTS[:12]), reference, atol=1e-5)


def test_rows_have_length_one_and_fit_the_protocol(minilm: SentenceEncoder) -> None:
    assert isinstance(minilm, Encoder)
    vectors = minilm.encode_documents(TEXTS)
    assert vectors.dtype == torch.float32
    assert vectors.shape == (len(TEXTS), minilm.dimension)
    assert torch.allclose(vectors.norm(dim=1), torch.ones(len(TEXTS)), atol=1e-5)
    assert minilm.encode_documents([]).shape == (0, minilm.dimension)


def test_the_end_of_a_long_text_counts(minilm: SentenceEncoder) -> None:
    start = "The weather was mild and the harbour was calm. " * 60
    end = "Prospect theory explains loss aversion in financial decisions. " * 20
    query = minilm.encode_queries(["loss aversion"])[0]
    with_end, without = minilm.encode_documents([start + end, start])
    assert float(with_end @ query) > float(without @ query) + 0.1


def test_progress_counts_all_windows(minilm: SentenceEncoder) -> None:
    seen: list[int] = []

    def track(items, total, label):
        for item in items:
            seen.append(total)
            yield item

    minilm.encode_documents(TEXTS[:10], track)
    assert seen == [10] * 10


def test_the_instruction_stands_before_queries_only(minilm: SentenceEncoder) -> None:
    bge = SentenceEncoder(minilm._model, "BAAI/bge-base-en-v1.5", "f", BGE_INSTRUCTION)
    assert torch.equal(bge.encode_queries(["risk"]), minilm.encode_queries([BGE_INSTRUCTION + "risk"]))
    assert torch.equal(bge.encode_documents(["risk"]), minilm.encode_documents(["risk"]))


def test_a_folder_of_a_bge_model_gets_the_instruction(minilm: SentenceEncoder, tmp_path: Path) -> None:
    minilm._model.save_pretrained(str(tmp_path / "bge-small-en"))
    loaded = SentenceEncoder.load(find_encoder(str(tmp_path / "bge-small-en")), device="cpu")
    assert loaded.query_instruction == BGE_INSTRUCTION


def test_the_fallback_says_what_it_took(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("retrieval.encoder._hub", lambda name, *, download: None)
    source = find_encoder()
    assert "all-MiniLM-L6-v2" in source.name
    assert "bge-large" in source.note
    monkeypatch.setattr("retrieval.encoder._packaged", lambda: None)
    with pytest.raises(ModelError, match="--encoder"):
        find_encoder()
    monkeypatch.setattr("retrieval.encoder._hub", lambda name, *, download: tmp_path if not download else None)
    assert find_encoder().folder == tmp_path


def test_unknown_encoders_are_refused_with_the_way_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match=r"nobody/nothing.*--encoder"):
        find_encoder("nobody/nothing")
    with pytest.raises(ModelError, match="holds no model"):
        find_encoder(str(tmp_path))
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelError, match="could not be loaded"):
        SentenceEncoder.load(find_encoder(str(tmp_path)))


def test_the_fingerprint_follows_the_weights_not_the_place(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("{}")
        (tmp_path / name / "model.safetensors").write_bytes(b"weights")
    assert folder_fingerprint(tmp_path / "a") == folder_fingerprint(tmp_path / "b")
    (tmp_path / "b" / "README.md").write_text("prose")
    assert folder_fingerprint(tmp_path / "a") == folder_fingerprint(tmp_path / "b")
    (tmp_path / "b" / "model.safetensors").write_bytes(b"weightz")
    assert folder_fingerprint(tmp_path / "a") != folder_fingerprint(tmp_path / "b")
