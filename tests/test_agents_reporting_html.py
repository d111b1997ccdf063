"""The report as one HTML file: what a parser reads in it, and what Chromium does with it."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lxml.html
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.reporting.bibliography.citing import AUTHOR_YEAR, Bibliography
from agents.reporting.body import VERBATIM
from agents.reporting.html import render_html
from agents.reporting.marking import marked
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
    walk,
)
from agents.reporting.wording import NOT_STORED, SUMMARY_PASSAGE
from kg.records import Document
from scripts import bench_report
from tests.browser import open_file, overflow, watched_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

SCRIPT = "<script>alert('x')</script>"
HOSTILE = f"{SCRIPT}\"'><img src=x onerror=alert(1)></style></title>{{{{ 7*7 }}}} & &lt;b&gt;"
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="900" height="30"><text>&lt;script&gt;</text></svg>'
HEBREW = "מחירים עולים כאשר המידע פרטי (Akerlof 1970), ולכן השוק קורס."
TEXT = (
    "Prices fall when buyers cannot see quality.\n\nLet $p = \\frac{1}{2}q$ be the price; it costs $5 to $10 to look. "
    "Good sellers leave, and $$\\int_0^1 q\\,dq$$ shrinks.\n\nNothing is left in the end: " + HEBREW
)


def cite(doc_id: str, quote: str, text: str = TEXT, section: int = 0) -> Citation:
    start = text.index(quote)
    return Citation(f"{doc_id}#{section}", hashlib.sha256(text.encode()).hexdigest(), quote, start, start + len(quote))


def make(sections: Sequence[ReportSection], documents: Sequence[Document] = (), **fields: Any) -> Report:
    fields = {"title": "Markets", "question": "Why do markets fail?", "language": "en"} | fields
    references = number_references(sections, {document.doc_id: document for document in documents})
    return Report(sections=tuple(sections), references=references, **fields)


def claims(*citations: tuple[Citation, ...], **fields: Any) -> Paragraph:
    return Paragraph(
        tuple(Sentence(f"s{i}", "claim", f"Claim {i}.", own, **fields) for i, own in enumerate(citations, start=1))
    )


@cache
def large_report(papers: int = 60, citations: int = 200, seed: int = 0) -> Report:
    return bench_report.large_report(papers, citations, seed=seed)


def small_report() -> Report:
    return large_report(12, 40)


@cache
def nasty_report() -> Report:
    """One of everything that has broken a report before."""
    crowd = Document(
        "crowd", HOSTILE, authors=tuple(f"Author{n}, A. {SCRIPT}" for n in range(40)), venue="V" * 300,
        details=(("kind", "summary"), ("pages", "12-19"), ("volume", "3")),
    )  # fmt: skip
    rtl = Document("rtl", "שוק הלימונים", authors=("אקרלוף, ג׳ורג׳",), year=1970, doi="10.1000/<b>&\"'")
    lost = Document("lost", "Text $x^2$ that was not kept", year=2001)
    quotes = (
        "Prices fall when buyers",
        "buyers cannot see quality.\n\nLet",
        "Let $p = \\frac{1}{2}q$ be the price",
        "= \\frac{1}{2}q$ be the price; it costs",
        "the end: " + HEBREW,
        HEBREW,
    )
    sentences = (
        Sentence("a b<\"'>", "claim", HOSTILE, tuple(cite("crowd", q) for q in quotes), "supported", 0.875, HOSTILE),
        Sentence("c", "claim", HEBREW, (cite("rtl", HEBREW), cite("lost", "Good sellers leave")), "partial", None, "x"),
        Sentence("d", "claim", "W" * 400, (cite("lost", "Good sellers leave"), cite("lost", "Nothing is left in"))),
        Sentence("e", "proposal", "Try $y_i = \\alpha + \\beta x_i$ instead of $5 or $6."),
        Sentence("f", "claim", "Without any source.", (), "unsupported", 0.0, ""),
    )
    table = Table(("A" * 60, HOSTILE, "n"), (("1", HEBREW, "12"), ("2", "x" * 200, "3")), HOSTILE)
    blocks = (
        Paragraph(sentences),
        BulletList((Paragraph((Sentence("g", "connective", HEBREW),)), Paragraph((Sentence("h", "claim", "T."),)))),
        QuoteBlock(Sentence("i", "claim", HEBREW, (cite("rtl", HEBREW),), "supported"), HOSTILE),
        Note(HOSTILE),
        table,
        Figure("image/svg+xml", SVG, HOSTILE, HOSTILE),
        Figure("image/png", PNG, "A dot."),
    )
    nested = ReportSection("Depth 9: " + "H" * 200, (Note("Deep."),))
    for depth in range(8, 1, -1):
        nested = ReportSection(f"Depth {depth}", (), (nested,))
    return make(
        [ReportSection(HOSTILE, blocks, (nested,)), ReportSection(HEBREW)],
        [crowd, rtl, lost],
        title=(SCRIPT + " title ") * 350,
        question=HEBREW,
        language="en",
        notes=(HOSTILE,),
        cautions=(HOSTILE, " ", HEBREW),
        passages=(
            Passage("crowd#0", HOSTILE, TEXT, 0.123456, HOSTILE, 7),
            Passage("rtl#0", HEBREW, TEXT),
            Passage("other#0", "Not cited", "Found only."),
        ),
    )


def tree(page: str) -> lxml.html.HtmlElement:
    return lxml.html.document_fromstring(page)


def source(element: lxml.html.HtmlElement) -> str:
    """The text that an element was made from: formulas as the document writes them."""
    pieces = [element.text or ""]
    for child in element:
        pieces += [child.get("title") if child.tag == "math" else source(child), child.tail or ""]
    return "".join(pieces)


def in_order(report: Report, style: Any = None) -> list[Citation]:
    """Citations as they are numbered: in reading order, those of a sentence by the list of references."""
    bibliography = Bibliography(report, style) if style else Bibliography(report)
    marks = (mark for _, sentence in walk(report.sections) for mark in bibliography.marks(sentence))
    return [citation for mark in marks for citation in mark.citations]


# --- marks


@given(
    st.lists(st.sampled_from([*"ab <>&\"'\n$^", "$x^2$", "$$y_1$$", "ש", "é"]), min_size=1, max_size=30).map("".join),
    st.data(),
)
def test_the_stretches_of_a_span_are_its_quote(text: str, data: st.DataObject) -> None:
    edges = st.integers(0, len(text))
    pairs = data.draw(st.lists(st.tuples(edges, edges).filter(lambda pair: pair[0] != pair[1]), max_size=6))
    spans = [(min(pair), max(pair), number) for number, pair in enumerate(pairs, start=1)]
    root = lxml.html.fragment_fromstring(f"<div>{marked(text, spans)}</div>")
    assert source(root) == text
    assert not root.xpath("//mark//mark")
    for start, end, number in spans:
        own = [mark for mark in root.iter("mark") if str(number) in mark.get("data-q").split()]
        assert "".join(map(source, own)) == text[start:end]
        assert [mark for mark in own if mark.xpath(f"span[@id='passage-{number}']")] == own[:1]
        assert len(root.xpath(f"//*[@id='passage-{number}']")) == 1


def test_a_quote_that_cuts_a_formula_shows_its_source() -> None:
    text = "so $x^2$ and $y^2$ hold"
    whole = str(marked(text, [(0, 8, 1)]))
    assert whole.count("<math") == 2
    cut = str(marked(text, [(4, len(text), 1)]))
    assert (cut.count("<math"), cut.startswith("so $<mark")) == (1, True)


# --- the page as a parser reads it


def test_sentences_are_anchors_and_say_their_kind_and_verdict() -> None:
    page = tree(render_html(nasty_report()))
    for _, sentence in walk(nasty_report().sections):
        anchor = "sentence-" + {"a b<\"'>": "a%20b%3C%22%27%3E"}.get(sentence.sentence_id, sentence.sentence_id)
        [span] = page.xpath("//span[@id=$id]", id=anchor)
        assert sentence.kind in span.get("class").split()
        [text] = span.find_class("t")
        assert source(text) == sentence.text
        verdicts = [v for v in span.find_class("verdict") if "proposal" not in v.get("class")]
        assert [v.get("class").split()[1] for v in verdicts] == [sentence.verdict] * (sentence.verdict != "unchecked")
    [first] = page.xpath("//span[@id='sentence-c']").pop().find_class("verdict")
    assert first.get("title") == "Partly supported (checker: x)"
    assert first.text_content() == "\xa0 (Partly supported (checker: x))"
    [proposal] = page.xpath("//span[@id='sentence-e']").pop().find_class("verdict")
    assert "not a finding of a source" in proposal.get("title")


def test_the_head_counts_claims_by_verdict() -> None:
    counts = tree(render_html(nasty_report())).find_class("counts")[0].text_content()
    assert re.sub(r"\s+", " ", counts).strip() == (
        "6 claims: 2 supported, 1 partly supported, 1 not supported, 2 not checked 1 proposal of the writer "
        "3 papers cited"
    )


def test_hostile_text_is_text_everywhere() -> None:
    report = nasty_report()
    text = render_html(report)
    page = tree(text)
    assert len(page.xpath("//script")) == 2  # the theme's and the report's own
    assert not page.xpath("//b[not(parent::figcaption or ../../@role='note')] | //@onerror | //@onclick")
    assert not page.xpath("//img[not(starts-with(@src, 'data:'))]")
    assert page.xpath("//title/text()") == [f"{report.question} · {report.title}"]
    assert source(page.find(".//h1")) == report.title
    assert page.xpath("//h2[@id='section-1']")[0].text_content() == HOSTILE
    assert [node.text_content() for node in page.xpath("//blockquote/footer")] == [f"— {HOSTILE}"]
    assert page.xpath("//img/@alt")[0] == HOSTILE
    assert "49" not in page.find_class("masthead")[0].text_content()
    links = page.xpath("//a/@href[not(starts-with(., '#'))]")
    assert all(re.fullmatch(r"https://doi\.org/[\w/:;().%-]+", link) for link in links)


def test_ids_are_unique_and_every_link_in_the_page_leads_somewhere() -> None:
    for report in (nasty_report(), large_report()):
        page = tree(render_html(report))
        ids = page.xpath("//@id")
        assert len(ids) == len(set(ids))
        assert {link[1:] for link in page.xpath("//@href[starts-with(., '#')]")} <= set(ids)


def test_headings_nest_as_deep_as_a_report_may() -> None:
    section = ReportSection("Bottom")
    for depth in range(49, 0, -1):
        section = ReportSection(f"Level {depth}", (), (section,))
    page = tree(render_html(make([section])))
    headings = page.find_class("heading")
    assert [h.tag for h in headings[:7]] == ["h2", "h3", "h4", "h5", "h6", "h6", "h6"]
    assert [h.get("aria-level") for h in headings[3:7]] == [None, None, "7", "8"]
    assert len(headings) == 50
    assert max(len(list(h.iterancestors())) for h in headings) < 10  # parsers give up on deep trees


def test_tables_and_figures_are_numbered_and_whole() -> None:
    page = tree(render_html(nasty_report()))
    captions = [caption.text_content() for caption in page.xpath("//figcaption")]
    assert captions == [f"Table 1. {HOSTILE}", f"Figure 1. {HOSTILE}", "Figure 2 "]
    images = page.xpath("//figure/div[@role='region']/img")
    assert [base64.b64decode(image.get("src").partition(",")[2]) for image in images] == [SVG, PNG]
    assert [(image.get("width"), image.get("height")) for image in images] == [("900", "30"), ("1", "1")]
    [table] = page.xpath("//table")
    assert [[cell.text_content() for cell in row] for row in table.iter("tr")][2] == ["2", "x" * 200, "3"]
    assert [cell.get("class") for cell in table.xpath("tbody/tr[1]/td")] == ["number", "prose", "number"]


def test_a_passage_stands_once_however_often_it_is_cited() -> None:
    report = large_report()
    text = render_html(report)
    page = tree(text)
    shown = [source(node) for node in page.find_class("text")]
    assert sorted(shown) == sorted(passage.text for passage in report.passages)
    assert len(text.encode()) < 3_000_000


@pytest.mark.parametrize("style", [None, AUTHOR_YEAR], ids=["numbered", "author-year"])
def test_references_link_to_their_doi_and_to_where_they_are_cited(style: Any) -> None:
    report = large_report(papers=12, citations=40)
    page = tree(render_html(report, style) if style else render_html(report))
    bibliography = Bibliography(report, style) if style else Bibliography(report)
    entries = page.xpath("//section[@class='references']//li")
    assert len(entries) == 12
    for entry, element in zip(bibliography.entries, entries, strict=True):
        assert element.find_class("entry")[0].text_content() == "".join(piece.text for piece in entry.pieces)
        [link] = element.xpath(".//a[starts-with(@href, 'https')]")
        assert (link.get("href"), link.get("target")) == (f"https://doi.org/{entry.reference.doi}", "_blank")
        assert "noopener" in link.get("rel")
        back = element.xpath(".//span[contains(@class, 'back')]//a/@href")
        labels = [page.xpath("//a[@id=$id]", id=target[1:])[0].text_content() for target in back]
        assert labels
        assert len(set(labels)) == 1
        headings = [link.text_content() for link in element.xpath(".//span[contains(@class, 'back')]//a")]
        assert len(set(headings)) == len(headings)  # each section once, by its name
        assert set(headings) <= {heading.text_content() for heading in page.find_class("heading")}
    cited = page.find_class("cites")[0].text_content()
    assert cited[0] == bibliography.opening
    assert cited[-1] == bibliography.closing


def test_cautions_stand_first_in_a_box_that_says_what_it_is() -> None:
    page = tree(render_html(nasty_report()))
    [box] = page.find_class("caution")
    assert (box.get("role"), box.get("aria-label")) == ("note", "Caution")
    assert [box.getprevious().get("class"), box.getnext().get("class")] == ["question", "counts"]
    assert [source(p).split() for p in box.findall("p")] == [f"Caution. {text}".split() for text in (HOSTILE, HEBREW)]
    assert [use.get("href") for use in box.iter("use")] == ["#symbol-caution"] * 2
    assert not tree(render_html(make([]))).find_class("caution")


def test_a_summary_is_said_to_be_one_wherever_its_words_or_its_paper_are_named() -> None:
    page = tree(render_html(nasty_report()))
    entries = {li.get("id"): [e.text_content() for e in li.find_class("summary")] for li in page.xpath("//li[@id]")}
    assert entries == {"reference-1": ["Read as a summary."], "reference-2": [], "reference-3": []}
    assert not page.xpath("//*[contains(@class, 'entry')]//*[contains(@class, 'summary')]")
    passages = [[e.text_content() for e in passage.find_class("summary")] for passage in page.find_class("passage")]
    words = "These are the words of a summary of the paper, not of the paper itself."
    assert passages == [[words], [], []]


def test_rank_score_and_way_are_those_of_the_passage() -> None:
    report = nasty_report()
    found = [e.text_content() for e in tree(render_html(report)).xpath("//article/p[@class='found']")]
    assert found[0] == report.passages[0].how == f"Rank 7, score 0.123. {HOSTILE}"
    assert len(found) == 2  # of the second nothing is known, the third is not stored


def test_ranges_of_pages_have_an_en_dash() -> None:
    page = tree(render_html(nasty_report()))
    assert ", 3, 12–19." in page.xpath("//li[@id='reference-1']")[0].text_content()


def test_a_report_that_says_nothing_is_a_page() -> None:
    page = tree(render_html(make([], question="")))
    assert "This report has no sections." in page.text_content()
    assert not page.xpath("//dialog | //nav//a | //section | //details")
    page = tree(render_html(make([ReportSection("Alone", (Note("n"),))])))
    assert not page.xpath("//dialog | //*[@id='references']")
    assert page.xpath("//nav//a/@href") == ["#section-1"]


def test_what_was_found_and_not_cited_is_counted() -> None:
    [note] = tree(render_html(nasty_report())).xpath("//section[@class='passages']/p")
    assert "1 further passage was found but not cited" in note.text_content()


def test_equal_reports_give_equal_pages() -> None:
    assert render_html(large_report(12, 30)) == render_html(large_report(12, 30))
    assert render_html(large_report(12, 30)) != render_html(large_report(12, 30, seed=1))


# --- the page in a browser


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(large_report(), tmp_path_factory.mktemp("large"))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(small_report(), tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="module")
def nasty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(nasty_report(), tmp_path_factory.mktemp("nasty"))


@pytest.fixture(scope="module")
def nasty_page(chromium: Browser, nasty: Path) -> Iterator[Page]:
    """One page for tests that read it and leave it in no need of another."""
    with watched_page(chromium) as page:
        open_file(page, nasty)
        yield page


def written(report: Report, folder: Path) -> Path:
    path = folder / "report with spaces.html"
    path.write_text(render_html(report), encoding="utf-8")
    return path


def dialog(page: Page) -> Locator:
    return page.locator("#citation[open]")


def shows(page: Page, number: int) -> None:
    page.locator("#citation[open] h2", has_text=re.compile(rf"Citation {number}( of|$)")).wait_for()


def fragment(page: Page) -> str:
    return page.url.partition("#")[2]


SETTLED = "() => Promise.all(document.getAnimations().map((animation) => animation.finished))"
EVERY_CITATION = """() => {
  const source = (element) => {
    const copy = element.cloneNode(true);
    for (const math of copy.querySelectorAll("math")) math.replaceWith(math.getAttribute("title"));
    return copy.textContent;
  };
  const dialog = document.querySelector("#citation"), shown = [];
  for (const link of document.querySelectorAll("a.cite")) {
    link.click();
    for (let i = 0; i < Number(link.dataset.count); i++) {
      if (i) dialog.querySelectorAll(".steps button")[i].click();
      const marks = [...dialog.querySelectorAll("mark")];
      const view = dialog.querySelector(".scroller").getBoundingClientRect();
      const box = marks[0].getBoundingClientRect();
      shown.push({
        quotes: marks.map(source),
        text: [...dialog.querySelectorAll(".text")].map(source),
        entry: source(dialog.querySelector(".entry")),
        sentence: [...dialog.querySelectorAll(".sentence .t")].map(source),
        seen: box.top >= view.top && box.top < view.bottom && Math.min(box.bottom, view.bottom) > view.top,
        off: Math.abs((box.top + box.bottom) / 2 - (view.top + view.bottom) / 2),
        summary: dialog.querySelector(".about .summary").textContent,
        how: [...dialog.querySelectorAll(".found")].map(source),
        open: dialog.open,
      });
    }
  }
  return shown;
}"""


def check_every_citation(page: Page, report: Report) -> Iterator[dict[str, Any]]:
    """Opens all; each shows its quote marked (and nothing else), its passage, its paper, and its sentence."""
    shown = page.evaluate(EVERY_CITATION)
    expected = in_order(report)
    assert len(shown) == len(expected)
    passages = {passage.section_id: passage for passage in report.passages}
    summaries = {reference.doc_id for reference in report.references if reference.is_summary}
    entries = {e.reference.doc_id: "".join(p.text for p in e.pieces) for e in Bibliography(report).entries}
    sentences = [s.text for _, s in walk(report.sections) for _ in s.citations]
    for citation, sentence, seen in zip(expected, sentences, shown, strict=True):
        assert seen["quotes"] == [citation.quote]
        passage = passages.get(citation.section_id)
        assert seen["text"] == [passage.text if passage else citation.quote]
        assert seen["how"] == [how for how in (passage.how if passage else NOT_STORED,) if how]
        assert seen["summary"] == (SUMMARY_PASSAGE if citation.doc_id in summaries else "")
        assert seen["entry"].endswith(entries[citation.doc_id])
        assert seen["sentence"] == ([] if sentence == citation.quote else [sentence])
        assert seen["seen"]
        assert seen["open"]
        yield seen


@pytest.mark.browser
def test_every_citation_opens_its_passage_with_the_quote_marked(page: Page, large: Path) -> None:
    open_file(page, large)
    shown = list(check_every_citation(page, large_report()))
    assert len(shown) == 200
    # In the middle, unless the quote is near an end of its passage.
    assert sum(seen["off"] < 3 for seen in shown) > 80


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_that_a_document_says_breaks_the_page(chromium: Browser, nasty: Path, width: int) -> None:
    with watched_page(chromium, viewport={"width": width, "height": 844}) as page:
        open_file(page, nasty)
        assert overflow(page) == 0
        assert len(list(check_every_citation(page, nasty_report()))) == len(in_order(nasty_report()))
        assert overflow(page) == 0
        assert page.locator("h1").inner_text().startswith(SCRIPT)
        assert page.locator("math").count() > 5


@pytest.mark.browser
def test_a_click_opens_and_escape_returns_to_the_mark(page: Page, large: Path) -> None:
    open_file(page, large)
    page.locator("#cite-5").click()
    shows(page, 5)
    assert fragment(page) == "passage-5"
    page.evaluate(SETTLED)
    box = dialog(page).bounding_box()
    assert box is not None
    assert (round(box["x"] + box["width"]), round(box["height"])) == (1280, 800)
    text = page.locator("main").bounding_box()
    assert text is not None
    assert box["x"] >= text["x"] + text["width"]  # beside the text, not over it
    page.keyboard.press("Escape")
    page.wait_for_url(lambda url: "#" not in url)
    assert dialog(page).count() == 0
    assert page.evaluate("document.activeElement.id") == "cite-5"


@pytest.mark.browser
def test_closing_and_opening_at_once_leaves_the_new_citation_open(page: Page, small: Path) -> None:
    open_file(page, small)
    page.locator("#cite-1").click()
    page.evaluate("""() => {
        document.querySelector("#citation").close();
        document.querySelectorAll("a.cite")[1].click();
    }""")
    page.wait_for_timeout(300)
    assert dialog(page).count() == 1
    assert fragment(page) == (page.locator("a.cite").nth(1).get_attribute("href") or "")[1:]
    page.locator("#citation .close").click()
    dialog(page).wait_for(state="detached")
    assert page.evaluate("document.activeElement.id") == page.locator("a.cite").nth(1).get_attribute("id")


@pytest.mark.browser
def test_back_closes_forward_opens_and_the_reader_stays(page: Page, small: Path) -> None:
    open_file(page, small)
    link = page.locator("a.cite").nth(25)
    link.click()
    name = fragment(page)
    before = page.evaluate("scrollY")
    page.go_back()
    dialog(page).wait_for(state="detached")
    assert page.evaluate("document.activeElement.id") == link.get_attribute("id")
    assert abs(page.evaluate("scrollY") - before) < 2
    page.go_forward()
    dialog(page).wait_for()
    assert fragment(page) == name
    page.locator("#citation .close").click()
    page.wait_for_url(lambda url: "#" not in url)
    page.locator("#cite-1").click()
    shows(page, 1)


@pytest.mark.browser
def test_a_shared_link_opens_its_citation(page: Page, small: Path) -> None:
    open_file(page, small, "passage-33")
    shows(page, 33)
    [link] = [m for m in page.locator("a.cite").all() if int((m.get_attribute("id") or "")[5:]) <= 33][-1:]
    page.wait_for_function("id => { const b = document.getElementById(id).getBoundingClientRect();"
                           " return b.top > 0 && b.bottom < innerHeight; }", arg=link.get_attribute("id"))  # fmt: skip
    page.keyboard.press("Escape")
    page.wait_for_url(lambda url: "#" not in url)
    assert page.evaluate("document.activeElement.id") == link.get_attribute("id")
    open_file(page, small, "passage-99999")
    assert dialog(page).count() == 0


@pytest.mark.browser
def test_all_can_be_done_with_the_keyboard(page: Page, small: Path) -> None:
    open_file(page, small)
    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "Skip to the text"
    box = page.locator(":focus").bounding_box()
    assert box is not None
    assert box["y"] >= 0
    page.keyboard.press("Enter")
    for _ in range(3):  # the theme, then the first citations
        page.keyboard.press("Tab")
    first = page.locator(":focus")
    assert "cite" in (first.get_attribute("class") or "")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    number = int((first.get_attribute("id") or "")[5:])
    page.keyboard.press("Enter")
    shows(page, number)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    shows(page, number + 2)
    page.wait_for_url(f"**#passage-{number + 2}")
    page.keyboard.press("ArrowLeft")
    shows(page, number + 1)
    reached = set()
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.closest('dialog') && (document.activeElement.className"
                                  " || document.activeElement.tagName)"))  # fmt: skip
    assert {"previous", "next", "close", "scroller"} <= reached - {None}
    page.locator("#citation .next").focus()
    page.keyboard.press("Enter")
    shows(page, number + 2)
    page.keyboard.press("Escape")
    dialog(page).wait_for(state="detached")
    assert "cite" in page.evaluate("document.activeElement.className")


@pytest.mark.browser
def test_a_mark_names_its_paper_and_is_a_button(page: Page, small: Path) -> None:
    open_file(page, small)
    link = page.locator("a.cite").nth(8)
    link.hover()
    entries = ["".join(piece.text for piece in entry.pieces) for entry in Bibliography(small_report()).entries]
    assert link.get_attribute("title") == entries[int(link.inner_text()) - 1]
    assert (link.get_attribute("role"), link.get_attribute("aria-haspopup")) == ("button", "dialog")
    link.focus()
    page.keyboard.press("Space")
    shows(page, int((link.get_attribute("id") or "")[5:]))


@pytest.mark.browser
def test_the_first_and_last_citations_are_ends(nasty_page: Page) -> None:
    last = len(in_order(nasty_report()))
    nasty_page.evaluate("location.hash = '#passage-1'")
    shows(nasty_page, 1)
    nasty_page.keyboard.press("ArrowLeft")
    shows(nasty_page, 1)
    assert nasty_page.locator("#citation .previous").get_attribute("aria-disabled") == "true"
    for _ in range(last + 3):
        nasty_page.keyboard.press("ArrowRight")
    shows(nasty_page, last)
    assert nasty_page.locator("#citation .next").get_attribute("aria-disabled") == "true"


@pytest.mark.browser
def test_beside_the_dialog_another_citation_opens_and_anything_else_closes(page: Page, large: Path) -> None:
    open_file(page, large)
    page.locator("#cite-1").click()
    shows(page, 1)
    other = page.locator("a.cite").nth(3)
    box = other.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    shows(page, int((other.get_attribute("id") or "")[5:]))
    page.mouse.click(20, 700)
    dialog(page).wait_for(state="detached")


@pytest.mark.browser
def test_a_passage_that_was_not_stored_shows_its_quote_and_says_so(nasty_page: Page) -> None:
    number = next(n for n, c in enumerate(in_order(nasty_report()), 1) if c.section_id == "lost#0")
    nasty_page.evaluate("n => { location.hash = `passage-${n}`; }", number)
    shows(nasty_page, number)
    assert "was not stored" in dialog(nasty_page).inner_text()
    assert dialog(nasty_page).locator(".text").all_inner_texts() == ["Good sellers leave"]
    assert "Not checked" not in dialog(nasty_page).inner_text()


@pytest.mark.browser
def test_phones_get_a_sheet_from_below_and_nothing_scrolls_sideways(chromium: Browser, small: Path) -> None:
    with watched_page(chromium, viewport={"width": 390, "height": 844}, has_touch=True) as page:
        open_file(page, small)
        assert overflow(page) == 0
        assert page.locator("nav.toc").is_hidden()
        page.locator("details.contents summary").tap()
        page.locator("details.contents a").nth(4).tap()
        assert page.locator("details.contents[open]").count() == 0
        for wide in (page.locator(".wide").first, page.locator(".drawing").first):  # their words stay readable
            assert wide.evaluate("e => e.scrollWidth > e.clientWidth")
        page.locator("a.cite").nth(20).tap()
        page.evaluate(SETTLED)
        box = dialog(page).bounding_box()
        assert box is not None
        assert (box["x"], box["width"], box["y"] + box["height"]) == (0, 390, 844)
        assert overflow(page) == 0


@pytest.mark.browser
def test_without_scripts_links_lead_to_the_passages(chromium: Browser, small: Path) -> None:
    with watched_page(chromium, java_script_enabled=False) as page:
        open_file(page, small)
        assert page.locator("button.theme").is_hidden()
        assert page.locator("#citation").is_hidden()
        page.locator("#cite-3").click()
        assert fragment(page) == "passage-3"
        mark = page.locator("mark:has(#passage-3)")
        box = mark.bounding_box()
        assert box is not None
        assert 0 < box["y"] < 800
        assert in_order(small_report())[2].quote.startswith(mark.inner_text().strip()[:20])


@pytest.mark.browser
def test_themes_switch_and_hold(page: Page, small: Path) -> None:
    open_file(page, small)
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    button = page.locator("button.theme")
    seen = []
    for _ in range(3):
        button.click()
        seen.append((button.inner_text(), page.evaluate(background) == light))
    assert seen == [("Theme: light", True), ("Theme: dark", False), ("Theme: auto", True)]
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(background) != light
    button.click()
    assert page.evaluate(background) == light


CONTRAST = """() => {
  const channels = (color) => { const v = color.match(/[\\d.]+/g).map(Number); return v.length < 4 ? [...v, 1] : v; };
  const luminance = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const color = channels(getComputedStyle(e).backgroundColor);
      if (color[3] === 1) return color;
    }
    throw new Error("no background");
  };
  const skipped = "script, .sr, .skip, [aria-disabled=true]", low = [], seen = new Set();
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!(own || element.matches("svg.symbol")) || !element.checkVisibility() || element.closest(skipped)) continue;
    const ink = luminance(channels(getComputedStyle(element).color)), paper = luminance(behind(element));
    const ratio = (Math.max(ink, paper) + .05) / (Math.min(ink, paper) + .05);
    seen.add(element.tagName);
    if (ratio < 4.5) low.push(`${element.tagName}.${element.className} ${ratio.toFixed(2)}`);
  }
  return [low, seen.size];
}"""


@pytest.mark.browser
def test_contrast_is_aa_in_both_themes_and_on_paper(nasty_page: Page) -> None:
    nasty_page.evaluate("location.hash = '#passage-7'")
    shows(nasty_page, 7)
    backgrounds = set()
    for media, theme in (("screen", "light"), ("screen", "dark"), ("print", "dark")):
        nasty_page.emulate_media(media=media, color_scheme=theme)
        low, kinds = nasty_page.evaluate(CONTRAST)
        assert low == [], (media, theme)
        assert kinds > 12
        backgrounds.add(nasty_page.evaluate("getComputedStyle(document.querySelector('.caution')).backgroundColor"))
    nasty_page.emulate_media(media="screen", color_scheme="light")
    assert len(backgrounds) == 2


@pytest.mark.browser
def test_the_contents_follow_the_reader(page: Page, large: Path) -> None:
    open_file(page, large)
    current = page.locator("nav.toc a[aria-current]")
    for heading in ("section-2-1", "references", "section-1"):
        page.evaluate("id => document.getElementById(id).scrollIntoView()", heading)
        page.wait_for_function(
            "id => document.querySelector('nav.toc a[aria-current]')?.hash === `#${id}`", arg=heading
        )
        assert current.count() == 1
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    page.wait_for_function("() => document.querySelector('nav.toc a[aria-current]').hash === '#passages'")


@pytest.mark.browser
def test_copied_formulas_are_the_source(nasty_page: Page) -> None:
    copied = nasty_page.evaluate("""() => {
      const range = document.createRange();
      range.selectNode(document.getElementById("sentence-e"));
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      const event = new ClipboardEvent("copy", {clipboardData: new DataTransfer(), bubbles: true, cancelable: true});
      document.dispatchEvent(event);
      return event.clipboardData.getData("text/plain");
    }""")
    assert copied == "Try $y_i = \\alpha + \\beta x_i$ instead of $5 or $6."


@pytest.mark.browser
def test_right_to_left_texts_begin_at_the_right(nasty_page: Page) -> None:
    directions = nasty_page.evaluate(
        "(selectors) => selectors.map((s) => getComputedStyle(document.querySelector(s)).direction)",
        ["#section-2", ".question", "blockquote", "h1", ".passage:has(#passage-7) h4", ".caution p:last-child bdi"],
    )
    assert directions == ["rtl", "rtl", "rtl", "ltr", "rtl", "rtl"]


@pytest.mark.browser
def test_paper_shows_the_text_and_no_controls(page: Page, small: Path) -> None:
    open_file(page, small)
    page.locator("#cite-1").click()
    page.emulate_media(media="print")
    for hidden in ("nav.toc", "button.theme", "details.contents", "#citation", ".back >> nth=0", ".skip"):
        assert page.locator(hidden).is_hidden()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.querySelector('h3.heading')).breakAfter") == "avoid"
    assert page.evaluate("getComputedStyle(document.querySelector('blockquote')).breakInside") == "avoid"
    size = "parseFloat(getComputedStyle(document.querySelector('{}')).fontSize)"
    assert page.evaluate(f"{size.format('.passages .text')} < {size.format('section > p:not(.note)')}")
    assert page.pdf(format="A4").startswith(b"%PDF")


@pytest.mark.browser
def test_motion_can_be_declined(page: Page, small: Path) -> None:
    open_file(page, small, "passage-1")
    shows(page, 1)
    names = {}
    for wish in ("no-preference", "reduce"):
        page.emulate_media(reduced_motion=wish)
        names[wish] = page.evaluate("getComputedStyle(document.querySelector('#citation')).animationName")
    assert names == {"no-preference": "from-side", "reduce": "none"}


def test_of_a_quotation_the_page_says_that_it_is_one_and_no_more() -> None:
    words = "Bad cars drive out good ones."
    cited = Citation("lost#0", hashlib.sha256(words.encode()).hexdigest(), words, 0, len(words))
    quoted = Sentence("s1", "claim", words, (cited,), "supported", 1.0, VERBATIM)
    judged = Sentence("s2", "claim", "Markets fail.", (), "supported", 0.8, "judge")
    sections = (ReportSection("A", (Paragraph((quoted, judged)),)),)
    references = number_references(sections, {"lost": Document("lost", "Lost")})
    text = render_html(Report("Markets", "Why?", "en", sections, references))
    counts = " ".join(tree(text).find_class("masthead")[0].text_content().split())
    assert "1 quoted word for word" in counts
    assert "1 supported" in counts
    assert "checker: verbatim" not in text
    assert "checker: judge" in text
