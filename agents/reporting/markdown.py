"""The report as Markdown, for reading as it is or in any viewer (CommonMark, with GitHub's tables)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from agents.reporting.bibliography.citing import NUMBERED, Bibliography, CitationStyle, Entry, Piece
from agents.reporting.body import DOUBTS
from agents.reporting.escape import block_start, cell, heading, inline
from agents.reporting.model import (
    Block,
    BulletList,
    Figure,
    Note,
    Paragraph,
    QuoteBlock,
    Report,
    ReportSection,
    Sentence,
    Table,
    is_blank,
)
from agents.reporting.wording import CAUTION, SUMMARY_REFERENCE

_DEEPEST_HEADING = 6


def render_markdown(report: Report, style: CitationStyle = NUMBERED) -> str:
    """The whole report, lines not wrapped: a paragraph, item, quote or reference is one line.

    Texts stand in it escaped (``agents.reporting.escape``), so that a parser gives them back verbatim but for
    white space; the only links are those of DOIs.
    """
    bibliography = Bibliography(report, style)
    blocks = [f"# {heading(report.title)}", _italic(report.question), _cautions(report.cautions)]
    blocks += map(_italic, report.notes)
    for section in report.sections:
        blocks += _section(section, 2, bibliography)
    if bibliography.entries:
        blocks += ["## References", "\n".join(map(_entry, bibliography.entries))]
    return "\n\n".join(block for block in blocks if block) + "\n"


def figure_path(figure: Figure) -> str:
    """Where the Markdown looks for a figure, from its own folder; named by its content, so that no two collide."""
    suffix = "svg" if figure.media_type == "image/svg+xml" else "png"
    return f"figures/{hashlib.sha256(figure.content).hexdigest()[:16]}.{suffix}"


def _section(section: ReportSection, level: int, bibliography: Bibliography) -> list[str]:
    blocks = [f"{'#' * min(level, _DEEPEST_HEADING)} {heading(section.heading)}"]
    blocks += [_block(block, bibliography) for block in section.blocks]
    for child in section.sections:
        blocks += _section(child, level + 1, bibliography)
    return blocks


def _cautions(cautions: Sequence[str]) -> str:
    """One quotation, so that no reader takes them for a note among others; bold says what they are."""
    return "\n>\n".join(f"> **{CAUTION}.** {inline(caution)}" for caution in cautions if not is_blank(inline(caution)))


def _block(block: Block, bibliography: Bibliography) -> str:
    match block:
        case Paragraph():
            return _paragraph(block, bibliography)
        case BulletList(items):
            return "\n".join(f"- {text}" for text in (_paragraph(item, bibliography) for item in items) if text)
        case QuoteBlock(sentence, attribution):
            lines = [f"> “{inline(sentence.text)}”{_marks(sentence, bibliography)}"]
            if not is_blank(attribution):
                lines += [">", f"> — {inline(attribution)}"]
            return "\n".join(lines)
        case Note(text):
            return _italic(text)
        case Table():
            return _table(block)
        case Figure():
            return "\n\n".join(
                piece for piece in (f"![{inline(block.alt)}]({figure_path(block)})", _italic(block.caption)) if piece
            )


def _paragraph(paragraph: Paragraph, bibliography: Bibliography) -> str:
    return block_start(" ".join(inline(s.text) + _marks(s, bibliography) for s in paragraph.sentences))


def _marks(sentence: Sentence, bibliography: Bibliography) -> str:
    """`` [1, 3]`` and what the check left in doubt; "" without either."""
    labels = bibliography.separator.join(inline(mark.label) for mark in bibliography.marks(sentence))
    marks = f" {bibliography.opening}{labels}{bibliography.closing}" if labels else ""
    doubt = DOUBTS.get(sentence.verdict)
    return f"{marks} *({doubt})*" if doubt else marks


def _table(table: Table) -> str:
    rows = [tuple(map(cell, row)) for row in (table.header, *table.rows)]
    lines = [f"| {' | '.join(row)} |" for row in (rows[0], ("---",) * len(table.header), *rows[1:])]
    caption = _italic(table.caption)
    return "\n".join([caption, "", *lines] if caption else lines)


def _entry(entry: Entry) -> str:
    text = "".join(map(_piece, entry.pieces))
    summary = f" *{SUMMARY_REFERENCE}*" if entry.reference.is_summary else ""
    return f"{entry.label}. {block_start(text)}{summary}" if entry.label else f"- {block_start(text)}{summary}"


def _piece(piece: Piece) -> str:
    if piece.url == piece.text and piece.url:
        return f"<{piece.url}>"
    # ``inline`` strips the ends, which here stand in the middle of a line.
    before, after = (
        " " if piece.text[:1].isspace() else "",
        " " if piece.text[1:] and piece.text[-1].isspace() else "",
    )
    text = f"{before}{inline(piece.text)}{after}"
    return f"*{text}*" if piece.italic else text


def _italic(text: str) -> str:
    line = inline(text)
    return "" if is_blank(line) else f"*{line}*"
