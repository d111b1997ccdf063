"""Reranking with a cross-encoder, which reads question and section together."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import torch
from torch import Tensor

from kg.errors import InputError, ModelError
from kg.lateral import LateralGraph
from kg.papers import read_papers

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

DEPTH = 50
"""Sections that are read unless another number is given."""


@dataclass(frozen=True)
class RerankConfig:
    """The cross-encoder in ``folder`` reads the first ``depth`` sections.

    Raises:
        InputError: a folder without a model, or a depth below 1.
    """

    folder: Path
    depth: int = DEPTH

    def __post_init__(self) -> None:
        _check_depth(self.depth)
        if not (self.folder / "config.json").is_file():
            raise InputError(f"{self.folder} holds no model (no config.json); name the folder of a cross-encoder.")

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over names and bytes of the folder's files, sorted by name; hidden ones, which say where a model came
        from, are left out."""
        names = sorted(path.relative_to(self.folder) for path in self.folder.rglob("*") if path.is_file())
        digest = hashlib.sha256()
        for name in names:
            if any(part.startswith(".") for part in name.parts):
                continue
            digest.update(name.as_posix().encode() + b"\0")
            with (self.folder / name).open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
        return digest.hexdigest()[:32]


class CrossEncoderReranker:
    """Reads the first ``depth`` sections (``retrieval.retriever.Reranker``)."""

    def __init__(self, graph: LateralGraph, model: CrossEncoder, depth: int = DEPTH) -> None:
        _check_depth(depth)
        self.depth = depth
        self._model = model
        self._graph = graph

    @classmethod
    def load(
        cls, graph: LateralGraph, folder: Path, depth: int = DEPTH, device: str | None = None
    ) -> CrossEncoderReranker:
        """The sentence-transformers cross-encoder in ``folder``; nothing is downloaded.

        ``device`` defaults to CUDA where there is one, as for encoders.

        Raises:
            InputError: as ``RerankConfig``, or no model with one score in the folder, or one without all its weights.
        """
        RerankConfig(folder, depth)
        from transformers.utils import logging as transformers_logging

        device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        transformers_logging.disable_progress_bar()
        verbosity = transformers_logging.get_verbosity()
        transformers_logging.set_verbosity_error()  # its table of missing weights is told below in a sentence
        try:
            model, missing = _load(folder, device)
        except Exception as error:  # each part of a damaged folder fails in its own way
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise InputError(f"The model in {folder} cannot be loaded ({reason}); name a cross-encoder.") from error
        finally:
            transformers_logging.set_verbosity(verbosity)
        if missing:
            more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
            raise InputError(
                f"The model in {folder} has no weights for its score ({missing[0]}{more}); name a cross-encoder."
            )
        if model.num_labels != 1:
            raise InputError(f"The model in {folder} gives {model.num_labels} scores; a reranker gives one.")
        return cls(graph, model, depth)

    def scores(self, question: str, rows: Sequence[int]) -> Tensor:
        """float32 [len(rows)] on the CPU, larger is better.

        Of a section the model reads what the other methods do, ``Section.full_text``; of texts longer than its window,
        the beginning.

        Raises:
            ModelError: a score is no finite number.
        """
        if not rows:
            return torch.zeros(0)
        pairs = [(question, self._text(row)) for row in rows]
        scores = torch.as_tensor(
            self._model.predict(pairs, show_progress_bar=False, convert_to_numpy=True), dtype=torch.float32
        )
        if not bool(torch.isfinite(scores).all()):
            raise ModelError(f"The reranker gives no finite score for {question!r}; name another cross-encoder.")
        return scores

    def _text(self, row: int) -> str:
        (section,) = self._graph.sections.slice(row, 1).to_pylist()
        document = self._graph.documents.slice(section["document"], 1)
        (paper,) = read_papers(document, pa.Table.from_pylist([section | {"document": 0}]))
        return paper.sections[0].full_text()


def _load(folder: Path, device: str) -> tuple[CrossEncoder, list[str]]:
    """The model, which has scored one pair, and the weights of it that the folder lacks, sorted.

    transformers gives missing weights random values and a warning. Which they are it tells only whoever loads the
    model by itself, so this is done a second time.
    """
    from sentence_transformers import CrossEncoder

    model = CrossEncoder(str(folder), device=device, local_files_only=True)
    own = model.model
    if own is None:
        raise ValueError("it is no model of transformers")
    _, loading = type(own).from_pretrained(
        own.name_or_path, config=own.config, local_files_only=True, output_loading_info=True
    )
    missing = sorted(loading["missing_keys"])
    files = getattr(model.tokenizer, "vocab_files_names", {}).values()
    if files and not any((folder / name).is_file() for name in files):  # all words would be one and the same
        raise ValueError(f"it has no vocabulary, as {' or '.join(sorted(files))}")
    score = model.predict([("question", "section")], show_progress_bar=False)
    if not missing and not bool(torch.isfinite(torch.as_tensor(score)).all()):
        raise ValueError("its scores are no numbers")
    return model, missing


def _check_depth(depth: int) -> None:
    if depth < 1:
        raise InputError(f"The reranker reads {depth} sections; let it read 1 or more.")
