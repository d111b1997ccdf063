"""Which sections a query may use, and which it may rank: years, exclusion lists and candidates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from torch import Tensor

from kg.lateral import LateralGraph
from retrieval.queries import Query


class Visibility:
    """Masks over the sections of one graph, on the CPU wherever the graph lies."""

    def __init__(self, graph: LateralGraph) -> None:
        self._owner = torch.from_numpy(graph.sections["document"].to_numpy().astype(np.int64))
        years = graph.documents["year"].fill_null(_NO_YEAR).to_numpy()
        self._years = torch.from_numpy(years.astype(np.int64))[self._owner]
        self._sections = {section_id: row for row, section_id in enumerate(graph.sections["section_id"].to_pylist())}
        self._documents = {doc_id: row for row, doc_id in enumerate(graph.documents["doc_id"].to_pylist())}

    def usable(self, queries: Sequence[Query]) -> Tensor | None:
        """bool [B, sections]: what may lead to others; None where that is everything for every query."""
        if all(query.latest_year is None for query in queries):
            return None
        limits = [_NO_LIMIT if query.latest_year is None else query.latest_year for query in queries]
        return self._years <= torch.tensor(limits)[:, None]

    def rankable(self, queries: Sequence[Query]) -> Tensor | None:
        """bool [B, sections]: what may stand in the ranking: ``usable``, candidates, not excluded; None if all may."""
        mask = self.usable(queries)
        if not any(query.excluded or query.candidates is not None for query in queries):
            return mask
        if mask is None:
            mask = torch.ones(len(queries), len(self._owner), dtype=torch.bool)
        for row, query in enumerate(queries):
            if query.candidates is not None:
                mask[row] &= self._named(query.candidates)
            if query.excluded:
                mask[row] &= ~self._named(query.excluded)
        return mask

    def _named(self, ids: Iterable[str]) -> Tensor:
        """bool [sections]: those whose own id, or whose paper's, is among ``ids``."""
        sections = [self._sections[i] for i in ids if i in self._sections]
        documents = [self._documents[i] for i in ids if i in self._documents]
        of_papers = torch.zeros(len(self._documents), dtype=torch.bool)
        of_papers[torch.tensor(documents, dtype=torch.long)] = True
        named = of_papers[self._owner]
        named[torch.tensor(sections, dtype=torch.long)] = True
        return named


_NO_YEAR = -(2**31)
_NO_LIMIT = 2**31
