"""Which concepts and relations to show, so that they explain the sections that were found.

Concepts are chosen greedily: first every section gets one that carries it, then those that carry most of all sections
together; each comes with the concepts on the way to it from the question's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from kg.inspect import row_of
from kg.lateral import LateralGraph
from retrieval.neighbourhood.nodes import SeedReason
from retrieval.paths import ConceptPaths, concept_paths

MOST_BETWEEN = 2
"""Concepts that are added, at most, to show the way to another."""


@dataclass(frozen=True)
class Choice:
    """Rows of the question's concepts and of further ones; ``left_out`` are the question's, too, beyond the limit."""

    seeds: list[int]
    concepts: list[int]
    left_out: list[int]


def choose_concepts(
    graph: LateralGraph,
    about: Mapping[int, SeedReason],
    carried: Sequence[Sequence[tuple[int, float]]],
    scores: Tensor,
    most_seeds: int,
    most: int,
    carriers: int,
) -> Choice:
    """At most ``most_seeds`` of ``about`` (what the question is about), and ``most`` further concepts.

    What the question names comes before what is only near it, then the score decides.
    ``carried`` gives for each section (concept, share of its score), largest first; only the first ``carriers`` count
    as carrying it.
    """
    seeds = sorted(about, key=lambda row: (about[row] != "named", -float(scores[row]), row))[:most_seeds]
    seeds = [row for row in about if row in set(seeds)]
    chosen = _Chosen(graph, seeds, most)
    for own in carried:
        best = [concept for concept, _ in own[:carriers]]
        if best and not any(concept in chosen for concept in best):
            chosen.add(best[0]) or chosen.add(best[0], alone=True)
    for concept in _by_gain(carried):
        chosen.add(concept)
    left_out = [row for row in about if row not in chosen]
    return Choice(seeds, chosen.concepts, left_out)


def _by_gain(carried: Sequence[Sequence[tuple[int, float]]]) -> list[int]:
    """Concepts by what they carry of all sections together, times the number of sections they carry.

    The second factor prefers concepts that join sections to those of one section alone.
    """
    gain: dict[int, float] = {}
    held: dict[int, int] = {}
    for own in carried:
        for concept, share in own:
            gain[concept] = gain.get(concept, 0.0) + share
            held[concept] = held.get(concept, 0) + 1
    return sorted(gain, key=lambda concept: (-gain[concept] * held[concept], concept))


class _Chosen:
    """Seeds and further concepts, grown within the limit so that each new one is joined to the rest."""

    def __init__(self, graph: LateralGraph, seeds: Sequence[int], most: int) -> None:
        self.concepts: list[int] = []
        self._graph = graph
        self._seeds = set(seeds)
        self._most = most
        self._paths: ConceptPaths = concept_paths(graph, list(seeds))
        self._joined: set[int] = set(seeds)
        self._neighbours: dict[int, set[int]] = {}

    def __contains__(self, concept: int) -> bool:
        return concept in self._seeds or concept in self.concepts

    def add(self, concept: int, alone: bool = False) -> bool:
        """Add a concept, with those between it and the rest; False where it does not fit or, unless ``alone``, where
        the way is longer than ``MOST_BETWEEN``."""
        if concept in self:
            return True
        between: list[int] = []
        if not alone and not self._near(concept) & self._joined:
            path = self._paths.to(concept)
            between = [c for c in path[:-1] if c not in self]
            if not path or len(between) > MOST_BETWEEN:
                return False
        new = [*between, concept]
        if len(self.concepts) + len(new) > self._most:
            return False
        self.concepts += new
        self._joined.update(new if not alone else [])
        return True

    def _near(self, concept: int) -> set[int]:
        if concept not in self._neighbours:
            self._neighbours[concept] = set(row_of(self._graph.adjacency, concept)[0].tolist())
        return self._neighbours[concept]


def distances(graph: LateralGraph, choice: Choice) -> dict[int, int]:
    """Relations from the nearest seed, by breadth-first search among the chosen concepts; -1 where none leads."""
    found = dict.fromkeys(choice.seeds, 0)
    waiting = list(choice.seeds)
    chosen = set(choice.concepts)
    for row in waiting:
        for neighbour in row_of(graph.adjacency, row)[0].tolist():
            if neighbour in chosen and neighbour not in found:
                found[neighbour] = found[row] + 1
                waiting.append(neighbour)
    return found | {row: -1 for row in choice.concepts if row not in found}


def choose_relations(
    graph: LateralGraph, choice: Choice, distance: dict[int, int], most: int
) -> tuple[list[tuple[int, int, float]], int]:
    """(source, target, weight) between chosen concepts, strongest first, and how many the limit leaves out.

    The strongest relation by which each concept is reached is always there, whatever the limit says.
    """
    chosen = {*choice.seeds, *choice.concepts}
    place = {row: n for n, row in enumerate((*choice.seeds, *choice.concepts))}
    ways: list[tuple[int, int, float]] = []
    others: list[tuple[int, int, float]] = []
    for row in place:
        neighbours, weights = row_of(graph.adjacency, row)
        inside = np.isin(neighbours, list(chosen))
        own = [(int(n), float(w)) for n, w in zip(neighbours[inside], weights[inside], strict=True)]
        nearer = [(n, w) for n, w in own if 0 <= distance[n] < distance[row]]
        best = min(nearer, key=lambda pair: (-pair[1], pair[0]), default=None)
        for other, weight in own:
            before = (distance[other] % (len(place) + 1), place[other]) < (distance[row] % (len(place) + 1), place[row])
            if before:
                (ways if best is not None and other == best[0] else others).append((other, row, weight))
    ways.sort(key=lambda link: (-link[2], link[:2]))
    others.sort(key=lambda link: (-link[2], link[:2]))
    room = max(most - len(ways), 0)
    links = sorted([*ways, *others[:room]], key=lambda link: (-link[2], link[:2]))
    return links, len(others) - min(room, len(others))
