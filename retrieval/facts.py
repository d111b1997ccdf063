"""Asserted relations as sentences ("Bubye River, located in, Zimbabwe") with their vectors, searched by question.

A relation that only says that two concepts occur together asserts nothing and is left out, so a graph made without
triples has no facts.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from kg.cache import Cache
from kg.cooccurrence import LABEL
from kg.embedding import CachedEmbedder
from kg.errors import GraphError
from kg.lateral import LateralGraph
from kg.protocols import Encoder


@dataclass(frozen=True)
class Facts:
    """Distinct facts in the order of (subject, label, object).

    ``subject``, ``object``: int64 [facts], rows of concepts. ``texts``: subject, label and object with the concepts'
    names. ``x``: float32 [facts, d], unit vectors.
    """

    subject: Tensor
    object: Tensor
    texts: Sequence[str]
    x: Tensor

    def __len__(self) -> int:
        return len(self.texts)


def has_facts(graph: LateralGraph) -> bool:
    """Whether any relation of the graph says more than that two concepts occur together."""
    if not graph.relations.num_rows:
        return False
    return any(name != LABEL for name in graph.relations["label"].unique().to_pylist())


def read_facts(graph: LateralGraph, encoder: Encoder) -> Facts:
    """All facts of a graph; vectors come from the graph's cache, where new ones are kept if it can be written."""
    relations = graph.relations
    names = relations["label"].combine_chunks().dictionary.to_pylist() if relations.num_rows else []
    labels = relations["label"].combine_chunks().indices.to_numpy() if relations.num_rows else np.zeros(0, np.int64)
    asserted = np.asarray([name != LABEL for name in names], dtype=bool)[labels] if names else np.zeros(0, bool)
    rows = np.stack([relations[name].to_numpy()[asserted] for name in ("subject", "object")] + [labels[asserted]])
    subject, object_, label = np.unique(rows[[0, 2, 1]].astype(np.int64), axis=1)[[0, 2, 1]]
    concept: list[str] = graph.concepts["label"].to_pylist()
    texts = [
        f"{concept[s]} {names[n]} {concept[o]}"
        for s, n, o in zip(subject.tolist(), label.tolist(), object_.tolist(), strict=True)
    ]
    return Facts(torch.from_numpy(subject), torch.from_numpy(object_), texts, _vectors(graph, encoder, texts))


def _vectors(graph: LateralGraph, encoder: Encoder, texts: Sequence[str]) -> Tensor:
    if not texts:
        return torch.zeros(0, encoder.dimension)
    if graph.directory is not None:
        path = Path(graph.directory) / "cache" / "embedding.sqlite"
        # A graph on a read-only disk is searched all the same.
        with contextlib.suppress(GraphError), Cache(path, encoder.fingerprint) as cache:
            return CachedEmbedder(encoder, cache)(texts)
    return encoder.encode_documents(texts)
