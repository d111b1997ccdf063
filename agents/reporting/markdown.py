"""The report as Markdown, for reading as it is or in any viewer (CommonMark, with GitHub's tables)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote

from agents.reporting.escape import block_start, cell, heading, inline, one_line
from agents.reporting.model import (
    Block,
    BulletList,
    Note,
    Paragraph,
    QuoteBlock,
    Reference,
    Report,
    ReportSection,
    Sentence,
    Table,
    is_blank,
)
from agents.reporting.names import format_authors
from kg.records import normalise_doi

_DOI = re.compile(r"10\.\d{4,9}/\S+", re.ASCII)
_DOUBTS = {"partial": "partly supported", "unsupported": "not supported"}
_DEEPEST_HEADING = 6


def render_markdown(report: Report) -> str:
    """The whole report, lines not wrapped: a paragraph, item, quote or reference is one line.

    Texts stand in it escaped (``agents.reporting.escape``), so that a parser gives them back verbatim but for
    white space; the only links are those of DOIs.
    """
    numbers = report.reference_numbers()
    blocks = [f"# {heading(report.title)}", _italic(report.question), *map(_italic, report.notes)]
    for section in report.sections:
        blocks += _section(section, 2, numbers)
    if report.references:
        blocks += ["## References", "\n".join(map(_reference, report.references))]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _section(section: ReportSection, level: int, numbers: Mapping[str, int]) -> list[str]:
    blocks = [f"{'#' * min(level, _DEEPEST_HEADING)} {heading(section.heading)}"]
    blocks += [_block(block, numbers) for block in section.blocks]
    for child in section.sections:
        blocks += _section(child, level + 1, numbers)
    return blocks


def _block(block: Block, numbers: Mapping[str, int]) -> str:
    match block:
        case Paragraph():
            return _paragraph(block, numbers)
        case BulletList(items):
            return "\n".join(f"- {text}" for text in (_paragraph(item, numbers) for item in items) if text)
        case QuoteBlock(sentence, attribution):
            lines = [f"> “{inline(sentence.text)}”{_marks(sentence, numbers)}"]
            if not is_blank(attribution):
                lines += [">", f"> — {inline(attribution)}"]
            return "\n".join(lines)
        case Note(text):
            return _italic(text)
        case Table():
            return _table(block)


def _paragraph(paragraph: Paragraph, numbers: Mapping[str, int]) -> str:
    return block_start(" ".join(inline(s.text) + _marks(s, numbers) for s in paragraph.sentences))


def _marks(sentence: Sentence, numbers: Mapping[str, int]) -> str:
    """`` [1, 3]`` and what the check left in doubt; "" without either."""
    cited = sorted({numbers[citation.doc_id] for citation in sentence.citations})
    marks = f" [{', '.join(map(str, cited))}]" if cited else ""
    doubt = _DOUBTS.get(sentence.verdict)
    return f"{marks} *({doubt})*" if doubt else marks


def _table(table: Table) -> str:
    rows = [tuple(map(cell, row)) for row in (table.header, *table.rows)]
    lines = [f"| {' | '.join(row)} |" for row in (rows[0], ("---",) * len(table.header), *rows[1:])]
    caption = _italic(table.caption)
    return "\n".join([caption, "", *lines] if caption else lines)


def _reference(reference: Reference) -> str:
    """``1. Authors (Year). Title. *Venue*, volume(issue), pages. <https://doi.org/...>``, or title first."""
    authors = inline(format_authors(reference.authors))
    year = inline(_detail(reference, "year") or "n.d.") if reference.year is None else str(reference.year)
    title = inline(reference.doc_id if is_blank(reference.title) else reference.title)
    parts = [f"{authors} ({year}).", _ended(title)] if authors else [f"{title} ({year})."]
    if source := _source(reference):
        parts.append(source)
    parts.append(_locator(reference))
    return f"{reference.number}. {block_start(' '.join(part for part in parts if part))}"


def _source(reference: Reference) -> str:
    volume, pages = inline(_detail(reference, "volume")), inline(_detail(reference, "pages"))
    issue = inline(_detail(reference, "issue") or _detail(reference, "number"))
    numbered = volume + (f"({issue})" if issue else "")
    pieces = [piece for piece in (_italic(reference.venue), numbered, pages) if piece]
    return _ended(", ".join(pieces))


def _locator(reference: Reference) -> str:
    """The DOI as a link; what is no DOI as plain text; else the id in PubMed or arXiv."""
    doi = normalise_doi(one_line(reference.doi))
    if _DOI.fullmatch(doi):
        return f"<https://doi.org/{quote(doi, safe='/:;().-_')}>"
    ids = (("DOI", doi), ("PMID", _detail(reference, "pmid")), ("arXiv", _detail(reference, "arxiv")))
    for label, value in ids:
        if not is_blank(value):
            return f"{label}: {inline(value)}"
    return ""


def _detail(reference: Reference, name: str) -> str:
    """What the source says under ``name``, however it writes the name; "" for nothing."""
    return next((value for key, value in reference.details if key.casefold() == name), "")


def _ended(text: str) -> str:
    return text if not text or text.endswith((".", "?", "!", "…", "。", "？", "！")) else f"{text}."


def _italic(text: str) -> str:
    line = inline(text)
    return "" if is_blank(line) else f"*{line}*"
