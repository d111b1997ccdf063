"""The picture of a neighbourhood as SVG: presentation attributes only, so that it looks alike wherever it is opened.

Every part has a class and names its rows, so that a page may style it and make it answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

import regex

from agents.pictures.layout import lay_out
from agents.pictures.palette import NONE, Category, Colouring, Colours, colours_of
from agents.pictures.shapes import LEADING, PAGE, PRINT, RING, WIDE, Card, Circle, Curve, Label, Layout, Measures
from agents.pictures.text import clean_label, text_width, wrap
from agents.pictures.words import (
    SEED_REASONS,
    alternative,
    caption,
    cited_as,
    heading_of,
    left_out,
    seed_reasons,
)
from agents.reporting.model import Figure
from agents.reporting.wording import number_of
from retrieval.neighbourhood.nodes import Neighbourhood, SeedReason

FONTS = "Inter, 'Source Sans 3', 'Segoe UI', 'Helvetica Neue', Arial, 'Noto Sans', 'DejaVu Sans', sans-serif"
_SCRIPTS = (
    (regex.compile(r"[\p{Arabic}\p{Hebrew}]"), "DejaVu Sans"),
    (regex.compile(r"[\p{Hiragana}\p{Katakana}]"), "Noto Sans CJK JP"),
    (regex.compile(r"\p{Hangul}"), "Noto Sans CJK KR"),
    (regex.compile(r"\p{Han}"), "Noto Sans CJK SC"),
    (regex.compile(r"^[\p{Thai}\s]+$"), "Noto Sans Thai"),
    (regex.compile(r"^[\p{Devanagari}\s]+$"), "Noto Sans Devanagari"),
)
"""Families to try first for a line of other scripts, with all that the line holds: where none is named, some renderers
take the first face that has a letter, bold or not."""
INK, MUTED, LINE, PAPER = "#1c1d1f", "#5d6066", "#dedbd3", "#ffffff"
"""``--ink``, ``--muted``, ``--line`` of base.css, and white."""
_ASCENT = 0.96
"""Baseline of a line below its top, in font sizes: ascent and half of the leading."""


_DASHES: dict[SeedReason, str] = {"named": "", "near": "3.4 2.6", "held": "0.1 3"}
_LEADS: dict[SeedReason, str] = {"named": "", "near": "6 5", "held": "1 5"}
"""Of the ring around a concept of the question, and of the line that leads there."""


def picture_svg(shown: Neighbourhood, colouring: Colouring = "auto", measures: Measures = WIDE) -> str:
    """The whole picture, with legend and caption, to stand by itself."""
    return _render(shown, colouring, measures, captioned=True)


def inline_svg(shown: Neighbourhood, colouring: Colouring = "auto") -> str:
    """The picture without legend and caption, for a page that shows those itself.

    All but the paper is in one group (``view``) that can be zoomed; links have wide hit areas.
    """
    return _render(shown, colouring, PAGE, captioned=False, interactive=True)


def figure_of(shown: Neighbourhood, colouring: Colouring = "auto") -> Figure:
    """The picture for a report: about 700 px wide, readable when printed 16 cm wide; its caption is the figure's."""
    content = _render(shown, colouring, PRINT, captioned=False, legend=True).encode("utf-8")
    text = " ".join(filter(None, (caption(shown), left_out(shown))))
    return Figure("image/svg+xml", content, alternative(shown), text)


def _render(
    shown: Neighbourhood,
    colouring: Colouring,
    measures: Measures,
    captioned: bool,
    interactive: bool = False,
    legend: bool = False,
) -> str:
    layout = lay_out(shown, measures)
    colours = colours_of(shown, colouring)
    reasons = {c.row: c.seed for c in shown.concepts if c.seed}
    body = [
        *(_text(header, "header", MUTED) for header in layout.headers),
        '<g class="links" fill="none">',
        *(_link(curve, n, colours, reasons, interactive) for n, curve in enumerate(layout.curves)),
        "</g>",
        _text(layout.question, "question", INK),
        '<g class="cards">',
        *(_card(card, colours.sections[card.node.row], measures.small) for card in layout.cards),
        "</g>",
        '<g class="concepts">',
        *(_circle(circle, colours.concepts[circle.node.row]) for circle in layout.circles),
        "</g>",
    ]
    height = layout.height
    if captioned or legend:
        lines, height = _legend(layout, seed_reasons(shown), colours, measures)
        body += lines
    if captioned:
        lines, height = _caption(shown, layout.width, height, measures)
        body += lines
    if interactive:
        body = ['<g class="view">', *body, "</g>"]
    size = f"{_n(layout.width)} {_n(height)}"
    name = quoteattr(f"Concept neighbourhood of: {clean_label(shown.question)}")
    role = f'role="group" aria-label={name}' if interactive else 'role="img"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{_n(layout.width)}" '
            f'height="{_n(height)}" class="picture" {role} font-family="{FONTS}">',
            *([] if interactive else [f"<title>{escape(clean_label(shown.question))}</title>"]),  # a browser pops it up
            f"<desc>{escape(alternative(shown))}</desc>",
            f'<rect class="paper" width="{_n(layout.width)}" height="{_n(height)}" fill="{PAPER}"/>',
            *body,
            "</svg>\n",
        ]
    )


def _link(curve: Curve, number: int, colours: Colours, reasons: Mapping[int, SeedReason], interactive: bool) -> str:
    category = colours.concepts.get(curve.source) if curve.kind in {"relation", "mention"} else None
    colour = category.colour if category else NONE
    width = 1.0 + 3.4 * curve.strength
    dashes = "2 4" if curve.kind == "wording" else _LEADS[reasons[curve.target]] if curve.kind == "asks" else ""
    dash = f' stroke-dasharray="{dashes}"' if dashes else ""
    line = (
        f'<path class="line" d="{curve.path}" stroke="{colour}" stroke-width="{width:.2f}" stroke-opacity="0.34" '
        f'stroke-linecap="round"{dash}/>'
    )
    if not interactive:
        return line
    hit = f'<path class="hit" d="{curve.path}" stroke="#000" stroke-opacity="0" stroke-width="12"/>'
    return (
        f'<g class="link {curve.kind} c{category.number if category else 0}" data-link="{number}" '
        f'data-source="{curve.source}" data-target="{curve.target}">{line}{hit}</g>'
    )


def _circle(circle: Circle, category: Category) -> str:
    node = circle.node
    reason = f"{SEED_REASONS[node.seed]}, in " if node.seed else ""
    told = f"{circle.label.full}: {reason}{number_of(node.sections, 'section')} of {number_of(node.papers, 'paper')}"
    ring = _ring(node.seed, circle.x, circle.y, circle.radius) if node.seed else ""
    return (
        f'<g class="concept c{category.number}{" seed" if node.seed else ""}" data-row="{node.row}">'
        f"<title>{escape(told)}</title>"
        f'<circle cx="{_n(circle.x)}" cy="{_n(circle.y)}" r="{_n(circle.radius)}" fill="{category.colour}"/>'
        f"{ring}{_text(circle.label, 'name', INK)}</g>"
    )


def _ring(reason: SeedReason, x: float, y: float, radius: float) -> str:
    """Around a circle: whole where the question names the concept, else broken."""
    dash = f' stroke-dasharray="{_DASHES[reason]}" stroke-linecap="round"' if _DASHES[reason] else ""
    return (
        f'<circle class="why" cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius + RING - 0.7)}" fill="none" stroke="{INK}" '
        f'stroke-width="1.4"{dash}/>'
    )


def _card(card: Card, category: Category, small: float) -> str:
    box, node = card.box, card.node
    told = " · ".join(filter(None, (cited_as(node), clean_label(node.title), heading_of(node))))
    right, rank = box.x + box.width - 7, card.lines[0].box
    return (
        f'<g class="section c{category.number}" data-row="{node.row}"><title>{escape(told)}</title>'
        f'<rect class="card" x="{_n(box.x)}" y="{_n(box.y)}" width="{_n(box.width)}" height="{_n(box.height)}" rx="4" '
        f'fill="{PAPER}" stroke="{LINE}"/>'
        f'<rect class="edge" x="{_n(box.x)}" y="{_n(box.y)}" width="4" height="{_n(box.height)}" rx="2" '
        f'fill="{category.colour}"/>'
        f"{''.join(_text(line, *_line_style(line, card)) for line in card.lines)}"
        f'<text class="rank" x="{_n(right)}" y="{_n(rank.y + _ASCENT * card.lines[0].size)}" font-size="{_n(small)}" '
        f'text-anchor="end" fill="{MUTED}">{node.rank}</text></g>'
    )


def _line_style(line: Label, card: Card) -> tuple[str, str]:
    return ("who", INK) if line.full == card.lines[0].full else ("where", MUTED)


def _text(label: Label, name: str, colour: str) -> str:
    weight = ' font-weight="600"' if label.bold else ""
    tops = [label.box.y + label.size * n * LEADING for n in range(len(label.lines))]
    return "".join(
        _line(line, label.box.x, top + label.size * _ASCENT, label.size, colour, f' class="{name}"{weight}')
        for line, top in zip(label.lines, tops, strict=True)
    )


def _line(text: str, x: float, baseline: float, size: float, colour: str, more: str = "") -> str:
    family = "" if text.isascii() else next((name for script, name in _SCRIPTS if script.search(text)), "")
    fonts = f" font-family=\"'{family}', {FONTS}\"" if family else ""
    place = f'x="{_n(x)}" y="{_n(baseline)}" font-size="{_n(size)}" fill="{colour}"'
    return f'<text {place}{fonts}{more} xml:space="preserve">{escape(text)}</text>'


def _legend(layout: Layout, reasons: Sequence[SeedReason], colours: Colours, m: Measures) -> tuple[list[str], float]:
    """Lines of rings and coloured dots with names, and the height that the picture then has."""
    left = m.margin + 3.0
    x, y = left, layout.height + m.small * 1.6
    parts = []
    entries: list[tuple[SeedReason | Category, str]] = [(reason, SEED_REASONS[reason]) for reason in reasons]
    for mark, full in [*entries, *((category, clean_label(category.name)) for category in colours.legend)]:
        name = wrap(full, layout.width - 2 * m.margin - 24, m.small, 1)[0]
        width = 16 + text_width(name, m.small) + 14
        if x + width > layout.width - m.margin and x > left:
            x, y = left, y + m.small * 1.7
        middle = y - m.small * 0.35
        if isinstance(mark, Category):
            parts.append(f'<circle cx="{_n(x + 5)}" cy="{_n(middle)}" r="5" fill="{mark.colour}"/>')
        else:
            parts.append(_ring(mark, x + 5, middle, 6 - RING))
        parts.append(_line(name, x + 15, y, m.small, MUTED))
        x += width
    return parts, y + m.small


def _caption(shown: Neighbourhood, width: float, top: float, m: Measures) -> tuple[list[str], float]:
    y = top + m.font
    parts = []
    for text, size, colour in ((caption(shown), m.font, INK), (left_out(shown), m.small, MUTED)):
        for line in wrap(text, width - 2 * m.margin, size, 12) if text else []:
            parts.append(_line(line, m.margin, y, size, colour))
            y += size * 1.45
    return parts, y + m.margin / 2


def _n(value: float) -> str:
    """A coordinate: at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")
