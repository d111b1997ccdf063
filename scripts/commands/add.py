"""`evigraph add`: more papers, or new versions of papers, into a graph."""

from __future__ import annotations

import time
from dataclasses import dataclass

from scripts.arguments import Encoder, Graph, Limit, Sources
from scripts.reports import read_sources, show_report


@dataclass(frozen=True)
class Arguments:
    """Add papers to a graph. A paper that is there already is recognised; one that has changed is replaced."""

    graph: Graph
    source: Sources
    encoder: Encoder = None
    limit: Limit = None
    json: bool = False
    """Print the report as JSON."""


def run(arguments: Arguments) -> int:
    """Exit 1 when a source could be read only in part."""
    from kg.build import add_documents, open_graph
    from scripts.tools import build_tools, load_encoder

    manifest = open_graph(arguments.graph).manifest
    start = time.perf_counter()
    documents, read = read_sources(arguments.source, arguments.limit)
    reading = time.perf_counter() - start
    report = add_documents(arguments.graph, documents, build_tools(load_encoder(arguments.encoder, manifest)))
    report.seconds = {"reading": reading, **report.seconds}
    return show_report(arguments.graph, report, read, arguments.json)
