"""`evigraph export`: a graph for other tools."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from scripts.arguments import Graph
from scripts.console import out, print_json


@dataclass(frozen=True)
class Arguments:
    """Write papers, sections, concepts and all edges as GraphML, CSV for Neo4j, JSON-LD, N-Triples or a PyG file."""

    graph: Graph
    out: Annotated[Path, tyro.conf.arg(metavar="FILE")]
    """Where to: .graphml, .jsonld, .nt, .ttl, .pt (PyTorch Geometric), .zip (CSV), or a directory (CSV)."""
    format: Literal["graphml", "csv", "jsonld", "nt", "pyg"] | None = None
    """The format, whatever the suffix says."""
    json: bool = False
    """Print path, counts and size as JSON."""


def run(arguments: Arguments) -> int:
    """Exit 2 when there is no such format, or what is there may not be replaced."""
    from kg.build import open_graph
    from kg.export import choose_format, export_graph

    name = choose_format(arguments.out, arguments.format)
    report = export_graph(open_graph(arguments.graph), arguments.out, name)
    if arguments.json:
        print_json(asdict(report) | {"path": str(report.path)})
        return 0
    console = out()
    counts = ", ".join(f"{number:,} {kind}" for kind, number in report.counts.items())
    console.print(f"{report.path}: {report.format}, {report.bytes / 1e6:,.1f} MB; {counts}")
    if report.replaced:
        console.print(f"  {report.replaced:,} characters that the format cannot hold were replaced")
    return 0
