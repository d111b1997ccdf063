"""Vectors through the cache: each text encoded once, in the order asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kg.embedding
from kg.cache import Cache
from kg.embedding import CachedEmbedder
from kg.errors import ModelError
from kg.protocols import Track
from tests.conftest import HashEncoder


class Counting(HashEncoder):
    """Keeps what it was asked to encode; fails after ``limit`` calls."""

    def __init__(self, limit: int = 1000) -> None:
        self.asked: list[str] = []
        self.left = limit

    def encode_documents(self, texts: Sequence[str], track: Track | None = None) -> torch.Tensor:
        if not self.left:
            raise KeyboardInterrupt
        self.left -= 1
        self.asked += texts
        return super().encode_documents(texts)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Cache]:
    with Cache(tmp_path / "e.sqlite", "f") as opened:
        yield opened


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.sampled_from(["", "a", "risk", "β", "量子", "a b", "Müller"]), max_size=9), max_size=3))
def test_vectors_are_the_encoders_in_the_order_of_the_texts(cache: Cache, calls: list[list[str]]) -> None:
    encoder = Counting()
    for texts in calls:
        assert torch.equal(CachedEmbedder(encoder, cache)(texts), HashEncoder().encode_documents(texts))
    assert len(encoder.asked) == len(set(encoder.asked)) <= len({text for texts in calls for text in texts})


def test_equal_texts_are_encoded_once_and_counted(cache: Cache) -> None:
    encoder = Counting()
    embedder = CachedEmbedder(encoder, cache)
    embedder(["b", "a", "b", "a"])
    embedder(["a", "c"])
    assert sorted(encoder.asked) == ["a", "b", "c"]
    assert embedder.encoded == 3
    again = CachedEmbedder(encoder, cache)
    again(["c", "b", "a"])
    assert again.encoded == 0


def test_no_texts_have_no_vectors(cache: Cache) -> None:
    encoder = Counting()
    assert CachedEmbedder(encoder, cache)([]).shape == (0, HashEncoder.dimension)
    assert encoder.asked == []


def test_an_interrupted_run_keeps_what_it_paid_for(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kg.embedding, "_CHUNK", 120)
    texts = [f"text {chr(97 + i)}" * (i + 1) for i in range(10)]
    broken = Counting(limit=2)
    with pytest.raises(KeyboardInterrupt):
        CachedEmbedder(broken, cache)(texts)
    encoder = Counting()
    assert torch.equal(CachedEmbedder(encoder, cache)(texts), HashEncoder().encode_documents(texts))
    assert 2 <= len(broken.asked) < len(texts)
    assert sorted(broken.asked + encoder.asked) == sorted(texts)


def test_progress_counts_the_texts_that_are_encoded(cache: Cache) -> None:
    seen: list[tuple[str, int, int]] = []

    def track(items: Iterable, total: int, label: str) -> Iterator:
        number = 0
        for number, item in enumerate(items, 1):  # noqa: B007
            yield item
        seen.append((label, total, number))

    embedder = CachedEmbedder(Counting(), cache, track)
    embedder(["a", "b", "a"])
    embedder(["a", "c"])
    assert seen == [("encoding", 2, 2), ("encoding", 1, 1)]


@pytest.mark.parametrize("fault", ["nan", "long", "narrow"])
def test_bad_vectors_are_refused_and_never_kept(fault: str, cache: Cache) -> None:
    class Faulty(HashEncoder):
        def encode_documents(self, texts: Sequence[str], track: object = None) -> torch.Tensor:
            good = super().encode_documents(texts)
            return {"nan": good * float("nan"), "long": good * 3, "narrow": good[:, :7]}[fault]

    with pytest.raises(ModelError, match="encoder hash"):
        CachedEmbedder(Faulty(), cache)(["a", "b"])
    assert torch.equal(CachedEmbedder(HashEncoder(), cache)(["a", "b"]), HashEncoder().encode_documents(["a", "b"]))


def test_a_kept_vector_of_another_length_is_absent(cache: Cache) -> None:
    cache.put_many({hashlib.sha256(b"a").hexdigest(): b"1234"})
    assert torch.equal(CachedEmbedder(HashEncoder(), cache)(["a"]), HashEncoder().encode_documents(["a"]))
