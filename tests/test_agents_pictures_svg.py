"""The picture as SVG, as PNG and as a figure: well formed whatever names hold, the same bytes, readable in print."""

from __future__ import annotations

import dataclasses
import re
import struct
import xml.etree.ElementTree as ET
from collections import Counter

import pytest
from hypothesis import given, settings

from agents.pictures.palette import CATEGORIES, NONE, colours_of
from agents.pictures.shapes import PRINT
from agents.pictures.svg import figure_of, inline_svg, picture_svg
from agents.pictures.text import clean_label
from agents.pictures.words import SEED_REASONS, alternative, caption, left_out
from agents.reporting.images import image_size, svg_to_png
from agents.reporting.model import Report, ReportSection
from kg.lateral import LateralGraph
from retrieval.neighbourhood import NeighbourhoodConfig, neighbourhood
from retrieval.neighbourhood.nodes import Neighbourhood
from tests.conftest import HashEncoder
from tests.test_agents_pictures_layout import neighbourhoods

SVG = "{http://www.w3.org/2000/svg}"
DRAWN = {"svg", "title", "desc", "rect", "circle", "path", "text", "g"}


@pytest.fixture(scope="module")
def shown(sample_graph: LateralGraph, hash_encoder: HashEncoder) -> Neighbourhood:
    return neighbourhood(sample_graph, hash_encoder, "Which risk factors explain expected stock returns?")


@given(neighbourhoods())
@settings(max_examples=60)
def test_whatever_names_hold_the_svg_is_well_formed_and_only_a_drawing(shown: Neighbourhood) -> None:
    for svg in (picture_svg(shown), inline_svg(shown), figure_of(shown).content.decode()):
        root = ET.fromstring(svg)
        elements = list(root.iter())
        assert {element.tag.removeprefix(SVG) for element in elements} <= DRAWN
        assert not any(name.startswith("on") or "href" in name for e in elements for name in e.attrib)
        assert len(root.findall(f".//{SVG}g[@data-row]")) == len(shown.concepts) + len(shown.sections)
    assert root.find(f"{SVG}title").text == clean_label(shown.question)  # type: ignore[union-attr]


@given(neighbourhoods())
@settings(max_examples=20)
def test_the_same_neighbourhood_gives_the_same_bytes(shown: Neighbourhood) -> None:
    assert picture_svg(shown) == picture_svg(shown)
    assert figure_of(shown) == figure_of(shown)


def test_names_are_whole_in_the_title_of_a_part(shown: Neighbourhood) -> None:
    root = ET.fromstring(picture_svg(shown))
    titles = {g.get("data-row"): g.find(f"{SVG}title").text for g in root.iter(f"{SVG}g") if g.get("data-row")}  # type: ignore[union-attr]
    for concept in shown.concepts:
        assert any(str(title).startswith(f"{concept.label}:") for title in titles.values())


def test_the_picture_stands_by_itself_on_white_with_its_caption(shown: Neighbourhood) -> None:
    root = ET.fromstring(picture_svg(shown))
    width, height = image_size("image/svg+xml", picture_svg(shown).encode())
    paper = root.find(f"{SVG}rect")
    assert paper is not None
    assert (paper.get("fill"), float(paper.get("width", 0)), float(paper.get("height", 0))) == (
        "#ffffff",
        width,
        height,
    )
    words = " ".join(text.text or "" for text in root.iter(f"{SVG}text"))
    assert " ".join(caption(shown).split()) in words
    assert " ".join(left_out(shown).split()) in words
    assert not [e for e in root.iter() if "style" in e.attrib or e.tag == f"{SVG}style"]


def test_texts_stay_inside(shown: Neighbourhood) -> None:
    for svg in (picture_svg(shown), figure_of(shown).content.decode()):
        root = ET.fromstring(svg)
        width, height = image_size("image/svg+xml", svg.encode())
        for text in root.iter(f"{SVG}text"):
            assert 0 <= float(text.get("x", -1)) <= width
            assert 0 <= float(text.get("y", -1)) <= height


def test_the_figure_is_readable_at_16_centimetres(shown: Neighbourhood) -> None:
    figure = figure_of(shown)
    width, _ = image_size(figure.media_type, figure.content)
    assert width <= PRINT.width
    texts = list(ET.fromstring(figure.content).iter(f"{SVG}text"))
    points = 16 / 2.54 * 72 / PRINT.width  # at most: a narrower figure is set larger
    assert min(float(t.get("font-size", 0)) for t in texts) * points >= 7.5
    assert min(float(t.get("font-size", 0)) for t in texts if t.get("class") == "name") * points >= 8.5
    assert figure.alt == alternative(shown)
    assert figure.caption.startswith(caption(shown))
    Report("Survey", "", "en", (ReportSection("Picture", (figure,)),))


@given(neighbourhoods())
@settings(max_examples=5)
def test_every_svg_can_be_made_a_png_of_twice_its_size(shown: Neighbourhood) -> None:
    svg = picture_svg(shown).encode()
    png = svg_to_png(svg)
    width, height = image_size("image/svg+xml", svg)
    assert struct.unpack(">II", png[16:24]) == (pytest.approx(2 * width, abs=2), pytest.approx(2 * height, abs=2))


def test_the_words_say_what_is_shown_and_what_is_not(sample_graph: LateralGraph, hash_encoder: HashEncoder) -> None:
    limits = NeighbourhoodConfig(sections=1, seeds=1, concepts=2, relations=0)
    shown = neighbourhood(sample_graph, hash_encoder, "Which risk factors explain expected stock returns?", limits)
    assert caption(shown).startswith("1 concept named in the question, 2 related concepts and 1 section of 1 paper")
    out = shown.left_out
    assert f"{out.sections} of the first {out.ranked} sections" in left_out(shown)
    assert f"{out.concepts} concepts with a smaller part" in left_out(shown)
    assert f"{out.carried:.0%} of the sections' scores" in left_out(shown)


@given(neighbourhoods())
def test_the_words_tell_what_is_named_from_what_is_near_and_count_all(shown: Neighbourhood) -> None:
    told, other = caption(shown), alternative(shown)
    kinds = Counter(c.seed or "related" for c in shown.concepts)
    patterns = {
        "named": r"(\d+) concepts? named in the question",
        "near": r"(\d+) (?:concepts? near the question|near it) in meaning",
        "held": r"(\d+) concepts? held by",
        "related": r"(\d+) related concepts?",
    }
    found = {kind: int(hit[1]) for kind, pattern in patterns.items() if (hit := re.search(pattern, told))}
    assert found == kinds
    assert [int(n) for n in re.findall(r"(\d+) sections? of \d+ paper", told)] == [len(shown.sections)]
    assert ("found by wording" in told) == bool(shown.wording)
    assert ("that they lead to" in told) == (len(shown.wording) < len(shown.sections))
    if 0 < len(shown.wording) < len(shown.sections):
        assert f"but for {len(shown.wording)} found by wording (dotted)" in told
    for reason, words in SEED_REASONS.items():
        assert (f"concepts {words}: “" in other) == bool(kinds[reason])


@given(neighbourhoods())
def test_everything_left_out_is_counted(shown: Neighbourhood) -> None:
    out, told = shown.left_out, left_out(shown)
    for n in (out.sections, out.unrelated, out.named, out.seeds, out.concepts, out.relations, out.mentions):
        assert not n or re.search(rf"\b{n:,} ", told)
    assert (f"{out.sections:,} of the " in told) == bool(out.sections)
    assert (" quoted" in told) == bool(out.sections and out.given)


@given(neighbourhoods())
@settings(max_examples=40)
def test_a_ring_tells_what_the_question_names_from_what_is_near_it(shown: Neighbourhood) -> None:
    reasons = {c.row: c.seed for c in shown.concepts}
    for svg in (picture_svg(shown), inline_svg(shown), figure_of(shown).content.decode()):
        root = ET.fromstring(svg)
        rings: dict[str, set[str | None]] = {}
        for group in (g for g in root.iter(f"{SVG}g") if (g.get("class") or "").startswith("concept c")):
            reason, own = reasons[int(group.get("data-row", -1))], group.findall(f"{SVG}circle[@class='why']")
            assert len(own) == (reason is not None)
            if reason:
                rings.setdefault(reason, set()).add(own[0].get("stroke-dasharray"))
                assert SEED_REASONS[reason] in (group.findtext(f"{SVG}title") or "")
        assert rings.keys() == set(filter(None, reasons.values()))
        assert rings.get("named", {None}) == {None}
        assert len(set().union(*rings.values())) == len(rings)
        heads = [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "header"]
        assert ("Named in it" in heads) == (rings.keys() == {"named"})
    words = [text.text for text in ET.fromstring(figure_of(shown).content).iter(f"{SVG}text")]
    assert all(SEED_REASONS[reason] in words for reason in filter(None, reasons.values()))


@given(neighbourhoods())
def test_everything_shown_has_a_colour_that_the_legend_names(shown: Neighbourhood) -> None:
    for colouring in ("auto", "field", "community"):
        colours = colours_of(shown, colouring)
        assert colours.concepts.keys() == {c.row for c in shown.concepts}
        assert colours.sections.keys() == {s.row for s in shown.sections}
        used = {*colours.concepts.values(), *colours.sections.values()}
        assert used == set(colours.legend)
        assert {category.colour for category in used} <= {*CATEGORIES, NONE}
        numbers = [category.number for category in colours.legend if category.number]
        assert numbers == list(range(1, len(numbers) + 1))


def test_colours_follow_fields_where_there_are_several(sample_graph: LateralGraph, hash_encoder: HashEncoder) -> None:
    config = NeighbourhoodConfig(sections=40)
    shown = neighbourhood(sample_graph, hash_encoder, "asymmetric information", config)
    fields = {c.field for c in shown.concepts} | {s.field for s in shown.sections}
    assert len(fields) > 1
    assert {category.name for category in colours_of(shown).legend} == fields
    assert colours_of(shown).what == "field"
    assert all(c.name.startswith("around “") for c in colours_of(shown, "community").legend if c.number)


@given(neighbourhoods())
@settings(max_examples=5)
def test_a_picture_of_what_is_only_related_says_so_first(shown: Neighbourhood) -> None:
    assert "Caution" not in caption(shown)
    doubtful = dataclasses.replace(shown, clear=False)
    assert caption(doubtful).startswith("Caution: no section here is clearly about the question. ")
    assert "Caution: no section" in " ".join(" ".join(ET.fromstring(picture_svg(doubtful)).itertext()).split())
