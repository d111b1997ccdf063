"""What a picture of a neighbourhood consists of once it is laid out, and the sizes that decide how it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from retrieval.neighbourhood.nodes import ConceptNode, MentionLink, RelationLink, SectionNode

LinkKind: TypeAlias = Literal["asks", "relation", "mention", "wording"]


@dataclass(frozen=True)
class Measures:
    """Sizes in CSS pixels. ``columns``: most columns of further concepts; ``lines``: most lines of a name."""

    width: float = 1280.0
    margin: float = 24.0
    font: float = 13.0
    small: float = 11.0
    title: float = 17.0
    question_width: float = 176.0
    label_width: float = 152.0
    card_width: float = 240.0
    gap_most: float = 110.0
    columns: int = 2
    lines: int = 2
    card_lines: int = 2
    row_gap: float = 9.0
    least_radius: float = 4.0
    most_radius: float = 13.0

    @property
    def card_font(self) -> float:
        """Of names in cards: between ``font`` and ``small``."""
        return max(self.font - 1, self.small)


WIDE = Measures()
PAGE = Measures(
    width=990.0, margin=14.0, font=13.0, small=11.5, title=15.0, question_width=132.0, label_width=132.0,
    card_width=212.0, gap_most=62.0, most_radius=11.0, row_gap=11.0,
)  # fmt: skip
"""For a page that has a panel beside the picture."""
PRINT = Measures(
    width=700.0, margin=4.0, font=13.5, small=12.0, title=14.5, question_width=100.0, label_width=118.0,
    card_width=178.0, columns=1, lines=3, card_lines=3, gap_most=60.0, most_radius=9.0, row_gap=7.0,
)  # fmt: skip
"""For a column of text: at 16 cm names are set in 8.7 points, small text in 7.8."""
RING = 3.2
"""From the circle of a concept of the question to the ring around it, in all."""
LEADING = 1.25


@dataclass(frozen=True)
class Box:
    """Left, top, width, height."""

    x: float
    y: float
    width: float
    height: float

    def overlaps(self, other: Box) -> bool:
        """Whether the two share more than an edge."""
        return (
            self.x < other.x + other.width and other.x < self.x + self.width
            and self.y < other.y + other.height and other.y < self.y + self.height
        )  # fmt: skip


@dataclass(frozen=True)
class Label:
    """Lines of text from ``box``'s left edge; ``full`` is the whole text."""

    box: Box
    lines: tuple[str, ...]
    size: float
    full: str
    bold: bool = False


@dataclass(frozen=True)
class Circle:
    """A concept: circle and name; those of the question have a ring, ``RING`` around the circle."""

    node: ConceptNode
    x: float
    y: float
    radius: float
    label: Label

    @property
    def reach(self) -> float:
        """Radius of all that is drawn."""
        return self.radius + (RING if self.node.seed else 0.0)


@dataclass(frozen=True)
class Card:
    """A section: a card of a few lines, who and where."""

    node: SectionNode
    box: Box
    lines: tuple[Label, ...]


@dataclass(frozen=True)
class Curve:
    """A link as an SVG path; ends by row (0 for the question); ``strength`` in [0, 1] among links of its kind."""

    kind: LinkKind
    source: int
    target: int
    path: str
    strength: float
    link: RelationLink | MentionLink | None = None


@dataclass(frozen=True)
class Layout:
    """All that is drawn, in a box of ``width`` x ``height`` from (0, 0)."""

    width: float
    height: float
    question: Label
    headers: tuple[Label, ...]
    circles: tuple[Circle, ...]
    cards: tuple[Card, ...]
    curves: tuple[Curve, ...]
