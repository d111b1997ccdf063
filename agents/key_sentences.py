"""Which sentences of a section to quote: near the question, complete, and not saying the same twice."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch import Tensor

from kg.protocols import Encoder
from kg.sectioning import count_words, sentence_spans

MIN_WORDS = 5
"""Shortest quote that counts as evidence (DESIGN 3, Citations)."""
OPENING_PENALTY = 0.1
"""Taken from the cosine of a sentence that speaks of what stands before it, or of the paper instead of its matter."""
FINDING = 0.05
"""Added for a sentence that says what was found."""
WORDS = 0.3
"""Weight of the share of the question's words in a sentence, against the cosine."""
_OPENING = re.compile(r"(?:It|Its|This|These|Those|They|Their|He|She|Both|Such|The (?:paper|article|study|authors?))\b")
_FINDING = re.compile(
    r"\b(?:(?:we|it|they|stud(?:y|ies)|papers?|authors?|articles?|results?|estimates?|evidence|findings?)\s+(?:\w+\s+){0,2}"
    r"(?:finds?|found|shows?|showed|estimates?|estimated|suggests?|suggested|concludes?|concluded|reports?|reported|"
    r"indicates?|indicated|documents?|documented)|evidence (?:that|of|for|against))\b",
    re.IGNORECASE,
)
SECOND_BEST = 0.85
"""Least similarity of a further sentence, as a share of the best one's."""


@dataclass(frozen=True)
class KeySentence:
    """Characters [start, end) of a section's text, and how near that sentence is to the question."""

    start: int
    end: int
    similarity: float


def key_sentences(
    texts: Sequence[str],
    question: Tensor,
    encoder: Encoder,
    per_text: int = 2,
    repetition: float = 0.9,
    covered: Callable[[Sequence[str]], Sequence[float]] | None = None,
) -> list[list[KeySentence]]:
    """At most ``per_text`` sentences of each text, in the order of the text.

    ``question`` float32 [d] is the question's vector. A sentence whose cosine with one already taken, of any text,
    exceeds ``repetition`` is passed over; a second sentence must be nearly as near as the first. ``covered`` gives the
    share in [0, 1] of the question's words that each sentence holds; without it meaning alone counts.
    A text without a sentence of ``MIN_WORDS`` words gives what it has that is longest.
    """
    spans = [_quotable(text) for text in texts]
    flat = [text[start:end] for text, own in zip(texts, spans, strict=True) for start, end in own]
    vectors = encoder.encode_documents(flat)
    shares = covered(flat) if covered else [0.0] * len(flat)
    similarity = [
        cosine + WORDS * share + _manner(sentence)
        for cosine, share, sentence in zip((vectors @ question).tolist(), shares, flat, strict=True)
    ]
    taken: list[int] = []
    chosen: list[list[KeySentence]] = []
    first = 0
    for own in spans:
        order = sorted(range(first, first + len(own)), key=lambda i: (-similarity[i], i))
        picked: list[int] = []
        for i in order:
            if len(picked) == per_text or (picked and similarity[i] < SECOND_BEST * similarity[picked[0]]):
                break
            if all(float(vectors[i] @ vectors[j]) <= repetition for j in taken + picked):
                picked.append(i)
        taken += picked
        chosen.append([KeySentence(*own[i - first], similarity[i]) for i in sorted(picked)])
        first += len(own)
    return chosen


def _manner(sentence: str) -> float:
    if _FINDING.search(sentence):
        return FINDING
    return -OPENING_PENALTY if _OPENING.match(sentence) else 0.0


def _quotable(text: str) -> list[tuple[int, int]]:
    spans = sentence_spans(text)
    long = [(start, end) for start, end in spans if count_words(text[start:end]) >= MIN_WORDS]
    return long or sorted(spans, key=lambda span: (span[0] - span[1], span))[:1]
