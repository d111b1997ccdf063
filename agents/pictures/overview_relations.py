"""What joins two communities, in the words of a paper: the relation between telling concepts of both, with evidence."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from agents.pictures.text import clean_label
from agents.pictures.words import short_authors
from kg.lateral import LateralGraph
from retrieval.neighbourhood.evidence import Assertion, Sentences, find_assertions

_LONGEST = 320
"""Characters of a sentence; what is longer ends in an ellipsis."""


@dataclass(frozen=True)
class Example:
    """``relation`` is "" for a co-occurrence; ``in_text`` tells a sentence of the text from a title or heading."""

    subject: str
    relation: str
    object: str
    sentence: str
    in_text: bool
    cited: str


def example_relations(
    graph: LateralGraph,
    weights: sparse.csr_matrix,
    of: np.ndarray,
    wanted: Set[tuple[int, int]],
    telling: np.ndarray,
) -> dict[tuple[int, int], Example]:
    """The most telling relation between each wanted pair of communities (a < b), for those that have an edge.

    It belongs to the edge of highest ``weights`` float64 [concepts, concepts] times the geometric mean of what its ends
    say of their communities (``telling`` float64 [concepts]), each relative to the best there.
    """
    pairs = telling_pairs(weights, of, wanted, telling)
    found = find_assertions(graph, set(pairs.values()), (), Sentences(graph))
    return {key: _example(graph, found[pair]) for key, pair in pairs.items() if pair in found}


def telling_pairs(
    weights: sparse.csr_matrix, of: np.ndarray, wanted: Set[tuple[int, int]], telling: np.ndarray
) -> dict[tuple[int, int], tuple[int, int]]:
    """The two concepts, smaller row first, that join each wanted pair of communities; ties by row."""
    if not wanted:
        return {}
    edges = sparse.triu(weights, 1).tocoo()
    u, v, weight = edges.row.astype(np.int64), edges.col.astype(np.int64), edges.data
    n = int(of.max()) + 1
    key = np.minimum(of[u], of[v]) * n + np.maximum(of[u], of[v])
    between = np.isin(key, [a * n + b for a, b in wanted])
    u, v, key, weight = u[between], v[between], key[between], weight[between]
    best = np.zeros(n)
    np.maximum.at(best, of[of >= 0], telling[of >= 0])
    score = weight * np.sqrt(telling[u] / best[of[u]] * telling[v] / best[of[v]])
    order = np.lexsort((v, u, -score, key))
    keys, first = np.unique(key[order], return_index=True)
    rows = order[first]
    return {divmod(k, n): (a, b) for k, a, b in zip(keys.tolist(), u[rows].tolist(), v[rows].tolist(), strict=True)}


def _example(graph: LateralGraph, assertion: Assertion) -> Example:
    evidence = assertion.evidence
    row = graph.sections["document"][evidence.section].as_py()
    paper = graph.documents.select(["doc_id", "title", "authors", "year"]).slice(row, 1).to_pylist()[0]
    who = short_authors(paper["authors"]) or clean_label(paper["title"]) or paper["doc_id"]
    labels = graph.concepts["label"]
    return Example(
        clean_label(labels[assertion.subject].as_py()),
        clean_label(assertion.label) if assertion.directed else "",
        clean_label(labels[assertion.object].as_py()),
        _shortened(clean_label(evidence.text)),
        evidence.start >= 0,
        f"{who} ({paper['year'] or 'n.d.'})",
    )


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST].rsplit(" ", 1)[0] + " …"
