"""Does a section bear on the question at all? Rankings always have a first place; evidence need not exist.

A section counts as relevant when it is nearer to the question than unrelated sections are to each other, or when it
holds most of the question's words, weighted by how rare they are. The first measure is calibrated on the graph itself,
since encoders differ in what a small cosine is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
import torch
from torch import Tensor

from kg.lateral import LateralGraph
from kg.names import name_form
from kg.stems import readable
from retrieval.bm25 import BM25Index, words

DEVIATIONS = 1.5
"""How far above the mean cosine of unrelated sections, in standard deviations, a section is related."""
COVERAGE = 0.7
"""Share of the question's content words, weighted by inverse document frequency, that makes a section relevant."""
CLEAR_DEVIATIONS, CLEAR_COVERAGE = 3.0, 0.8
"""Either makes a section clearly about the question (`scripts/bench_relevance.py` shows how often that is wrong)."""
_PAIRS = 4096
_PUNCTUATION = ".,;:!?()[]{}\"'“”‘’«»"


def relevant_sections(
    graph: LateralGraph, question: str, vector: Tensor, rows: Sequence[int], lexical: BM25Index
) -> set[int]:
    """Those of ``rows`` that bear on the question; ``vector`` float32 [d] is the question's.

    Words that no section holds tell none from another, so they do not count. A question in a script that the encoder
    may not know is judged by its words alone.
    """
    return _reaching(graph, question, vector, rows, lexical, DEVIATIONS, COVERAGE, known=True)


def clear_sections(
    graph: LateralGraph, question: str, vector: Tensor, rows: Sequence[int], lexical: BM25Index
) -> set[int]:
    """Those of ``rows`` that are clearly about the question, arguments as for ``relevant_sections``.

    Where there is none, what was found may be related and no answer.
    """
    return _reaching(graph, question, vector, rows, lexical, CLEAR_DEVIATIONS, CLEAR_COVERAGE, known=False)


def _reaching(
    graph: LateralGraph,
    question: str,
    vector: Tensor,
    rows: Sequence[int],
    lexical: BM25Index,
    deviations: float,
    share: float,
    known: bool,
) -> set[int]:
    if not rows:
        return set()
    x = graph["section"].x
    near = (x[torch.tensor(rows)] @ vector.to(x)).tolist()
    threshold = background_similarity(graph, deviations) if readable(name_form(question)) else math.inf
    covered = coverage(question, [section_words(graph, row) for row in rows], lexical, known)
    return {row for row, cosine, own in zip(rows, near, covered, strict=True) if cosine >= threshold or own >= share}


def background_similarity(graph: LateralGraph, deviations: float = DEVIATIONS, seed: int = 718) -> float:
    """Mean plus so many deviations of the cosine between sections of different papers, on a seeded sample."""
    owner = graph.sections["document"].to_numpy()
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, graph.n_sections, size=(_PAIRS, 2))
    pairs = pairs[owner[pairs[:, 0]] != owner[pairs[:, 1]]]
    if not len(pairs):
        return 0.5
    x = graph["section"].x
    cosines = (x[torch.from_numpy(pairs[:, 0])] * x[torch.from_numpy(pairs[:, 1])]).sum(dim=1)
    return float(cosines.mean() + deviations * cosines.std())


def content_words(question: str) -> dict[str, set[str]]:
    """The question's words of content, in its order and spelling, with the indexing terms of each.

    Words that every text holds ("how", "does") are passed over; a question of nothing else keeps them all.
    """
    asked = [token.strip(_PUNCTUATION) for token in question.split()]
    terms = {token: own for token in asked if (own := set(words(token)))}
    content = {token: own for token, own in terms.items() if token.casefold() not in common_words()}
    return content or terms


def unknown_words(question: str, lexical: BM25Index) -> list[str]:
    """Content words of the question, in its order and spelling, that no section holds in any form of the word."""
    return [token for token, own in content_words(question).items() if not any(map(lexical.frequency, own))]


def missing_words(question: str, texts: Sequence[str]) -> list[str]:
    """Content words of the question, in its order and spelling, that none of ``texts`` holds in any form."""
    held = {word for text in texts for word in words(text)}
    return [token for token, own in content_words(question).items() if not own & held]


def coverage(question: str, texts: Sequence[str], lexical: BM25Index, known: bool = False) -> list[float]:
    """Share in [0, 1] of the question's content words that each text holds, weighted by inverse document frequency;
    with ``known`` of those words that some section holds."""
    terms = sorted(set().union(*content_words(question).values()))
    if known:
        terms = [word for word in terms if lexical.frequency(word)]
    weight = {word: math.log1p(len(lexical) / (1 + lexical.frequency(word))) for word in terms}
    total = sum(weight.values())
    if not total:
        return [0.0] * len(texts)
    return [sum(weight[word] for word in sorted(set(words(text)) & weight.keys())) / total for text in texts]


def section_words(graph: LateralGraph, row: int) -> str:
    """Title, heading and text of a section: what BM25 reads of it."""
    of = graph.sections
    title = graph.documents["title"][of["document"][row].as_py()].as_py()
    return f"{title}\n{of['heading'][row].as_py()}\n{of['text'][row].as_py()}"


@cache
def common_words() -> frozenset[str]:
    """English words that say nothing of what a text is about: the longer stop word list of bm25s."""
    from bm25s.stopwords import STOPWORDS_EN_PLUS

    return frozenset(STOPWORDS_EN_PLUS)
