"""CSV files as `neo4j-admin database import` reads them, with a README.txt that gives the command.

Layout: the operations manual of Neo4j, "Import", CSV header format. Every file begins with its header; ids live in the
spaces Document, Section and Concept; strings are quoted, quotes in them doubled (RFC 4180), line ends stand as they are
(hence ``--multiline-fields=true``); an empty field is a property that is absent. The importer cuts arrays (authors,
aliases) at a delimiter that nothing can escape, so it is the tab: a tab within a name becomes a space and is counted.
The same graph gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from kg.export import content
from kg.lateral import LateralGraph
from kg.targets import Opener

README = "README.txt"
_MARK = "An evidence graph as CSV files for neo4j-admin database import"
_NODES = ("documents.csv", "sections.csv", "concepts.csv")
_RELATIONSHIPS = ("has.csv", "mentions.csv", "related.csv", "asserted.csv", "same_as.csv")
_BATCH = 65_536
_TYPES = {"n_sections": "int", "n_mentions": "int", "year": "int", "authors": "string[]", "aliases": "string[]"}


def write_neo4j(graph: LateralGraph, opened: Opener) -> int:
    """Write all files of a folder; returns the number of tabs that became spaces."""
    replaced = 0
    for name, (header, tables) in (_nodes(graph) | _relationships(graph)).items():
        with opened(name) as file:
            file.write((",".join(header) + "\n").encode("ascii"))
            for table in tables:
                flat, tabs = _flat(table)
                replaced += tabs
                csv.write_csv(flat, file, csv.WriteOptions(include_header=False, quoting_style="needed"))
    with opened(README) as file:
        file.write(_readme(content.counts(graph), replaced).encode("utf-8"))
    return replaced


def is_export(directory: Path) -> bool:
    """Whether a folder holds an export as written here, and nothing else."""
    try:
        begins = (directory / README).read_bytes()[: len(_MARK)] == _MARK.encode()
        return begins and {p.name for p in directory.iterdir()} <= {README, *_NODES, *_RELATIONSHIPS}
    except OSError:
        return False


_File = tuple[list[str], Iterable[pa.Table]]


def _nodes(graph: LateralGraph) -> dict[str, _File]:
    documents = graph.documents.select(content.DOCUMENT_COLUMNS)
    details = documents["details"]
    documents = documents.set_column(
        documents.column_names.index("details"), "details", pc.if_else(pc.equal(details, "{}"), "", details)
    )
    return {
        "documents.csv": _node_file(documents, "Document"),
        "sections.csv": _node_file(graph.sections.select(content.SECTION_COLUMNS), "Section"),
        "concepts.csv": _node_file(graph.concepts.select(content.CONCEPT_COLUMNS), "Concept"),
    }


def _node_file(table: pa.Table, label: str) -> _File:
    first, *others = table.column_names
    header = [f"{first}:ID({label})", *(f"{name}:{_TYPES.get(name, 'string')}" for name in others), ":LABEL"]
    return header, (batch.append_column("label of node", _constant(label, batch.num_rows)) for batch in _batches(table))


def _relationships(graph: LateralGraph) -> dict[str, _File]:
    documents, sections, concepts = (
        table[name].combine_chunks()
        for table, name in (
            (graph.documents, "doc_id"), (graph.sections, "section_id"), (graph.concepts, "concept_id"),
        )
    )  # fmt: skip
    section, concept, count = content.mentions(graph)
    u, v, weight = content.related(graph)
    one, other, probability, kinds = content.same_as(graph)

    def asserted() -> Iterator[pa.Table]:
        for batch in content.asserted(graph):
            yield pa.table(
                {
                    "start": concepts.take(pa.array(batch.subject, pa.int64())),
                    "end": concepts.take(pa.array(batch.object, pa.int64())),
                    "type": _constant("ASSERTED", len(batch.subject)),
                    "label": pa.array(batch.label, pa.string()),
                    "section_id": sections.take(pa.array(batch.section, pa.int64())),
                    "evidence": pa.array(batch.evidence, pa.string()),
                    "weight": pa.array(batch.weight, pa.float32()),
                }
            )

    has = _ends(documents, np.asarray(content.owners(graph), np.int64), sections, np.arange(graph.n_sections), "HAS")
    mentions = _ends(sections, section, concepts, concept, "MENTIONS") | {"count": pa.array(count)}
    related = _ends(concepts, u, concepts, v, "RELATED") | {"weight": pa.array(weight)}
    same_as = _ends(concepts, one, concepts, other, "SAME_AS")
    same_as |= {"probability": pa.array(probability), "evidence": pa.array(kinds, pa.string())}
    return {
        "has.csv": (_header("Document", "Section"), _batches(pa.table(has))),
        "mentions.csv": (_header("Section", "Concept", "count:int"), _batches(pa.table(mentions))),
        "related.csv": (_header("Concept", "Concept", "weight:double"), _batches(pa.table(related))),
        "asserted.csv": (
            _header("Concept", "Concept", "label:string", "section_id:string", "evidence:string", "weight:double"),
            asserted(),
        ),
        "same_as.csv": (
            _header("Concept", "Concept", "probability:double", "evidence:string"),
            _batches(pa.table(same_as)),
        ),
    }


def _header(start: str, end: str, *properties: str) -> list[str]:
    return [f":START_ID({start})", f":END_ID({end})", ":TYPE", *properties]


def _ends(starts: pa.Array, start: np.ndarray, ends: pa.Array, end: np.ndarray, kind: str) -> dict[str, pa.Array]:
    return {"start": starts.take(pa.array(start)), "end": ends.take(pa.array(end)), "type": _constant(kind, len(start))}


def _constant(value: str, length: int) -> pa.Array:
    return pa.repeat(pa.scalar(value), length)


def _batches(table: pa.Table) -> Iterator[pa.Table]:
    return (table.slice(start, _BATCH) for start in range(0, table.num_rows, _BATCH))


def _flat(table: pa.Table) -> tuple[pa.Table, int]:
    """Lists joined by tabs and empty strings absent; with the number of tabs that gave way to spaces."""
    columns: dict[str, pa.Array] = {}
    replaced = 0
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_list(column.type):
            lists = column.to_pylist()
            replaced += sum(item.count("\t") for items in lists for item in items)
            column = pa.array(["\t".join(item.replace("\t", " ") for item in items) for items in lists], pa.string())
        if pa.types.is_string(column.type):
            column = pc.if_else(pc.equal(column, ""), None, column)
        columns[name] = column
    return pa.table(columns), replaced


def _readme(counts: Mapping[str, int], replaced: int) -> str:
    files = dict(zip((*_NODES, *_RELATIONSHIPS), counts, strict=True))
    options = [
        *(f"--nodes={name}" for name in _NODES),
        *(f"--relationships={name}" for name in _RELATIONSHIPS),
        "--array-delimiter=TAB", "--multiline-fields=true", "--legacy-style-quoting=false", "--trim-strings=false",
        "--id-type=string",
    ]  # fmt: skip
    return "\n".join(
        [
            _MARK,
            "",
            *(f"  {name:<15}{counts[what]:>12,} rows" for name, what in files.items()),
            "",
            "Texts stand as the papers have them; a spreadsheet may take what begins with =, +, - or @ for a formula.",
            "",
            "Import into an empty database of a stopped server, from this folder:",
            "",
            " \\\n".join(["neo4j-admin database import full neo4j", *(f"    {option}" for option in options)]),
            "",
            "(:Document)-[:HAS]->(:Section)-[:MENTIONS {count}]->(:Concept)",
            "(:Concept)-[:RELATED {weight}]-(:Concept)",
            "    no direction, once per pair; weight = log(1 + sum over sections of the strongest assertion)",
            "(:Concept)-[:ASSERTED {label, section_id, evidence, weight}]->(:Concept)",
            '    what a section says of two concepts; "occurs with" has no direction',
            "(:Concept)-[:SAME_AS {probability, evidence}]-(:Concept)",
            "    no direction, once per pair; the probability that the two are one, and what speaks for it",
            "",
            "Authors and aliases are arrays, divided by tabs. details is JSON: what the source says besides. An empty",
            "field is a property that is absent. Embeddings are not part of these files.",
            *([f"{replaced:,} tabs within names were replaced by spaces."] if replaced else []),
            "",
        ]
    )
