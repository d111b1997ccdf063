"""What the picture says in words: who wrote a section, how many of what are shown, what is left out."""

from __future__ import annotations

from collections.abc import Sequence

from agents.pictures.text import clean_label, shorten, text_width, wrap
from agents.reporting.bibliography.names import short_authors
from retrieval.neighbourhood.nodes import Neighbourhood, SectionNode, SeedReason

SEED_REASONS: dict[SeedReason, str] = {
    "named": "named in the question",
    "near": "near the question in meaning",
    "held": "held by the sections nearest to the question",
}


def cited_as(section: SectionNode) -> str:
    """Short as in a text, "Fama & French (1993)"; the title where no author is known."""
    if who := clean_label(short_authors(section.authors, "&")):
        return f"{who} ({section.year or 'n.d.'})"
    title = clean_label(section.title) or section.section_id
    return f"{title} ({section.year})" if section.year else title


def card_name(node: SectionNode) -> tuple[str, str]:
    """Authors, or the title where none is known, and the year in parentheses; the year may be empty."""
    who = clean_label(short_authors(node.authors, "&")) or clean_label(node.title) or node.section_id
    return who, f" ({node.year})" if node.year else ""


def card_lines(
    node: SectionNode, first: float, second: float, size: float, small: float, bold: bool
) -> list[tuple[str, str, float, bool]]:
    """(text, what fits of it, font size, bold) of the two lines of a card, ``first`` and ``second`` wide.

    Authors and year, then the heading; without authors the title, on both lines where there is no heading.
    """
    heading, title = clean_label(node.heading), clean_label(node.title) or node.section_id
    who, year = card_name(node)
    if not heading and who == title:
        begin = wrap(title, first, size, 2)[0]
        rest = title[len(begin) :].strip()
        return [(title, begin, size, False), *([(title, shorten(rest, second, size), size, False)] if rest else [])]
    room = first - text_width(year, size, bold)
    below = heading or title
    return [
        (who + year, shorten(who, room, size, bold) + year, size, bold),
        (below, shorten(below, second, small), small, False),
    ]


def count(n: int, noun: str) -> str:
    """So many: "1 paper", "2 papers"."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def listed(parts: Sequence[str]) -> str:
    """The parts as a sentence lists them: "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1]))) if parts else ""


def caption(shown: Neighbourhood) -> str:
    """What is shown, with counts, and what sizes and widths mean."""
    seeds = [c for c in shown.concepts if c.seed]
    further = len(shown.concepts) - len(seeds)
    papers = len({section.section_id.rpartition("#")[0] for section in shown.sections})
    parts = [f"{count(len(seeds), 'concept')} of the question"] if seeds else []
    parts += [count(further, "related concept")] if further else []
    parts += [f"{count(len(shown.sections), 'section')} of {count(papers, 'paper')} that they lead to"]
    sizes = " Circles are sized by score, lines by strength." if len(parts) > 1 else ""
    return f"{listed(parts)}.{sizes}"


def left_out(shown: Neighbourhood) -> str:
    """What limits kept out; "" where nothing was."""
    out = shown.left_out
    parts = []
    if out.sections:
        parts.append(f"{out.sections:,} of the first {out.ranked:,} sections, which bear on the question too")
    if out.seeds:
        parts.append(f"{count(out.seeds, 'further concept')} near the question")
    if out.concepts:
        parts.append(f"{count(out.concepts, 'concept')} with a smaller part in finding the sections")
    if out.relations:
        parts.append(count(out.relations, "weaker relation"))
    if out.mentions:
        parts.append(f"{count(out.mentions, 'mention')} that did less to find a section")
    text = f"Not shown: {listed(parts)}." if parts else ""
    if shown.wording:
        text += f" {count(len(shown.wording), 'section')} (dotted) found by wording; no concept shown leads there."
    if 0 < out.carried < 0.995:
        text += f" The concepts shown carry {out.carried:.0%} of the sections' scores."
    return text.strip()


def alternative(shown: Neighbourhood) -> str:
    """The picture in words, for those who cannot see it."""
    seeds = [f"“{clean_label(c.label)}”" for c in shown.concepts if c.seed]
    further = [f"“{clean_label(c.label)}”" for c in shown.concepts if not c.seed]
    sections = [f"{cited_as(s)}, {clean_label(s.heading)}".rstrip(", ") for s in shown.sections]
    text = f"Diagram of the question “{clean_label(shown.question)}”"
    if seeds:
        text += f", its concepts {listed(seeds)}"
    if further:
        text += f", the related concepts {listed(further)}"
    return f"{text}, and the sections they lead to: {'; '.join(sections)}."
