"""`evigraph add`: more papers, or new versions of papers, into a graph."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import tyro

from scripts.arguments import Encoder, Graph, Limit
from scripts.reports import read_sources, show_report


@dataclass(frozen=True)
class Arguments:
    """Add papers to a graph. A paper that is there already is recognised; one that has changed is replaced."""

    graph: Graph
    source: Annotated[
        tuple[Path, ...],
        tyro.conf.Positional,
        tyro.conf.arg(
            metavar="SOURCE...", help="Files and folders with papers.", help_behavior_hint="(none needed with --names)"
        ),
    ]
    encoder: Encoder = None
    triples: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """For a graph that was built with --triples: an OpenIE file with those of the new papers, and the same as before of
    the papers that are there."""
    names: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Names that are one, or are not, as `evigraph build --names` takes them; they replace the graph's own, which stay
    otherwise."""
    limit: Limit = None
    json: bool = False
    """Print the report as JSON."""


def run(arguments: Arguments) -> int:
    """Exit 1 when a source could be read only in part, or a section has no ready triples."""
    from kg.build import add_documents, open_graph, overrule_names
    from kg.errors import InputError
    from kg.openie import read_openie
    from kg.overrules_file import read_overrules
    from kg.ready_triples import NAME, ReadyTriples
    from scripts.tools import build_tools, load_encoder

    manifest = open_graph(arguments.graph).manifest
    overrules = None if arguments.names is None else read_overrules(arguments.names)
    if overrules is not None and not arguments.source:
        for option in ("triples", "limit"):
            if getattr(arguments, option) is not None:
                raise InputError(f"--{option} needs papers; name a SOURCE, or leave --{option} out.")
        tools = build_tools(load_encoder(arguments.encoder, manifest))
        return show_report(arguments.graph, overrule_names(arguments.graph, overrules, tools), None, arguments.json)
    if arguments.triples is None and manifest["configuration"]["extractor"]["name"] == NAME:
        raise InputError(f"{arguments.graph} was built from ready triples; name the file with them by --triples.")
    openie = None if arguments.triples is None else read_openie(arguments.triples)
    start = time.perf_counter()
    documents, read = read_sources(arguments.source, arguments.limit)
    reading = time.perf_counter() - start
    tools = build_tools(load_encoder(arguments.encoder, manifest))
    if openie is not None:
        tools = replace(tools, extractor=ReadyTriples(openie))
    report = add_documents(arguments.graph, documents, tools, overrules)
    report.seconds = {"reading": reading, **report.seconds}
    return show_report(arguments.graph, report, read, arguments.json, openie)
