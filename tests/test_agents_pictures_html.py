"""The picture as a page: what it holds, and in a browser that it answers mouse and keyboard, on small screens too."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from agents.pictures.html import page_data, picture_page
from agents.pictures.shapes import PAGE
from agents.pictures.text import clean_label
from agents.reporting.pages import d3_source
from kg.build import Tools, build_graph, open_graph
from kg.lateral import LateralGraph
from retrieval.neighbourhood import NeighbourhoodConfig, neighbourhood
from retrieval.neighbourhood.nodes import Neighbourhood
from tests.browser import open_file, overflow, watched_page
from tests.conftest import HashEncoder, paper
from tests.test_agents_pictures_layout import neighbourhoods

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

QUESTION = "Which risk factors explain expected stock returns?"


@pytest.fixture(scope="module")
def shown(sample_graph: LateralGraph, hash_encoder: HashEncoder) -> Neighbourhood:
    return neighbourhood(sample_graph, hash_encoder, QUESTION)


@pytest.fixture(scope="module")
def file(shown: Neighbourhood, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("picture") / "picture.html"
    path.write_text(picture_page(shown), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory, tools: Tools) -> Path:
    """A page of papers whose every text is dangerous or unusual."""
    nasty = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    text = f"Market risk {nasty} drives prices 🚀. Market risk and price level {nasty} move. Price level {nasty} again."
    papers = [
        paper("a", text, title=f"{nasty} & “quotes” " + "long " * 60, authors=(f"{nasty}, A.",) * 40, field=nasty),
        paper(
            "b", "שוק ההון והסיכון. Market risk and price level in שוק ההון. 量子计算 🚀🚀 market risk.", title="שוק"
        ),
    ]
    directory = tmp_path_factory.mktemp("hostile")
    build_graph(directory / "g", papers, tools)
    shown = neighbourhood(open_graph(directory / "g"), HashEncoder(), "market risk and price level")
    path = directory / "picture.html"
    path.write_text(picture_page(shown), encoding="utf-8")
    return path


class _Parts(HTMLParser):
    """Tags, and the texts of script elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self._inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag == "script"
        if self._inside:
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "script"

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.scripts[-1] += data


def data_of(page: str) -> dict[str, Any]:
    parts = _Parts(page)
    types = [attributes.get("type") for tag, attributes in parts.tags if tag == "script"]
    found: dict[str, Any] = json.loads(parts.scripts[types.index("application/json")])
    return found


@given(neighbourhoods())
@settings(max_examples=15)
def test_texts_of_papers_are_data_never_markup(shown: Neighbourhood) -> None:
    parts = _Parts(picture_page(shown))
    assert sum(tag == "script" for tag, _ in parts.tags) == 4  # data, theme, D3, ours
    assert not {tag for tag, _ in parts.tags} & {"img", "iframe", "link", "object", "b"}
    assert not [name for _, attributes in parts.tags for name in attributes if name.startswith("on")]


def test_the_data_describes_every_line_of_the_picture(shown: Neighbourhood, file: Path) -> None:
    page = file.read_text(encoding="utf-8")
    data = data_of(page)
    lines = [a for tag, a in _Parts(page).tags if tag == "g" and "data-link" in a]
    assert [int(a["data-link"] or -1) for a in lines] == list(range(len(data["links"])))
    for attributes, link in zip(lines, data["links"], strict=True):
        kind = (attributes["class"] or "").split()[1]
        if kind == "relation":
            names = {data["concepts"][str(attributes[f"data-{end}"])]["label"] for end in ("source", "target")}
            assert all(f"“{name}”" in link["what"] for name in names)
            assert link["text"]
    assert data == json.loads(json.dumps(page_data(shown)))


def test_marks_of_a_section_do_not_overlap_and_name_their_concept(shown: Neighbourhood) -> None:
    data = page_data(shown)
    for section in (s for s in data["sections"].values() if "text" in s):
        last = 0
        for start, end, concept in section["marks"]:
            assert last <= start < end <= len(section["text"])
            assert concept in section["concepts"]
            last = end
        assert section["marks"]


def test_the_page_is_modest_and_tells_all_without_the_picture(shown: Neighbourhood, file: Path) -> None:
    page = file.read_text(encoding="utf-8")
    assert len(page.encode()) - len(d3_source().encode()) < 250_000
    table = page[page.index('<details class="tables">') :]
    for concept in shown.concepts:
        assert f'<th scope="row" dir="auto">{clean_label(concept.label)}</th>' in table
    assert table.count("https://doi.org/") >= len(shown.sections)


def test_scores_stand_beside_a_rank(shown: Neighbourhood) -> None:
    data = page_data(shown)
    order = sorted(shown.concepts, key=lambda c: (-c.score, c.row))
    for n, concept in enumerate(order, start=1):
        place = f"rank {n} (score {concept.score:.3g}) of the {len(order)} concepts shown"
        assert place in data["concepts"][concept.row]["facts"]
    for section in shown.sections:
        told = data["sections"][section.row]
        assert (told["rank"], told["score"]) == (section.rank, f"{section.score:.3g}")


@pytest.mark.browser
@pytest.mark.parametrize(("times", "scrolls"), [(1, False), (200, True)])
def test_a_question_of_any_length_leaves_the_picture_in_sight(
    page: Page, shown: Neighbourhood, tmp_path: Path, times: int, scrolls: bool
) -> None:
    asked = " ".join([QUESTION] * times)
    (tmp_path / "p.html").write_text(picture_page(replace(shown, question=asked)), encoding="utf-8")
    open_file(page, tmp_path / "p.html")
    heading, stage = page.locator("h1"), page.locator("#stage").bounding_box()
    assert heading.inner_text() == asked
    assert stage is not None
    assert stage["y"] < 320
    assert heading.evaluate("e => e.scrollHeight > e.clientHeight + 4") == scrolls


@pytest.mark.browser
def test_names_stay_legible_however_many_sections_there_are(
    page: Page, sample_graph: LateralGraph, hash_encoder: HashEncoder, tmp_path: Path
) -> None:
    page.set_viewport_size({"width": 1280, "height": 480})
    many = neighbourhood(sample_graph, hash_encoder, QUESTION, NeighbourhoodConfig(sections=60, concepts=40))
    (tmp_path / "p.html").write_text(picture_page(many), encoding="utf-8")
    open_file(page, tmp_path / "p.html")
    assert overflow(page) == 0
    stage = page.locator("#stage").bounding_box()
    assert stage is not None
    assert stage["height"] > 480  # more than the window: without room to grow, names would shrink
    size = page.locator(".concept .name").first.evaluate("e => e.getScreenCTM().a * e.getAttribute('font-size')")
    assert size >= 0.75 * PAGE.font


@pytest.mark.browser
def test_where_few_sections_are_found_the_page_shows_their_texts(
    page: Page, sample_graph: LateralGraph, hash_encoder: HashEncoder, tmp_path: Path
) -> None:
    few = neighbourhood(sample_graph, hash_encoder, QUESTION, NeighbourhoodConfig(sections=2))
    (tmp_path / "p.html").write_text(picture_page(few), encoding="utf-8")
    open_file(page, tmp_path / "p.html")
    texts = page.locator("#panel li .text")
    assert [text.split() for text in texts.all_inner_texts()] == [section.text.split() for section in few.sections]
    assert page.locator("#panel mark").count() > 0
    assert page.locator("details.tables").get_attribute("open") is not None


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_legend_shows_the_rings_that_occur(
    chromium: Browser, file: Path, shown: Neighbourhood, scheme: str
) -> None:
    with watched_page(chromium, color_scheme=scheme) as page:
        open_file(page, file)
        assert page.locator(".legend .key").count() == len({c.seed for c in shown.concepts if c.seed})
        ring = page.locator(".concept .why").first
        assert ring.evaluate("e => getComputedStyle(e).fill") == "none"
        ink = page.locator(".concept .name").first.evaluate("e => getComputedStyle(e).fill")
        assert ring.evaluate("e => getComputedStyle(e).stroke") == ink


@pytest.mark.browser
def test_pointing_at_a_line_shows_the_sentence_behind_it(page: Page, file: Path, shown: Neighbourhood) -> None:
    open_file(page, file)
    assert page.locator("#tip").is_hidden()
    line = page.locator(".link.relation").first
    middle = line.evaluate(
        """e => {
            const line = e.querySelector('.line'), m = line.getScreenCTM();
            const p = line.getPointAtLength(line.getTotalLength() / 2);
            return [p.x * m.a + m.e, p.y * m.d + m.f];
        }"""
    )
    page.mouse.move(middle[0], middle[1] + 3)  # beside the line: the hit area is wider than the line
    tip = page.locator("#tip")
    tip.wait_for(state="visible")
    number = int(page.locator(".link.on").get_attribute("data-link") or -1)
    link = page_data(shown)["links"][number]
    assert link["text"] in tip.inner_text()
    assert link["what"] in tip.inner_text()
    assert tip.locator("mark").count() == len(link["marks"])
    box, stage = tip.bounding_box(), page.locator("#stage").bounding_box()
    assert box is not None
    assert stage is not None
    assert stage["x"] <= box["x"]
    assert box["x"] + box["width"] <= stage["x"] + stage["width"]
    page.mouse.move(5, 5)
    tip.wait_for(state="hidden")


@pytest.mark.browser
def test_pointing_at_a_concept_shows_its_neighbours(page: Page, file: Path, shown: Neighbourhood) -> None:
    open_file(page, file)
    concept = shown.concepts[0]
    page.locator(f'.concept[data-row="{concept.row}"] circle').first.hover()
    on = page.locator(".concept.on").evaluate_all("all => all.map(e => Number(e.dataset.row))")
    joined = [{link.source, link.target} for link in shown.relations if concept.row in {link.source, link.target}]
    assert set(on) == {concept.row}.union(*joined)
    sections = page.locator(".section.on").evaluate_all("all => all.map(e => Number(e.dataset.row))")
    assert set(sections) == {m.section for m in shown.mentions if m.concept == concept.row and m.drawn}


@pytest.mark.browser
def test_a_click_on_a_concept_lists_its_sections(page: Page, file: Path, shown: Neighbourhood) -> None:
    open_file(page, file)
    panel = page.locator("#panel")
    assert panel.locator("li").count() == len(shown.sections)
    concept = max(shown.concepts, key=lambda c: len(shown.elsewhere[c.row]))
    page.locator(f'.concept[data-row="{concept.row}"] .name').first.click()
    assert panel.locator("h2").inner_text() == concept.label
    data = page_data(shown)["concepts"][concept.row]
    lists = panel.locator("ul")
    assert lists.nth(0).locator("li").count() == len(data["here"])
    assert lists.nth(1).locator("li").count() == len(data["elsewhere"]) > 0
    first = lists.nth(0).locator("li").first
    assert data["here"][0]["text"] in first.inner_text()
    assert (first.locator("a").get_attribute("href") or "").startswith("https://doi.org/10.")
    first.locator("button").click()
    section = shown.section(data["here"][0]["section"])
    assert panel.locator(".text").inner_text().split() == section.text.split()
    marks = panel.locator(f'.text mark[title="{concept.label}"]')
    assert marks.count() >= 1
    page.locator("#stage svg").click(position={"x": 12, "y": 40})  # beside everything
    assert panel.locator("h2").inner_text() == "Sections found"


@pytest.mark.browser
def test_the_keyboard_reaches_everything(page: Page, file: Path, shown: Neighbourhood) -> None:
    open_file(page, file)
    page.locator("#reset").focus()
    names = []
    for _ in range(len(shown.concepts) + len(shown.sections)):
        page.keyboard.press("Tab")
        names.append(page.evaluate("document.activeElement.getAttribute('aria-label')"))
    assert all(name.startswith(("Concept ", "Section ")) for name in names)
    assert len(set(names)) >= len(shown.concepts)
    page.locator(f'.concept[data-row="{shown.concepts[0].row}"]').focus()
    page.keyboard.press("Enter")
    assert page.locator("#panel h2").inner_text() == shown.concepts[0].label
    page.keyboard.press("ArrowDown")
    assert "link" in page.evaluate("document.activeElement.getAttribute('class')")
    label = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert page.locator("#tip strong").inner_text() in label
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") != label
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.dataset.row") == str(shown.concepts[0].row)
    assert page.locator("#tip").is_hidden()
    page.keyboard.press("Escape")
    assert page.locator("#panel h2").inner_text() == "Sections found"


@pytest.mark.browser
def test_search_finds_a_concept(page: Page, file: Path, shown: Neighbourhood) -> None:
    open_file(page, file)
    concept = shown.concepts[-1]
    find = page.locator("#find")
    find.fill("zzzz")
    assert page.locator("#found").inner_text() == "0 concepts"
    find.fill(concept.label.upper())
    assert int(page.locator("#found").inner_text().split()[0]) >= 1
    assert page.locator(f'.concept.on[data-row="{concept.row}"]').count() == 1
    find.press("Enter")
    assert page.locator("#panel h2").inner_text().casefold() == concept.label.casefold()
    assert page.evaluate("document.activeElement.dataset.row") == str(concept.row)


@pytest.mark.browser
def test_the_picture_zooms_and_what_is_focused_comes_into_view(chromium: Browser, file: Path) -> None:
    def scale() -> float:
        value = page.locator(".view").evaluate("e => e.transform.baseVal.consolidate().matrix.a")
        return float(value)

    with watched_page(chromium, reduced_motion="reduce", viewport={"width": 1280, "height": 560}) as page:
        open_file(page, file)
        assert scale() == 1
        page.locator("#stage").hover()
        page.mouse.wheel(0, -400)
        page.wait_for_timeout(100)
        assert scale() > 1.3
        for _ in range(4):
            page.locator("#in").click()
        assert scale() > 3
        stage = page.locator("#stage").bounding_box()
        assert stage is not None
        for kind in ("section", "concept"):
            node = page.locator(f".{kind}").last
            node.focus()
            box = node.bounding_box()
            assert box is not None
            assert stage["x"] - box["width"] < box["x"] < stage["x"] + stage["width"]
            assert stage["y"] - box["height"] < box["y"] < stage["y"] + stage["height"]
        page.locator("#out").click()
        page.locator("#reset").click()
        assert scale() == 1
        before = page.evaluate("scrollY")
        page.locator("#stage").hover()
        page.mouse.wheel(0, 200)  # the whole picture is in view: the wheel scrolls the page
        page.wait_for_timeout(200)
        assert scale() == 1
        assert page.evaluate("scrollY") > before


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("which", ["file", "hostile"])
def test_at_phone_width_nothing_sticks_out_and_the_panel_is_below(
    chromium: Browser, request: pytest.FixtureRequest, which: str, scheme: str
) -> None:
    size = {"width": 390, "height": 844}
    with watched_page(chromium, viewport=size, color_scheme=scheme, has_touch=True) as page:
        open_file(page, request.getfixturevalue(which))
        assert overflow(page) == 0
        stage, panel = page.locator("#stage").bounding_box(), page.locator("#panel").bounding_box()
        assert stage is not None
        assert panel is not None
        assert panel["y"] >= stage["y"] + stage["height"]
        name = page.locator(".concept .name").first.evaluate("e => e.getBoundingClientRect().height")
        assert name >= 9
        page.locator(".concept").first.tap()
        assert page.locator("#panel h3").count() > 0
        page.locator("details.tables summary").tap()
        assert overflow(page) == 0


@pytest.mark.browser
def test_dark_colours_replace_those_of_the_file(chromium: Browser, file: Path) -> None:
    seen = {}
    for scheme in ("light", "dark"):
        with watched_page(chromium, color_scheme=scheme) as page:
            open_file(page, file)
            seen[scheme] = {
                part: page.locator(f".picture {part}").first.evaluate("e => getComputedStyle(e).fill")
                for part in (".name", ".question", ".where", ".card", ".concept circle", ".edge")
            }
            assert page.locator(".paper").evaluate("e => getComputedStyle(e).fill") == "rgba(0, 0, 0, 0)"
    assert all(seen["light"][part] != seen["dark"][part] for part in seen["light"])


@pytest.mark.browser
def test_hostile_texts_are_shown_as_they_are(page: Page, hostile: Path) -> None:
    open_file(page, hostile)
    for node in page.locator(".concept, .section").all():
        node.focus()
        page.keyboard.press("Enter")
    assert page.locator("#panel img, #panel script, figure img").count() == 0
    page.locator('.section[data-row="0"]').focus()
    page.keyboard.press("Enter")
    assert page.locator("#panel").inner_text().count("<script>alert(1)</script><img src=x onerror=alert(2)>") >= 3


@pytest.mark.browser
def test_names_in_the_browser_are_no_wider_than_their_boxes(page: Page, file: Path) -> None:
    open_file(page, file)
    wide = page.evaluate(
        """() => [...document.querySelectorAll('.section')].filter(s => {
            const card = s.querySelector('.card').getBBox();
            return [...s.querySelectorAll('text')].some(t => t.getBBox().x + t.getBBox().width > card.x + card.width);
        }).length"""
    )
    assert wide == 0


@pytest.mark.browser
def test_it_prints_whole_and_with_its_tables(page: Page, file: Path) -> None:
    open_file(page, file)
    page.locator("#in").click()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details.tables").get_attribute("open") is not None
    assert page.locator(".view").evaluate("e => getComputedStyle(e).transform") == "none"
    assert page.locator(".find").is_hidden()
