"""`evigraph build`: papers to a graph."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import tyro

from scripts.arguments import Graph, Limit, Sources
from scripts.reports import read_sources, show_report


@dataclass(frozen=True)
class Arguments:
    """Make a graph from papers.

    A source is a file or a folder: JSON lines, a BEIR folder, Markdown, plain text, recognised by content.
    """

    graph: Graph
    source: Sources
    encoder: Annotated[str | None, tyro.conf.arg(metavar="DIR|NAME")] = None
    """Folder or name of a sentence-transformers model. Unless given: EVIGRAPH_ENCODER, else BGE-large where it is at
    hand, else the packaged MiniLM."""
    triples: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """OpenIE file in HippoRAG's format: concepts and relations are not found in the text then, each section takes those
    of the passage with its words."""
    names: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Names that are one, or are not, whatever the evidence: a CSV file with the head verdict,name,other and a pair in
    each line, whose verdict is same or different."""
    limit: Limit = None
    overwrite: bool = False
    """Replace the graph that is there."""
    json: bool = False
    """Print the report as JSON."""


def run(arguments: Arguments) -> int:
    """Exit 1 when a source could be read only in part, or a section has no ready triples."""
    from kg.build import build_graph, check_target
    from kg.openie import read_openie
    from kg.overrules import Overrules
    from kg.overrules_file import read_overrules
    from kg.ready_triples import ReadyTriples
    from kg.storage import prepare_directory
    from scripts.tools import build_tools, load_encoder

    # Refused before sources are read and the encoder is loaded, not after minutes of work.
    check_target(arguments.graph, arguments.overwrite)
    openie = None if arguments.triples is None else read_openie(arguments.triples)
    overrules = Overrules() if arguments.names is None else read_overrules(arguments.names)
    prepare_directory(arguments.graph)
    start = time.perf_counter()
    documents, read = read_sources(arguments.source, arguments.limit)
    reading = time.perf_counter() - start
    tools = build_tools(load_encoder(arguments.encoder)).under(overrules)
    if openie is not None:
        tools = replace(tools, extractor=ReadyTriples(openie))
    report = build_graph(arguments.graph, documents, tools, overwrite=arguments.overwrite)
    report.seconds = {"reading": reading, **report.seconds}
    return show_report(arguments.graph, report, read, arguments.json, openie)
