"""What a concept is coloured by: the field of the papers that mention it, or its cluster among those shown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from kg.communities import partition
from kg.inspect import row_of
from kg.lateral import LateralGraph
from kg.venues import field_key, field_of_venue


def paper_fields(graph: LateralGraph) -> tuple[np.ndarray, list[str]]:
    """(numbers int64 [documents], names): the field that each paper states, else its venue's; name 0 is "" (unknown).

    Fields with one ``field_key`` are one, named as the least of its spellings.
    """
    stated = graph.documents["field"].combine_chunks().dictionary_encode()
    venues = graph.documents["venue"].combine_chunks().dictionary_encode()
    own = np.asarray([" ".join(name.split()) for name in stated.dictionary.to_pylist()], dtype=object)
    known = np.asarray([field_of_venue(name) or "" for name in venues.dictionary.to_pylist()], dtype=object)
    if not graph.n_documents:
        return np.zeros(0, dtype=np.int64), [""]
    names = own[stated.indices.to_numpy()]
    names = np.where(names == "", known[venues.indices.to_numpy()], names)
    spelled: dict[str, str] = {}
    for name in sorted(set(names)):
        spelled.setdefault(field_key(name), name)
    order = ["", *sorted(name for name in spelled.values() if name)]
    number = {field_key(name): n for n, name in enumerate(order)}
    return np.asarray([number[field_key(name)] for name in names], dtype=np.int64), order


def concept_fields(
    graph: LateralGraph, sections: np.ndarray, field_of: np.ndarray, names: Sequence[str]
) -> tuple[str, int]:
    """(field, papers) of a concept that ``sections`` mention: the field of most of its papers, ties by name.

    ``field_of`` and ``names`` are ``paper_fields``'; papers of unknown field count only where no other is known.
    """
    papers = np.unique(graph.sections["document"].to_numpy()[sections])
    counts = np.bincount(field_of[papers], minlength=len(names))
    counts[0] = 0
    return (names[int(counts.argmax())] if counts.any() else ""), len(papers)


def communities(graph: LateralGraph, rows: Sequence[int]) -> dict[int, int]:
    """Clusters of the relations among ``rows``, as ``kg.communities`` finds them; -1 for one without a relation."""
    own = np.asarray(rows, dtype=np.int64)
    if not len(own):
        return {}
    parts = [row_of(graph.adjacency, row) for row in rows]
    place = {row: n for n, row in enumerate(rows)}
    pairs = [
        (n, place[int(c)], float(w))
        for n, part in enumerate(parts)
        for c, w in zip(*part, strict=True)
        if int(c) in place
    ]
    i, j, weights = np.asarray(pairs, dtype=np.float64).reshape(-1, 3).T
    shape = (len(own), len(own))
    adjacency = sparse.csr_matrix((weights, (i.astype(np.int64), j.astype(np.int64))), shape=shape)
    adjacency.sort_indices()
    found = partition(adjacency, [graph.concepts["concept_id"][int(row)].as_py() for row in own])
    return {row: int(number) for row, number in zip(rows, found.of, strict=True)}
