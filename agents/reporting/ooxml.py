"""What WordprocessingML has and python-docx has no call for: bookmarks, links, fields, direction (ECMA-376, part 1)."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from agents.reporting.escape import is_right_to_left
from kg.records import NOT_XML

if TYPE_CHECKING:
    from docx.document import Document
    from docx.text.paragraph import Paragraph
    from docx.text.run import Run

# The schema fixes the order of properties; Word calls a file damaged that does not keep to it.
_AFTER_BIDI = ("w:adjustRightInd", "w:snapToGrid", "w:spacing", "w:ind", "w:contextualSpacing", "w:mirrorIndents",
               "w:jc", "w:outlineLvl", "w:rPr", "w:sectPr")  # fmt: skip
_AFTER_RTL = ("w:cs", "w:em", "w:lang", "w:eastAsianLayout", "w:specVanish", "w:oMath")
_EPOCH = (1980, 1, 1, 0, 0, 0)
HYPERLINK = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink"


def xml_text(text: str) -> str:
    """``text`` with U+FFFD for each character that XML 1.0 has no place for."""
    return NOT_XML.sub("\ufffd", text)


def element(tag: str, **attributes: str) -> Any:
    """An element of the ``w:`` namespace, such as ``element("bookmarkEnd", id="3")``."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    made = OxmlElement(f"w:{tag}")
    for name, value in attributes.items():
        made.set(qn(f"w:{name}"), value)
    return made


def add_run(paragraph: Paragraph, text: str, *, italic: bool = False, style: str | None = None) -> Run:
    """Text in its own direction: a run that begins right-to-left is marked so, else Word orders its marks wrongly."""
    run = paragraph.add_run(xml_text(text), style=style)
    if italic:
        run.italic = True
    if is_right_to_left(text):
        run._element.get_or_add_rPr().insert_element_before(element("rtl"), *_AFTER_RTL)
    return run


def set_direction(paragraph: Paragraph) -> None:
    """Make the paragraph right-to-left if its text begins so; call it when the text is complete."""
    if is_right_to_left(paragraph.text):
        paragraph._p.get_or_add_pPr().insert_element_before(element("bidi"), *_AFTER_BIDI)


def add_bookmark(paragraph: Paragraph, name: str, number: int) -> None:
    """Make the whole paragraph the target ``name``; ``number`` is unique in the document."""
    start = element("bookmarkStart", id=str(number), name=name)
    properties = paragraph._p.pPr
    paragraph._p.insert(0, start) if properties is None else properties.addnext(start)
    paragraph._p.append(element("bookmarkEnd", id=str(number)))


def add_link(paragraph: Paragraph, text: str, *, bookmark: str = "", url: str = "", style: str | None = None) -> None:
    """A link to a bookmark of the document, or to an address."""
    from docx.oxml.ns import qn

    link = element("hyperlink", **({"anchor": bookmark} if bookmark else {}))
    if url:
        link.set(qn("r:id"), paragraph.part.relate_to(url, HYPERLINK, is_external=True))
    run = add_run(paragraph, text, style=style)
    paragraph._p.append(link)
    link.append(run._element)


def add_field(paragraph: Paragraph, instruction: str, result: str) -> None:
    """A field such as ``SEQ Figure``, showing ``result`` until the reader's program computes it."""
    field = element("fldSimple", instr=instruction)
    run = add_run(paragraph, result)
    paragraph._p.append(field)
    field.append(run._element)


def same_bytes(package: bytes) -> bytes:
    """The package with every date of its archive set to one day, so that equal documents are equal files."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(package)) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(zipfile.ZipInfo(name, _EPOCH), old.read(name), zipfile.ZIP_DEFLATED)
    return made.getvalue()


def add_contents(document: Document, entries: Sequence[tuple[int, str]], bookmarks: Sequence[str], depth: int) -> None:
    """A table of contents that Word and LibreOffice can update: (level, heading) and the bookmark of each.

    Its lines are there from the start, as links. Page numbers, which only a program that sets pages can know, come
    with the first update: Word makes it on opening ("dirty"), in LibreOffice the reader asks for it.
    """
    paragraphs = [document.add_paragraph(style=f"TOC {level}") for level, _ in entries]
    for paragraph, (_, text), bookmark in zip(paragraphs, entries, bookmarks, strict=True):
        add_link(paragraph, text, bookmark=bookmark)
        set_direction(paragraph)
    first, last = paragraphs[0]._p, paragraphs[-1]._p
    opening = [
        _field_mark("begin", dirty="true"),
        _instruction(f'TOC \\o "1-{depth}" \\h \\z \\u'),
        _field_mark("separate"),
    ]
    for position, run in enumerate(opening):
        first.insert(position + 1, run)  # after the paragraph's properties
    last.append(_field_mark("end"))


def _field_mark(kind: str, **attributes: str) -> Any:
    run = element("r")
    run.append(element("fldChar", fldCharType=kind, **attributes))
    return run


def _instruction(text: str) -> Any:
    run = element("r")
    instruction = element("instrText")
    instruction.text = text
    run.append(instruction)
    return run
