"""The graph in RDF as N-Triples, which every reader of Turtle reads too: one triple per line, for bulk loading.

The same triples as ``rdf`` writes as JSON-LD, read off the same node objects; the same graph gives the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import count
from typing import IO, Any

from kg.export.rdf import CONTEXT, Node, nodes
from kg.lateral import LateralGraph

_RDF: str = CONTEXT["rdf"]
_ESCAPED = re.compile('[\x00-\x1f"\\\\\x7f-\x9f\u2028\u2029]')
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


def write_ntriples(graph: LateralGraph, file: IO[bytes]) -> None:
    """Write the graph to ``file``; nodes without an IRI are numbered in the order in which they are written."""
    numbers = count()
    for node in nodes(graph):
        triples: list[str] = []
        _subject(node, triples, lambda: f"_:b{next(numbers)}")
        file.write("".join(triples).encode("utf-8"))


def _subject(node: Node, triples: list[str], blank: Callable[[], str]) -> str:
    """Add the triples of a node and of all inside it; returns what stands for it in a triple."""
    subject = f"<{_expanded(node['@id'])}>" if "@id" in node else blank()
    for key, value in node.items():
        if key == "@type":
            triples.append(f"{subject} <{_RDF}type> <{_expanded(value)}> .\n")
        elif key != "@id":
            term = CONTEXT[key]
            rule = term if isinstance(term, dict) else {"@id": term}
            objects = [_object(one, rule, triples, blank) for one in (value if isinstance(value, list) else [value])]
            if rule.get("@container") == "@list":
                objects = [_list(objects, triples, blank)]
            triples.extend(f"{subject} <{_expanded(rule['@id'])}> {one} .\n" for one in objects)
    return subject


def _object(value: Any, rule: Node, triples: list[str], blank: Callable[[], str]) -> str:
    if isinstance(value, dict):
        return _subject(value, triples, blank)
    kind = rule.get("@type")
    if kind == "@id":
        return f"<{_expanded(value)}>"
    literal = f'"{_ESCAPED.sub(_escape, value)}"'
    return f"{literal}^^<{_expanded(kind)}>" if kind else literal


def _list(objects: list[str], triples: list[str], blank: Callable[[], str]) -> str:
    """An RDF list, last cell first."""
    rest = f"<{_RDF}nil>"
    for one in reversed(objects):
        cell = blank()
        triples += [f"{cell} <{_RDF}first> {one} .\n", f"{cell} <{_RDF}rest> {rest} .\n"]
        rest = cell
    return rest


def _expanded(name: str) -> str:
    prefix, _, local = name.partition(":")
    return name if local.startswith("//") else f"{CONTEXT[prefix]}{local}"


def _escape(match: re.Match[str]) -> str:
    return _SHORT.get(match[0]) or f"\\u{ord(match[0]):04X}"
