"""Colours of categories: fields of research, or clusters where fields say nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal, TypeAlias

from retrieval.neighbourhood.nodes import Neighbourhood

Colouring: TypeAlias = Literal["auto", "field", "community"]

CATEGORIES = ("#0072b2", "#d55e00", "#009e73", "#b8588f", "#a8860b", "#2f8fc4", "#7a5c3e", "#5b5f97")
"""Okabe and Ito (2008), darkened where they would be faint on white; ``--c1`` to ``--c8`` of base.css."""
NONE = "#8a8d93"
"""Of what has no category, or one beyond the eighth; ``--none`` of base.css."""


@dataclass(frozen=True)
class Category:
    """A name in the legend. ``number`` counts from 1, 0 stands for what has no colour of its own."""

    number: int
    name: str

    @property
    def colour(self) -> str:
        """As a hexadecimal triplet."""
        return CATEGORIES[self.number - 1] if self.number else NONE


@dataclass(frozen=True)
class Colours:
    """The category of each concept and section shown, by row; ``legend`` holds those that occur, largest first."""

    concepts: dict[int, Category]
    sections: dict[int, Category]
    legend: tuple[Category, ...]
    what: Literal["field", "community"]


def colours_of(shown: Neighbourhood, colouring: Colouring = "auto") -> Colours:
    """By field where two or more are known, else by community; ``colouring`` may decide otherwise."""
    fields = ({node.field for node in shown.concepts} | {node.field for node in shown.sections}) - {""}
    if colouring == "field" or (colouring == "auto" and len(fields) > 1):
        concepts = {node.row: node.field for node in shown.concepts}
        sections = {node.row: node.field for node in shown.sections}
        return _coloured(concepts, sections, "field", "field not known")
    names: dict[int, str] = {}
    for node in sorted(shown.concepts, key=lambda node: (-node.score, node.row)):
        names.setdefault(node.community, f"around “{node.label}”" if node.community >= 0 else "")
    concepts = {node.row: names[node.community] for node in shown.concepts}
    carried: dict[int, dict[str, float]] = {node.row: {} for node in shown.sections}
    for link in shown.mentions:
        own = carried[link.section]
        own[concepts[link.concept]] = own.get(concepts[link.concept], 0.0) + link.share
    sections = {row: max(own, key=lambda name: (own[name], name), default="") for row, own in carried.items()}
    return _coloured(concepts, sections, "community", "apart from these")


def _coloured(
    concepts: dict[int, str], sections: dict[int, str], what: Literal["field", "community"], unknown: str
) -> Colours:
    sizes = Counter(name for name in (*concepts.values(), *sections.values()) if name)
    order = sorted(sizes, key=lambda name: (-sizes[name], name))
    categories = {name: Category(n, name) for n, name in enumerate(order[: len(CATEGORIES)], start=1)}
    rest = order[len(CATEGORIES) :]
    if rest:
        categories |= dict.fromkeys(rest, Category(0, f"{len(rest)} more"))
    none = Category(0, unknown)
    colour = {name: categories.get(name, none) for name in (*concepts.values(), *sections.values())}
    legend = tuple(dict.fromkeys(categories[name] for name in order))
    if "" in colour:
        legend += (none,)
    return Colours(
        {row: colour[name] for row, name in concepts.items()},
        {row: colour[name] for row, name in sections.items()},
        legend,
        what,
    )
