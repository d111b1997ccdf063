"""`evigraph remove`: papers out of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import tyro

from scripts.arguments import Encoder, Graph
from scripts.reports import show_report


@dataclass(frozen=True)
class Arguments:
    """Remove papers by id; concepts and relations that other papers support stay."""

    graph: Graph
    doc_id: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="DOC_ID...")]
    """Ids of the papers, as `evigraph info GRAPH --documents` lists them."""
    encoder: Encoder = None
    json: bool = False
    """Print the report as JSON."""


def run(arguments: Arguments) -> int:
    """Exit 2, and nothing removed, when an id is unknown."""
    from kg.build import open_graph, remove_documents
    from kg.errors import InputError
    from scripts.tools import build_tools, load_encoder

    if not arguments.doc_id:
        raise InputError("No document id was named; `evigraph info GRAPH --documents` lists them.")
    manifest = open_graph(arguments.graph).manifest
    tools = build_tools(load_encoder(arguments.encoder, manifest))
    return show_report(
        arguments.graph, remove_documents(arguments.graph, arguments.doc_id, tools), None, arguments.json
    )
