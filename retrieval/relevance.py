"""Does a section bear on the question at all? Rankings always have a first place; evidence need not exist.

A section counts as relevant when it is nearer to the question than unrelated sections are to each other, or when it
holds most of the question's words, weighted by how rare they are. The first measure is calibrated on the graph itself,
since encoders differ in what a small cosine is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from kg.lateral import LateralGraph
from retrieval.bm25 import words

DEVIATIONS = 1.5
"""How far above the mean cosine of unrelated sections, in standard deviations, a section is related."""
COVERAGE = 0.6
"""Share of the question's words, weighted by inverse document frequency, that makes a section relevant."""
_PAIRS = 4096


def relevant_sections(graph: LateralGraph, question: str, vector: Tensor, rows: Sequence[int]) -> set[int]:
    """Those of ``rows`` that bear on the question; ``vector`` float32 [d] is the question's."""
    if not rows:
        return set()
    near = graph["section"].x[torch.tensor(rows)] @ vector
    threshold = background_similarity(graph)
    texts = {row: graph.sections["text"][row].as_py() for row in rows}
    covered = coverage(question, [texts[row] for row in rows], graph.sections["text"].to_pylist())
    return {
        row
        for row, cosine, share in zip(rows, near.tolist(), covered, strict=True)
        if cosine >= threshold or share >= COVERAGE
    }


def background_similarity(graph: LateralGraph, seed: int = 718) -> float:
    """Mean plus ``DEVIATIONS`` deviations of the cosine between sections of different papers, on a seeded sample."""
    owner = graph.sections["document"].to_numpy()
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, graph.n_sections, size=(_PAIRS, 2))
    pairs = pairs[owner[pairs[:, 0]] != owner[pairs[:, 1]]]
    if not len(pairs):
        return 0.5
    x = graph["section"].x
    cosines = (x[torch.from_numpy(pairs[:, 0])] * x[torch.from_numpy(pairs[:, 1])]).sum(dim=1)
    return float(cosines.mean() + DEVIATIONS * cosines.std())


def coverage(question: str, texts: Sequence[str], corpus: Sequence[str]) -> list[float]:
    """Share in [0, 1] of the question's words that each text holds, weighted by inverse document frequency."""
    asked = sorted(set(words(question)))
    if not asked:
        return [0.0] * len(texts)
    frequency = dict.fromkeys(asked, 0)
    for text in corpus:
        for word in set(words(text)) & frequency.keys():
            frequency[word] += 1
    weight = {word: float(np.log1p(len(corpus) / (1 + frequency[word]))) for word in asked}
    total = sum(weight.values())
    return [sum(weight[word] for word in set(words(text)) & frequency.keys()) / total for text in texts]
