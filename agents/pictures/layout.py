"""Where everything stands in the picture of a neighbourhood: columns from the question to the sections.

A link that passes over columns runs through a lane of its own in each, shared by all such links of one item, so that
no link runs under a name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

from agents.pictures.columns import Segment, column_height, order_columns, place_columns
from agents.pictures.shapes import LEADING, RING, WIDE, Box, Card, Circle, Curve, Label, Layout, LinkKind, Measures
from agents.pictures.text import clean_label, text_width, word_width, wrap_evenly
from agents.pictures.words import card_lines, card_name, seed_head
from retrieval.neighbourhood.nodes import ConceptNode, MentionLink, Neighbourhood, RelationLink

Key: TypeAlias = tuple[str, int, int]
"""("question", 0, 0), ("concept", row, 0), ("section", row, 0), or the lane of one: (kind lane, row, column)."""
QUESTION: Key = ("question", 0, 0)
_LANE = 4.0
_PAD = 7.0
_EDGE = 6.0
"""Room in a card: all around, and for the coloured edge."""
_QUESTION = 1.4
"""Widest question, against ``Measures.question_width``, so that no word of it is cut."""


@dataclass(frozen=True)
class _Link:
    kind: LinkKind
    source: Key
    target: Key
    strength: float
    link: RelationLink | MentionLink | None = None


def lay_out(shown: Neighbourhood, measures: Measures = WIDE) -> Layout:
    """The layout of a neighbourhood: a function of the two alone."""
    return _Columns(shown, measures).layout()


class _Columns:
    def __init__(self, shown: Neighbourhood, measures: Measures) -> None:
        self.shown = shown
        self.m = measures
        self.column = _columns(shown, measures.columns)
        self.last = max(self.column.values())
        self.labels = {("concept", c.row, 0): self._name(c) for c in shown.concepts}
        best = max((c.score for c in shown.concepts), default=0.0)
        self.radius = {("concept", c.row, 0): self._radius(c.score, best) for c in shown.concepts}
        self.links = self._links()
        self.heads = self._heads()
        self.cards = {("section", s.row, 0): lines for s, lines in zip(shown.sections, self._cards(), strict=True)}

    def layout(self) -> Layout:
        """Lanes, order, heights, then boxes and curves."""
        m = self.m
        segments, ways = self._segments()
        columns: list[list[Key]] = [[] for _ in range(self.last + 1)]
        for key in dict.fromkeys((*self.column, *(key for way in ways for key in way))):
            columns[self.column.get(key, key[2])].append(key)
        heights = {key: self._height(key) for column in columns for key in column}
        columns = order_columns(columns, segments)
        height = max(column_height(column, heights, m.row_gap) for column in columns)
        middle = place_columns(columns, segments, heights, m.row_gap, height)
        top = m.margin + 2.2 * m.small
        middle = {key: y + top for key, y in middle.items()}
        lefts, widths = self._spread()
        question = self._question(lefts[0], middle[QUESTION])
        circles = {
            key: self._circle(key, lefts[self.column[key]], middle[key]) for key in self.column if key[0] == "concept"
        }
        cards = {key: self._card(key, lefts[self.last], middle[key]) for key in self.column if key[0] == "section"}
        bands = [(left - 3, left + width + 5) for left, width in zip(lefts, widths, strict=True)]
        ends = {QUESTION: (lefts[0], lefts[0] + question.box.width + 5)}
        ends |= {key: (c.x - c.reach, c.label.box.x + c.label.box.width + 5) for key, c in circles.items()}
        ends |= {key: (c.box.x, c.box.x + c.box.width) for key, c in cards.items()}
        curves = [
            Curve(link.kind, link.source[1], link.target[1], path, link.strength, link.link)
            for link, way in zip(self.links, ways, strict=True)
            for path in (self._path(link, way, middle, ends, bands),)
        ]
        return Layout(
            width=lefts[-1] + widths[-1] + m.margin,
            height=top + height + m.margin / 2,
            question=question,
            headers=tuple(
                replace(head, box=replace(head.box, x=left, y=m.margin / 2))
                for head, left in zip(self.heads, lefts, strict=True)
            ),
            circles=tuple(circles.values()),
            cards=tuple(cards.values()),
            curves=tuple(curves),
        )

    def _name(self, node: ConceptNode) -> Label:
        text = clean_label(node.label)
        lines = wrap_evenly(text, self.m.label_width, self.m.font, self.m.lines)
        return self._label(text, lines, self.m.font)

    def _label(self, full: str, lines: list[str], size: float, bold: bool = False) -> Label:
        width = max((text_width(line, size, bold) for line in lines), default=0.0)
        return Label(Box(0.0, 0.0, width, len(lines) * size * LEADING), tuple(lines), size, full, bold)

    def _radius(self, score: float, best: float) -> float:
        share = (score / best) ** 0.5 if best > 0 else 0.0
        return max(self.m.least_radius, self.m.most_radius * share)

    def _height(self, key: Key) -> float:
        if key not in self.column:
            return _LANE
        if key == QUESTION:
            return self._question(0.0, 0.0).box.height
        if key[0] == "concept":
            return max(2 * self.radius[key], self.labels[key].box.height)
        return 2 * _PAD + sum(line.box.height for line in self.cards[key])

    def _question(self, x: float, y: float) -> Label:
        """As wide as its longest word, within ``_QUESTION`` times the usual, in smaller type where that helps."""
        text, m = clean_label(self.shown.question), self.m
        sizes = [m.title - n for n in range(int(m.title - m.small) + 1)]
        whole = [size for size in sizes if word_width(text, size, bold=True) <= _QUESTION * m.question_width]
        size = whole[0] if whole else m.title
        width = max(m.question_width, word_width(text, size, bold=True) + 0.1 if whole else 0.0)
        label = self._label(text, wrap_evenly(text, width, size, 9, bold=True), size, bold=True)
        return replace(label, box=replace(label.box, x=x, y=y - label.box.height / 2))

    def _circle(self, key: Key, left: float, y: float) -> Circle:
        node = next(c for c in self.shown.concepts if c.row == key[1])
        label = self.labels[key]
        x = left + self.m.most_radius + RING
        box = replace(label.box, x=x + self.m.most_radius + RING + 5, y=y - label.box.height / 2)
        return Circle(node, x, y, self.radius[key], replace(label, box=box))

    def _cards(self) -> list[list[Label]]:
        """What stands in the card of each section."""
        m, sections = self.m, self.shown.sections
        inside = m.card_width - 2 * _PAD - _EDGE
        first = inside - 5 - max(text_width(str(s.rank), m.small) for s in sections)
        names = ["".join(card_name(s)) for s in sections if s.authors]
        # Bold where that fits all names of authors; that they are whole matters more.
        bold = all(text_width(name, m.card_font, bold=True) <= first for name in names)
        return [
            [
                self._label(text, [line], size, strong)
                for text, line, size, strong in card_lines(
                    section, first, inside, m.card_font, m.small, bold, m.card_lines
                )
            ]
            for section in sections
        ]

    def _card(self, key: Key, left: float, y: float) -> Card:
        node = next(s for s in self.shown.sections if s.row == key[1])
        height = self._height(key)
        box = Box(left, y - height / 2, self.m.card_width, height)
        labels = []
        top = box.y + _PAD
        for label in self.cards[key]:
            labels.append(replace(label, box=replace(label.box, x=left + _PAD + _EDGE, y=top)))
            top += label.box.height
        return Card(node, box, tuple(labels))

    def _links(self) -> list[_Link]:
        shown = self.shown
        links = [_Link("asks", QUESTION, ("concept", c.row, 0), 0.5) for c in shown.concepts if c.seed]
        strongest = max((link.weight for link in shown.relations), default=1.0)
        for link in shown.relations:
            source, target = ("concept", link.source, 0), ("concept", link.target, 0)
            if self.column[source] > self.column[target]:
                source, target = target, source
            links.append(_Link("relation", source, target, link.weight / strongest, link))
        largest = max((link.share for link in shown.mentions if link.drawn), default=0.0) or 1.0
        for mention in shown.mentions:
            if mention.drawn:
                ends = ("concept", mention.concept, 0), ("section", mention.section, 0)
                links.append(_Link("mention", *ends, mention.share / largest, mention))
        return links + [_Link("wording", QUESTION, ("section", row, 0), 0.2) for row in shown.wording]

    def _segments(self) -> tuple[list[Segment[Key]], list[tuple[Key, ...]]]:
        """What joins neighbouring columns, and of each link the lanes that it runs through."""
        segments: dict[tuple[Key, Key], float] = {}
        ways: list[tuple[Key, ...]] = []
        for link in self.links:
            columns = range(self.column[link.source] + 1, self.column[link.target])
            way = tuple((f"{link.source[0]} lane", link.source[1], column) for column in columns)
            ways.append(way)
            stops = (link.source, *way, link.target)
            for pair in pairwise(stops):
                segments[pair] = segments.get(pair, 0.0) + 0.3 + link.strength
        return [(left, right, weight) for (left, right), weight in segments.items()], ways

    def _spread(self) -> tuple[list[float], list[float]]:
        """Left edge and width of each column."""
        m = self.m
        widths = [max(self._question(0.0, 0.0).box.width, self.heads[0].box.width)]
        for number in range(1, self.last):
            names = [self.labels[key].box.width for key, column in self.column.items() if column == number]
            widths.append(max(2 * (m.most_radius + RING) + 5 + max(names, default=0.0), self.heads[number].box.width))
        widths.append(max(m.card_width, self.heads[-1].box.width))
        gap = min((m.width - 2 * m.margin - sum(widths)) / max(len(widths) - 1, 1), m.gap_most)
        lefts = [m.margin + sum(widths[:n]) + gap * n for n in range(len(widths))]
        return lefts, widths

    def _heads(self) -> list[Label]:
        """What stands above each column; no column is narrower."""
        own = [head] if (head := seed_head(self.shown)) else []
        related = ["Related concepts", "Further related"][: self.last - 1 - len(own)]
        names = ["Question", *own, *related, "Sections and their rank"]
        return [self._label(name, [name], self.m.small) for name in names]

    def _path(
        self,
        link: _Link,
        way: tuple[Key, ...],
        middle: dict[Key, float],
        ends: dict[Key, tuple[float, float]],
        bands: list[tuple[float, float]],
    ) -> str:
        """Level within columns, curved between them; a bow to the left between two of one column."""
        source, target = link.source, link.target
        start, end = self.column[source], self.column[target]
        if start == end:
            x0, x1, y0, y1 = ends[source][0], ends[target][0], middle[source], middle[target]
            bow = bands[start][0] - min(10 + abs(y1 - y0) * 0.16, 40)
            return f"M{x0:.1f} {y0:.1f}C{bow:.1f} {y0:.1f} {bow:.1f} {y1:.1f} {x1:.1f} {y1:.1f}"
        y = middle[source]
        path = f"M{ends[source][1]:.1f} {y:.1f}"
        for number, key in enumerate((*way, target), start=start + 1):
            x, left = bands[number - 1][1], bands[number][0]
            half = (x + left) / 2
            path += f"H{x:.1f}C{half:.1f} {y:.1f} {half:.1f} {middle[key]:.1f} {left:.1f} {middle[key]:.1f}"
            y = middle[key]
        return path + f"H{ends[target][0]:.1f}"


def _columns(shown: Neighbourhood, most: int) -> dict[Key, int]:
    """The column of each item: question, seeds, further concepts by distance in at most ``most``, sections."""
    further = [c for c in shown.concepts if c.seed is None]
    depths = {c.row: min(c.distance if c.distance > 0 else most, most) for c in further}
    used = {depth: n for n, depth in enumerate(sorted(set(depths.values())), start=1)}
    column = {QUESTION: 0}
    first = 1 if any(c.seed for c in shown.concepts) else 0
    for concept in shown.concepts:
        column["concept", concept.row, 0] = 1 if concept.seed else first + used[depths[concept.row]]
    last = max(column.values()) + 1
    return column | {("section", s.row, 0): last for s in shown.sections}
