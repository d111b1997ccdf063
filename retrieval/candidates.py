"""What a ranking could hold: the ids of one unit, and how many of them a query may be shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kg.errors import InputError
from kg.lateral import LateralGraph
from retrieval.collection import Collection
from retrieval.measures import Qrels
from retrieval.queries import Query
from retrieval.retriever import Unit
from retrieval.visibility import Visibility

_BATCH = 64


class Candidates:
    """The sections of a graph, or its papers that have a section."""

    def __init__(self, graph: LateralGraph, unit: Unit) -> None:
        self._visibility = Visibility(graph)
        self._unit = unit
        sections: list[str] = graph.sections["section_id"].to_pylist()
        owner = graph.sections["document"].to_numpy().astype(np.int64)
        documents: list[str] = graph.documents["doc_id"].to_pylist()
        if unit == "section":
            names, rows = sections, np.arange(len(sections))
        else:
            held, rows = np.unique(owner, return_inverse=True)
            names = [documents[row] for row in held]
        self._row_of = {name: row for row, name in enumerate(names)}
        self._unit_of_section = torch.from_numpy(rows.reshape(-1))

    def __contains__(self, name: str) -> bool:
        return name in self._row_of

    def __len__(self) -> int:
        return len(self._row_of)

    def numbers(self, queries: Sequence[Query], qrels: Qrels) -> dict[str, int]:
        """Query id -> number of those it may be shown, and of those judged relevant that it may not, together."""
        counted: dict[str, int] = {}
        for start in range(0, len(queries), _BATCH):
            batch = queries[start : start + _BATCH]
            mask = self._visibility.rankable(batch)
            for number, query in enumerate(batch):
                visible = self._shown(None if mask is None else mask[number])
                relevant = _relevant(qrels.get(query.query_id, {}))
                hidden = sum(name not in self._row_of or not visible[self._row_of[name]] for name in relevant)
                counted[query.query_id] = int(visible.sum()) + hidden
        return counted

    def too_late(self, queries: Sequence[Query], qrels: Iterable[Qrels]) -> set[tuple[str, str]]:
        """(query, what any of ``qrels`` judges relevant to it) of what is later than the query's ``latest_year``."""
        judged = list(qrels)
        dated = [query for query in queries if query.latest_year is not None]
        found: set[tuple[str, str]] = set()
        for start in range(0, len(dated), _BATCH):
            batch = dated[start : start + _BATCH]
            mask = self._visibility.usable(batch)
            for number, query in enumerate(batch):
                visible = self._shown(None if mask is None else mask[number])
                for name in (name for own in judged for name in _relevant(own.get(query.query_id, {}))):
                    if name in self._row_of and not visible[self._row_of[name]]:
                        found.add((query.query_id, name))
        return found

    def remarks(self, collection: Collection) -> Iterator[str]:
        """What is judged and cannot be ranked: not in the graph, or later than the query allows.

        Raises:
            InputError: the graph holds nothing relevant of one of the splits.
        """
        for label, qrels in collection.qrels.items():
            relevant = {name for own in qrels.values() for name in _relevant(own)}
            absent = {name for name in relevant if name not in self}
            if absent == relevant:
                raise InputError(
                    f"The graph holds none of the {len(relevant):,} relevant {self._unit}s of {label}; give the graph "
                    "of its corpus, and the unit that its judgements are of."
                )
            if absent:
                yield (
                    f"{label}: {len(absent):,} of {len(relevant):,} relevant {self._unit}s are not in the graph or "
                    "have no text there; no method can find them."
                )
            judged = {name for own in qrels.values() for name in own}
            judged.update(
                name for query in collection.queries if query.query_id in qrels for name in query.candidates or ()
            )
            others = judged - relevant
            if lacking := sum(name not in self for name in others):
                yield (
                    f"{label}: {lacking:,} of {len(others):,} {self._unit}s that are judged and not relevant are not "
                    "in the graph or have no text there; they are neither ranked nor counted as candidates."
                )
        if late := self.too_late(collection.queries, collection.qrels.values()):
            yield (
                f"{collection.name}: {len(late):,} relevant {self._unit}s are later than their query's latest_year; "
                "they count as missed."
            )

    def _shown(self, mask: Tensor | None) -> NDArray[np.bool_]:
        """bool [units]: those with a section in ``mask`` (bool [sections]); all if None."""
        if mask is None:
            return np.ones(len(self), dtype=bool)
        shown = np.zeros(len(self), dtype=bool)
        shown[self._unit_of_section[mask].numpy()] = True
        return shown


def _relevant(judgements: Mapping[str, int]) -> list[str]:
    return [name for name, score in judgements.items() if score > 0]
