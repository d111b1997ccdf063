"""The picture as SVG, as PNG and as a figure: well formed whatever names hold, the same bytes, readable in print."""

from __future__ import annotations

import struct
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings

from agents.pictures.palette import CATEGORIES, NONE, colours_of
from agents.pictures.shapes import PRINT
from agents.pictures.svg import figure_of, inline_svg, picture_svg
from agents.pictures.text import clean_label
from agents.pictures.words import alternative, caption, left_out
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
    sizes = {
        float(t.get("font-size", 0))
        for t in ET.fromstring(figure.content).iter(f"{SVG}text")
        if not t.get("text-anchor")
    }
    points = 16 / 2.54 * 72 / width
    assert min(sizes) * points >= 6
    names = ET.fromstring(figure.content).findall(f".//{SVG}text[@class='name']")
    assert {float(t.get("font-size", 0)) * points >= 7 for t in names} == {True}
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
    assert caption(shown).startswith("1 concept of the question, 2 related concepts and 1 section of 1 paper")
    out = shown.left_out
    assert f"{out.sections} of the first {out.ranked} sections" in left_out(shown)
    assert f"{out.concepts} concepts with a smaller part" in left_out(shown)
    assert f"{out.carried:.0%} of the sections' scores" in left_out(shown)


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
