"""What a ranking could hold: the ids of one unit, and how many of them a query may be shown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from kg.lateral import LateralGraph
from retrieval.measures import Qrels
from retrieval.queries import Query
from retrieval.retriever import Unit
from retrieval.visibility import Visibility

_BATCH = 64


class Candidates:
    """The sections of a graph, or its papers that have a section."""

    def __init__(self, graph: LateralGraph, unit: Unit) -> None:
        self._visibility = Visibility(graph)
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
                visible = np.ones(len(self), dtype=bool)
                if mask is not None:
                    visible[:] = False
                    visible[self._unit_of_section[mask[number]].numpy()] = True
                relevant = [name for name, score in qrels.get(query.query_id, {}).items() if score > 0]
                hidden = sum(name not in self._row_of or not visible[self._row_of[name]] for name in relevant)
                counted[query.query_id] = int(visible.sum()) + hidden
        return counted
