"""The Word document: python-docx reads back what the report says, links have targets, LibreOffice sets it."""

from __future__ import annotations

import dataclasses
import io
import re
import shutil
import subprocess
import zipfile
from itertools import pairwise
from pathlib import Path

import pytest
from docx import Document as read_docx
from docx.oxml.ns import qn
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.reporting.bibliography.citing import AUTHOR_YEAR
from agents.reporting.docx import render_docx
from agents.reporting.model import (
    BulletList,
    Citation,
    Figure,
    Note,
    Paragraph,
    Passage,
    QuoteBlock,
    Report,
    ReportSection,
    Sentence,
    Table,
    number_references,
)
from agents.reporting.spans import union
from kg.records import Document, Section

SVG = b"""<svg xmlns="http://www.w3.org/2000/svg" width="400" height="100"><rect width="400" height="100"/></svg>"""
HEBREW = "שוק הלימונים והמידע"
PAPERS = {
    "a#1": Document(
        "a#1",
        "Lemons <b>& signals</b>",
        authors=("Akerlof, George A.",),
        year=1970,
        doi="10.2307/1879431",
        details=(("kind", "summary"), ("pages", "488-500"), ("volume", "84")),
    ),
    "b": Document("b", HEBREW, authors=tuple(f"Family{i}, Given" for i in range(40))),
}
TEXT = {
    "a#1": "Buyers cannot tell good cars from bad.\n\nHence bad cars drive out good ones.",
    "b": f"{HEBREW} בכל שוק.",
}


def cite(doc_id: str, quote: str) -> Citation:
    section = Section(f"{doc_id}#0", doc_id, "Introduction", TEXT[doc_id])
    start = section.text.index(quote)
    return Citation(section.section_id, section.sha256, quote, start, start + len(quote))


def claim(number: int, doc_id: str, quote: str, text: str = "", **more: object) -> Sentence:
    return Sentence(f"s{number}", "claim", text or quote, (cite(doc_id, quote),), **more)  # type: ignore[arg-type]


def report() -> Report:
    deep = ReportSection("Deep", (Paragraph((claim(5, "b", HEBREW),)),))
    for level in range(11):
        deep = ReportSection(f"Level {level}", (), (deep,))
    sections = (
        ReportSection(
            "Findings",
            (
                Paragraph(
                    (
                        claim(1, "a#1", "bad cars drive out good ones", "Bad drives out good.", verdict="supported"),
                        claim(2, "b", HEBREW, verdict="partial"),
                    )
                ),
                BulletList((Paragraph((Sentence("s3", "proposal", "Measure both."),)),)),
                QuoteBlock(claim(4, "a#1", "cannot tell good cars from bad"), "Akerlof (1970)"),
                Note("Found by its title."),
                Table(("Study", "n"), (("A|B", "12"), ("C", "")), "Sizes"),
                Figure("image/svg+xml", SVG, "A blue bar", "Shares"),
            ),
        ),
        ReportSection("Nested", (), (deep,)),
    )
    return Report(
        "Markets <script>alert(1)</script>", "Why do markets fail?", "en", sections,
        number_references(sections, PAPERS), ("One part was left out.",),
        tuple(Passage(f"{d}#0", "Introduction", t, 0.25, "market -> lemons", 3) for d, t in TEXT.items()),
        ("Little bears on it.",),
    )  # fmt: skip


def opened(value: Report, **style: object) -> object:
    return read_docx(io.BytesIO(render_docx(value, **style)))  # type: ignore[arg-type]


def texts(document, style: str) -> list[str]:
    return [p.text for p in document.paragraphs if p.style.name == style]


def test_everything_the_report_says_stands_in_its_style() -> None:
    document = opened(report())
    assert texts(document, "Title") == ["Markets <script>alert(1)</script>"]
    assert texts(document, "Subtitle") == ["Why do markets fail?"]
    assert texts(document, "Heading 1") == ["Findings", "Nested", "References", "Cited passages"]
    assert texts(document, "Caution") == ["Caution. Little bears on it."]
    assert texts(document, "Counts") == [
        "4 claims: 1 supported, 1 partly supported, 2 not checked · 1 proposal of the writer · 2 papers cited"
    ]
    assert texts(document, "Body Text")[0] == f"Bad drives out good.\u00a0[1] {HEBREW}\u00a0[2] (partly supported)"
    assert texts(document, "List Bullet") == ["Measure both."]
    assert texts(document, "Quote") == ["“cannot tell good cars from bad”\u00a0[1]"]
    assert texts(document, "Attribution") == ["— Akerlof (1970)"]
    assert texts(document, "Note") == ["One part was left out."]
    assert texts(document, "Quote Note") == ["Found by its title."]
    assert [[c.text for c in row.cells] for row in document.tables[0].rows] == [
        ["Study", "n"],
        ["A|B", "12"],
        ["C", ""],
    ]
    assert texts(document, "Caption") == ["Table . Sizes", "Figure . Shares"]  # numbers are fields
    bibliography = texts(document, "Bibliography")
    assert bibliography[0].startswith("1.\tAkerlof, George A. (1970). Lemons <b>& signals</b>.")
    assert ", 488–500. https://doi.org/10.2307/1879431 Read as a summary." in bibliography[0]
    assert bibliography[1].startswith("2.\tFamily0")
    assert "et al." in bibliography[1]
    assert "n.d." in bibliography[1]
    assert "summary" not in bibliography[1]
    assert texts(document, "Passage Heading") == [
        "[1] Lemons <b>& signals</b>: Introduction", f"[2] {HEBREW}: Introduction"
    ]  # fmt: skip
    assert texts(document, "Passage Note")[1:] == [
        "These are the words of a summary of the paper, not of the paper itself.",
        "Rank 3, score 0.25. market -> lemons",
        "Rank 3, score 0.25. market -> lemons",
    ]
    assert texts(document, "Passage") == [*TEXT["a#1"].split("\n\n"), TEXT["b"]]


def test_cautions_come_first_in_a_box_with_its_own_border_and_shade() -> None:
    document = opened(dataclasses.replace(report(), cautions=("One.", " ", "Two.")))
    opening = [p.style.name for p in document.paragraphs[:6]]
    assert opening == ["Title", "Subtitle", "Caution", "Caution", "Counts", "Note"]
    properties = document.styles["Caution"].element.pPr
    sides = properties.find(qn("w:pBdr"))
    assert [side.tag for side in sides] == [qn(f"w:{side}") for side in ("top", "left", "bottom", "right")]
    assert properties.find(qn("w:shd")).get(qn("w:fill")) not in (None, "auto", "FFFFFF")


def test_only_what_is_cited_is_a_cited_passage_and_the_rest_is_counted() -> None:
    stored = report().passages[0]
    other = Passage("c#7", "Elsewhere", "Found only.")
    document = opened(dataclasses.replace(report(), passages=(other, stored)))
    assert texts(document, "Passage Heading")[1] == f"[2] {HEBREW}"
    assert texts(document, "Passage") == [*TEXT["a#1"].split("\n\n"), HEBREW]  # not stored: the quote itself
    assert "The text of this section was not stored with the report; this is the quote itself." in texts(
        document, "Passage Note"
    )
    assert "1 further passage was found but not cited; the report’s data hold it." in texts(document, "Note")
    assert "Found only." not in [p.text for p in document.paragraphs]


def test_letters_stand_as_close_in_the_question_as_elsewhere() -> None:
    assert not list(opened(report()).styles["Subtitle"].element.rPr.iter(qn("w:spacing")))


def test_what_belongs_together_stays_on_one_page() -> None:
    quotes = (
        QuoteBlock(claim(1, "a#1", "bad cars drive out good ones")),
        QuoteBlock(claim(2, "a#1", "cannot tell good cars from bad"), "Akerlof (1970)"),
        Note("Found by its title."),
        Note("On the whole."),
    )
    sections = (ReportSection("A", (*quotes, *report().sections[0].blocks[4:])),)
    document = opened(Report("T", "Q?", "en", sections, number_references(sections, PAPERS)))

    def keeps(name: str) -> list[bool | None]:
        """Whether paragraphs of a style stay with the next; the style says, unless they do themselves."""
        own = [p for p in document.paragraphs if p.style.name == name]
        return [
            p.paragraph_format.keep_with_next
            if p.paragraph_format.keep_with_next is not None
            else p.style.paragraph_format.keep_with_next
            for p in own
        ]

    assert keeps("Quote") == [True, True]
    assert keeps("Attribution") == [True]
    assert (texts(document, "Quote Note"), texts(document, "Note")) == (["Found by its title."], ["On the whole."])
    assert keeps("Caption")[0] is True  # of the table
    assert keeps("Figure") == [True]
    assert set(keeps("Passage Heading") + keeps("Passage Note")) == {True}
    assert all(document.styles[name].paragraph_format.keep_together for name in ("Caption", "Caution", "Bibliography"))
    header, first, _ = document.tables[0].rows
    assert [row._tr.trPr.find(qn("w:cantSplit")) is not None for row in (header, first)] == [True, True]
    assert header.cells[0].paragraphs[0].paragraph_format.keep_with_next
    assert not first.cells[0].paragraphs[0].paragraph_format.keep_with_next


def test_columns_are_as_wide_as_their_words_need() -> None:
    table = Table(("Study", "n", "Finding"), (("Benjamini", "12", "long words " * 20), ("C", "", "short")), "Sizes")
    long = Table(("A", "B"), (("x" * 700, "y"), ("z", "w")), "")
    document = opened(Report("T", "Q?", "en", (ReportSection("A", (table, long)),)))
    for grid in document.tables:
        assert sum(column.width.pt for column in grid.columns) == pytest.approx(453.5, abs=0.2)
        assert [cell.width for cell in grid.rows[1].cells] == [column.width for column in grid.columns]
    study, number, finding = (column.width.pt for column in document.tables[0].columns)
    assert study > 60 > number
    assert finding > study + number
    whole = [len(list(row._tr.iter(qn("w:cantSplit")))) for row in document.tables[1].rows]
    assert whole == [1, 0, 1]


# CT_PPrBase and CT_TrPrBase of ECMA-376, part 1: Word calls a file damaged whose properties are in another order.
PROPERTIES = "pStyle keepNext keepLines pageBreakBefore framePr widowControl numPr suppressLineNumbers pBdr shd tabs "\
    "suppressAutoHyphens kinsoku wordWrap overflowPunct topLinePunct autoSpaceDE autoSpaceDN bidi adjustRightInd "\
    "snapToGrid spacing ind contextualSpacing mirrorIndents suppressOverlap jc textDirection textAlignment "\
    "textboxTightWrap outlineLvl divId cnfStyle rPr sectPr pPrChange".split()  # fmt: skip


def test_properties_of_paragraphs_stand_in_the_order_of_the_schema() -> None:
    document = opened(report())
    found = [*document.element.iter(qn("w:pPr")), *document.styles.element.iter(qn("w:pPr"))]
    assert len(found) > 60
    for properties in found:
        places = [PROPERTIES.index(child.tag.rpartition("}")[2]) for child in properties]
        assert places == sorted(set(places))


def test_headings_nest_as_deep_as_word_allows_and_none_is_lost() -> None:
    document = opened(report())
    names = [(p.style.name, p.text) for p in document.paragraphs if p.style.name.startswith("Heading")]
    nested = names[names.index(("Heading 1", "Nested")) + 1 :]
    assert nested[:8] == [(f"Heading {level}", f"Level {12 - level}") for level in range(2, 10)]
    assert ("Heading 9", "Deep") in nested


def bookmarks(document) -> set[str]:
    return {b.get(qn("w:name")) for b in document.element.iter(qn("w:bookmarkStart"))}


@pytest.mark.parametrize("style", [{}, {"style": AUTHOR_YEAR}])
def test_every_link_leads_to_a_bookmark_or_an_address(style) -> None:
    document = opened(report(), **style)
    links = list(document.element.iter(qn("w:hyperlink")))
    inner = [link.get(qn("w:anchor")) for link in links if link.get(qn("w:anchor"))]
    assert set(inner) <= bookmarks(document)
    assert {"reference1", "reference2", "passage1", "passage2", "section0"} <= set(inner)
    outer = [document.part.rels[link.get(qn("r:id"))].target_ref for link in links if link.get(qn("r:id"))]
    assert outer == ["https://doi.org/10.2307/1879431"]
    ids = [b.get(qn("w:id")) for b in document.element.iter(qn("w:bookmarkStart"))]
    assert len(ids) == len(set(ids))


def test_the_table_of_contents_is_a_field_whose_lines_are_the_headings() -> None:
    document = opened(report())
    instructions = [i.text for i in document.element.iter(qn("w:instrText"))]
    assert instructions == ['TOC \\o "1-3" \\h \\z \\u']
    kinds = [c.get(qn("w:fldCharType")) for c in document.element.iter(qn("w:fldChar"))]
    assert kinds == ["begin", "separate", "end"]
    lines = [p.text for p in document.paragraphs if p.style.name.startswith(("TOC 1", "TOC 2", "TOC 3"))]
    assert lines == ["Findings", "Nested", "Level 10", "Level 9", "References", "Cited passages"]


def test_quotes_are_marked_in_their_passages() -> None:
    document = opened(report())
    marked = [
        r.text for p in document.paragraphs if p.style.name == "Passage" for r in p.runs if r.style.name == "Quoted"
    ]
    assert marked == ["cannot tell good cars from bad", "bad cars drive out good ones", HEBREW]


def test_right_to_left_text_is_marked_as_such() -> None:
    document = opened(report())
    [passage] = [p for p in document.paragraphs if p.style.name == "Passage" and HEBREW in p.text]
    assert passage._p.pPr.find(qn("w:bidi")) is not None
    assert [r.text for r in passage.runs if r._element.rPr.find(qn("w:rtl")) is not None] == [HEBREW, " בכל שוק."]
    latin = next(p for p in document.paragraphs if p.style.name == "Body Text")
    assert latin._p.pPr.find(qn("w:bidi")) is None


def test_a_figure_is_a_picture_with_its_words_and_fits_the_page() -> None:
    document = opened(report())
    [shape] = document.inline_shapes
    assert shape._inline.docPr.get("descr") == "A blue bar"
    assert shape.width.cm == pytest.approx(400 * 2.54 / 96, abs=0.01)
    wide = Figure("image/svg+xml", SVG.replace(b"400", b"4000"), "Wide", "")
    value = dataclasses.replace(report(), sections=(ReportSection("A", (wide,)),), references=(), passages=())
    assert opened(value).inline_shapes[0].width.cm == pytest.approx(16.0, abs=0.01)


def test_equal_reports_are_equal_files_that_name_nobody() -> None:
    first = render_docx(report())
    assert first == render_docx(report())
    core = zipfile.ZipFile(io.BytesIO(first)).read("docProps/core.xml").decode()
    assert "python-docx" not in core
    assert not re.search(r"<dcterms:(created|modified)", core)
    assert "<dc:language>en<" in core


@settings(max_examples=25)
@given(st.text(max_size=60), st.text(min_size=1, max_size=400))
def test_any_text_gives_a_document_that_can_be_read(word: str, title: str) -> None:
    sections = (ReportSection(f"H{word}", (Note(f"N{word}"), Table((f"T{word}",), ((word,),), word))),)
    document = opened(Report(f"R{title}", word, "en", sections))
    assert texts(document, "Title")[0].startswith("R")
    assert len(document.tables) == 1


def test_an_empty_report_is_a_document() -> None:
    document = opened(Report("Nothing", "Why?", "en", ()))
    assert [p.text for p in document.paragraphs] == ["Nothing", "Why?", "No claims · 0 papers cited"]


@settings(max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=8))
def test_the_union_of_spans_covers_the_same_characters_in_disjoint_pieces(spans: list[tuple[int, int]]) -> None:
    joined = union(spans)
    assert {i for a, b in joined for i in range(a, b)} == {i for a, b in spans for i in range(a, b)}
    assert all(a < b for a, b in joined)
    assert all(left[1] < right[0] for left, right in pairwise(joined))


@pytest.mark.browser
def test_libreoffice_sets_the_document(tmp_path: Path) -> None:
    office = shutil.which("soffice")
    if office is None:
        pytest.skip("LibreOffice is not installed; on Debian: apt-get install libreoffice-writer-nogui")
    (tmp_path / "report.docx").write_bytes(render_docx(report()))
    profile = f"-env:UserInstallation=file://{tmp_path}/profile"
    command = [office, profile, "--headless", "--convert-to", "txt:Text (encoded):UTF8", "--outdir", str(tmp_path)]
    subprocess.run([*command, str(tmp_path / "report.docx")], check=True, capture_output=True, timeout=120)
    text = (tmp_path / "report.txt").read_text("utf-8-sig")
    for words in (
        "Caution. Little bears on it.",
        "Bad drives out good. [1]",
        "Table 1. Sizes",
        "Figure 1. Shares",
        HEBREW,
        "Cited passages",
    ):
        assert words in text.replace("\u00a0", " ")
