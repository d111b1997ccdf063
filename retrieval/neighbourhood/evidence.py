"""The words behind a picture or a path: where a section names a concept, and the sentence that relates two of them.

Where an extractor or co-occurrence asserted a relation, the graph keeps the sentence (``relations``). Of several, the
one is shown that names both concepts, says how they are related, and stands in a section the reader has before them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import regex

from kg.cooccurrence import LABEL
from kg.lateral import LateralGraph
from kg.sectioning import Span, sentence_spans

_TRIED = 64
"""Assertions of one relation that are looked at, best first, for a sentence that names both ends."""
_EDGE = r"[\p{L}\p{N}\p{M}--[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]]"
"""Characters that continue a word in scripts that put spaces between words."""


@dataclass(frozen=True)
class Evidence:
    """A sentence of a section (its row): characters [start, end) of the text, or start -1 for its heading or title.

    ``marks`` are spans of ``text`` that name the concepts in question.
    """

    section: int
    start: int
    end: int
    text: str
    marks: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Assertion:
    """How two concepts are related: ``label`` from ``subject`` to ``object``; co-occurrence has no direction.

    ``sections`` counts the sections that assert any relation between the two.
    """

    subject: int
    object: int
    label: str
    directed: bool
    sections: int
    evidence: Evidence


class Sentences:
    """Sentences and mentions of one graph's sections, each section read once."""

    def __init__(self, graph: LateralGraph) -> None:
        self._graph = graph
        self._owner = graph.mentions["section"].to_numpy()
        self._surfaces: dict[int, dict[int, list[str]]] = {}
        self._spans: dict[int, list[Span]] = {}

    def mentions(self, section: int, concept: int) -> list[Span]:
        """[start, end) of each place where the text of a section names a concept, in order, without overlaps."""
        return find_names(self._text(section), self._names(section).get(concept, []))

    def naming(self, section: int, concepts: Sequence[int]) -> Evidence | None:
        """The first sentence of a section that names all ``concepts``, else its heading or title; else None."""
        text = self._text(section)
        found = [self.mentions(section, concept) for concept in concepts]
        if all(found):
            for start, end in self._sentences(section):
                if all(any(start <= s and e <= end for s, e in own) for own in found):
                    return self._evidence(section, start, end, text[start:end], concepts)
        for lead in (self._graph.sections["heading"][section].as_py(), self._title(section)):
            if lead and all(find_names(lead, self._names(section).get(c, [])) for c in concepts):
                return self._evidence(section, -1, -1, lead, concepts)
        return None

    def asserted(self, section: int, start: int, end: int, concepts: Sequence[int]) -> Evidence:
        """Characters [start, end) of a section as evidence; start -1 stands for its heading or title."""
        if start < 0:
            heading, title = self._graph.sections["heading"][section].as_py(), self._title(section)
            named = self.naming(section, concepts)
            if named is not None and named.start < 0:
                return named
            return self._evidence(section, -1, -1, " · ".join(filter(None, (title, heading))), concepts)
        return self._evidence(section, start, end, self._text(section)[start:end], concepts)

    def names_both(self, evidence: Evidence, one: int, other: int) -> int:
        """2 where the sentence names both concepts, each apart from the other; 1 where one name is in the other."""
        names = self._names(evidence.section)
        first, second = (find_names(evidence.text, names.get(concept, [])) for concept in (one, other))
        apart = any(a[1] <= b[0] or b[1] <= a[0] for a in first for b in second)
        return 2 if apart else int(bool(first and second))

    def _evidence(self, section: int, start: int, end: int, text: str, concepts: Sequence[int]) -> Evidence:
        names = [name for concept in concepts for name in self._names(section).get(concept, [])]
        return Evidence(section, start, end, text, tuple(find_names(text, names)))

    def _text(self, section: int) -> str:
        return str(self._graph.sections["text"][section].as_py())

    def _title(self, section: int) -> str:
        return str(self._graph.documents["title"][self._graph.sections["document"][section].as_py()].as_py())

    def _sentences(self, section: int) -> list[Span]:
        if section not in self._spans:
            self._spans[section] = sentence_spans(self._text(section))
        return self._spans[section]

    def _names(self, section: int) -> dict[int, list[str]]:
        """Spellings of each concept that the section uses."""
        if section not in self._surfaces:
            first, last = np.searchsorted(self._owner, [section, section + 1])
            rows = self._graph.mentions.slice(int(first), int(last - first))
            own: dict[int, list[str]] = {}
            for concept, name in zip(rows["concept"].to_pylist(), rows["surface"].to_pylist(), strict=True):
                own.setdefault(concept, []).append(name)
            self._surfaces[section] = own
        return self._surfaces[section]


def find_names(text: str, names: Sequence[str]) -> list[Span]:
    """Where ``text`` holds one of ``names`` as whole words, longest first; case counts unless nothing fits with it."""
    words = [name.split() for name in sorted(names, key=len, reverse=True)]
    pieces = [r"\s+".join(map(regex.escape, own)) for own in words if own]
    if not pieces:
        return []
    pattern = rf"(?V1)(?<!{_EDGE})(?:{'|'.join(pieces)})(?!{_EDGE})"
    exact = [match.span() for match in regex.finditer(pattern, text)]
    return exact or [match.span() for match in regex.finditer(pattern, text, flags=regex.IGNORECASE)]


def find_assertions(
    graph: LateralGraph, pairs: Collection[tuple[int, int]], shown: Collection[int], sentences: Sentences
) -> dict[tuple[int, int], Assertion]:
    """How each pair of concepts (smaller row first) is related, by the best sentence for it.

    ``shown`` are rows of sections that the reader sees anyway: their sentences come first among equals.
    """
    inside = np.zeros(graph.n_concepts, dtype=bool)
    inside[[concept for pair in pairs for concept in pair]] = True
    subject, object_ = (graph.relations[name].to_numpy() for name in ("subject", "object"))
    rows = np.flatnonzero(inside[subject] & inside[object_])
    grouped: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for row in graph.relations.take(pa.array(rows)).to_pylist():
        grouped.setdefault((min(row["subject"], row["object"]), max(row["subject"], row["object"])), []).append(row)
    return {pair: _best(grouped[pair], frozenset(shown), sentences) for pair in sorted(pairs) if pair in grouped}


def _best(rows: list[dict[str, Any]], shown: frozenset[int], sentences: Sentences) -> Assertion:
    """What is asserted in words before mere co-occurrence, text before headings, a sentence that names both before one
    that does not."""
    tried = sorted(
        rows,
        key=lambda row: (
            row["label"] == LABEL, row["start"] < 0, row["section"] not in shown, row["end"] - row["start"],
            row["section"], row["label"], row["subject"],
        ),
    )[:_TRIED]  # fmt: skip
    best, evidence, named = tried[0], None, 0
    for row in tried:
        both = (row["subject"], row["object"])
        own = sentences.asserted(row["section"], row["start"], row["end"], both)
        if evidence is None or sentences.names_both(own, *both) > named:
            best, evidence, named = row, own, sentences.names_both(own, *both)
        if named == 2:
            break
    if not named:
        evidence = sentences.naming(best["section"], (best["subject"], best["object"])) or evidence
    assert evidence is not None  # ``rows`` are never empty
    return Assertion(
        best["subject"], best["object"], best["label"], best["label"] != LABEL,
        len({row["section"] for row in rows}), evidence,
    )  # fmt: skip
