"""`evigraph overview`: a whole graph as one page, in communities of its concepts."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from scripts.arguments import Graph
from scripts.console import out, print_json
from scripts.outputs import check_file


@dataclass(frozen=True)
class Arguments:
    """Draw the communities of a graph's concepts: what each is about, its papers, years and fields, what it borders on.

    The page is one file that needs no network.
    """

    graph: Graph
    out: Annotated[Path, tyro.conf.arg(metavar="FILE.html")]
    """The page."""
    title: str | None = None
    """Heading of the page; the name of the graph's directory without one."""
    json: bool = False
    """Print the path, the counts and the seconds as JSON."""


def run(arguments: Arguments) -> int:
    """Exit 2 when the graph is empty or the page cannot be written."""
    from agents.pictures.overview import render_overview
    from agents.pictures.overview_summary import summarise
    from agents.reporting.store import write_atomically
    from kg.build import open_graph
    from kg.communities import find_communities
    from kg.errors import InputError

    begun = time.perf_counter()
    path = arguments.out
    check_file(path, [".html"], "an overview is a page, so name a file that ends in .html")
    graph = open_graph(arguments.graph)
    if not graph.n_documents:
        raise InputError(
            f"the graph in {arguments.graph} holds no papers; add some: evigraph add {arguments.graph} SOURCE..."
        )
    overview = summarise(graph, find_communities(graph))
    write_atomically(path, render_overview(overview, arguments.graph.resolve().name, arguments.title).encode("utf-8"))
    seconds = time.perf_counter() - begun
    drawn, number = len(overview.communities), len(overview.communities) + overview.smaller
    if arguments.json:
        print_json(
            {"overview": str(path), "communities": number, "drawn": drawn, "modularity": overview.modularity,
             "seconds": round(seconds, 3)}
        )  # fmt: skip
    else:
        noun = "community" if number == 1 else "communities"
        out().print(f"{path}: {number:,} {noun}, {drawn} of them drawn, in {seconds:.1f} s")
    return 0
