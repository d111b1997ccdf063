"""The picture of a neighbourhood as a page: the SVG, what stands behind each part of it, and scripts that show that."""

from __future__ import annotations

from typing import Any

from agents.pictures.layout import lay_out
from agents.pictures.palette import Colouring, Colours, colours_of
from agents.pictures.shapes import PAGE
from agents.pictures.svg import inline_svg
from agents.pictures.text import clean_label
from agents.pictures.words import SEED_REASONS, caption, cited_as, heading_of, left_out, seed_reasons
from agents.reporting.bibliography.citing import doi_url
from agents.reporting.pages import asset, d3_source, render_page, trusted
from agents.reporting.wording import number_of
from retrieval.neighbourhood.evidence import Evidence
from retrieval.neighbourhood.nodes import MentionLink, Neighbourhood, RelationLink, SectionNode

_LONG = 240
"""Characters from which a question is no heading any more but a text to scroll in."""
_LEGIBLE = 0.8
"""Least scale of a picture that is higher than the window."""
_FEW = 3
"""Sections at most that leave room on the page for their texts and the tables."""


def picture_page(shown: Neighbourhood, colouring: Colouring = "auto") -> str:
    """One HTML file that needs nothing else. Raises ``InputError`` where D3 is not installed."""
    colours = colours_of(shown, colouring)
    return render_page(
        "picture.html",
        scripts=[d3_source(), asset("picture.js")],
        styles=["picture.css"],
        title=clean_label(shown.question),
        long=len(clean_label(shown.question)) > _LONG,
        language="en",
        svg=trusted(inline_svg(shown, colouring)),
        least_height=_LEGIBLE * lay_out(shown, PAGE).height,
        brief=len(shown.sections) <= _FEW,
        reasons=[(reason, SEED_REASONS[reason]) for reason in seed_reasons(shown)],
        legend=colours.legend,
        caption=caption(shown),
        left_out=left_out(shown),
        data=page_data(shown, colouring),
        concept_rows=_concept_rows(shown),
        section_rows=_section_rows(shown),
    )


def page_data(shown: Neighbourhood, colouring: Colouring = "auto") -> dict[str, Any]:
    """What the page's script looks up: concepts and sections by row, links in the order of the SVG's."""
    colours = colours_of(shown, colouring)
    layout = lay_out(shown, PAGE)
    return {
        "concepts": {node.row: _concept(shown, node.row, colours) for node in shown.concepts},
        "sections": {node.row: _section(shown, node, colours) for node in (*shown.sections, *shown.others)},
        "links": [_link(shown, curve.kind, curve.source, curve.target, curve.link) for curve in layout.curves],
    }


def _concept(shown: Neighbourhood, row: int, colours: Colours) -> dict[str, Any]:
    node = next(c for c in shown.concepts if c.row == row)
    here = sorted((m for m in shown.mentions if m.concept == row), key=lambda m: (-m.share, m.section))
    elsewhere = shown.elsewhere.get(row, ())
    facts = [
        SEED_REASONS[node.seed] if node.seed else "",
        f"field: {node.field}" if node.field else "",
        f"in {number_of(node.sections, 'section')} of {number_of(node.papers, 'paper')}",
        f"{_place(shown)[row]} of the {number_of(len(shown.concepts), 'concept')} shown",
    ]
    return {
        "label": clean_label(node.label),
        "category": colours.concepts[row].number,
        "facts": " · ".join(filter(None, facts)),
        "here": [{"section": m.section, "count": m.count} | _evidence(m.evidence) for m in here],
        "elsewhere": [{"section": e.section} | _evidence(e) for e in elsewhere],
        "more": node.sections - len(here) - len(elsewhere),
    }


def _section(shown: Neighbourhood, node: SectionNode, colours: Colours) -> dict[str, Any]:
    cited, title = cited_as(node), clean_label(node.title)
    data = {
        "cited": cited,
        "title": "" if cited.startswith(title) else title,
        "heading": heading_of(node),
        "url": doi_url(node.doi),
    }
    if node.rank is None:
        return data
    own = [m for m in shown.mentions if m.section == node.row]
    return data | {
        "rank": node.rank,
        "score": f"{node.score:.3g}",
        "category": colours.sections[node.row].number,
        "text": node.text,
        "marks": _marks(own),
        "concepts": [m.concept for m in sorted(own, key=lambda m: (-m.share, m.concept))],
    }


def _place(shown: Neighbourhood) -> dict[int, str]:
    """Of each concept its place among those shown by score, the largest first, and the score: a score has no scale."""
    order = sorted(shown.concepts, key=lambda node: (-node.score, node.row))
    return {node.row: f"rank {n} (score {node.score:.3g})" for n, node in enumerate(order, start=1)}


def _marks(mentions: list[MentionLink]) -> list[tuple[int, int, int]]:
    """(start, end, concept) without overlaps: the earliest first, of those that begin together the longest."""
    spans = sorted((start, -end, m.concept) for m in mentions for start, end in m.spans)
    kept: list[tuple[int, int, int]] = []
    for start, negative, concept in spans:
        if not kept or start >= kept[-1][1]:
            kept.append((start, -negative, concept))
    return kept


def _link(
    shown: Neighbourhood, kind: str, source: int, target: int, link: RelationLink | MentionLink | None
) -> dict[str, Any]:
    names = {c.row: clean_label(c.label) for c in shown.concepts}
    if isinstance(link, RelationLink):
        ends = (link.target, link.source) if link.reverse and link.directed else (link.source, link.target)
        arrow = " →" if link.directed else ""
        what = f"“{names[ends[0]]}” {clean_label(link.label)}{arrow} “{names[ends[1]]}”"
        told = f"{'asserted' if link.directed else 'together'} in {number_of(link.sections, 'section')}"
        return {"what": what, "told": told, "section": link.evidence.section} | _evidence(link.evidence)
    if isinstance(link, MentionLink):
        times = "once" if link.count == 1 else f"{link.count} times"
        what = f"“{names[link.concept]}” in {cited_as(shown.section(link.section))}"
        told = f"mentioned {times}, {link.share:.0%} of the section's score"
        return {"what": what, "told": told, "section": link.section} | _evidence(link.evidence)
    if kind == "asks":
        seed = next(c for c in shown.concepts if c.row == target)
        return {"what": f"“{names[target]}”", "told": SEED_REASONS[seed.seed or "named"]} | _evidence(None)
    what = f"The question and {cited_as(shown.section(target))}"
    return {"what": what, "told": "found by its wording; no concept shown leads there"} | _evidence(None)


def _evidence(evidence: Evidence | None) -> dict[str, Any]:
    if evidence is None:
        return {"text": "", "marks": [], "lead": False}
    return {"text": evidence.text, "marks": evidence.marks, "lead": evidence.start < 0}


def _concept_rows(shown: Neighbourhood) -> list[tuple[str, ...]]:
    """name, why it is there, field, rank and score, sections, related to."""
    place = _place(shown)
    names = {c.row: clean_label(c.label) for c in shown.concepts}
    related: dict[int, list[str]] = {row: [] for row in names}
    for link in shown.relations:
        related[link.source].append(names[link.target])
        related[link.target].append(names[link.source])
    return [
        (
            names[c.row], SEED_REASONS[c.seed] if c.seed else "related", c.field, place[c.row],
            f"{c.sections:,} in {number_of(c.papers, 'paper')}", ", ".join(related[c.row]),
        )
        for c in shown.concepts
    ]  # fmt: skip


def _section_rows(shown: Neighbourhood) -> list[tuple[str, str, str, str, str, str]]:
    """rank, paper, heading, concepts that lead there, DOI link, score."""
    names = {c.row: clean_label(c.label) for c in shown.concepts}
    return [
        (
            str(s.rank), f"{cited_as(s)}. {clean_label(s.title)}" if s.authors else cited_as(s), heading_of(s),
            ", ".join(names[m.concept] for m in shown.mentions if m.section == s.row), doi_url(s.doi),
            f"{s.score:.3g}",
        )
        for s in shown.sections
    ]  # fmt: skip
