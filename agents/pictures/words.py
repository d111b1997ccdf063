"""What the picture says in words: who wrote a section, how many of what are shown, what is left out."""

from __future__ import annotations

from collections.abc import Sequence

from agents.pictures.text import clean_label, shorten, text_width, wrap
from agents.reporting.bibliography.names import short_authors
from agents.reporting.wording import number_of
from retrieval.neighbourhood.nodes import Neighbourhood, SectionNode, SeedReason

SEED_REASONS: dict[SeedReason, str] = {
    "named": "named in the question",
    "near": "near the question in meaning",
    "held": "held by the sections nearest to the question",
}
_SEED_HEADS: dict[frozenset[SeedReason], str] = {
    frozenset({"named"}): "Named in it",
    frozenset({"near"}): "Near it in meaning",
    frozenset({"held"}): "In nearest sections",
    frozenset({"named", "near"}): "Named or near it",
}
_SEED_HEAD = "Starting concepts"


def cited_as(section: SectionNode) -> str:
    """Short as in a text, "Fama & French (1993)"; the title where no author is known."""
    if who := clean_label(short_authors(section.authors, "&")):
        return f"{who} ({section.year or 'n.d.'})"
    title = clean_label(section.title) or section.section_id
    return f"{title} ({section.year})" if section.year else title


def heading_of(section: SectionNode) -> str:
    """The heading; "" where it says the title again."""
    heading = clean_label(section.heading)
    return "" if heading == clean_label(section.title) else heading


def card_name(node: SectionNode) -> tuple[str, str]:
    """Authors, or the title where none is known, and the year in parentheses; the year may be empty."""
    who = clean_label(short_authors(node.authors, "&")) or clean_label(node.title) or node.section_id
    return who, f" ({node.year})" if node.year else ""


def card_lines(
    node: SectionNode, first: float, second: float, size: float, small: float, bold: bool, most: int = 2
) -> list[tuple[str, str, float, bool]]:
    """(text, what fits of it, font size, bold) of the lines of a card, ``most`` of them, ``first`` and then ``second``
    wide.

    Authors and year, then the heading; without authors the title, on all lines where there is no heading. Authors take
    a second line where one does not hold them and there is a third for the heading.
    """
    heading, title = heading_of(node), clean_label(node.title) or node.section_id
    who, year = card_name(node)
    if not heading and who == title:
        begin = wrap(title, first, size, 2)[0]
        rest = title[len(begin) :].strip()
        return [(title, line, size, False) for line in (begin, *wrap(rest, second, size, most - 1))]
    below = heading or title
    room = first - text_width(year, size, bold)
    names = [shorten(who, room, size, bold) + year]
    if most > 2 and names[0] != who + year:
        names = wrap(who + year, first, size, 2, bold)
    return [
        *((who + year, line, size, bold) for line in names),
        *((below, line, small, False) for line in wrap(below, second, small, most - len(names))),
    ]


def listed(parts: Sequence[str]) -> str:
    """The parts as a sentence lists them: "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1]))) if parts else ""


def seed_reasons(shown: Neighbourhood) -> list[SeedReason]:
    """Why concepts of the question are shown, of the reasons that occur."""
    found = {c.seed for c in shown.concepts}
    return [reason for reason in SEED_REASONS if reason in found]


def seed_head(shown: Neighbourhood) -> str:
    """What stands above the concepts of the question, true of each of them; "" where there is none."""
    reasons = seed_reasons(shown)
    return _SEED_HEADS.get(frozenset(reasons), _SEED_HEAD) if reasons else ""


def caption(shown: Neighbourhood) -> str:
    """What is shown, with counts, and what sizes and widths mean."""
    parts: list[str] = []
    for reason in seed_reasons(shown):
        own = sum(c.seed == reason for c in shown.concepts)
        after = reason == "near" and bool(parts)  # the question and concepts are named before
        parts.append(f"{own:,} near it in meaning" if after else f"{number_of(own, 'concept')} {SEED_REASONS[reason]}")
    further = sum(c.seed is None for c in shown.concepts)
    parts += [number_of(further, "related concept")] if further else []
    papers = len({section.section_id.rpartition("#")[0] for section in shown.sections})
    found, worded = f"{number_of(len(shown.sections), 'section')} of {number_of(papers, 'paper')}", len(shown.wording)
    if worded == len(shown.sections):
        parts.append(f"{found} found by wording alone (dotted)")
    else:
        parts.append(
            f"{found} that they lead to" + (f", but for {worded:,} found by wording (dotted)" if worded else "")
        )
    sizes = " Larger circles are linked more closely to the question, wider lines join more closely."
    doubt = "" if shown.clear else "Caution: no section here is clearly about the question. "
    return f"{doubt}{listed(parts)}.{sizes if shown.concepts else ''}"


def left_out(shown: Neighbourhood) -> str:
    """What limits kept out; "" where nothing was."""
    out = shown.left_out
    parts = []
    if out.sections and out.given:
        parts.append(f"{out.sections:,} of the {number_of(out.ranked, 'section')} quoted")
    elif out.sections:
        parts.append(f"{out.sections:,} of the first {out.ranked:,} sections, which bear on the question too")
    if out.unrelated:
        parts.append(
            f"{number_of(out.unrelated, 'section')} ranked as high, but near the question neither in meaning nor "
            "in wording"
        )
    if out.named:
        parts.append(f"{number_of(out.named, 'further concept')} named in the question")
    if out.seeds:
        parts.append(f"{number_of(out.seeds, 'further concept')} near the question")
    if out.concepts:
        parts.append(f"{number_of(out.concepts, 'concept')} with a smaller part in finding the sections")
    if out.relations:
        parts.append(number_of(out.relations, "weaker relation"))
    if out.mentions:
        parts.append(f"{number_of(out.mentions, 'mention')} that did less to find a section")
    text = f"Not shown: {'; '.join(parts)}." if parts else ""
    if 0 < out.carried < 0.995:
        text += f" The concepts shown carry {out.carried:.0%} of the sections' scores."
    return text.strip()


def alternative(shown: Neighbourhood) -> str:
    """The picture in words, for those who cannot see it."""
    text = f"Diagram of the question “{clean_label(shown.question)}”"
    for reason in seed_reasons(shown):
        own = [f"“{clean_label(c.label)}”" for c in shown.concepts if c.seed == reason]
        text += f", concepts {SEED_REASONS[reason]}: {listed(own)}"
    if further := [f"“{clean_label(c.label)}”" for c in shown.concepts if not c.seed]:
        text += f", related concepts: {listed(further)}"
    sections = [f"{cited_as(s)}, {heading_of(s)}".rstrip(", ") for s in shown.sections]
    return f"{text}, and sections: {'; '.join(sections)}."
