"""The graph in RDF, as JSON-LD 1.1 with its context inline (``ntriples`` writes the same triples).

Papers are ``schema:ScholarlyArticle``, concepts ``skos:Concept``; what neither vocabulary has is in ``TERMS``, which
the file defines for itself (``rdfs:comment``). Ids are ``urn:evigraph:document:``, ``:section:`` and ``:concept:`` with
the graph's own id percent-encoded, so they are IRIs whatever an id holds; a DOI also links to doi.org
(``schema:sameAs``). ``skos:related`` joins two concepts once (it is symmetric), and so does ``skos:closeMatch`` two
that may be one: it is not transitive, so that uncertain links do not add up to an identity. The weight of an edge, the
probability of a link, the number of mentions and what a section asserts of two concepts are nodes of their own, without
an IRI. Every link is a ``skos:closeMatch``, however improbable; the ``Link`` beside it says how probable it is.

Nodes are written one per line as a stream, and the same graph gives the same bytes. Nothing is replaced: RDF can hold
every character of the graph.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO, Any
from urllib.parse import quote

import numpy as np

from kg.export import content
from kg.lateral import LateralGraph
from kg.records import normalise_doi

TERMS = {
    "Section": "A section of a paper: the unit of retrieval and citation.",
    "field": "The field of study that the source of a paper gives.",
    "type": "The kind of a concept, as its extractor names it.",
    "sectionCount": "The number of sections that mention a concept.",
    "mentionCount": "How often a concept is mentioned in all.",
    "mention": "A section's mentions of one concept: a node with concept and count.",
    "concept": "The concept that a Mention counts.",
    "count": "How often the section mentions the concept.",
    "Edge": "An undirected edge between two concepts.",
    "between": "One of the two concepts of an Edge or a Link.",
    "weight": "Of an Edge, log(1 + sum over sections of the strongest assertion); of an Assertion, in (0, 1].",
    "Assertion": "What a section says of two concepts; one labelled 'occurs with' has no direction.",
    "subject": "The concept an Assertion is about.",
    "object": "The concept an Assertion relates its subject to.",
    "section": "The section that makes an Assertion.",
    "evidence": "Of an Assertion, the sentence of the section that it rests on; of a Link, what speaks for it.",
    "Link": "Two concepts that may be one; it has no direction.",
    "probability": "The probability that the two concepts of a Link are one, in (0, 1].",
}
"""The project's own vocabulary, ``urn:evigraph:terms#``."""

CONTEXT: dict[str, Any] = {
    "schema": "https://schema.org/",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "bibo": "http://purl.org/ontology/bibo/",
    "ev": "urn:evigraph:terms#",
    "d": "urn:evigraph:document:",
    "s": "urn:evigraph:section:",
    "c": "urn:evigraph:concept:",
    "comment": "rdfs:comment",
    "identifier": "schema:identifier",
    "name": "schema:name",
    "author": {"@id": "schema:author", "@container": "@list"},
    "year": {"@id": "schema:datePublished", "@type": "xsd:gYear"},
    "venue": "schema:isPartOf",
    "doi": "bibo:doi",
    "sameAs": {"@id": "schema:sameAs", "@type": "@id"},
    "field": "ev:field",
    "detail": "schema:additionalProperty",
    "value": "schema:value",
    "partOf": {"@id": "schema:isPartOf", "@type": "@id"},
    "heading": "schema:headline",
    "text": "schema:text",
    "mention": "ev:mention",
    "concept": {"@id": "ev:concept", "@type": "@id"},
    "count": {"@id": "ev:count", "@type": "xsd:integer"},
    "prefLabel": "skos:prefLabel",
    "altLabel": "skos:altLabel",
    "related": {"@id": "skos:related", "@type": "@id"},
    "closeMatch": {"@id": "skos:closeMatch", "@type": "@id"},
    "type": "ev:type",
    "sectionCount": {"@id": "ev:sectionCount", "@type": "xsd:integer"},
    "mentionCount": {"@id": "ev:mentionCount", "@type": "xsd:integer"},
    "between": {"@id": "ev:between", "@type": "@id"},
    "weight": {"@id": "ev:weight", "@type": "xsd:double"},
    "subject": {"@id": "ev:subject", "@type": "@id"},
    "object": {"@id": "ev:object", "@type": "@id"},
    "label": "rdfs:label",
    "section": {"@id": "ev:section", "@type": "@id"},
    "evidence": "ev:evidence",
    "probability": {"@id": "ev:probability", "@type": "xsd:double"},
}
Node = dict[str, Any]


def write_jsonld(graph: LateralGraph, file: IO[bytes]) -> None:
    """Write the graph to ``file`` as one JSON-LD document."""
    file.write(f'{{"@context": {_json(CONTEXT)},\n"@graph": ['.encode())
    for number, node in enumerate(nodes(graph)):
        file.write(f"{',' if number else ''}\n{_json(node)}".encode())
    file.write(b"\n]}\n")


def nodes(graph: LateralGraph) -> Iterator[Node]:
    """The graph as JSON-LD node objects in terms of ``CONTEXT``: vocabulary, papers, sections, concepts, edges."""
    one, other, probabilities, kinds = content.same_as(graph)
    for term, comment in TERMS.items():
        kind = "rdfs:Class" if term[0].isupper() else "rdf:Property"
        yield {"@id": f"ev:{term}", "@type": kind, "comment": comment}
    document_ids = _iris("d", graph.documents["doc_id"].to_pylist())
    section_ids = _iris("s", graph.sections["section_id"].to_pylist())
    concept_ids = _iris("c", graph.concepts["concept_id"].to_pylist())
    for iri, document in zip(document_ids, content.rows(graph.documents), strict=True):
        yield _document(iri, document)
    yield from _sections(graph, document_ids, section_ids, concept_ids)
    yield from _concepts(graph, concept_ids, one, other)
    for first, second, weight in content.entries(*content.related(graph)):
        yield {"@type": "ev:Edge", "between": [concept_ids[first], concept_ids[second]], "weight": f"{weight!r}"}
    for batch in content.asserted(graph):
        for subject, object_, label, section, evidence, weight in zip(*batch.columns(), strict=True):
            yield {
                "@type": "ev:Assertion", "subject": concept_ids[subject], "object": concept_ids[object_],
                "label": label, "section": section_ids[section], **_given(evidence=evidence), "weight": f"{weight!r}",
            }  # fmt: skip
    for first, second, probability, kind in content.entries(one, other, probabilities, kinds):
        between = [concept_ids[first], concept_ids[second]]
        yield {"@type": "ev:Link", "between": between, "probability": f"{probability!r}", "evidence": kind}


def _document(iri: str, row: dict[str, Any]) -> Node:
    doi = normalise_doi(row["doi"])
    return {
        "@id": iri,
        "@type": "schema:ScholarlyArticle",
        "identifier": row["doc_id"],
        **_given(
            name=row["title"],
            author=[{"name": name} for name in row["authors"]],
            year=None if row["year"] is None else _year(row["year"]),
            venue={"@type": "schema:CreativeWork", "name": row["venue"]} if row["venue"] else None,
            doi=row["doi"],
            sameAs=f"https://doi.org/{quote(doi, safe='/:;().-_')}" if doi.startswith("10.") else None,
            field=row["field"],
            detail=[
                {"@type": "schema:PropertyValue", "name": name, "value": value}
                for name, value in json.loads(row["details"]).items()
            ],
        ),
    }


def _sections(graph: LateralGraph, document_ids: list[str], section_ids: list[str], ids: list[str]) -> Iterator[Node]:
    section_of, concept_of, counts = content.mentions(graph)
    start = 0
    ends = section_of.searchsorted(range(graph.n_sections), side="right").tolist()
    rows = content.rows(graph.sections.select(["document", *content.SECTION_COLUMNS]))
    for iri, row, end in zip(section_ids, rows, ends, strict=True):
        found = zip(concept_of[start:end].tolist(), counts[start:end].tolist(), strict=True)
        yield {
            "@id": iri,
            "@type": "ev:Section",
            "identifier": row["section_id"],
            "partOf": document_ids[row["document"]],
            **_given(
                heading=row["heading"],
                text=row["text"],
                mention=[{"concept": ids[concept], "count": f"{times}"} for concept, times in found],
            ),
        }
        start = end


def _concepts(graph: LateralGraph, ids: list[str], one: np.ndarray, other: np.ndarray) -> Iterator[Node]:
    """With the edges and the links to concepts of larger rows: ``one`` and ``other`` are the ends of all links."""
    u, v, _ = content.related(graph)
    related, close = _larger(u, v, graph.n_concepts), _larger(one, other, graph.n_concepts)
    for iri, row, near, match in zip(ids, content.rows(graph.concepts), related, close, strict=True):
        yield {
            "@id": iri,
            "@type": "skos:Concept",
            "identifier": row["concept_id"],
            "prefLabel": row["label"],
            **_given(
                altLabel=[alias for alias in row["aliases"] if alias != row["label"]],
                related=[ids[concept] for concept in near],
                closeMatch=[ids[concept] for concept in match],
                type=row["type"],
            ),
            "sectionCount": f"{row['n_sections']}",
            "mentionCount": f"{row['n_mentions']}",
        }


def _larger(u: np.ndarray, v: np.ndarray, n: int) -> Iterator[list[int]]:
    """The ends v of every row 0..n-1 of u, which is sorted."""
    start = 0
    for end in u.searchsorted(range(n), side="right").tolist():
        yield v[start:end].tolist()
        start = end


def _iris(prefix: str, ids: list[str]) -> list[str]:
    return [f"{prefix}:{quote(one, safe='')}" for one in ids]


def _year(year: int) -> str:
    """xsd:gYear has four digits at least."""
    return f"{'-' if year < 0 else ''}{abs(year):04d}"


def _given(**values: Any) -> Node:
    return {name: value for name, value in values.items() if value not in (None, "", [])}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
