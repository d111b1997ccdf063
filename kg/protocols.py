"""What the library asks of models, as ``typing.Protocol``: whoever needs one is handed it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, runtime_checkable

from pydantic import BaseModel

from kg.errors import ModelError
from kg.records import Extraction, Section

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

    from kg.mentions import MentionTable

T = TypeVar("T")


@runtime_checkable
class Encoder(Protocol):
    """Texts to unit vectors. The same text gives the same bytes, whatever stands beside it in the batch."""

    @property
    def name(self) -> str:
        """What the user knows the encoder by: a path, or a published model's name."""

    @property
    def fingerprint(self) -> str:
        """Hash of weights and settings: two encoders with one fingerprint give the same vectors."""

    @property
    def dimension(self) -> int:
        """Length of the vectors."""

    def encode_documents(self, texts: Sequence[str], track: Track | None = None) -> Tensor:
        """[n] texts -> float32 [n, dimension], rows of length 1."""

    def encode_queries(self, texts: Sequence[str]) -> Tensor:
        """As ``encode_documents``, with the model's query instruction where it has one."""


class Extractor(Protocol):
    """Finds names and relations, section by section; corpus-level choices are made apart, from counts."""

    @property
    def name(self) -> str:
        """How commands call it."""

    @property
    def fingerprint(self) -> str:
        """Names the extractor and its settings; part of the cache key and of the manifest."""

    @property
    def cooccurrence(self) -> bool:
        """Whether relations are to be read off sentences that hold two names, for want of asserted ones."""

    def extract(self, section: Section) -> Extraction:
        """What this section holds; depends on its content and the fingerprint alone."""

    def select(self, mentions: MentionTable) -> np.ndarray:
        """Mask, bool [rows]: the mentions that matter corpus-wide, from counts alone, in whatever order they stand."""


class Track(Protocol):
    """Progress: wraps an iterable of known length; shows nothing unless a command hands in a display."""

    def __call__(self, items: Iterable[T], total: int, label: str) -> Iterable[T]:
        """Yield ``items`` unchanged."""


def no_track(items: Iterable[T], total: int, label: str) -> Iterable[T]:
    """The silent ``Track``."""
    return items


@dataclass(frozen=True)
class Sampling:
    """How tokens are drawn; the default is greedy."""

    temperature: float = 0.0
    top_p: float = 1.0
    seed: int | None = None


@dataclass(frozen=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Request:
    """One call of a language model. ``schema`` asks for an object of that pydantic model."""

    messages: tuple[Message, ...]
    stage: str
    max_tokens: int
    schema: type[BaseModel] | None = None
    sampling: Sampling = field(default_factory=Sampling)
    logprobs: bool = False


@dataclass(frozen=True)
class Reply:
    """What came back: ``text``, or ``value`` when the request named a schema."""

    text: str
    value: BaseModel | None
    prompt_tokens: int
    completion_tokens: int
    finish_reason: str
    logprobs: tuple[dict[str, Any], ...] = ()


class Truncated(ModelError):
    """The reply ended at ``max_tokens``."""


class InvalidReply(ModelError):
    """The reply does not parse, or is no object of the schema, after one repair turn."""


class ContextOverflow(ModelError):
    """The request is longer than the model's context."""


class Unavailable(ModelError):
    """The server cannot be reached or keeps failing."""


class LanguageModel(Protocol):
    """A served or scripted language model."""

    @property
    def name(self) -> str:
        """The served model's name."""

    @property
    def context_length(self) -> int:
        """Tokens of prompt and reply together, as the server states them."""

    async def complete(self, request: Request) -> Reply:
        """Answer, or raise one of ``Truncated``, ``InvalidReply``, ``ContextOverflow``, ``Unavailable``."""


@dataclass(frozen=True)
class Support:
    """Does the evidence support the claim? ``confidence`` in [0, 1]; ``checker`` says who judged."""

    verdict: Literal["supported", "partial", "unsupported"]
    confidence: float
    checker: str


class SupportScorer(Protocol):
    """Judges claims against evidence, in batches."""

    def score(self, claims: Sequence[str], evidence: Sequence[str]) -> list[Support]:
        """[n] claims and [n] passages -> [n] verdicts."""


class Judge(Protocol):
    """Scores texts on named dimensions."""

    async def rate(self, task: str, text: str, dimensions: Sequence[str]) -> dict[str, float]:
        """Dimension -> expected score on 1-5."""
