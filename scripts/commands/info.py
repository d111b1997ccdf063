"""`evigraph info`: what a graph holds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from scripts.arguments import Graph
from scripts.console import out, print_json

if TYPE_CHECKING:
    from kg.lateral import LateralGraph


@dataclass(frozen=True)
class Arguments:
    """Counts, configuration, the concepts that most sections share; papers, or one concept, on request."""

    graph: Graph
    documents: bool = False
    """List the papers with their ids."""
    concept: Annotated[str | None, tyro.conf.arg(metavar="NAME")] = None
    """Show one concept: its aliases, neighbours and sections."""
    top_n: Annotated[int, tyro.conf.arg(metavar="N")] = 15
    """Concepts, neighbours or sections listed."""
    json: bool = False
    """Print as JSON, all papers included."""


def run(arguments: Arguments) -> int:
    """Exit 2 when the named concept is not in the graph, or ``top_n`` is negative."""
    from kg.build import open_graph
    from kg.errors import InputError
    from kg.inspect import describe_concept, describe_graph

    if arguments.top_n < 0:
        raise InputError(f"--top_n is {arguments.top_n}; it must be 0 or more.")
    graph = open_graph(arguments.graph)
    if arguments.concept is not None:
        concept = describe_concept(graph, arguments.concept, arguments.top_n)
        print_json(concept) if arguments.json else _print_concept(concept)
        return 0
    description = describe_graph(graph, arguments.top_n)
    if arguments.json:
        print_json(description)
    elif arguments.documents:
        for document in description["documents"]:
            out().print(f"{document['doc_id']}  {_cited(document)}")
    else:
        _print_graph(arguments.graph, graph, description)
    return 0


def _cited(document: dict[str, Any]) -> str:
    first = document["authors"][0] if document["authors"] else "no author"
    more = " et al." if len(document["authors"]) > 1 else ""
    return f"{first}{more} ({document['year'] or 'n.d.'}). {document['title']} [{document['n_sections']} sections]"


def _print_graph(path: Path, graph: LateralGraph, description: dict[str, Any]) -> None:
    console = out()
    counts, configuration = description["counts"], description["configuration"]
    console.print(
        f"{path}: {counts['documents']:,} documents, {counts['sections']:,} sections, {counts['concepts']:,} concepts, "
        f"{counts['edges']:,} edges, {counts['relations']:,} relations"
    )
    for name in ("extractor", "encoder"):
        console.print(f"  {name}: {configuration[name]['name']} ({configuration[name]['fingerprint'][:12]})")
    console.print(f"  concepts in more than one paper: {description['lateral_concepts']:,}")
    if description["empty"]:
        console.print(f"  documents without text: {', '.join(description['empty'][:10])}")
    if description["concepts"]:
        console.print("  concepts that most sections share:")
    for concept in description["concepts"]:
        console.print(f"    {concept['n_sections']:>6,}  {concept['label']}")


def _print_concept(concept: dict[str, Any]) -> None:
    console = out()
    console.print(f"{concept['label']} ({concept['concept_id']}), in {concept['n_sections']:,} sections")
    console.print(f"  names: {', '.join(concept['aliases'])}")
    if concept["neighbours"]:
        console.print("  related to:")
    for neighbour in concept["neighbours"]:
        console.print(f"    {neighbour['weight']:.2f}  {neighbour['label']}")
    console.print("  sections:")
    for section in concept["sections"]:
        heading = f", {section['heading']}" if section["heading"] else ""
        console.print(f"    {section['section_id']}  {section['title']}{heading}")
