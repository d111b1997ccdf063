"""Reranking with a cross-encoder, which reads question and section together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from kg.errors import InputError
from kg.lateral import LateralGraph

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder


class CrossEncoderReranker:
    """Reads the first ``depth`` sections (``retrieval.retriever.Reranker``)."""

    def __init__(self, graph: LateralGraph, model: CrossEncoder, depth: int = 50) -> None:
        if depth < 1:
            raise InputError(f"The reranker reads {depth} sections; let it read 1 or more.")
        self.depth = depth
        self._model = model
        self._graph = graph

    @classmethod
    def load(cls, graph: LateralGraph, folder: Path, depth: int = 50, device: str = "cpu") -> CrossEncoderReranker:
        """The sentence-transformers cross-encoder in ``folder``; nothing is downloaded.

        Raises:
            InputError: no such folder, or no model with one score in it.
        """
        if not (folder / "config.json").is_file():
            raise InputError(f"{folder} holds no model (no config.json); name the folder of a cross-encoder.")
        from sentence_transformers import CrossEncoder

        try:
            model = CrossEncoder(str(folder), device=device, local_files_only=True)
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise InputError(f"The model in {folder} cannot be loaded ({error}); name a cross-encoder.") from None
        if model.num_labels != 1:
            raise InputError(f"The model in {folder} gives {model.num_labels} scores; a reranker gives one.")
        return cls(graph, model, depth)

    def scores(self, question: str, rows: Sequence[int]) -> Tensor:
        """float32 [len(rows)], larger is better. Texts longer than the model's window are read from their beginning."""
        sections = self._graph.sections
        pairs = [
            (question, f"{sections['heading'][row].as_py()}\n{sections['text'][row].as_py()}".strip()) for row in rows
        ]
        if not pairs:
            return torch.zeros(0)
        return torch.as_tensor(
            self._model.predict(pairs, show_progress_bar=False, convert_to_numpy=True), dtype=torch.float32
        )
