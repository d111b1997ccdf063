"""Which sections a neighbourhood shows: those that a method ranks first, or those that the caller chose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

from torch import Tensor

from kg.inspect import section_numbers
from kg.lateral import LateralGraph
from retrieval.method_names import Method
from retrieval.methods import Methods
from retrieval.relevance import relevant_sections

LOOKED_AT = 100
"""Sections that are ranked, at least."""


class RankedSection(NamedTuple):
    """A section by its row; ``rank`` counts from 1."""

    row: int
    rank: int
    score: float


@dataclass(frozen=True)
class FoundSections:
    """Sections to show, best first, and what is said of those that are not.

    ``left_out`` of ``of`` sections are beyond the limit; ``unrelated`` are ranked before the last one shown and do not
    bear on the question; ``given``: the caller chose them.
    """

    shown: Sequence[RankedSection]
    left_out: int
    of: int
    unrelated: int
    given: bool


def ranked_sections(
    graph: LateralGraph, methods: Methods, question: str, vector: Tensor, method: Method, limit: int
) -> FoundSections:
    """The first ``limit`` of those that ``method`` ranks first and that bear on the question."""
    rows, scores = _ranking(graph, methods, question, method, limit)
    relevant = relevant_sections(graph, question, vector, rows, methods.lexical)
    kept = [section for section in map(RankedSection, rows, count(1), scores) if section.row in relevant]
    shown = kept[:limit]
    unrelated = shown[-1].rank - len(shown) if shown else 0
    return FoundSections(shown, len(kept) - len(shown), len(rows), unrelated, given=False)


def given_sections(
    graph: LateralGraph,
    methods: Methods,
    question: str,
    method: Method,
    chosen: Sequence[tuple[int, float]],
    limit: int,
) -> FoundSections:
    """The first ``limit`` of ``chosen`` (row, score).

    Ranks are those of ``method`` where it ranks all of them, in the order given; else places in ``chosen``.
    """
    place = {row: rank for rank, row in enumerate(_ranking(graph, methods, question, method, len(chosen))[0], start=1)}
    ranks = [place.get(row, 0) for row, _ in chosen]
    if 0 in ranks or ranks != sorted(ranks):
        ranks = list(range(1, len(chosen) + 1))
    shown = [RankedSection(row, rank, score) for (row, score), rank in zip(chosen, ranks, strict=True)][:limit]
    return FoundSections(shown, len(chosen) - len(shown), len(chosen), 0, given=True)


def _ranking(
    graph: LateralGraph, methods: Methods, question: str, method: Method, least: int
) -> tuple[list[int], Sequence[float]]:
    """Rows and scores of at least ``least`` sections, best first."""
    ranking = methods.retriever(method).rank(question, max(LOOKED_AT, least))
    return section_numbers(graph, ranking.ids), ranking.scores
