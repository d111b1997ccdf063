"""Why the names of a concept are one, which concepts are nearly the same, and what became of people's verdicts."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import pyarrow as pa
import pyarrow.compute as pc

from kg.lateral import LateralGraph
from kg.names import form_key, name_key
from kg.overrules import Overrules

DEFINED = "defined acronym"
"""Evidence of an acronym that is no name of its own: its papers say that it stands for the concept."""


@dataclass(frozen=True, slots=True)
class Join:
    """A name of a concept and the pair that ties it in; ``spellings`` have one key, the most frequent first.

    ``other``, ``probability`` and ``evidence`` (of ``kg.evidence.EVIDENCE``) are None for the name that all others are
    tied to, the first two also for a ``DEFINED`` acronym.
    """

    spellings: tuple[str, ...]
    other: str | None = None
    probability: float | None = None
    evidence: str | None = None


@dataclass(frozen=True, slots=True)
class NearMiss:
    """The likeliest pair of a name of one concept and an ``other`` name of another.

    ``pairs``: how many there are; ``uncertain``: the two concepts have a weighted *same as* edge; ``told_apart``:
    something bounds the probability (``kg.distinctions``).
    """

    name: str
    other: str
    concept: str
    concept_id: str
    probability: float
    evidence: str
    pairs: int
    uncertain: bool
    told_apart: bool


@dataclass(frozen=True, slots=True, order=True)
class _Link:
    left: str
    right: str
    probability: float
    evidence: str

    @property
    def rank(self) -> tuple[float, str, str]:
        return -self.probability, self.left, self.right


def explain_joins(graph: LateralGraph, row: int) -> list[Join]:
    """How the names of the concept in ``row`` hang together, in the order in which they are tied in.

    The likeliest pairs that tie all of them: a maximum spanning tree, grown from the most frequent name (Prim 1957).
    """
    spellings: dict[str, list[str]] = defaultdict(list)
    for alias in graph.concepts["aliases"][row].as_py():
        spellings[name_key(alias)].append(alias)
    within: dict[str, list[_Link]] = defaultdict(list)
    for link, _ in _links(graph, pc.and_(pc.equal(graph.links["left"], row), pc.equal(graph.links["right"], row))):
        for one in (link, _turned(link)):
            within[name_key(one.left)].append(one)
            if name_key(one.left) not in spellings:  # only meant: its papers write the acronym
                spellings[name_key(one.left)].append(one.left)
    names = {key: tuple(own) for key, own in spellings.items()}
    root = next((key for key in names if key in within), next(iter(names)))
    joins, tied = [Join(names[root])], {root}
    ahead = [(*link.rank, link) for link in within[root]]
    heapify(ahead)
    while ahead:
        best = heappop(ahead)[-1]
        if (key := name_key(best.right)) not in tied:
            tied.add(key)
            joins.append(Join(names[key], best.left, best.probability, best.evidence))
            for link in within[key]:
                heappush(ahead, (*link.rank, link))
    return joins + [Join(own, evidence=DEFINED) for key, own in names.items() if key not in tied]


def near_misses(graph: LateralGraph, row: int) -> list[NearMiss]:
    """Concepts that are nearly the one in ``row``: those with a *same as* edge first, then the likeliest."""
    across: dict[int, list[_Link]] = defaultdict(list)
    left, right = pc.equal(graph.links["left"], row), pc.equal(graph.links["right"], row)
    for link, ends in _links(graph, pc.xor(left, right)):
        inner, outer = (link, ends[1]) if ends[0] == row else (_turned(link), ends[0])
        across[outer].append(inner)
    start, end = (int(place) for place in graph.same_as.crow_indices()[row : row + 2])
    uncertain = set(graph.same_as.col_indices()[start:end].tolist())
    linked = graph.manifest["configuration"]["merge"]["linked"]
    found = []
    for concept, links in across.items():
        best = min(links, key=lambda link: link.rank)
        label, concept_id = (graph.concepts[column][concept].as_py() for column in ("label", "concept_id"))
        pair = (best.left, best.right, label, concept_id, best.probability, best.evidence)
        bounded = best.probability == linked
        found.append(NearMiss(*pair, len(links), uncertain=concept in uncertain, told_apart=bounded))
    return sorted(found, key=lambda miss: (not miss.uncertain, -miss.probability, miss.concept_id))


def kept_apart(graph: LateralGraph, row: int) -> list[str]:
    """Names that people say are different from one of the concept in ``row``, as normal forms, sorted."""
    own = set(graph.concepts["keys"][row].as_py())
    said = Overrules.stored(graph.manifest["configuration"]["merge"]["overrules"]).different
    return sorted({other for pair in said for one, other in (pair, pair[::-1]) if form_key(one) in own})


def unheeded(overrules: Overrules, concepts: pa.Table) -> tuple[list[str], list[str]]:
    """(names that no concept has, sentences on verdicts that have no effect) of a table of concepts."""
    if not overrules:
        return [], []
    forms = {form for pair in (*overrules.same, *overrules.different) for form in pair}
    asked = set(map(form_key, forms))
    holders: dict[str, set[int]] = defaultdict(set)
    for row, keys in enumerate(concepts["keys"].to_pylist()):
        for key in asked.intersection(keys):
            holders[key].add(row)
    unknown = {form for form in forms if form_key(form) not in holders}
    acronym = "one is an acronym that papers define; say it of what it stands for"
    told = [
        f"{left!r} is not one, though said to be: papers define it as an acronym; say it of what it stands for"
        for left, right in overrules.same
        if left == right and len(holders.get(form_key(left), ())) > 1
    ]
    for named in overrules.classes():
        first, *others = [form for form in named if form_key(form) in holders] or [""]
        told += [
            f"{first!r} and {other!r} are not one, though said to be the same: {acronym}"
            for other in others
            if not holders[form_key(first)] & holders[form_key(other)]
        ]
    told += [
        f"{left!r} and {right!r} are not apart, though said to be different: {acronym}"
        for left, right in overrules.different
        if holders.get(form_key(left), set()) & holders.get(form_key(right), set())
    ]
    return sorted(unknown), told


def _links(graph: LateralGraph, chosen: pa.ChunkedArray) -> list[tuple[_Link, tuple[int, int]]]:
    """The chosen rows of the table, each with the concepts at its ends."""
    rows = graph.links.filter(chosen).to_pylist()
    return [
        (
            _Link(row["left_name"], row["right_name"], round(row["probability"], 6), row["evidence"]),
            (row["left"], row["right"]),
        )
        for row in rows
    ]


def _turned(link: _Link) -> _Link:
    return _Link(link.right, link.left, link.probability, link.evidence)
