"""The look of the Word document: styles, so that a reader changes one of them and not each paragraph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agents.reporting.ooxml import element, xml_text

if TYPE_CHECKING:
    from docx.document import Document

PAGE_WIDTH = 453.5
"""Width of the text in points: A4 (595 pt) with margins of 2.5 cm."""
_INK, _MUTED, _LINK, _RULE, _DOUBT = "1C1D1F", "5D6066", "0B5CAD", "C9CDD3", "8A5A08"
_SERIF, _SANS = "Cambria", "Calibri"
_TITLE_LENGTH = 255  # the most that the core properties take


def new_document(title: str, language: str) -> Document:
    """An empty A4 document with the styles that the renderer names; nothing in it says who made it or when."""
    from docx import Document
    from docx.shared import Cm

    document = Document()
    page = document.sections[0]
    page.page_width, page.page_height = Cm(21.0), Cm(29.7)
    page.left_margin = page.right_margin = page.top_margin = page.bottom_margin = Cm(2.5)
    _page_number(page.footer.paragraphs[0])
    properties = document.core_properties
    properties.title, properties.language = xml_text(title)[:_TITLE_LENGTH], language
    properties.author = properties.comments = properties.last_modified_by = ""
    core = properties._element
    for child in [c for c in core if c.tag.endswith(("}created", "}modified"))]:
        core.remove(child)
    _define_styles(document, language)
    return document


def _define_styles(document: Document, language: str) -> None:
    from docx.enum.style import WD_STYLE_TYPE
    from docx.enum.text import WD_ALIGN_PARAGRAPH, WD_TAB_ALIGNMENT, WD_TAB_LEADER
    from docx.oxml.ns import qn
    from docx.shared import Pt

    styles = document.styles
    _font(styles["Normal"], 10.5, _INK, _SERIF)
    styles["Normal"].element.get_or_add_rPr().append(element("lang", val=language, bidi=language, eastAsia=language))
    _space(styles["Normal"], after=6, line=1.25)
    _font(styles["Body Text"], 10.5, _INK, _SERIF)
    _font(styles["Title"], 24, _INK, _SANS, bold=True)
    _space(styles["Title"], before=0, after=4, line=1.1)
    _no_border(styles["Title"])
    _font(styles["Subtitle"], 13, _MUTED, _SERIF, italic=True)
    _space(styles["Subtitle"], after=12)
    for spaced in styles["Subtitle"].element.rPr.findall(qn("w:spacing")):
        styles["Subtitle"].element.rPr.remove(spaced)
    for level in range(1, 10):
        style = styles[f"Heading {level}"]
        _font(style, {1: 16, 2: 13, 3: 11.5}.get(level, 10.5), _INK, _SANS, bold=True, italic=level > 3)
        _space(style, before=18 if level == 1 else 12, after=4, line=1.15)
    _font(styles["Quote"], 10.5, _INK, _SERIF, italic=False)
    _space(styles["Quote"], before=4, after=4, left=18)
    _border(styles["Quote"], left=("18", "10", _RULE))
    _font(styles["Caption"], 9.5, _MUTED, _SANS, bold=False)
    _space(styles["Caption"], before=4, after=10)
    styles["Caption"].paragraph_format.keep_together = True
    _font(styles["TOC Heading"], 13, _INK, _SANS, bold=True)

    def paragraph_style(name: str, size: float, colour: str = _INK, font: str = _SERIF, **more: Any) -> Any:
        style = styles.add_style(name, WD_STYLE_TYPE.PARAGRAPH)
        style.base_style = styles["Normal"]
        style.quick_style = True
        _font(style, size, colour, font, **more)
        return style

    caution = paragraph_style("Caution", 10.5, _INK, _SANS)
    _space(caution, before=4, after=4, line=1.2, left=8)
    caution.paragraph_format.right_indent = Pt(8)
    caution.paragraph_format.keep_together = True
    edge = ("6", "6", _DOUBT)
    _border(caution, top=edge, left=("36", "6", _DOUBT), bottom=edge, right=edge, fill="FDF2D8")
    _space(paragraph_style("Counts", 9.5, _INK, _SANS), before=8, after=6)
    _space(paragraph_style("Note", 9.5, _MUTED, _SANS), after=6)
    attribution = paragraph_style("Attribution", 9.5, _MUTED, _SANS)
    _space(attribution, after=8, left=18)
    _border(attribution, left=("18", "10", _RULE))
    _space(paragraph_style("Quote Note", 9.5, _MUTED, _SANS), after=12, left=18)
    figure = paragraph_style("Figure", 10)
    figure.paragraph_format.alignment = WD_ALIGN_PARAGRAPH.CENTER
    figure.paragraph_format.keep_with_next = True
    _space(figure, before=8, after=0, line=1.0)
    _space(paragraph_style("Table Text", 9.5, _INK, _SANS), before=2, after=2, line=1.1)
    bibliography = paragraph_style("Bibliography", 10)
    bibliography.paragraph_format.keep_together = True
    _space(bibliography, after=5, left=24, first=-24)
    heading = paragraph_style("Passage Heading", 10.5, _INK, _SANS, bold=True)
    heading.paragraph_format.keep_with_next = True
    _space(heading, before=12, after=2)
    remark = paragraph_style("Passage Note", 9, _MUTED, _SANS)
    remark.paragraph_format.keep_with_next = True
    _space(remark, after=1)
    _space(paragraph_style("Passage", 9.5, _INK), before=4, after=5)
    for level in range(1, 4):
        style = paragraph_style(f"TOC {level}", 10.5 if level == 1 else 10, _INK, _SANS)
        _space(style, before=3 if level == 1 else 0, after=1, left=14 * (level - 1))
        style.paragraph_format.tab_stops.add_tab_stop(Pt(PAGE_WIDTH), WD_TAB_ALIGNMENT.RIGHT, WD_TAB_LEADER.DOTS)

    for name, colour in (("Internet Link", _LINK), ("Doubt", _DOUBT), ("Quiet", _MUTED), ("Quoted", "")):
        style = styles.add_style(name, WD_STYLE_TYPE.CHARACTER)
        if colour:
            style.font.color.rgb = _rgb(colour)
        style.font.italic = name == "Doubt" or None
    styles["Quoted"].element.get_or_add_rPr().append(element("shd", val="clear", color="auto", fill="FFE9A3"))
    _table_style(styles)


def _font(
    style: Any, size: float, colour: str, name: str, bold: bool | None = None, italic: bool | None = None
) -> None:
    from docx.oxml.ns import qn
    from docx.shared import Pt

    style.font.size, style.font.color.rgb, style.font.name = Pt(size), _rgb(colour), name
    style.font.bold, style.font.italic = bold, italic
    fonts = style.element.get_or_add_rPr().get_or_add_rFonts()
    for theme in ("asciiTheme", "hAnsiTheme", "eastAsiaTheme", "cstheme"):  # these would win over the names
        fonts.attrib.pop(qn(f"w:{theme}"), None)
    fonts.set(qn("w:cs"), "Arial" if name == _SANS else "Times New Roman")
    fonts.set(qn("w:eastAsia"), "Noto Sans CJK SC" if name == _SANS else "Noto Serif CJK SC")


def _space(
    style: Any, *, before: float = 0, after: float = 0, line: float = 1.25, left: float = 0, first: float = 0
) -> None:
    from docx.shared import Pt

    form = style.paragraph_format
    form.space_before, form.space_after, form.line_spacing = Pt(before), Pt(after), line
    if left:
        form.left_indent = Pt(left)
    if first:
        form.first_line_indent = Pt(first)


def _rgb(colour: str) -> Any:
    from docx.shared import RGBColor

    return RGBColor.from_string(colour)


def _no_border(style: Any) -> None:
    from docx.oxml.ns import qn

    properties = style.element.get_or_add_pPr()
    for border in properties.findall(qn("w:pBdr")):
        properties.remove(border)


def _border(style: Any, fill: str = "", **sides: tuple[str, str, str]) -> None:
    """``sides`` in the schema's order (top, left, bottom, right): eighths of a point, distance in points, colour."""
    after = ("w:tabs", "w:spacing", "w:ind", "w:jc")
    border = element("pBdr")
    for side, (size, distance, colour) in sides.items():
        border.append(element(side, val="single", sz=size, space=distance, color=colour))
    properties = style.element.get_or_add_pPr()
    properties.insert_element_before(border, "w:shd", *after)
    if fill:
        properties.insert_element_before(element("shd", val="clear", color="auto", fill=fill), *after)


def _table_style(styles: Any) -> None:
    """Horizontal rules only, as scientific tables have them."""
    from docx.enum.style import WD_STYLE_TYPE

    style = styles.add_style("Report Table", WD_STYLE_TYPE.TABLE)
    style.base_style = styles["Normal Table"]
    properties, borders = element("tblPr"), element("tblBorders")
    for side, size in (("top", "8"), ("bottom", "8"), ("insideH", "4")):
        borders.append(element(side, val="single", sz=size, space="0", color=_RULE))
    properties.append(borders)
    margins = element("tblCellMar")
    for side in ("left", "right"):
        margins.append(element(side, w="80", type="dxa"))
    properties.append(margins)
    style.element.append(properties)


def _page_number(paragraph: Any) -> None:
    from docx.enum.text import WD_ALIGN_PARAGRAPH

    from agents.reporting.ooxml import add_field

    paragraph.alignment = WD_ALIGN_PARAGRAPH.CENTER
    add_field(paragraph, "PAGE", "1")
