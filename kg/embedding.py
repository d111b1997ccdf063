"""Vectors of texts through a cache, so that no text is encoded twice and a killed build keeps what it paid for."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from kg.cache import Cache, pack_vectors, unpack_vectors
from kg.errors import ModelError
from kg.protocols import Encoder, Track, no_track

_CHUNK = 200_000
"""Characters between two writes of the cache: some seconds of work, and enough to fill the encoder's batches."""
_READ = 1024
"""Keys asked of the cache at once."""


class CachedEmbedder:
    """Callable [n] texts -> float32 [n, d]; equal texts are encoded once. ``encoded`` counts texts that were."""

    def __init__(self, encoder: Encoder, cache: Cache, track: Track = no_track) -> None:
        self._encoder = encoder
        self._cache = cache
        self._track = track
        self.encoded = 0

    def __call__(self, texts: Sequence[str]) -> Tensor:
        """Rows in the order of ``texts``, unit length."""
        keys = [hashlib.sha256(text.encode("utf-8")).hexdigest() for text in texts]
        row_of = {key: row for row, key in reversed(list(enumerate(keys)))}
        vectors = torch.zeros(len(texts), self._encoder.dimension)
        unique = list(row_of)
        known: set[str] = set()
        for start in range(0, len(unique), _READ):
            stored = self._cache.get_many(unique[start : start + _READ])
            found = {key: value for key, value in stored.items() if len(value) == 4 * self._encoder.dimension}
            known |= found.keys()
            if found:
                rows = torch.tensor([row_of[key] for key in found])
                vectors[rows] = unpack_vectors(list(found.values()), self._encoder.dimension)
        # By length, so that each chunk fills its batches; one long text does not wait for many short ones.
        missing = sorted((key for key in unique if key not in known), key=lambda key: (-len(texts[row_of[key]]), key))
        chunks = _chunks(missing, [len(texts[row_of[key]]) for key in missing])
        encoded = (key for chunk in chunks for key in self._encode(chunk, row_of, texts, vectors))
        for _ in self._track(encoded, len(missing), "encoding"):
            self.encoded += 1
        first = torch.tensor([row_of[key] for key in keys], dtype=torch.long)
        return vectors[first]

    def _encode(self, chunk: list[str], row_of: dict[str, int], texts: Sequence[str], vectors: Tensor) -> list[str]:
        encoded = self._encoder.encode_documents([texts[row_of[key]] for key in chunk])
        self._check(encoded, len(chunk))  # before it is kept: a bad vector in the cache would outlive its encoder
        self._cache.put_many(dict(zip(chunk, pack_vectors(encoded), strict=True)))
        vectors[torch.tensor([row_of[key] for key in chunk])] = encoded
        return chunk

    def _check(self, vectors: Tensor, n: int) -> None:
        """Raise ``ModelError`` unless the encoder keeps its promise: finite rows of length 1 and the stated size."""
        if vectors.shape != (n, self._encoder.dimension):
            raise ModelError(
                f"The encoder {self._encoder.name} gave vectors of shape {tuple(vectors.shape)} for {n} texts, not "
                f"[{n}, {self._encoder.dimension}]; use another encoder."
            )
        lengths = vectors.norm(dim=1)
        if not bool(torch.isfinite(lengths).all()) or bool(((lengths - 1).abs() > 1e-3).any()):
            raise ModelError(
                f"The encoder {self._encoder.name} gave a vector that is not finite or not of length 1; "
                "normalise its output, or use another encoder."
            )


def _chunks(keys: Sequence[str], lengths: Sequence[int]) -> Iterator[list[str]]:
    """Keys in runs of about ``_CHUNK`` characters of text."""
    chunk: list[str] = []
    size = 0
    for key, length in zip(keys, lengths, strict=True):
        chunk.append(key)
        size += length
        if size >= _CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
