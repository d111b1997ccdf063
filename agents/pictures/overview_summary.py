"""What the overview says of each community: what it is about, which papers, years and fields it comes from, what it
borders on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from agents.pictures.overview_papers import Papers, Profile, TopPaper, paper_mentions
from agents.pictures.overview_relations import Example, example_relations
from agents.pictures.overview_years import YearBins
from agents.pictures.text import clean_label
from kg.communities import Communities, concept_weights
from kg.inspect import papers_per_concept
from kg.lateral import LateralGraph
from kg.names import name_form
from kg.stems import stem

_WORDS = 3
_SAME_NAME = 0.85
"""Cosine from which two names of one community say the same to a reader."""


@dataclass(frozen=True)
class OverviewConfig:
    """How much is shown: at most ``drawn`` communities, none below ``least`` of the largest one's concepts.

    ``concepts``, ``papers`` and ``neighbours`` are listed of each; ``searched`` concepts of each can be searched, fewer
    where their names come to more than ``characters`` in all.
    """

    drawn: int = 60
    least: float = 1 / 40
    concepts: int = 12
    papers: int = 6
    neighbours: int = 5
    searched: int = 500
    characters: int = 1_000_000


@dataclass(frozen=True)
class TopConcept:
    """A concept with the sections and papers that mention it."""

    label: str
    sections: int
    papers: int


@dataclass(frozen=True)
class Neighbour:
    """Another community, the share of this one's edge weight that leads there, and an example where one is found."""

    number: int
    share: float
    example: Example | None


@dataclass(frozen=True)
class Community:
    """One community; ``inside`` is the share of the edge weight at its concepts that stays in it.

    ``median_year`` is that of its papers, counted fractionally; None where no paper is dated.
    """

    number: int
    size: int
    inside: float
    median_year: int | None
    profile: Profile
    concepts: tuple[TopConcept, ...]
    papers: tuple[TopPaper, ...]
    neighbours: tuple[Neighbour, ...]
    names: tuple[str, ...]
    """Of its leading concepts, for the search."""


@dataclass(frozen=True)
class Overview:
    """The communities drawn, the largest first; ``fields`` and ``bins`` name what profiles count, "" unknown last.

    ``links`` float64 [drawn, drawn] are edge weights between them, ``cosines`` those over the geometric mean of what
    leads out of both (Salton).
    """

    counts: dict[str, int]
    modularity: float
    whole: Profile
    bins: YearBins
    fields: tuple[str, ...]
    communities: tuple[Community, ...]
    links: np.ndarray
    cosines: np.ndarray
    smaller: int
    """Communities that are not drawn."""
    smaller_concepts: int
    largest_left_out: int
    """Concepts of the largest of them."""
    isolated: int
    """Concepts that no edge joins to another."""
    depth: int
    """Concepts of a community that can be searched, at most."""
    years: tuple[int, int] | None
    """Of the oldest and the newest dated paper."""


def summarise(graph: LateralGraph, communities: Communities, config: OverviewConfig = OverviewConfig()) -> Overview:
    """The overview of a graph: a function of the graph and the two others alone."""
    n_drawn = _drawn(communities.sizes, config)
    mentions = paper_mentions(graph, communities, n_drawn)
    papers = Papers(graph, mentions)
    weights = concept_weights(graph)
    scores = telling(graph, weights, communities.of)
    links, cosines = _links(communities.weights, n_drawn)
    near = [_nearest(cosines[number], config.neighbours) for number in range(n_drawn)]
    wanted = {_pair(number, other) for number in range(n_drawn) for other in near[number]}
    examples = example_relations(graph, weights, communities.of, wanted, scores)
    strength = np.asarray(communities.weights.sum(axis=1)).ravel()
    within = communities.weights.diagonal()
    order = np.lexsort((np.arange(len(scores)), -scores, communities.of))
    starts = np.searchsorted(communities.of[order], np.arange(n_drawn + 1))
    members = [order[starts[number] : starts[number + 1]] for number in range(n_drawn)]
    labels = [clean_label(label) or id_ for label, id_ in zip(*_columns(graph, "label", "concept_id"), strict=True)]
    names, depth = _searched(labels, members, config)
    holders = papers_per_concept(graph)
    return Overview(
        counts={name: int(graph.manifest["counts"][name]) for name in ("documents", "sections", "concepts", "edges")},
        modularity=communities.modularity,
        whole=papers.whole(),
        bins=papers.bins,
        fields=papers.fields,
        communities=tuple(
            Community(
                number=number,
                size=int(communities.sizes[number]),
                inside=float(within[number] / strength[number]),
                median_year=papers.median_year(number),
                profile=papers.profile(number),
                concepts=tuple(_concepts(graph, distinct(graph, members[number], config.concepts), labels, holders)),
                papers=tuple(papers.leading(number, config.papers)),
                neighbours=tuple(
                    Neighbour(other, float(links[number, other] / strength[number]), examples.get(_pair(number, other)))
                    for other in near[number]
                ),
                names=names[number],
            )
            for number in range(n_drawn)
        ),
        links=links,
        cosines=cosines,
        smaller=len(communities) - n_drawn,
        smaller_concepts=int(communities.sizes[n_drawn:].sum()),
        largest_left_out=int(communities.sizes[n_drawn:].max(initial=0)),
        isolated=communities.n_isolated,
        depth=depth,
        years=papers.span(),
    )  # fmt: skip


def telling(graph: LateralGraph, weights: sparse.csr_matrix, of: np.ndarray) -> np.ndarray:
    """How much each concept says of its community, float64 [concepts]; 0 for an isolated one.

        w_in * (w_in / w) * ln(1 + n) * log2(1 + l)

    w_in is the weight of its edges within the community, w that of all its edges, n the sections that mention it, l the
    words of its label, three at most. A concept tells of a community by being linked much there and little elsewhere,
    which an inverse document frequency would only guess. ln(1 + n) sets back names of one section, whose few
    co-occurrences all look perfect; log2(1 + l) prefers "causal effect" to "unit", as C-value does (Frantzi, Ananiadou
    & Mima 2000).
    """
    edges = weights.tocoo()
    same = of[edges.row] == of[edges.col]
    inside = np.bincount(edges.row[same], weights=edges.data[same], minlength=graph.n_concepts)
    every = np.bincount(edges.row, weights=edges.data, minlength=graph.n_concepts)
    share = np.divide(inside, every, out=np.zeros(graph.n_concepts), where=every > 0)
    words = np.array([min(len(label.split()), _WORDS) for label in graph.concepts["label"].to_pylist()])
    return np.asarray(inside * share * np.log1p(graph.concepts["n_sections"].to_numpy()) * np.log2(1 + words))


def distinct(graph: LateralGraph, rows: Sequence[int] | np.ndarray, most: int) -> list[int]:
    """The first ``most`` of ``rows`` whose names differ: no name's words are all another's, no vectors are near.

    The label and the form count as names of a concept: an acronym and what it stands for.
    """
    vectors = graph["concept"].x.cpu().numpy()
    labels, forms = graph.concepts["label"], graph.concepts["form"]
    chosen: list[tuple[int, set[frozenset[str]]]] = []
    for row in map(int, rows):
        if len(chosen) >= most:
            break
        names = {frozenset(map(stem, name.split())) for name in (forms[row].as_py(), name_form(labels[row].as_py()))}
        if not any(
            any(one <= other or other <= one for one in names for other in taken)
            or float(vectors[row] @ vectors[before]) >= _SAME_NAME
            for before, taken in chosen
        ):
            chosen.append((row, names))
    return [row for row, _ in chosen]


def _drawn(sizes: np.ndarray, config: OverviewConfig) -> int:
    """Sizes come in descending order."""
    return min(int((sizes >= sizes[0] * config.least).sum()), config.drawn) if len(sizes) else 0


def _links(weights: sparse.csr_matrix, n: int) -> tuple[np.ndarray, np.ndarray]:
    links = weights[:n, :n].toarray()
    np.fill_diagonal(links, 0.0)
    outward = np.asarray(weights.sum(axis=1)).ravel()[:n] - weights.diagonal()[:n]
    scale = np.sqrt(np.outer(outward, outward))
    return links, np.divide(links, scale, out=np.zeros_like(links), where=links > 0)


def _pair(one: int, other: int) -> tuple[int, int]:
    return min(one, other), max(one, other)


def _nearest(cosines: np.ndarray, most: int) -> list[int]:
    order = np.lexsort((np.arange(len(cosines)), -cosines))[:most]
    return [int(number) for number in order if cosines[number] > 0]


def _columns(graph: LateralGraph, *names: str) -> list[list[str]]:
    return [graph.concepts[name].to_pylist() for name in names]


def _concepts(graph: LateralGraph, rows: list[int], labels: list[str], holders: np.ndarray) -> list[TopConcept]:
    sections = graph.concepts["n_sections"].to_numpy()
    return [TopConcept(labels[row], int(sections[row]), int(holders[row])) for row in rows]


def _searched(
    labels: list[str], members: list[np.ndarray], config: OverviewConfig
) -> tuple[list[tuple[str, ...]], int]:
    """Names of the leading concepts of each community, and how many of each at most."""
    names = [[labels[row] for row in own[: config.searched].tolist()] for own in members]
    depth, used = 0, 0
    while depth < config.searched:  # the same depth for all, as far as the characters go
        used += sum(len(own[depth]) for own in names if len(own) > depth)
        if used > config.characters:
            break
        depth += 1
    return [tuple(own[:depth]) for own in names], depth
