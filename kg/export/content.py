"""What an export holds, whatever its format: rows of a graph, ready to be written one after another.

Nodes are the rows of the graph's tables. Edges are of five kinds:

- ``has``: document -> section
- ``mentions``: section -> concept, with the number of mentions
- ``related``: concept - concept, undirected, once per pair, with the weight of the diffusion graph (``kg.assemble``)
- ``asserted``: concept -> concept, what a section says of the two: label, section, evidence sentence and weight.
  A relation read off co-occurrence ("occurs with") has no direction; it stands from the smaller row to the larger.
- ``same_as``: concept - concept, undirected, once per pair that may be one and was not joined (``kg.merge``), with the
  probability that it is, and the kind of evidence (``kg.evidence``) of the likeliest pair of their names

What only the making of a graph needs (normalised names, hashes, the spelling behind each mention) is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kg.lateral import LateralGraph
from kg.records import split_section_id

DOCUMENT_COLUMNS = ("doc_id", "title", "authors", "year", "venue", "doi", "field", "details", "n_sections")
SECTION_COLUMNS = ("section_id", "heading", "text")
CONCEPT_COLUMNS = ("concept_id", "label", "type", "aliases", "n_sections", "n_mentions")
_BATCH = 65_536


@dataclass(frozen=True)
class Asserted:
    """A stretch of the relations: one entry per relation; ends and sections are rows of their tables."""

    subject: list[int]
    object: list[int]
    label: list[str]
    section: list[int]
    evidence: list[str]
    weight: list[float]

    def columns(self) -> tuple[list[int], list[int], list[str], list[int], list[str], list[float]]:
        """All of them, in the order above."""
        return self.subject, self.object, self.label, self.section, self.evidence, self.weight


def counts(graph: LateralGraph) -> dict[str, int]:
    """Nodes and edges of an export by kind."""
    return {
        "documents": graph.n_documents,
        "sections": graph.n_sections,
        "concepts": graph.n_concepts,
        "has": graph.n_sections,
        "mentions": int(graph.incidence.values().numel()),
        "related": graph.n_edges,
        "asserted": int(graph.relations.num_rows),
        "same_as": int(graph.same_as.values().numel()) // 2,
    }


def rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    """The rows of a table as dictionaries, a batch of them in memory at a time."""
    for batch in table.to_batches(max_chunksize=_BATCH):
        yield from batch.to_pylist()


def owners(graph: LateralGraph) -> list[int]:
    """The document row of each section."""
    owner: list[int] = graph.sections["document"].to_pylist()
    return owner


def mentions(graph: LateralGraph) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(section, concept, count) of every pair that has mentions, int64 [mentions] each, by section, then concept."""
    section, concept, count = _entries(graph.incidence)
    return section, concept, count.astype(np.int64)


def related(graph: LateralGraph) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(u, v, weight) of every edge of the diffusion graph once, u < v: int64, int64, float32 [edges]."""
    return _once(graph.adjacency)


def asserted(graph: LateralGraph) -> Iterator[Asserted]:
    """All relations in the order of their table, with the sentences they rest on."""
    evidence = _Evidence(graph)
    for batch in graph.relations.to_batches(max_chunksize=_BATCH):
        spans = (batch[name].to_pylist() for name in ("section", "start", "end"))
        yield Asserted(
            batch["subject"].to_pylist(),
            batch["object"].to_pylist(),
            batch["label"].to_pylist(),
            batch["section"].to_pylist(),
            [evidence(*span) for span in zip(*spans, strict=True)],
            decimals(batch["weight"]),
        )


def same_as(graph: LateralGraph) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(u, v, probability, evidence) of every two concepts that may be one, u < v: int64, int64, float32, str [links].

    Evidence is that of their likeliest pair of names; of pairs equally likely, of the first by name of u, then of v.
    """
    u, v, probability = _once(graph.same_as)
    links = graph.links
    left, right = (links[side].to_numpy().astype(np.int64) for side in ("left", "right"))
    n = graph.n_concepts
    pair = np.minimum(left, right) * n + np.maximum(left, right)
    along = pa.array(left < right)
    ranked = pa.table(
        {
            "pair": pair,
            "probability": links["probability"],
            "of_u": pc.if_else(along, links["left_name"], links["right_name"]),
            "of_v": pc.if_else(along, links["right_name"], links["left_name"]),
        }
    )
    keys = [(name, "descending" if name == "probability" else "ascending") for name in ranked.column_names]
    row = pc.sort_indices(ranked, sort_keys=keys).to_numpy()
    best = row[np.searchsorted(pair[row], u * n + v)]  # the first of the rows of its pair
    kind = links["evidence"].combine_chunks()
    words = np.asarray(kind.dictionary.to_pylist(), dtype=object)
    return u, v, probability, words[kind.indices.to_numpy()[best]]


def entries(*columns: np.ndarray) -> Iterator[tuple[Any, ...]]:
    """The rows of columns as Python values, float32 as ``decimals``; a batch of them in memory at a time."""
    for start in range(0, len(columns[0]), _BATCH):
        parts = [column[start : start + _BATCH] for column in columns]
        yield from zip(*(decimals(p) if p.dtype == np.float32 else p.tolist() for p in parts), strict=True)


def decimals(values: pa.Array | np.ndarray) -> list[float]:
    """float32 values as the shortest decimals that name them: .1, not .10000000149011612."""
    return [float(text) for text in pc.cast(pa.array(values, pa.float32()), pa.string()).to_pylist()]


def _once(matrix: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(u, v, value) of a symmetric sparse CSR tensor, u < v, by u: int64, int64, float32."""
    u, v, value = _entries(matrix)
    once = u < v
    return u[once], v[once], value[once]


def _entries(matrix: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(row, column, value) of a sparse CSR tensor, row by row: int64, int64, float32."""
    pointers = matrix.crow_indices().cpu().numpy().astype(np.int64)
    row = np.repeat(np.arange(len(pointers) - 1), np.diff(pointers))
    return row, matrix.col_indices().cpu().numpy().astype(np.int64), matrix.values().cpu().numpy()


class _Evidence:
    """Looks sentences up; a sentence is cut out once where many relations in a row rest on it."""

    def __init__(self, graph: LateralGraph) -> None:
        self._graph = graph
        self._section = -1
        self._text = ""
        self._sentences: dict[tuple[int, int], str] = {}

    def __call__(self, section: int, start: int, end: int) -> str:
        if section != self._section:
            self._section, self._sentences = section, {}
            self._text = self._graph.sections["text"][section].as_py()
        if (start, end) not in self._sentences:
            self._sentences[start, end] = self._text[start:end] if start >= 0 else self._lead()
        return self._sentences[start, end]

    def _lead(self) -> str:
        """Title, in a paper's first section, and heading: what sentence -1 stands for (``records.Section``)."""
        section = self._graph.sections.slice(self._section, 1).to_pylist()[0]
        first = split_section_id(section["section_id"])[1] == 0
        title = self._graph.documents["title"][section["document"]].as_py() if first else ""
        return "\n".join(piece for piece in ("" if title == self._text else title, section["heading"]) if piece)
