"""`evigraph picture`: the concept neighbourhood of a question, to look at."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from scripts.arguments import Encoder, Graph, Method
from scripts.console import out, print_json
from scripts.outputs import check_file

if TYPE_CHECKING:
    from retrieval.neighbourhood.nodes import Neighbourhood

SUFFIXES = (".html", ".svg", ".png")


@dataclass(frozen=True)
class Arguments:
    """Draw the way from a question over its concepts and related ones to the sections that were found."""

    graph: Graph
    query: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="QUERY")]
    """The question, or any text."""
    out: Annotated[Path, tyro.conf.arg(metavar="FILE")]
    """File of the picture: .html answers the mouse and the keyboard, .svg and .png stand still."""
    sections: Annotated[int, tyro.conf.arg(metavar="N")] = 10
    """Sections at most."""
    seeds: Annotated[int, tyro.conf.arg(metavar="N")] = 5
    """Concepts of the question at most: those it names first, then those near it."""
    concepts: Annotated[int, tyro.conf.arg(metavar="N")] = 12
    """Further concepts at most."""
    relations: Annotated[int, tyro.conf.arg(metavar="N")] = 30
    """Lines between concepts at most; the strongest that leads to each concept is always drawn."""
    colour: Literal["auto", "field", "community"] = "auto"
    """By the field of the papers, or by clusters of concepts; auto: by field where two or more are known."""
    width: Literal["page", "column"] = "page"
    """Of .svg and .png: for a screen, or for a column of text 16 cm wide."""
    method: Method = "hybrid"
    encoder: Encoder = None
    json: bool = False
    """Print the path and counts as JSON."""


def run(arguments: Arguments) -> int:
    """Exit 2 when the file, the graph or the question cannot be used, or nothing matches."""
    from agents.reporting.store import write_atomically
    from kg.build import open_graph
    from retrieval.neighbourhood import NeighbourhoodConfig, neighbourhood
    from retrieval.questions import checked_question
    from scripts.tools import load_encoder

    check_file(arguments.out, SUFFIXES, f"name a file, whose suffix says the format, one of {', '.join(SUFFIXES)}")
    config = NeighbourhoodConfig(
        method=arguments.method, sections=arguments.sections, seeds=arguments.seeds, concepts=arguments.concepts,
        relations=arguments.relations,
    )  # fmt: skip
    graph = open_graph(arguments.graph)
    question = checked_question(graph, arguments.query, arguments.sections)
    shown = neighbourhood(graph, load_encoder(arguments.encoder, graph.manifest), question, config)
    write_atomically(arguments.out, draw(shown, arguments))
    counts = {
        "concepts": len(shown.concepts), "sections": len(shown.sections), "relations": len(shown.relations),
        "papers": len({section.section_id.rpartition("#")[0] for section in shown.sections}),
        "left_out": asdict(shown.left_out),
    }  # fmt: skip
    if arguments.json:
        print_json({"picture": str(arguments.out)} | counts)
    else:
        from agents.pictures.words import caption, left_out

        out().print(f"{arguments.out}: {caption(shown)}")
        if note := left_out(shown):
            out().print(note)
    return 0


def draw(shown: Neighbourhood, arguments: Arguments) -> bytes:
    """The file's content in the format that its suffix says."""
    from agents.pictures.html import picture_page
    from agents.pictures.shapes import PRINT, WIDE
    from agents.pictures.svg import picture_svg
    from agents.reporting.images import svg_to_png

    suffix = arguments.out.suffix.lower()
    if suffix == ".html":
        return picture_page(shown, arguments.colour).encode("utf-8")
    svg = picture_svg(shown, arguments.colour, WIDE if arguments.width == "page" else PRINT).encode("utf-8")
    return svg if suffix == ".svg" else svg_to_png(svg)
