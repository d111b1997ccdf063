"""A graph of any size, for measuring: papers on topics, their concepts drawn by Zipf's law, built as any graph is.

    python scripts/synthetic_graph.py DIRECTORY [CONCEPTS]

The proportions are those of the SciFact abstracts: about 12 concepts per paper are its own or new, a section mentions
28, three quarters of all concepts stand in one section, six edges at a concept. Names are words of made-up syllables,
so that few of them merge; vectors are random projections of their words. The same for the same arguments.
"""

from __future__ import annotations

import hashlib
import random
import sys
from bisect import bisect
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path

import numpy as np
import torch

from kg.build import Tools, build_graph
from kg.mentions import MentionTable
from kg.protocols import Track
from kg.records import Document, Extraction, Mention, Part, Section

SEED = 718
TOPICS = 96
FIELDS = ("economics", "finance", "medicine", "biology", "physics", "computer science", "sociology", "law")
PER_PAPER = 11.8
"""Concepts of the graph per paper."""
_SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]


class PieceExtractor:
    """Concepts are what stands between the signs of a section: made for the texts below."""

    name = "pieces"
    fingerprint = "pieces-1"
    cooccurrence = True

    def extract(self, section: Section) -> Extraction:
        """Every piece as a mention, with the sentences it stands in."""
        spans: list[tuple[int, int]] = []
        found: dict[str, list[int]] = {}
        start = 0
        for number, sentence in enumerate(section.text.split(". ")):
            spans.append((start, start + len(sentence)))
            start += len(sentence) + 2
            for piece in sentence.rstrip(".").split(", "):
                found.setdefault(piece, []).append(number)
        mentions = tuple(Mention(n, "term", len(own), tuple(sorted(set(own))), len(own)) for n, own in found.items())
        return Extraction(mentions, sentences=tuple(spans))

    def select(self, mentions: MentionTable) -> np.ndarray:
        """All of them."""
        return np.ones(len(mentions.section), dtype=bool)


class WordEncoder:
    """The sum of random unit vectors of a text's words."""

    name = "words"
    fingerprint = "words-1"
    dimension = 64

    def encode_documents(self, texts: Sequence[str], track: Track | None = None) -> torch.Tensor:
        """float32 [n, 64], unit vectors."""
        rows = [np.sum([_vector(word) for word in text.split()] or [_vector("")], axis=0) for text in texts]
        return torch.nn.functional.normalize(torch.from_numpy(np.stack(rows)).float(), dim=1)

    def encode_queries(self, texts: Sequence[str]) -> torch.Tensor:
        """The same."""
        return self.encode_documents(texts)


@cache
def _vector(word: str) -> np.ndarray:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
    vector = np.random.default_rng(seed).standard_normal(WordEncoder.dimension)
    return vector / np.linalg.norm(vector)


def make_synthetic(directory: Path, n_concepts: int) -> None:
    """Build a graph of about ``n_concepts`` concepts, papers included, in ``directory``."""
    build_graph(directory, synthetic_papers(n_concepts), Tools(PieceExtractor(), WordEncoder()))


def synthetic_papers(n_concepts: int) -> list[Document]:
    """Papers that hold about ``n_concepts`` concepts."""
    draw = random.Random(SEED)
    words = sorted(
        {"".join(draw.choices(_SYLLABLES, k=draw.randint(2, 4))) + draw.choice("nrtkm") for _ in range(60_000)}
    )
    taken: set[str] = set()

    def name(pool: Sequence[str]) -> str:
        while True:
            made = " ".join(draw.choices(pool, k=draw.choices((1, 2, 3), (1, 5, 3))[0]))
            if made not in taken:
                taken.add(made)
                return made

    shared = n_concepts // 4  # a quarter of the concepts stand in several papers
    vocabulary = [draw.sample(words, 900) for _ in range(TOPICS)]
    everywhere = [name(words) for _ in range(shared // 10)]
    own = [[name(pool) for _ in range(shared * 9 // 10 // TOPICS)] for pool in vocabulary]
    papers = []
    for number in range(round(n_concepts / PER_PAPER)):
        topic = min(int(draw.paretovariate(0.6)) - 1, TOPICS - 1) if draw.random() < 0.3 else draw.randrange(TOPICS)
        near = (topic + draw.choice((-2, -1, 1, 2))) % TOPICS
        held = [name(vocabulary[topic]) for _ in range(9)]
        held += [_zipf(draw, pool) for pool in (own[topic],) * 11 + (own[near],) * 3 + (everywhere,) * 5]
        held = list(dict.fromkeys(held))
        draw.shuffle(held)
        again = draw.sample(held, 5)
        sentences = [*(held[i : i + 6] for i in range(0, len(held), 6)), again]
        text = ". ".join(", ".join(sentence) for sentence in sentences) + "."
        papers.append(
            Document(
                f"p{number}", f"On {held[0]} and {held[1]}", (Part("", text),),
                tuple(f"{draw.choice(words).title()}, {draw.choice('ABCDEFGH')}." for _ in range(draw.randint(1, 4))),
                2024 - min(int(draw.expovariate(0.09)), 70), doi=f"10.1000/{number}",
                field=FIELDS[topic * len(FIELDS) // TOPICS],
            )
        )  # fmt: skip
    return papers


def _zipf(draw: random.Random, pool: Sequence[str]) -> str:
    cumulative = _cumulative(len(pool))
    return pool[bisect(cumulative, draw.random() * cumulative[-1])]


@cache
def _cumulative(n: int) -> list[float]:
    return list(accumulate(1 / (rank + 3) for rank in range(n)))


if __name__ == "__main__":
    make_synthetic(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100_000)
