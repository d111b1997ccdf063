"""Tables and figures of the Word document, with numbered captions that stay with them on one page."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from agents.reporting.docx_styles import PAGE_WIDTH
from agents.reporting.escape import one_line
from agents.reporting.images import image_size, svg_to_png
from agents.reporting.model import Figure, Table, is_blank
from agents.reporting.ooxml import add_field, add_run, element, set_direction

if TYPE_CHECKING:
    from docx.document import Document
    from docx.text.paragraph import Paragraph

_LONG_CELL = 600
"""Characters; a row with more in a cell may break across pages."""
_LETTER, _PADDING = 5.5, 10.0
"""Points that a letter of a table's text and the margins of its cells take."""
_LINE = 60
"""Characters; a longer cell has several lines anyway, and gets no more of the width."""
_TALLEST = 560.0
"""Points: three quarters of a page's height, which leaves room for a heading and the caption."""


def add_table(document: Document, table: Table, number: int) -> None:
    """The caption, then the table; its header stands again on every page that it goes on to."""
    from docx.shared import Pt

    _caption(document, "Table", number, table.caption).paragraph_format.keep_with_next = True
    grid = document.add_table(rows=1 + len(table.rows), cols=len(table.header), style="Report Table")
    widths = [Pt(width) for width in _widths(table)]
    for line, (made, row) in enumerate(zip(list(grid.rows), (table.header, *table.rows), strict=True)):
        for cell, text, width in zip(made.cells, row, widths, strict=True):
            cell.width = width
            paragraph = cell.paragraphs[0]
            add_run(paragraph, one_line(text)).bold = line == 0 or None
            paragraph.style = "Table Text"
            paragraph.paragraph_format.keep_with_next = line == 0 or None  # no header alone at the end of a page
            set_direction(paragraph)
        if max(map(len, row)) <= _LONG_CELL:
            made._tr.get_or_add_trPr().append(element("cantSplit"))
    grid.rows[0]._tr.get_or_add_trPr().append(element("tblHeader"))
    for column, width in zip(grid.columns, widths, strict=True):
        column.width = width
    document.add_paragraph(style="Table Text")


def add_figure(document: Document, figure: Figure, number: int) -> None:
    """The picture as wide as it is, at most as the text, then its caption; SVG as PNG, which every version shows.

    Raises ``InputError`` if it cannot be drawn.
    """
    from docx.shared import Pt

    width, height = image_size(figure.media_type, figure.content)
    png = svg_to_png(figure.content) if figure.media_type == "image/svg+xml" else figure.content
    points = min(width * 0.75, PAGE_WIDTH, _TALLEST * width / height)  # 96 CSS pixels are an inch, 72 points
    paragraph = document.add_paragraph(style="Figure")
    shape = paragraph.add_run().add_picture(io.BytesIO(png), width=Pt(points))
    shape._inline.docPr.set("descr", one_line(figure.alt))
    _caption(document, "Figure", number, figure.caption)


def _widths(table: Table) -> list[float]:
    """Points for each column: its longest word, and of what is left a share by its longest cell."""
    columns = list(zip(table.header, *table.rows, strict=True))
    least = [
        _PADDING + _LETTER * max((len(word) for cell in column for word in cell.split()), default=1)
        for column in columns
    ]
    wanted = [min(_LINE, max(map(len, column))) + 1 for column in columns]
    spare = PAGE_WIDTH - sum(least)
    if spare <= 0:
        return [PAGE_WIDTH * width / sum(least) for width in least]
    return [width + spare * share / sum(wanted) for width, share in zip(least, wanted, strict=True)]


def _caption(document: Document, kind: str, number: int, text: str) -> Paragraph:
    paragraph = document.add_paragraph(style="Caption")
    add_run(paragraph, f"{kind} ")
    add_field(paragraph, f"SEQ {kind} \\* ARABIC", str(number))
    if not is_blank(text):
        add_run(paragraph, f". {one_line(text)}")
    return paragraph
