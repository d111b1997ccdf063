"""Every format loads in its own library and holds what the graph holds, whatever titles, names and ids are made of."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
import rdflib
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib.compare import isomorphic
from rdflib.namespace import RDF, RDFS, SKOS
from torch_geometric.data import HeteroData

from kg.build import Tools, build_graph, open_graph
from kg.errors import InputError
from kg.evidence import EVIDENCE
from kg.export import FORMATS, ExportReport, choose_format, content, export_graph
from kg.export.rdf import TERMS
from kg.lateral import SAME_AS, LateralGraph
from kg.link_explanation import near_misses
from kg.mentions import MentionTable
from kg.papers import Paper, paper_tables
from kg.records import Document, Extraction, Mention, Part, Section, Triple, clean_text
from kg.sectioning import SectioningConfig
from tests.conftest import HashEncoder

FILES = {"graphml": "g.graphml", "csv": "g", "zip": "g.zip", "jsonld": "g.jsonld", "nt": "g.nt", "pyg": "g.pt"}
NAMES = [
    'quoted "d" term', "tab\tinside", "semi; colon | pipe", "<b>bold</b> & co", "عربي مختلط", "emoji 😀 term",
    "back\\slash", "plain term", "control \x01\x1f term", "量子计算", "comma, then 'quote'", "two\nlines",
]  # fmt: skip
EV = rdflib.Namespace("urn:evigraph:terms#")
SCHEMA = rdflib.Namespace("https://schema.org/")


class Asserting:
    """An extractor double: every section holds the same names, and asserts relations between neighbours."""

    name = "asserting"
    fingerprint = "asserting-1"
    cooccurrence = False

    def extract(self, section: Section) -> Extraction:
        pairs = list(pairwise(NAMES))
        triples = [Triple(u, 'raises\n"<&>"', v, n % 3 - 1) for n, (u, v) in enumerate(pairs)]
        triples += [Triple(v, "lowers", u, 0) for u, v in pairs[:3]] + [Triple(*pairs[0][:1], "also", pairs[0][1], 1)]
        half = len(section.text) // 2
        return Extraction(
            tuple(Mention(name, "term", 1 + n, (0,), 1) for n, name in enumerate(NAMES)),
            tuple(triples),
            sentences=((0, half), (half, len(section.text))),
        )

    def select(self, mentions: MentionTable) -> np.ndarray:
        return np.ones(len(mentions.section), dtype=bool)


HOSTILE = [
    Document(
        '10.1/x "<y>#z% é\n😀', 'A "quoted"\n<title> & ]]> 😀 مرحبا \x00 \x0b \ufffe end',
        (Part("Head \x02 <1>", 'Text "one", a;b\tc.\nSecond, \\"escaped\\" \x1b[31m ]]>.'), Part("", "Plain. Text.")),
        authors=("Lee; Hau|L.", "O'Neil, \"Q\"\tR.", "محمد"), year=-44, venue="The <Journal> & Co",
        doi="https://doi.org/10.1000/ABC(2)<3> 4", field="Economics", details=(("pages", "1\x0399"), ("x", "")),
    ),
    Document("h1", "Only a title", year=12024, doi="not a doi"),
    Document("h2", "", (Part("Heading", "No title here. None at all."),), authors=("Solo",), year=1964),
    Document("none", ""),
]  # fmt: skip


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> LateralGraph:
    directory = tmp_path_factory.mktemp("hostile") / "graph"
    build_graph(directory, HOSTILE, Tools(Asserting(), HashEncoder()))
    graph = open_graph(directory)
    assert {"tab\tinside", "control \x01\x1f term", "<b>bold</b> & co"} <= set(graph.concepts["label"].to_pylist())
    assert -1 in graph.relations["start"].to_pylist()
    assert len(same_as_of(graph)) > 1
    return graph


@pytest.fixture(scope="module")
def empty(tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> LateralGraph:
    directory = tmp_path_factory.mktemp("nothing") / "graph"
    build_graph(directory, [], tools)
    return open_graph(directory)


@pytest.fixture(scope="module")
def exported(hostile: LateralGraph, tmp_path_factory: pytest.TempPathFactory) -> dict[str, ExportReport]:
    folder = tmp_path_factory.mktemp("exported")
    return {kind: export_graph(hostile, folder / name) for kind, name in FILES.items()}


# What must be there, read off the tables by hand


def mentions_of(graph: LateralGraph) -> Counter[tuple[int, int]]:
    found: Counter[tuple[int, int]] = Counter()
    for row in graph.mentions.to_pylist():
        found[row["section"], row["concept"]] += row["count"]
    return found


def single(value: float) -> float:
    """The float32 nearest to ``value``: what decimals were written for."""
    return float(np.float32(value))


def related_of(graph: LateralGraph) -> dict[tuple[int, int], float]:
    dense = graph.adjacency.to_dense().numpy()
    return {(int(u), int(v)): float(dense[u, v]) for u, v in np.argwhere(dense) if u < v}


def same_as_of(graph: LateralGraph) -> dict[tuple[int, int], tuple[float, str]]:
    """Probability and kind of evidence by pair of rows: of its links, the likeliest, then the first by names."""
    ranked: dict[tuple[int, int], list[tuple[float, str, str, str]]] = {}
    for row in graph.links.to_pylist():
        (u, name), (v, other) = sorted([(row["left"], row["left_name"]), (row["right"], row["right_name"])])
        ranked.setdefault((u, v), []).append((-row["probability"], name, other, row["evidence"]))
    dense = graph.same_as.to_dense().numpy()
    return {
        (int(u), int(v)): (float(dense[u, v]), min(ranked[int(u), int(v)])[-1]) for u, v in np.argwhere(dense) if u < v
    }


def asserted_of(graph: LateralGraph) -> list[tuple[int, int, str, int, str, float]]:
    sections, documents = graph.sections.to_pylist(), graph.documents.to_pylist()
    found = []
    for row in graph.relations.to_pylist():
        section = sections[row["section"]]
        if row["start"] >= 0:
            evidence = section["text"][row["start"] : row["end"]]
        else:
            title = documents[section["document"]]["title"] if section["section_id"].endswith("#0") else ""
            evidence = "\n".join(filter(None, ("" if title == section["text"] else title, section["heading"])))
        ends = (row["subject"], row["object"])
        found.append((*ends, row["label"], row["section"], evidence, row["weight"]))
    return found


def filled(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if not (value is None or (value in ("", [], "{}")))}


# GraphML


def xml_text(text: str) -> str:
    """XML 1.0, production 2 (Char)."""

    def allowed(code: int) -> bool:
        return code in (9, 10, 13) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000

    return "".join(ch if allowed(ord(ch)) else "\ufffd" for ch in text)


def check_graphml(graph: LateralGraph, path: Path) -> None:
    read = nx.read_graphml(path, force_multigraph=True)
    assert read.is_directed()

    def same(node: str, row: dict[str, Any]) -> None:
        found = dict(read.nodes[node])
        for name in ("authors", "aliases"):
            if name in found:
                found[name] = json.loads(found[name])
        expected = {n: xml_text(v) if isinstance(v, str) else v for n, v in filled(row).items()}
        assert found == expected
        assert {n: type(v) for n, v in found.items()} == {n: type(v) for n, v in expected.items()}

    documents, sections, concepts = (t.to_pylist() for t in (graph.documents, graph.sections, graph.concepts))
    assert read.number_of_nodes() == len(documents) + len(sections) + len(concepts)
    for number, row in enumerate(documents):
        shown = {name: row[name] for name in content.DOCUMENT_COLUMNS}
        same(f"d{number}", {"kind": "document", "label": row["title"], **shown})
    for number, row in enumerate(sections):
        shown = {name: row[name] for name in ("section_id", "heading", "text")}
        same(f"s{number}", {"kind": "section", "label": row["section_id"], **shown})
    for number, row in enumerate(concepts):
        same(f"c{number}", {"kind": "concept"} | {name: row[name] for name in content.CONCEPT_COLUMNS})
    expected: Counter[tuple[object, ...]] = Counter()
    for number, row in enumerate(sections):
        expected[f"d{row['document']}", f"s{number}", "has"] += 1
    for (section, concept), count in mentions_of(graph).items():
        expected[f"s{section}", f"c{concept}", "mentions", count] += 1
    for (u, v), weight in related_of(graph).items():
        expected[f"c{u}", f"c{v}", "related", weight] += 1
    for subject, object_, label, section, evidence, weight in asserted_of(graph):
        given = (xml_text(label) or None, xml_text(sections[section]["section_id"]), xml_text(evidence) or None, weight)
        expected[f"c{subject}", f"c{object_}", "asserted", *given] += 1
    for (u, v), (probability, evidence) in same_as_of(graph).items():
        expected[f"c{u}", f"c{v}", "same_as", probability, evidence] += 1
    found: Counter[tuple[object, ...]] = Counter()
    parts = {
        "has": (),
        "mentions": ("count",),
        "related": ("weight",),
        "asserted": ("label", "section_id", "evidence", "weight"),
        "same_as": ("probability", "evidence"),
    }
    for source, target, data in read.edges(data=True):
        values = [single(data[n]) if n in ("weight", "probability") else data.get(n) for n in parts[data["kind"]]]
        assert data.keys() <= {"kind", *parts[data["kind"]]}
        found[source, target, data["kind"], *values] += 1
    assert found == expected


def test_graphml_loads_in_networkx_with_every_node_edge_and_attribute(
    hostile: LateralGraph, exported: dict[str, ExportReport]
) -> None:
    check_graphml(hostile, exported["graphml"].path)


def test_graphml_counts_the_characters_that_xml_cannot_hold(exported: dict[str, ExportReport]) -> None:
    text = exported["graphml"].path.read_text(encoding="utf-8")
    # U+FFFD stands in the title once already, where a NUL was: as label and title.
    assert exported["graphml"].replaced == text.count("\ufffd") - text.count("\ufffd \ufffd \ufffd end") > 0


def test_graphml_loads_in_igraph(hostile: LateralGraph, exported: dict[str, ExportReport]) -> None:
    read = igraph.Graph.Read_GraphML(str(exported["graphml"].path))
    assert read.is_directed()
    assert read.vcount() == hostile.n_documents + hostile.n_sections + hostile.n_concepts
    kinds = Counter(read.es["kind"])
    counts = exported["graphml"].counts
    assert kinds == {kind: counts[kind] for kind in ("has", "mentions", "related", "asserted", "same_as")}


# CSV


def read_csv(text: str) -> list[dict[str, Any]]:
    """Rows as the importer types them: names before the colon, arrays cut at tabs, empty fields absent."""
    header, *lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows = []
    for line in lines:
        assert len(line) == len(header)
        row: dict[str, Any] = {}
        for (name, _, kind), value in zip((field.partition(":") for field in header), line, strict=True):
            base = kind.partition("(")[0]
            if value:
                convert = {"int": int, "double": lambda v: single(float(v)), "string[]": lambda v: v.split("\t")}.get(
                    base, str
                )
                row[name or base] = convert(value)
        rows.append(row)
    return rows


def check_csv(graph: LateralGraph, files: dict[str, str]) -> None:
    rows = {name: read_csv(text) for name, text in files.items() if name.endswith(".csv")}
    documents, sections, concepts = (t.to_pylist() for t in (graph.documents, graph.sections, graph.concepts))

    def nodes(table: list[dict[str, Any]], columns: tuple[str, ...], label: str) -> list[dict[str, Any]]:
        shown = [filled({name: row[name] for name in columns}) | {"LABEL": label} for row in table]
        for row in shown:
            for name in {"authors", "aliases"} & row.keys():
                row[name] = [item.replace("\t", " ") for item in row[name]]
        return shown

    assert rows["documents.csv"] == nodes(documents, content.DOCUMENT_COLUMNS, "Document")
    assert rows["sections.csv"] == nodes(sections, ("section_id", "heading", "text"), "Section")
    assert rows["concepts.csv"] == nodes(concepts, content.CONCEPT_COLUMNS, "Concept")

    def edge(start: str, end: str, kind: str, **more: object) -> dict[str, object]:
        return {"START_ID": start, "END_ID": end, "TYPE": kind, **filled(more)}

    assert rows["has.csv"] == [edge(documents[s["document"]]["doc_id"], s["section_id"], "HAS") for s in sections]
    assert rows["mentions.csv"] == [
        edge(sections[s]["section_id"], concepts[c]["concept_id"], "MENTIONS", count=n)
        for (s, c), n in sorted(mentions_of(graph).items())
    ]
    assert rows["related.csv"] == [
        edge(concepts[u]["concept_id"], concepts[v]["concept_id"], "RELATED", weight=w)
        for (u, v), w in related_of(graph).items()
    ]
    assert rows["asserted.csv"] == [
        edge(
            concepts[u]["concept_id"], concepts[v]["concept_id"], "ASSERTED",
            label=label, section_id=sections[s]["section_id"], evidence=evidence, weight=w,
        )
        for u, v, label, s, evidence, w in asserted_of(graph)
    ]  # fmt: skip
    assert rows["same_as.csv"] == [
        edge(concepts[u]["concept_id"], concepts[v]["concept_id"], "SAME_AS", probability=p, evidence=kind)
        for (u, v), (p, kind) in same_as_of(graph).items()
    ]


def folder(path: Path) -> dict[str, str]:
    return {p.name: p.read_bytes().decode("utf-8") for p in sorted(path.iterdir())}


def test_csv_parses_back_into_the_rows_of_the_graph(hostile: LateralGraph, exported: dict[str, ExportReport]) -> None:
    check_csv(hostile, folder(exported["csv"].path))


def test_tabs_that_gave_way_are_counted(hostile: LateralGraph, exported: dict[str, ExportReport]) -> None:
    names = [*hostile.documents["authors"].to_pylist(), *hostile.concepts["aliases"].to_pylist()]
    tabs = sum(name.count("\t") for row in names for name in row)
    assert exported["csv"].replaced == exported["zip"].replaced == tabs >= 2
    assert f"{tabs} tabs" in folder(exported["csv"].path)["README.txt"]


def test_headers_are_those_of_the_importer(exported: dict[str, ExportReport]) -> None:
    heads = {name: text.partition("\n")[0] for name, text in folder(exported["csv"].path).items()}
    assert heads["documents.csv"] == (
        "doc_id:ID(Document),title:string,authors:string[],year:int,venue:string,doi:string,field:string,"
        "details:string,n_sections:int,:LABEL"
    )
    assert heads["asserted.csv"].startswith(":START_ID(Concept),:END_ID(Concept),:TYPE,label:string,")
    assert heads["same_as.csv"] == ":START_ID(Concept),:END_ID(Concept),:TYPE,probability:double,evidence:string"
    spaces = {"Document", "Section", "Concept"}
    for name, head in heads.items():
        if name.endswith(".csv"):
            assert set(re.findall(r"ID\((\w+)\)", head)) <= spaces


def test_the_readme_s_command_names_every_file_and_how_they_are_written(exported: dict[str, ExportReport]) -> None:
    files = folder(exported["csv"].path)
    command = files["README.txt"].partition("neo4j-admin database import full")[2]
    named = re.findall(r"--(nodes|relationships)=(\S+)", command)
    assert sorted(name for _, name in named) == sorted(name for name in files if name != "README.txt")
    for kind, name in named:
        assert (":LABEL" if kind == "nodes" else ":TYPE") in files[name].partition("\n")[0]
    assert {"--array-delimiter=TAB", "--multiline-fields=true"} <= set(command.split())


def test_the_archive_holds_the_files_of_the_folder(exported: dict[str, ExportReport]) -> None:
    with zipfile.ZipFile(exported["zip"].path) as archive:
        assert archive.testzip() is None
        assert {i.filename: archive.read(i).decode() for i in archive.infolist()} == folder(exported["csv"].path)


# RDF


def read_rdf(path: Path, kind: str) -> rdflib.Graph:
    with warnings.catch_warnings():  # rdflib's own JSON-LD parser uses what rdflib deprecates
        warnings.filterwarnings("ignore", "ConjunctiveGraph is deprecated", DeprecationWarning)
        return rdflib.Graph().parse(path, format=kind)


def check_jsonld(graph: LateralGraph, path: Path) -> None:
    read = read_rdf(path, "json-ld")
    documents, sections, concepts = (t.to_pylist() for t in (graph.documents, graph.sections, graph.concepts))
    by_identifier = {
        kind: {str(read.value(node, SCHEMA.identifier)): node for node in read.subjects(RDF.type, kind)}
        for kind in (SCHEMA.ScholarlyArticle, EV.Section, SKOS.Concept)
    }
    papers, passages, ideas = by_identifier.values()
    assert [len(papers), len(passages), len(ideas)] == [len(documents), len(sections), len(concepts)]

    def texts(node: rdflib.term.Node, term: rdflib.URIRef) -> list[str]:
        return sorted(str(value) for value in read.objects(node, term) if isinstance(value, rdflib.Literal))

    for row in documents:
        node = papers[row["doc_id"]]
        assert texts(node, SCHEMA.name) == [row["title"]] * bool(row["title"])
        assert texts(node, rdflib.URIRef("http://purl.org/ontology/bibo/doi")) == [row["doi"]] * bool(row["doi"])
        assert texts(node, EV.field) == [row["field"]] * bool(row["field"])
        authors = read.value(node, SCHEMA.author)
        assert [str(read.value(a, SCHEMA.name)) for a in read.items(authors)] == row["authors"]
        assert [int(str(y)) for y in read.objects(node, SCHEMA.datePublished)] == [row["year"]] * (
            row["year"] is not None
        )
        assert [str(read.value(v, SCHEMA.name)) for v in read.objects(node, SCHEMA.isPartOf)] == [row["venue"]] * bool(
            row["venue"]
        )
        details = {
            str(read.value(d, SCHEMA.name)): str(read.value(d, SCHEMA.value))
            for d in read.objects(node, SCHEMA.additionalProperty)
        }
        assert details == json.loads(row["details"])
    for row in sections:
        node = passages[row["section_id"]]
        assert texts(node, SCHEMA.text) == [row["text"]] * bool(row["text"])
        assert texts(node, SCHEMA.headline) == [row["heading"]] * bool(row["heading"])
        assert read.value(node, SCHEMA.isPartOf) == papers[documents[row["document"]]["doc_id"]]
    for row in concepts:
        node = ideas[row["concept_id"]]
        assert texts(node, SKOS.prefLabel) == [row["label"]]
        assert texts(node, SKOS.altLabel) == sorted(set(row["aliases"]) - {row["label"]})
        assert read.value(node, EV.sectionCount).toPython() == row["n_sections"]
    section_row = {passages[row["section_id"]]: n for n, row in enumerate(sections)}
    concept_row = {ideas[row["concept_id"]]: n for n, row in enumerate(concepts)}
    assert mentions_of(graph) == {
        (section_row[section], concept_row[read.value(m, EV.concept)]): read.value(m, EV["count"]).toPython()
        for section, m in read.subject_objects(EV.mention)
    }
    edges = {
        tuple(sorted(concept_row[end] for end in read.objects(edge, EV.between))): single(
            read.value(edge, EV.weight).toPython()
        )
        for edge in read.subjects(RDF.type, EV.Edge)
    }
    assert edges == related_of(graph)
    assert {(concept_row[u], concept_row[v]) for u, v in read.subject_objects(SKOS.related)} == edges.keys()
    asserted = Counter(
        (
            concept_row[read.value(a, EV.subject)], concept_row[read.value(a, EV.object)],
            str(read.value(a, RDFS.label)), section_row[read.value(a, EV.section)],
            str(read.value(a, EV.evidence, default="")), single(read.value(a, EV.weight).toPython()),
        )
        for a in read.subjects(RDF.type, EV.Assertion)
    )  # fmt: skip
    assert asserted == Counter(asserted_of(graph))
    links = [
        (
            tuple(sorted(concept_row[end] for end in read.objects(link, EV.between))),
            (single(read.value(link, EV.probability).toPython()), str(read.value(link, EV.evidence))),
        )
        for link in read.subjects(RDF.type, EV.Link)
    ]
    assert sorted(links) == sorted(same_as_of(graph).items())
    matches = [(concept_row[u], concept_row[v]) for u, v in read.subject_objects(SKOS.closeMatch)]
    assert sorted(matches) == sorted(same_as_of(graph))


def test_jsonld_loads_in_rdflib_with_everything(hostile: LateralGraph, exported: dict[str, ExportReport]) -> None:
    check_jsonld(hostile, exported["jsonld"].path)


def test_every_iri_is_one_whatever_an_id_holds(exported: dict[str, ExportReport]) -> None:
    read = read_rdf(exported["jsonld"].path, "json-ld")
    iris = {str(term) for triple in read for term in triple if isinstance(term, rdflib.URIRef)}
    for iri in iris:
        assert re.fullmatch(r"[a-z]+:(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-F]{2})+", iri), iri
    assert "https://doi.org/10.1000/abc(2)%3C3%3E%204" in iris
    assert sum(iri.startswith("https://doi.org/") for iri in iris) == 1


def test_every_term_that_is_used_is_defined_in_the_file(exported: dict[str, ExportReport]) -> None:
    read = read_rdf(exported["jsonld"].path, "json-ld")
    used = {str(t).removeprefix(EV) for _, p, o in read for t in (p, o) if str(t).startswith(EV)}
    assert used == set(TERMS)
    for term in used:
        assert read.value(EV[term], RDFS.comment), term


def test_ntriples_say_what_jsonld_says_and_are_turtle(exported: dict[str, ExportReport]) -> None:
    jsonld = read_rdf(exported["jsonld"].path, "json-ld")
    for kind in ("nt", "turtle"):
        read = read_rdf(exported["nt"].path, kind)
        assert len(read) == len(jsonld)
        assert isomorphic(read, jsonld)
    assert len(exported["nt"].path.read_text(encoding="utf-8").splitlines()) == len(jsonld)


def test_jsonld_reads_line_by_line(hostile: LateralGraph, exported: dict[str, ExportReport]) -> None:
    first, second, *lines, last = exported["jsonld"].path.read_bytes().decode().split("\n")[:-1]
    assert (first.startswith('{"@context"'), second.startswith('"@graph": ['), last) == (True, True, "]}")
    kinds = Counter(json.loads(line.rstrip(","))["@type"] for line in lines)
    assert kinds["ev:Edge"] == hostile.n_edges
    assert kinds["ev:Link"] == len(same_as_of(hostile))


# PyTorch Geometric

LOADING = """
import json, sys
for name in ("kg", "retrieval", "agents", "evaluation", "training", "scripts", "evigraph"):
    sys.modules[name] = None
import torch
path = sys.argv[1]
data = torch.load(path, weights_only=False)
from torch_geometric.data.storage import BaseStorage, EdgeStorage, NodeStorage
with torch.serialization.safe_globals([BaseStorage, NodeStorage, EdgeStorage]):
    safe = torch.load(path, weights_only=True)
data.validate(raise_on_error=True)
assert type(data).__module__ == type(safe).__module__ == "torch_geometric.data.hetero_data"
assert str(data) == str(safe) and data["concept"].label == safe["concept"].label
print(json.dumps([data.num_nodes, data.num_edges, data["concept"].label, list(data["section"].x.shape)]))
"""


def test_the_pyg_file_loads_where_evigraph_is_not(
    hostile: LateralGraph, exported: dict[str, ExportReport], tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-c", LOADING, exported["pyg"].path], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    counts = exported["pyg"].counts
    edges = counts["has"] + counts["mentions"] + 2 * (counts["related"] + counts["same_as"]) + counts["asserted"]
    nodes = hostile.n_documents + hostile.n_sections + hostile.n_concepts
    shape = list(hostile["section"].x.shape)
    assert json.loads(done.stdout) == [nodes, edges, hostile.concepts["label"].to_pylist(), shape]


def check_pyg(graph: LateralGraph, path: Path) -> None:
    data: HeteroData = torch.load(path, weights_only=False)
    assert type(data) is HeteroData
    assert data.validate()
    for node, table, columns in (
        ("document", graph.documents, content.DOCUMENT_COLUMNS[:-1]),
        ("section", graph.sections, content.SECTION_COLUMNS),
        ("concept", graph.concepts, ("concept_id", "label", "type", "aliases")),
    ):
        assert data[node].num_nodes == table.num_rows
        for name in columns:
            assert data[node][name] == table[name].to_pylist()
    assert data["concept"].n_mentions.tolist() == graph.concepts["n_mentions"].to_pylist()
    for node in ("section", "concept"):
        assert torch.equal(data[node].x, graph[node].x)
    has = data["document", "has", "section"].edge_index
    assert has.tolist() == [graph.sections["document"].to_pylist(), list(range(graph.n_sections))]
    links = data["concept", "same_as", "concept"]
    assert links.edge_attr.shape == (links.edge_index.shape[1], 1)
    for kind, values, dense in (
        (data["section", "mentions", "concept"], "edge_weight", graph.incidence.to_dense()),
        (data["concept", "related", "concept"], "edge_weight", graph.adjacency.to_dense()),
        (links, "edge_attr", graph.same_as.to_dense()),
    ):
        back = torch.sparse_coo_tensor(kind.edge_index, kind[values].reshape(-1), dense.shape, check_invariants=True)
        assert torch.equal(back.to_dense(), dense)
        assert back._nnz() == int((dense != 0).sum())
    told = dict(zip(zip(*links.edge_index.tolist(), strict=True), links.evidence, strict=True))
    assert told == {ends: kind for (u, v), (_, kind) in same_as_of(graph).items() for ends in ((u, v), (v, u))}
    kind = data["concept", "asserted", "concept"]
    columns = (*kind.edge_index.tolist(), kind.label, kind.section.tolist(), kind.evidence, kind.edge_weight.tolist())
    assert list(zip(*columns, strict=True)) == asserted_of(graph)


def test_the_pyg_file_holds_everything(hostile: LateralGraph, exported: dict[str, ExportReport]) -> None:
    check_pyg(hostile, exported["pyg"].path)


# All formats


def check_all(graph: LateralGraph, folder_: Path) -> None:
    check_graphml(graph, export_graph(graph, folder_ / "g.graphml").path)
    check_csv(graph, folder(export_graph(graph, folder_ / "g").path))
    check_jsonld(graph, export_graph(graph, folder_ / "g.jsonld").path)
    assert isomorphic(
        read_rdf(export_graph(graph, folder_ / "g.nt").path, "nt"), read_rdf(folder_ / "g.jsonld", "json-ld")
    )
    check_pyg(graph, export_graph(graph, folder_ / "g.pt").path)


def test_an_empty_graph_is_exported_too(empty: LateralGraph, tmp_path: Path) -> None:
    check_all(empty, tmp_path)
    report = export_graph(empty, tmp_path / "g.zip")
    assert set(report.counts.values()) == {0}
    assert report.bytes > 0


ANY = st.characters(exclude_categories=["Cs"])
NASTY = st.sampled_from("\"'\\<>&;,|#%{}:_^ \t\n\x01\x1f\x7f\x85\u2028\ufeff\uffff\u202eא")
TEXTS = st.text(ANY | NASTY, max_size=12).map(clean_text)
IDS = TEXTS.filter(str.strip)


LINK = ("left", "right", "left_name", "right_name", "probability", "evidence")


def link_rows(rows: Iterable[tuple[Any, ...]]) -> pa.Table:
    """The table of links with these rows, their values in the order of ``LINK``."""
    left, right, left_name, right_name, probability, evidence = zip(*rows, strict=True)
    columns = [pa.array(left, pa.int32()), pa.array(right, pa.int32()), pa.array(left_name), pa.array(right_name)]
    columns += [pa.array(probability, pa.float32()), pa.array(evidence, pa.string()).dictionary_encode()]
    return pa.table(columns, names=LINK)


@st.composite
def small_graphs(draw: st.DrawFn) -> LateralGraph:
    """One paper, two concepts, one edge, one relation, one link, of whatever characters there are."""
    document = Document(
        draw(IDS), draw(TEXTS), (Part(draw(TEXTS), draw(IDS)),), (draw(IDS), draw(IDS)),
        draw(st.integers(-9999, 99999)), draw(TEXTS), draw(TEXTS), draw(TEXTS), ((draw(TEXTS), draw(TEXTS)),),
    )  # fmt: skip
    documents, sections = paper_tables([Paper.of(document, SectioningConfig())])
    n = sections.num_rows
    labels = draw(st.lists(IDS, min_size=2, max_size=2, unique=True))
    concepts = pa.table(
        {
            "concept_id": ["aa", "bb"], "label": labels, "type": ["term", draw(TEXTS)],
            "aliases": [[label, "other"] for label in labels],
            "n_sections": pa.array([n, n], pa.int32()), "n_mentions": pa.array([n, n], pa.int32()),
        }
    )  # fmt: skip
    int32 = pa.int32()
    relations = pa.table(
        {
            "section": pa.array([0], int32), "subject": pa.array([1], int32), "object": pa.array([0], int32),
            "label": pa.array([draw(TEXTS)]).dictionary_encode(), "start": pa.array([draw(st.integers(-1, 3))], int32),
            "end": pa.array([9], int32), "weight": pa.array([0.1], pa.float32()),
        }
    )  # fmt: skip
    mentions = pa.table(
        {
            "section": pa.array([0, 0, 0], int32), "concept": pa.array([0, 1, 1], int32),
            "surface": pa.array(["a", "b", "c"]).dictionary_encode(), "count": pa.array([1, 2, 3], int32),
        }
    )  # fmt: skip
    adjacency = torch.tensor([[0.0, 0.3], [0.3, 0.0]])
    pairs = [*draw(st.lists(st.sampled_from([(0, 0), (0, 1), (1, 0)]), max_size=4)), (1, 0)]
    probabilities = [draw(st.sampled_from([0.1, 0.35])) for _ in pairs]
    links = link_rows(
        (*pair, draw(IDS), draw(IDS), probability, draw(st.sampled_from(EVIDENCE)))
        for pair, probability in zip(pairs, probabilities, strict=True)
    )
    likeliest = max(p for (u, v), p in zip(pairs, probabilities, strict=True) if u != v)
    incidence = torch.zeros(n, 2)
    incidence[0] = torch.tensor([1.0, 5.0])
    tensors = {"section_x": torch.ones(n, 2), "concept_x": torch.ones(2, 2)}
    matrices = {"adjacency": adjacency, "incidence": incidence, "holders": incidence.T}
    matrices["same_as"] = torch.tensor([[0.0, likeliest], [likeliest, 0.0]])
    for name, matrix in matrices.items():
        csr = matrix.contiguous().to_sparse_csr()
        parts = (csr.crow_indices(), csr.col_indices(), csr.values())
        tensors |= {f"{name}_{part}": value for part, value in zip(("rows", "columns", "values"), parts, strict=True)}
    tables = {"documents": documents, "sections": sections, "concepts": concepts}
    return LateralGraph.of(tables | {"relations": relations, "mentions": mentions, "links": links}, tensors, {})


@settings(max_examples=25)
@given(small_graphs())
def test_any_characters_survive_every_format(graph: LateralGraph) -> None:
    with tempfile.TemporaryDirectory() as directory:
        check_all(graph, Path(directory))


@pytest.mark.parametrize("kind", FILES)
def test_the_same_graph_gives_the_same_bytes_under_any_name(
    hostile: LateralGraph, exported: dict[str, ExportReport], kind: str, tmp_path: Path
) -> None:
    again = export_graph(open_graph(Path(str(hostile.directory))), tmp_path / f"another {FILES[kind]}").path
    first = exported[kind].path
    if kind == "csv":
        assert folder(again) == folder(first)
    else:
        assert again.read_bytes() == first.read_bytes()


@pytest.mark.parametrize("kind", FILES)
def test_the_report_says_what_was_written(hostile: LateralGraph, exported: dict[str, ExportReport], kind: str) -> None:
    report = exported[kind]
    path = report.path
    assert report.format == ("csv" if kind == "zip" else kind)
    assert report.bytes == (sum(p.stat().st_size for p in path.iterdir()) if path.is_dir() else path.stat().st_size)
    assert report.counts == {
        "documents": len(HOSTILE), "sections": hostile.n_sections, "concepts": hostile.n_concepts,
        "has": hostile.n_sections, "mentions": len(mentions_of(hostile)), "related": len(related_of(hostile)),
        "asserted": hostile.relations.num_rows, "same_as": len(same_as_of(hostile)),
    }  # fmt: skip
    assert (report.replaced > 0) == (kind in ("graphml", "csv", "zip"))


# Where to


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("a.graphml", "graphml"), ("A.GRAPHML", "graphml"), ("a.v2.jsonld", "jsonld"), ("a.nt", "nt"), ("a.ttl", "nt"),
        ("a.pt", "pyg"), ("a.zip", "csv"), ("folder", "csv"), ("folder/", "csv"),
    ],
)  # fmt: skip
def test_the_suffix_chooses_the_format(path: str, kind: str) -> None:
    assert choose_format(Path(path)) == kind


def test_a_name_overrides_the_suffix(hostile: LateralGraph, tmp_path: Path) -> None:
    assert choose_format(Path("a.pt"), "graphml") == "graphml"
    report = export_graph(hostile, tmp_path / "g.xml", "graphml")
    check_graphml(hostile, report.path)
    check_csv(hostile, folder(export_graph(hostile, tmp_path / "g.v1", "csv").path))
    assert choose_format(tmp_path / "g.v1") == "csv"  # it is a directory now


@pytest.mark.parametrize(("path", "name"), [("a.gexf", None), ("a.graphml.gz", None), ("a.graphml", "gexf")])
def test_an_unknown_format_is_told_with_those_there_are(path: str, name: str | None) -> None:
    with pytest.raises(InputError) as error:
        choose_format(Path(path), name)
    for known, suffixes in FORMATS.items():
        assert known in str(error.value)
        assert all(suffix in str(error.value) for suffix in suffixes)


@pytest.mark.parametrize("suffix", [suffix for suffixes in FORMATS.values() for suffix in suffixes if suffix])
def test_a_directory_with_the_suffix_of_a_file_is_taken_for_neither(
    hostile: LateralGraph, tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"g{suffix}"
    path.mkdir()
    with pytest.raises(InputError, match=rf"g{suffix} is a directory, but its suffix says .*--format csv"):
        export_graph(hostile, path)
    assert list(path.iterdir()) == []
    check_csv(hostile, folder(export_graph(hostile, path, "csv").path))


@pytest.mark.parametrize("kind", FILES)
def test_an_earlier_export_is_replaced(empty: LateralGraph, hostile: LateralGraph, kind: str, tmp_path: Path) -> None:
    path = tmp_path / FILES[kind]
    before = export_graph(hostile, path).bytes
    assert export_graph(empty, path).bytes < before
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("fault", [RuntimeError("broken"), KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_what_was_there_stays_when_an_export_does_not_end(
    hostile: LateralGraph,
    empty: LateralGraph,
    kind: str,
    fault: BaseException,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path, fresh = tmp_path / "old" / FILES[kind], tmp_path / "new" / FILES[kind]
    export_graph(empty, path)
    before = folder(path) if kind == "csv" else path.read_bytes()

    def broken(graph: LateralGraph) -> Iterator[content.Asserted]:
        raise fault
        yield

    monkeypatch.setattr(content, "asserted", broken)
    for target in (path, fresh):
        with pytest.raises(InputError if isinstance(fault, OSError) else type(fault)) as error:
            export_graph(hostile, target)
        if isinstance(fault, OSError):
            assert "(No space left on device); make room or choose another place" in str(error.value)
    assert (folder(path) if kind == "csv" else path.read_bytes()) == before
    assert [p.name for p in path.parent.iterdir()] == [path.name]
    assert not fresh.parent.exists()


@pytest.fixture
def small_files() -> Iterator[None]:
    """No file grows beyond 2 kB, as where a disk is full: the system itself refuses, in the middle of writing."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2048, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("kind", FILES)
def test_a_disk_that_takes_no_more_is_told_whoever_writes(
    hostile: LateralGraph, kind: str, tmp_path: Path, small_files: None
) -> None:
    with pytest.raises(InputError, match=r"cannot be written \(File too large\); choose a place"):
        export_graph(hostile, tmp_path / FILES[kind])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", [kind for kind in FILES if kind != "csv"])
@pytest.mark.parametrize("fault", [KeyboardInterrupt(), OSError(5, "Input/output error")])
def test_what_ends_the_writing_of_a_file_is_what_is_raised(
    hostile: LateralGraph, kind: str, fault: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(io.BytesIO):
        written = 0

        def write(self, data: Any) -> int:
            self.written += len(data)
            if self.written > 500:
                raise fault
            return super().write(data)

    @contextmanager
    def broken_file(path: Path) -> Iterator[Broken]:
        yield Broken()

    monkeypatch.setattr("kg.targets.replaced_file", broken_file)
    monkeypatch.setattr("kg.export.replaced_file", broken_file)
    with pytest.raises(type(fault)) as error:
        export_graph(hostile, tmp_path / FILES[kind])
    assert error.value is fault


def test_a_killed_export_leaves_nothing_under_the_name(hostile: LateralGraph, tmp_path: Path) -> None:
    code = (
        "import os, sys\nfrom pathlib import Path\n"
        "from kg.build import open_graph\nfrom kg.export import content, export_graph\n"
        "content.asserted = lambda graph: os.kill(os.getpid(), 9)\n"
        "export_graph(open_graph(Path(sys.argv[1])), Path(sys.argv[2]))"
    )
    root = Path(__file__).resolve().parent.parent
    done = subprocess.run([sys.executable, "-c", code, str(hostile.directory), tmp_path / "g"], cwd=root)
    assert done.returncode == -9
    assert not (tmp_path / "g").exists()
    check_csv(hostile, folder(export_graph(hostile, tmp_path / "g").path))  # what it left is not in the way


def test_a_directory_of_other_things_is_not_touched(hostile: LateralGraph, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    export_graph(hostile, other)  # empty: nothing is lost
    (other / "notes.md").write_text("mine")
    with pytest.raises(InputError, match="other is there and is no earlier export"):
        export_graph(hostile, other)
    (other / "notes.md").rename(tmp_path / "notes.md")
    (other / "README.txt").write_text("mine")
    with pytest.raises(InputError, match="no earlier export"):
        export_graph(hostile, other)
    with pytest.raises(InputError, match=r"notes\.md is there and is no directory"):
        export_graph(hostile, tmp_path / "notes.md", "csv")
    with pytest.raises(InputError, match="other is a directory; choose another place"):
        export_graph(hostile, other, "graphml")
    assert (other / "README.txt").read_text() == "mine"


def test_no_graph_is_written_over(hostile: LateralGraph, empty: LateralGraph) -> None:
    home = Path(str(hostile.directory))
    before = {p: p.stat().st_mtime_ns for p in home.rglob("*")}
    for path, name in ((home, "csv"), (home / "CURRENT", "graphml"), (home / "new.graphml", None)):
        with pytest.raises(InputError, match="is inside the graph"):
            export_graph(hostile, path, name)
        with pytest.raises(InputError, match="is inside the graph"):
            export_graph(empty, path, name)
    assert {p: p.stat().st_mtime_ns for p in home.rglob("*")} == before


def test_devices_are_left_alone_and_links_followed(hostile: LateralGraph, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="/dev/null is there and is no file"):
        export_graph(hostile, Path(os.devnull), "graphml")
    (tmp_path / "link.graphml").symlink_to(tmp_path / "real.graphml")
    export_graph(hostile, tmp_path / "link.graphml")
    assert (tmp_path / "link.graphml").is_symlink()
    check_graphml(hostile, tmp_path / "real.graphml")


def test_a_place_that_cannot_be_written_is_told(hostile: LateralGraph, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for name in ("file/g.graphml", "file/g"):
        with pytest.raises(InputError, match=r"cannot be written \(.*\); choose another place"):
            export_graph(hostile, tmp_path / name)


def test_a_sentence_is_looked_up_in_its_own_section(sample_graph: LateralGraph) -> None:
    found = [row for batch in content.asserted(sample_graph) for row in zip(*batch.columns(), strict=True)]
    assert [(*row[:5], single(row[5])) for row in found] == asserted_of(sample_graph)


def test_a_link_shows_the_evidence_of_its_likeliest_pair_of_names(hostile: LateralGraph, tmp_path: Path) -> None:
    """0 - 1: .5 beats .2, whichever way the rows run; 1 - 2: of two at .25 the one whose name of 1 comes first;
    0 - 2 has pairs, but below what makes a link; 2 - 2 is a join."""
    graph = hostile.clone()
    graph.links = link_rows(
        [
            (0, 1, "a", "b", 0.2, "same name"), (1, 0, "b", "z", 0.5, "spelling"), (2, 1, "a", "x", 0.25, "initials"),
            (1, 2, "d", "a", 0.25, "embedding"), (0, 2, "a", "a", 0.05, "initials"), (2, 2, "a", "c", 0.9, "spelling"),
        ]
    )  # fmt: skip
    dense = torch.zeros(graph.n_concepts, graph.n_concepts)
    dense[0, 1] = dense[1, 0] = 0.5
    dense[1, 2] = dense[2, 1] = 0.25
    graph[SAME_AS].adj_t = dense.to_sparse_csr()
    found = list(content.entries(*content.same_as(graph)))
    assert found == [(0, 1, 0.5, "spelling"), (1, 2, 0.25, "embedding")]
    assert content.counts(graph)["same_as"] == 2
    check_all(graph, tmp_path)


def test_the_evidence_of_a_link_is_that_which_info_gives(sample_graph: LateralGraph) -> None:
    links = list(content.entries(*content.same_as(sample_graph)))
    told = {}
    for row, concept_id in enumerate(sample_graph.concepts["concept_id"].to_pylist()):
        for miss in near_misses(sample_graph, row):
            told[concept_id, miss.concept_id] = (miss.probability, miss.evidence, miss.uncertain)
    ids = sample_graph.concepts["concept_id"].to_pylist()
    assert len(links) > 10
    for u, v, probability, evidence in links:
        assert told[ids[u], ids[v]] == (pytest.approx(probability, abs=1e-6), evidence, True)
    assert 2 * len(links) == sum(uncertain for *_, uncertain in told.values())
