"""Where things stand: nothing overlaps, nothing leaves the picture, no line runs under a name, every line arrives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.pictures.layout import lay_out
from agents.pictures.shapes import PAGE, PRINT, WIDE, Box, Layout, Measures
from agents.pictures.text import text_width
from kg.lateral import LateralGraph
from retrieval.neighbourhood import neighbourhood
from retrieval.neighbourhood.evidence import Evidence
from retrieval.neighbourhood.nodes import ConceptNode, LeftOut, MentionLink, Neighbourhood, RelationLink, SectionNode
from tests.conftest import HashEncoder

HOSTILE = (
    "<script>alert(1)</script>", "\"quoted\" & 'single'", "]]>", "a\x00b\x1b[31mc\u2028d", "\u202eevil\u202c",
    "שוק ההון והסיכון",
    "السوق المالية تعتمد على المخاطر", "👩‍👩‍👧 and 🚀🚀", "量子计算与机器学习的关系",
    "x" * 300, "long name " * 30, "", " ",
    "Ünïcödé", "a\u0301" * 50,
)  # fmt: skip
LABELS = st.sampled_from(HOSTILE) | st.text(max_size=40)
SCORES = st.floats(0, 1)


@st.composite
def neighbourhoods(draw: st.DrawFn) -> Neighbourhood:
    """Neighbourhoods of all shapes, consistent only as far as links join what is there."""
    n_seeds, n_further, n_sections = draw(st.integers(0, 4)), draw(st.integers(0, 7)), draw(st.integers(1, 6))
    concepts = tuple(
        ConceptNode(
            100 + n, draw(LABELS), draw(SCORES),
            draw(st.sampled_from(["named", "near", "held"])) if n < n_seeds else None,
            0 if n < n_seeds else draw(st.sampled_from([-1, 1, 2, 3])),
            draw(st.sampled_from(["", "finance", "<b>statistics</b>"])), draw(st.integers(-1, 10)), 1, 3,
        )
        for n in range(n_seeds + n_further)
    )  # fmt: skip
    sections = tuple(
        SectionNode(
            n, f"d{n}#0", draw(LABELS), draw(LABELS), draw(LABELS), tuple(draw(st.lists(LABELS, max_size=3))),
            draw(st.sampled_from([None, 1993])), "10.1000/x", draw(st.sampled_from(["", "finance"])), n + 1, 0.5,
        )
        for n in range(n_sections)
    )  # fmt: skip
    evidence = Evidence(0, -1, -1, draw(LABELS), ())
    rows = [c.row for c in concepts]
    pairs = draw(st.sets(st.sampled_from(list(combinations(rows, 2))), max_size=12)) if len(rows) > 1 else set()
    relations = tuple(
        RelationLink(
            *pair, draw(LABELS), draw(st.booleans()), draw(st.booleans()), draw(st.floats(0.1, 3)), 1, evidence
        )
        for pair in sorted(pairs)
    )
    held = [(c, s) for c in rows for s in range(n_sections)]
    mentions = tuple(
        MentionLink(concept, section, 1, draw(SCORES), draw(st.booleans()), (), evidence)
        for concept, section in sorted(draw(st.sets(st.sampled_from(held), max_size=14)) if held else [])
    )
    led = {m.section for m in mentions}
    wording = tuple(n for n in range(n_sections) if n not in led)
    more = {name: draw(st.integers(0, 1000)) for name in ("unrelated", "named")}
    out = LeftOut(
        *(draw(st.integers(0, 1000)) for _ in range(6)), carried=draw(SCORES), given=draw(st.booleans()), **more
    )
    question = draw(LABELS.filter(lambda text: any(map(str.isalnum, text))))
    return Neighbourhood(question, concepts, sections, relations, mentions, wording, {}, (), out)


def boxes(layout: Layout) -> list[Box]:
    circles = [Box(c.x - c.reach, c.y - c.reach, 2 * c.reach, 2 * c.reach) for c in layout.circles]
    labels = [c.label.box for c in layout.circles]
    return [layout.question.box, *(h.box for h in layout.headers), *circles, *labels, *(c.box for c in layout.cards)]


def points(path: str) -> Iterator[tuple[float, float]]:
    """Points along a path of M, H and C, as a renderer would draw it."""
    x = y = 0.0
    for command, numbers in re.findall(r"([MHC])([^MHC]*)", path):
        values = [float(v) for v in numbers.split()]
        if command == "M":
            x, y = values
            yield x, y
        elif command == "H":
            yield from ((x + (values[0] - x) * t / 20, y) for t in range(21))
            x = values[0]
        else:
            x1, y1, x2, y2, x3, y3 = values
            for n in range(21):
                t = n / 20
                a, b, c, d = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
                yield a * x + b * x1 + c * x2 + d * x3, a * y + b * y1 + c * y2 + d * y3
            x, y = x3, y3


MEASURES = st.sampled_from([WIDE, PAGE, PRINT])


@given(neighbourhoods(), MEASURES)
@settings(max_examples=60)
def test_nothing_overlaps_and_everything_is_inside(shown: Neighbourhood, measures: Measures) -> None:
    layout = lay_out(shown, measures)
    found = boxes(layout)
    for one, other in combinations(found, 2):
        assert not one.overlaps(other), (one, other)
    for box in found:
        assert box.x >= 0
        assert box.y >= 0
        assert box.x + box.width <= layout.width
        assert box.y + box.height <= layout.height
    for card in layout.cards:
        for line in card.lines:
            assert line.box.x + line.box.width <= card.box.x + card.box.width
            assert card.box.y <= line.box.y
            assert line.box.y + line.box.height <= card.box.y + card.box.height
    assert layout.width <= measures.width + 0.1


@given(neighbourhoods(), MEASURES)
@settings(max_examples=60)
def test_every_line_joins_its_ends_inside_and_runs_under_no_name(shown: Neighbourhood, measures: Measures) -> None:
    layout = lay_out(shown, measures)
    at = {("c", c.node.row): (c.x - c.reach, c.y) for c in layout.circles}
    at |= {("s", c.node.row): (c.box.x, c.box.y + c.box.height / 2) for c in layout.cards}
    names = [c.label.box for c in layout.circles]
    for curve in layout.curves:
        way = list(points(curve.path))
        target = ("s" if curve.kind in {"mention", "wording"} else "c", curve.target)
        assert way[-1] == pytest.approx(at[target], abs=0.1)
        assert 0 <= curve.strength <= 1
        for x, y in way:
            assert 0 <= x <= layout.width
            assert 0 <= y <= layout.height
            for box in names:
                assert not (box.x + 0.1 < x < box.x + box.width - 0.1 and box.y + 0.1 < y < box.y + box.height - 0.1)
    drawn = {(m.concept, m.section) for m in shown.mentions if m.drawn}
    assert {(c.source, c.target) for c in layout.curves if c.kind == "mention"} == drawn
    assert sum(c.kind == "relation" for c in layout.curves) == len(shown.relations)
    assert [c.target for c in layout.curves if c.kind == "wording"] == list(shown.wording)
    assert {c.target for c in layout.curves if c.kind == "asks"} == {c.row for c in shown.concepts if c.seed}


@given(neighbourhoods())
@settings(max_examples=25)
def test_one_neighbourhood_has_one_layout(shown: Neighbourhood) -> None:
    assert lay_out(shown) == lay_out(shown)


def test_area_shows_the_score(sample_graph: LateralGraph, hash_encoder: HashEncoder) -> None:
    shown = neighbourhood(sample_graph, hash_encoder, "Which risk factors explain expected stock returns?")
    layout = lay_out(shown)
    best = max(layout.circles, key=lambda c: c.radius)
    for circle in layout.circles:
        if circle.radius > WIDE.least_radius:
            assert (circle.radius / best.radius) ** 2 == pytest.approx(circle.node.score / best.node.score)
    assert best.radius == WIDE.most_radius
    columns = sorted({circle.x for circle in layout.circles})
    assert [c.node.seed is not None for c in layout.circles] == [c.x == columns[0] for c in layout.circles]


def of_sections(question: str, *sections: SectionNode) -> Neighbourhood:
    """Sections that no concept leads to."""
    rows = tuple(section.row for section in sections)
    return Neighbourhood(question, (), sections, (), (), rows, {}, (), LeftOut(len(rows), 0, 0, 0, 0, 0, 0.0))


@given(st.text("abcdefghij", min_size=1, max_size=14), st.integers(0, 4), MEASURES)
@settings(max_examples=40)
def test_no_word_of_a_question_is_cut(word: str, before: int, measures: Measures) -> None:
    asked = " ".join(["does"] * before + [word, "help?"])
    section = SectionNode(0, "d#0", "", "", "A title", (), None, "", "", 1)
    label = lay_out(of_sections(asked, section), measures).question
    assert " ".join(label.lines).split() == asked.split()
    assert measures.small <= label.size <= measures.title


def test_a_short_question_of_a_script_without_spaces_stands_on_one_line() -> None:
    section = SectionNode(0, "d#0", "", "", "A title", (), None, "", "", 1)
    assert lay_out(of_sections("投资者关注与流动性", section), PAGE).question.lines == ("投资者关注与流动性",)


@pytest.mark.parametrize("rank", [7, 98, 100])
def test_a_rank_of_any_length_has_its_place_beside_the_name(rank: int) -> None:
    authors = ("Featherstonehaugh, A.", "Fitzgerald, B.")
    section = SectionNode(0, "d#0", "Heading", "", "A title", authors, 1999, "", "", rank)
    for measures in (WIDE, PAGE, PRINT):
        [card] = lay_out(of_sections("why", section), measures).cards
        right = card.box.x + card.box.width - 7 - text_width(str(rank), measures.small)
        assert card.lines[0].box.x + card.lines[0].box.width <= right


def test_a_card_says_authors_whole_where_it_has_lines_for_them_and_never_the_title_twice() -> None:
    sections = (
        SectionNode(0, "a#0", "Problem", "", "A title", ("Rothschild, M.", "Stiglitz, J."), 1976, "", "", 1),
        SectionNode(1, "b#0", "The same words", "", "The same words", (), None, "", "", 2),
    )
    cards = lay_out(of_sections("why", *sections), PRINT).cards
    told = {card.node.row: " ".join(line for label in card.lines for line in label.lines) for card in cards}
    assert told == {0: "Rothschild & Stiglitz (1976) Problem", 1: "The same words"}
