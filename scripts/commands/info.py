"""`evigraph info`: what a graph holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro
from rich.cells import cell_len

from scripts.arguments import Graph
from scripts.console import out, print_json

if TYPE_CHECKING:
    from kg.inspect import Group
    from kg.lateral import LateralGraph

EMPTY_SHOWN = 10
"""Papers without text that are named; --documents lists all."""
WIDEST = 60
"""Cells of a terminal that the first of two columns takes at most."""
PLAIN = {
    "embedding": "alike in meaning",
    "letters in order": "its letters in this order",
    "parentheses": "said in parentheses",
    "abbreviated words": "words abbreviated",
}
"""Kinds of evidence that are said in other words here."""


@dataclass(frozen=True)
class Arguments:
    """Counts, configuration, the concepts that most sections share; on request papers, groups of them, one concept."""

    graph: Graph
    documents: bool = False
    """List the papers with their ids."""
    concept: Annotated[str | None, tyro.conf.arg(metavar="NAME")] = None
    """Show one concept: its names and why they are one, what is nearly the same, neighbours and sections."""
    by: Literal["venue", "field", "year"] | None = None
    """Count papers, sections and concepts by venue, field or year. The field of a paper whose source gives none is that
    of its journal, where it is one of the 73 of economics, finance, operations management and statistics known here."""
    top_n: Annotated[int, tyro.conf.arg(metavar="N")] = 15
    """Concepts, names, neighbours, sections or groups listed."""
    json: bool = False
    """Print as JSON, all papers and groups included."""


def run(arguments: Arguments) -> int:
    """Exit 2 when the named concept is not in the graph, ``top_n`` is negative, or options exclude each other."""
    from kg.build import open_graph
    from kg.errors import InputError
    from kg.inspect import describe_concept, describe_graph, find_concept, group_documents, row_of
    from retrieval.kernels import describe_choice

    if arguments.top_n < 0:
        raise InputError(f"--top_n is {arguments.top_n}; it must be 0 or more.")
    if arguments.by is not None and (arguments.concept is not None or arguments.documents):
        raise InputError("--by makes a table of its own; leave out --concept and --documents, or ask for them apart.")
    graph = open_graph(arguments.graph)
    if arguments.by is not None:
        groups = group_documents(graph, arguments.by)
        if arguments.json:
            print_json({"by": arguments.by, "groups": [asdict(group) for group in groups]})
        else:
            _print_groups(arguments.by, groups, arguments.top_n)
        return 0
    if arguments.concept is not None:
        concept = describe_concept(graph, arguments.concept, arguments.top_n)
        if arguments.json:
            print_json(concept)
        else:
            neighbours, _ = row_of(graph.adjacency, find_concept(graph, arguments.concept))
            _print_concept(concept, len(neighbours), arguments.top_n)
        return 0
    description = describe_graph(graph, arguments.top_n) | {"diffusion_kernel": describe_choice()}
    if arguments.json:
        print_json(description)
    elif arguments.documents:
        for document in description["documents"]:
            out().print(f"{document['doc_id']}  {_cited(document)}")
    else:
        _print_graph(arguments.graph, graph, description)
    return 0


def _cited(document: dict[str, Any]) -> str:
    from agents.reporting.bibliography.names import short_authors

    number = document["n_sections"]
    sections = "section" if number == 1 else "sections"
    year = "n.d." if document["year"] is None else document["year"]
    return f"{short_authors(document['authors']) or 'no author'} ({year}). {document['title']} [{number} {sections}]"


def _print_graph(path: Path, graph: LateralGraph, description: dict[str, Any]) -> None:
    console = out()
    counts, configuration = description["counts"], description["configuration"]
    console.print(
        f"{path}: {counts['documents']:,} documents, {counts['sections']:,} sections, {counts['concepts']:,} concepts, "
        f"{counts['edges']:,} edges, {counts['relations']:,} relations, "
        f"{counts.get('same_as', 0):,} same-as links"
    )
    for name in ("extractor", "encoder"):
        console.print(f"  {name}: {configuration[name]['name']} ({configuration[name]['fingerprint'][:12]})")
    console.print(f"  kernel of diffusion: {description['diffusion_kernel']}")
    console.print(f"  concepts in more than one paper: {description['lateral_concepts']:,}")
    if parted := counts.get("parted_names", 0):
        console.print(f"  names parted by what surrounds them: {parted:,}")
    said = configuration["merge"]["overrules"]
    if any(said.values()):
        told = ", ".join(f"{len(pairs):,} {verdict}" for verdict, pairs in sorted(said.items(), reverse=True))
        console.print(f"  pairs in the list of names: {told}")
    if empty := description["empty"]:
        more = f" and {len(empty) - EMPTY_SHOWN:,} more (--documents lists all)" if len(empty) > EMPTY_SHOWN else ""
        console.print(f"  documents without text: {', '.join(empty[:EMPTY_SHOWN])}{more}")
    if description["concepts"]:
        console.print(f"  concepts that most sections share{_of(description['concepts'], counts['concepts'])}:")
    for concept in description["concepts"]:
        console.print(f"    {concept['n_sections']:>6,}  {concept['label']}")


def _print_concept(concept: dict[str, Any], n_neighbours: int, top_n: int) -> None:
    console = out()
    console.print(
        f"{concept['label']} ({concept['concept_id']}), in {concept['n_sections']:,} "
        f"{'section' if concept['n_sections'] == 1 else 'sections'}"
    )
    console.print(f"  names: {', '.join(concept['aliases'])}")
    for other in concept["namesakes"]:
        console.print(f"  another concept of that name: {other['concept_id']} ({', '.join(other['aliases'])})")
    _print_joins(concept["joins"], top_n)
    if concept["near_misses"]:
        console.print(f"  perhaps the same{_of(concept['near_misses'], concept['n_near_misses'])}:")
        _print_columns([_near(miss) for miss in concept["near_misses"]])
    if concept["kept_apart"]:
        console.print(f"  not the same, by the list of names: {', '.join(concept['kept_apart'])}")
    if concept["neighbours"]:
        console.print(f"  related to{_of(concept['neighbours'], n_neighbours)}:")
    for neighbour in concept["neighbours"]:
        console.print(f"    {neighbour['weight']:.2f}  {neighbour['label']}")
    if concept["sections"]:
        console.print(f"  sections{_of(concept['sections'], concept['n_sections'])}:")
    for section in concept["sections"]:
        heading = f", {section['heading']}" if section["heading"] else ""
        console.print(f"    {section['section_id']}  {section['title']}{heading}")


def _print_joins(joins: Sequence[dict[str, Any]], top_n: int) -> None:
    """Spellings of one name in one line, with the pair that ties it in; nothing where all is said by one spelling."""
    told = [join for join in joins if join["evidence"] is not None or len(join["spellings"]) > 1]
    if told[:top_n]:
        out().print(f"  why these are one{_of(told[:top_n], len(told))}:")
        _print_columns([(", ".join(join["spellings"]), _tie(join)) for join in told[:top_n]])


def _tie(join: dict[str, Any]) -> str:
    if join["evidence"] is None:
        return "one name, spelled in different ways"
    if join["probability"] is None:
        return "the papers define it as an acronym"
    return f"{_evidence(join)} with {join['other']!r}"


def _near(miss: dict[str, Any]) -> tuple[str, str]:
    where = miss["other"] if miss["other"] == miss["concept"] else f"{miss['other']} (under {miss['concept']})"
    return where, f"{_evidence(miss)} with {miss['name']!r}"


def _evidence(pair: dict[str, Any]) -> str:
    if pair["evidence"] == "overruled":
        return "one by the list of names,"
    why = PLAIN.get(pair["evidence"], pair["evidence"]) + (", but told apart" if pair.get("told_apart") else "")
    return f"{why}, {pair['probability']:.2f}".replace(" 0.", " .")


def _print_columns(rows: Sequence[tuple[str, str]]) -> None:
    """Two columns; a first cell that is wider than most does not push the others away."""
    width = min(max(cell_len(left) for left, _ in rows), WIDEST)
    for left, right in rows:
        out().print(f"    {left}{' ' * max(width - cell_len(left), 0)}  {right}")


def _of(shown: Sequence[object], total: int) -> str:
    """What a heading says of entries that are not shown."""
    return f" ({len(shown):,} of {total:,}; --top_n N shows more)" if len(shown) < total else ""


def _print_groups(by: str, groups: Sequence[Group], top_n: int) -> None:
    console = out()
    if groups[:top_n]:
        console.print(f"{'papers':>8}  {'sections':>8}  {'concepts':>8}  {'years':<9}  {by}")
    for group in groups[:top_n]:
        span = dict.fromkeys(str(year) for year in (group.first_year, group.last_year) if year is not None)
        console.print(
            f"{group.papers:>8,}  {group.sections:>8,}  {group.concepts:>8,}  {'–'.join(span):<9}  "
            f"{' '.join((group.name or '(none)').split())}"
        )
    if rest := groups[top_n:]:
        n_papers = sum(group.papers for group in rest)
        what = f"and {len(rest):,} more" if top_n else f"{len(rest):,} {'group' if len(rest) == 1 else 'groups'}"
        papers = "paper" if n_papers == 1 else "papers"
        console.print(f"{what} with {n_papers:,} {papers} (--top_n N shows more, --json all)")
