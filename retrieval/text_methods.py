"""Methods that look at texts alone: BM25 and the cosine of vectors."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from kg.lateral import LateralGraph
from kg.protocols import Encoder, Track
from retrieval.bm25 import BM25Index
from retrieval.devices import device_of


class BM25Scorer:
    """BM25 over title, heading and text of each section; what holds no word of the question is not found."""

    def __init__(self, graph: LateralGraph, index: BM25Index) -> None:
        """``index`` of the graph's sections."""
        self._index = index
        self._device = device_of(graph)

    def score(self, texts: Sequence[str], usable: Tensor | None = None) -> Tensor:
        """As ``retrieval.retriever.Scorer``."""
        scores = self._index.scores(texts).to(self._device)
        return scores.masked_fill_(scores <= 0, -torch.inf)


class DenseScorer:
    """The cosine of the question's vector with each section's; all sections are found."""

    def __init__(self, graph: LateralGraph, encoder: Encoder) -> None:
        self._encoder = encoder
        self._x = graph["section"].x

    def score(self, texts: Sequence[str], usable: Tensor | None = None) -> Tensor:
        """As ``retrieval.retriever.Scorer``."""
        return cosines(self._x, self._encoder.encode_queries(texts))


class EncodesOnce:
    """An encoder that remembers the questions it was asked last, as the parts of a fusion ask the same ones."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._last: tuple[tuple[str, ...], Tensor] | None = None

    @property
    def name(self) -> str:
        """As ``Encoder``."""
        return self._encoder.name

    @property
    def fingerprint(self) -> str:
        """As ``Encoder``."""
        return self._encoder.fingerprint

    @property
    def dimension(self) -> int:
        """As ``Encoder``."""
        return self._encoder.dimension

    def encode_documents(self, texts: Sequence[str], track: Track | None = None) -> Tensor:
        """As ``Encoder``; nothing is remembered."""
        return self._encoder.encode_documents(texts, track)

    def encode_queries(self, texts: Sequence[str]) -> Tensor:
        """As ``Encoder``."""
        if self._last is None or self._last[0] != tuple(texts):
            self._last = tuple(texts), self._encoder.encode_queries(texts)
        return self._last[1]


def cosines(x: Tensor, vectors: Tensor) -> Tensor:
    """float32 [B, n]: inner products of ``vectors`` [B, d] with the rows of ``x`` [n, d].

    Row by row, since a product of matrices rounds otherwise in another batch.
    """
    vectors = vectors.to(x)
    return torch.stack([x @ vector for vector in vectors]) if len(vectors) else x.new_zeros((0, len(x)))
