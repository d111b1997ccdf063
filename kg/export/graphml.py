"""GraphML (Brandes et al. 2002, graphml.graphdrawing.org), as networkx, igraph, Gephi, Cytoscape and yEd read it.

One directed multigraph. Nodes are ``d0``, ``s0``, ``c0``, ...: the rows of documents, sections and concepts; the ids
of the graph are their attributes ``doc_id``, ``section_id``, ``concept_id``. ``kind`` says what a node or edge is (for
edges see ``kg.export.content``). Edges of kind ``related`` and ``same_as`` have no direction and stand once; they are
written as directed ones since networkx refuses a graph that has both. ``evidence`` is a sentence where the edge is
``asserted``, the kind of evidence where it is ``same_as``. Lists (authors, aliases) and details are JSON texts, for
GraphML has no lists. An attribute that a source leaves empty is left out.

XML 1.0 has no way to write most control characters, U+FFFE and U+FFFF: each becomes U+FFFD and is counted. The file is
written as a stream, row by row, and the same graph gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO, Any

from kg.export import content
from kg.lateral import LateralGraph
from kg.records import NOT_XML

_NODE = {
    "kind": "string", "label": "string", "doc_id": "string", "title": "string", "authors": "string", "year": "int",
    "venue": "string", "doi": "string", "field": "string", "details": "string", "section_id": "string",
    "heading": "string", "text": "string", "concept_id": "string", "type": "string", "aliases": "string",
    "n_sections": "int", "n_mentions": "int",
}  # fmt: skip
_EDGE = {
    "kind": "string", "weight": "double", "count": "int", "label": "string", "section_id": "string",
    "evidence": "string", "probability": "double",
}  # fmt: skip
_SCOPES = {"node": _NODE, "edge": _EDGE}
_LINES = 4096


def write_graphml(graph: LateralGraph, file: IO[bytes]) -> int:
    """Write the graph to ``file``; returns the number of characters that became U+FFFD."""
    xml = _Xml()
    lines: list[str] = []
    for line in _lines(graph, xml):
        lines.append(line)
        if len(lines) == _LINES:
            file.write("".join(lines).encode("utf-8"))
            lines.clear()
    file.write("".join(lines).encode("utf-8"))
    return xml.replaced


def _lines(graph: LateralGraph, xml: _Xml) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    for scope, attributes in _SCOPES.items():
        for name, kind in attributes.items():
            yield f'<key id="{_key(scope, name)}" for="{scope}" attr.name="{name}" attr.type="{kind}"/>\n'
    yield '<graph edgedefault="directed">\n'
    yield from _nodes(graph, xml)
    yield from _edges(graph, xml)
    yield "</graph>\n</graphml>\n"


def _nodes(graph: LateralGraph, xml: _Xml) -> Iterator[str]:
    for row, document in enumerate(content.rows(graph.documents.select(content.DOCUMENT_COLUMNS))):
        details = "" if document["details"] == "{}" else document["details"]
        given = {"kind": "document", "label": document["title"], **document, "details": details}
        yield xml.element("node", f'id="d{row}"', given)
    for row, section in enumerate(content.rows(graph.sections.select(content.SECTION_COLUMNS))):
        yield xml.element("node", f'id="s{row}"', {"kind": "section", "label": section["section_id"], **section})
    for row, concept in enumerate(content.rows(graph.concepts.select(content.CONCEPT_COLUMNS))):
        yield xml.element("node", f'id="c{row}"', {"kind": "concept", **concept})


def _edges(graph: LateralGraph, xml: _Xml) -> Iterator[str]:
    for section, document in enumerate(content.owners(graph)):
        yield xml.element("edge", f'source="d{document}" target="s{section}"', {"kind": "has"})
    for section, concept, count in content.entries(*content.mentions(graph)):
        yield xml.element("edge", f'source="s{section}" target="c{concept}"', {"kind": "mentions", "count": count})
    for first, second, weight in content.entries(*content.related(graph)):
        yield xml.element("edge", f'source="c{first}" target="c{second}"', {"kind": "related", "weight": weight})
    section_ids = graph.sections["section_id"].to_pylist()
    for batch in content.asserted(graph):
        for subject, object_, label, section, evidence, weight in zip(*batch.columns(), strict=True):
            given = {
                "kind": "asserted", "weight": weight, "label": label, "section_id": section_ids[section],
                "evidence": evidence,
            }  # fmt: skip
            yield xml.element("edge", f'source="c{subject}" target="c{object_}"', given)
    for first, second, probability, kind in content.entries(*content.same_as(graph)):
        given = {"kind": "same_as", "probability": probability, "evidence": kind}
        yield xml.element("edge", f'source="c{first}" target="c{second}"', given)


def _key(scope: str, name: str) -> str:
    return f"{scope[0]}_{name}"


class _Xml:
    """Writes elements and counts the characters that XML cannot hold."""

    def __init__(self) -> None:
        self.replaced = 0
        self._keys = {scope: {name: _key(scope, name) for name in names} for scope, names in _SCOPES.items()}

    def element(self, scope: str, attributes: str, given: dict[str, Any]) -> str:
        """A node or edge with the values that are not empty."""
        keys = self._keys[scope]
        data = (f'<data key="{keys[name]}">{self._text(v)}</data>' for name, v in given.items() if not _missing(v))
        return f"<{scope} {attributes}>{''.join(data)}</{scope}>\n"

    def _text(self, value: Any) -> str:
        if isinstance(value, int | float):
            return repr(value)
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if not text.isprintable():
            text, replaced = NOT_XML.subn("\ufffd", text)
            self.replaced += replaced
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#13;")


def _missing(value: Any) -> bool:
    return value is None or value == "" or value == []
