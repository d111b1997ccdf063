"""A graph for other tools: GraphML, CSV for Neo4j, JSON-LD and N-Triples, and a file for PyTorch Geometric.

What each holds is in ``content``; a module per format says how it is written and what loads it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from kg.errors import InputError
from kg.export import content
from kg.lateral import LateralGraph
from kg.targets import replaced_archive, replaced_directory, replaced_file

FORMATS = {
    "graphml": (".graphml",),
    "csv": ("", ".zip"),
    "jsonld": (".jsonld",),
    "nt": (".nt", ".ttl"),
    "pyg": (".pt",),
}
"""Suffixes of the paths that a format is chosen by; a path without one is a directory."""


@dataclass(frozen=True)
class ExportReport:
    """What was written: nodes and edges by kind, size in bytes of all files, and characters the format cannot hold."""

    path: Path
    format: str
    counts: dict[str, int]
    bytes: int
    replaced: int


def choose_format(path: Path, name: str | None = None) -> str:
    """The format called ``name``, else the one of the path's suffix; a path without one is a directory of CSV files.

    Raises ``InputError`` listing all formats where there is none, and for a directory with the suffix of a file.
    """
    if name is not None:
        if name in FORMATS:
            return name
        raise InputError(f"There is no format {name!r}; there are {_known()}.")
    suffix, is_directory = path.suffix.lower(), path.is_dir()
    for known, suffixes in FORMATS.items():
        if suffix in suffixes:
            if suffix and is_directory:
                raise InputError(
                    f"{path} is a directory, but its suffix says a file of {known}; choose another name, "
                    "or say --format csv for a directory of CSV files."
                )
            return known
    if is_directory:
        return "csv"
    raise InputError(f"{path} has a suffix of no format; there are {_known()}; or name one with --format.")


def export_graph(graph: LateralGraph, path: Path, name: str | None = None) -> ExportReport:
    """Write a graph to ``path`` in the format called ``name``, else the one its suffix says (``choose_format``).

    A file that is there is replaced; a directory only if it is empty or an earlier export. Raises ``InputError`` for
    what may not be replaced, for a path inside a graph (this one or another), and where the system refuses.
    """
    name = choose_format(path, name)
    if name == "csv":
        replaced = _write_folder(graph, path)
    else:
        with replaced_file(path) as file:
            replaced = _writer(name)(graph, file) or 0
    return ExportReport(path, name, content.counts(graph), _size(path), replaced)


def _write_folder(graph: LateralGraph, path: Path) -> int:
    from kg.export.neo4j import is_export, write_neo4j

    zipped = path.suffix.lower() == ".zip" and not path.is_dir()
    with replaced_archive(path) if zipped else replaced_directory(path, is_export) as opened:
        return write_neo4j(graph, opened)


def _writer(name: str) -> Callable[[LateralGraph, IO[bytes]], int | None]:
    if name == "graphml":
        from kg.export.graphml import write_graphml

        return write_graphml
    if name == "pyg":
        from kg.export.pyg import write_pyg

        return write_pyg
    if name == "nt":
        from kg.export.ntriples import write_ntriples

        return write_ntriples
    from kg.export.rdf import write_jsonld

    return write_jsonld


def _size(path: Path) -> int:
    return sum(p.stat().st_size for p in path.iterdir()) if path.is_dir() else path.stat().st_size


def _known() -> str:
    return ", ".join(
        f"{name} ({' or '.join(suffix or 'no suffix' for suffix in suffixes)})" for name, suffixes in FORMATS.items()
    )
