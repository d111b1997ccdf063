"""Looking into a graph: what it holds, one concept, some sections; plain values for printing and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kg.errors import InputError
from kg.lateral import LateralGraph
from kg.link_explanation import explain_joins, kept_apart, near_misses
from kg.names import name_form, name_key
from kg.venues import field_key, field_of_venue, find_journal, venue_key

Grouping = Literal["venue", "field", "year"]


def describe_graph(graph: LateralGraph, top_n: int) -> dict[str, Any]:
    """Counts, configuration, papers, and the ``top_n`` concepts that most sections hold."""
    documents = graph.documents.drop_columns(["content_hash", "details"]).to_pylist()
    order = pc.sort_indices(graph.concepts, [("n_sections", "descending"), ("concept_id", "ascending")])[
        : max(top_n, 0)
    ]
    return {
        "counts": graph.manifest["counts"],
        "configuration": graph.manifest["configuration"],
        "lateral_concepts": int((papers_per_concept(graph) > 1).sum()),
        "empty": [row["doc_id"] for row in documents if row["n_sections"] == 0],
        "concepts": graph.concepts.take(order).to_pylist(),
        "documents": documents,
    }


def papers_per_concept(graph: LateralGraph) -> np.ndarray:
    """Number of papers that mention each concept, int64 [concepts]."""
    paper_of = graph.sections["document"].to_numpy()
    pairs = np.stack([graph.mentions["concept"].to_numpy(), paper_of[graph.mentions["section"].to_numpy()]])
    return np.bincount(np.unique(pairs, axis=1)[0], minlength=graph.n_concepts)


def find_concept(graph: LateralGraph, name: str) -> int:
    """Row of the concept of that id or name (any alias). Raises ``InputError`` with near names when there is none."""
    ids, labels = graph.concepts["concept_id"].to_pylist(), graph.concepts["label"].to_pylist()
    if name in ids:
        return ids.index(name)
    if matches := concepts_called(graph, name):
        return matches[0]
    by_form = dict(zip(graph.concepts["form"].to_pylist(), labels, strict=True))
    close = [by_form[form] for form in get_close_matches(name_form(name), list(by_form), n=3)]
    hint = f"near names are {', '.join(map(repr, close))}." if close else "`evigraph info GRAPH` lists the largest."
    raise InputError(f"The graph holds no concept {name!r}; {hint}")


def concepts_called(graph: LateralGraph, name: str) -> list[int]:
    """Rows of the concepts of that name (any alias), those in most sections first."""
    key = name_key(name)
    ids, sections = graph.concepts["concept_id"], graph.concepts["n_sections"]
    keys = graph.concepts["keys"].combine_chunks()
    matches = pc.list_parent_indices(keys).filter(pc.equal(pc.list_flatten(keys), key)).to_pylist()
    return sorted(matches, key=lambda row: (sections[row].as_py(), ids[row].as_py()), reverse=True)


def describe_concept(graph: LateralGraph, name: str, top_n: int) -> dict[str, Any]:
    """One concept with its aliases and why they are one, its strongest neighbours, the sections that mention it most,
    the concepts that are nearly the same (``near_misses``; ``n_near_misses`` of them in all) or said not to be, and
    ``namesakes``: other concepts that are called ``name`` too.
    """
    row = find_concept(graph, name)
    neighbours, weights = row_of(graph.adjacency, row)
    sections, counts = row_of(graph.holders, row)
    near = near_misses(graph, row)
    others = [other for other in concepts_called(graph, name) if other != row]
    labels = graph.concepts["label"]
    best = np.lexsort((neighbours, -weights))[:top_n]
    most = np.lexsort((sections, -counts))[:top_n]
    ids = graph.sections["section_id"].take(pa.array(sections[most])).to_pylist()
    return graph.concepts.slice(row, 1).to_pylist()[0] | {
        "joins": [asdict(join) for join in explain_joins(graph, row)],
        "near_misses": [asdict(miss) for miss in near[: max(top_n, 0)]],
        "n_near_misses": len(near),
        "kept_apart": kept_apart(graph, row),
        "namesakes": [
            {key: own[key] for key in ("concept_id", "aliases", "n_sections")}
            for own in graph.concepts.take(pa.array(others, pa.int64())).to_pylist()
        ],
        "neighbours": [{"label": labels[int(neighbours[i])].as_py(), "weight": float(weights[i])} for i in best],
        "sections": section_rows(graph, ids),
    }


def row_of(matrix: Any, row: int) -> tuple[np.ndarray, np.ndarray]:
    """(columns, values) of one row of a sparse CSR tensor."""
    start, end = (int(p) for p in matrix.crow_indices()[row : row + 2])
    return matrix.col_indices()[start:end].cpu().numpy(), matrix.values()[start:end].cpu().numpy()


def section_numbers(graph: LateralGraph, section_ids: Sequence[str]) -> list[int]:
    """Rows of sections in the graph's table, in the given order. Raises ``InputError`` for an id that is not there."""
    rows = pc.index_in(pa.array(section_ids, pa.string()), graph.sections["section_id"].combine_chunks())
    if rows.null_count:
        unknown = section_ids[rows.is_null().index(True).as_py()]
        raise InputError(f"The graph holds no section {unknown!r}; a section id is a document's id, #, and a number.")
    numbers: list[int] = rows.to_pylist()
    return numbers


def section_rows(graph: LateralGraph, section_ids: Sequence[str]) -> list[dict[str, Any]]:
    """id, paper, heading and text of sections, in the given order. Raises ``InputError`` for an unknown id."""
    sections = graph.sections.take(pa.array(section_numbers(graph, section_ids), pa.int32()))
    papers = graph.documents.select(["doc_id", "title", "authors", "year", "venue"]).take(sections["document"])
    return [
        {"section_id": s["section_id"], **p, "heading": s["heading"], "text": s["text"]}
        for s, p in zip(sections.drop_columns(["document", "sha256"]).to_pylist(), papers.to_pylist(), strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Group:
    """Papers that share a venue, field or year; ``name`` is None for those that have none.

    ``concepts`` counts each concept once, however many of the papers mention it; the years are those of the oldest and
    the newest dated paper.
    """

    name: str | None
    papers: int
    sections: int
    concepts: int
    first_year: int | None
    last_year: int | None


def group_documents(graph: LateralGraph, by: Grouping) -> list[Group]:
    """The papers of a graph by venue or field, the group of most papers first, or by year, the newest first.

    Each paper is in one group; those without close the list of years. Spellings of one venue (``venues.venue_key``, and
    the names of a journal that ``venues`` knows) and of one field (case, spacing) are one group under the spelling most
    papers use, ties by code point. A paper's field is the one its source gives, else that of its journal.
    """
    named = list(_group_names(graph, by))
    number: dict[str, int] = {}
    of_paper = np.fromiter((number.setdefault(key, len(number)) for key, _ in named), np.int64, len(named))
    spellings = [Counter[str]() for _ in number]
    years: list[set[int]] = [set() for _ in number]
    for group, (_, name), year in zip(of_paper.tolist(), named, graph.documents["year"].to_pylist(), strict=True):
        spellings[group][name] += 1
        if year is not None:
            years[group].add(year)
    papers = np.bincount(of_paper, minlength=len(number))
    sections = np.bincount(of_paper, weights=graph.documents["n_sections"].to_numpy(), minlength=len(number))
    of_section = of_paper[graph.sections["document"].to_numpy()]
    pairs = of_section[graph.mentions["section"].to_numpy()] * graph.n_concepts + graph.mentions["concept"].to_numpy()
    concepts = np.bincount(np.unique(pairs) // max(graph.n_concepts, 1), minlength=len(number))
    groups = [
        Group(
            min(spellings[i], key=lambda name: (-spellings[i][name], name)) if key else None,
            int(papers[i]), int(sections[i]), int(concepts[i]),
            min(years[i], default=None), max(years[i], default=None),
        )
        for key, i in number.items()
    ]  # fmt: skip
    if by == "year":
        return sorted(groups, key=lambda group: (group.name is None, -(group.last_year or 0)))
    return sorted(groups, key=lambda group: (-group.papers, group.name is None, group.name or ""))


def _group_names(graph: LateralGraph, by: Grouping) -> Iterator[tuple[str, str]]:
    """(what papers of one group share, how this paper spells it), a paper at a time; ("", "") where it has none."""
    if by == "year":
        yield from (("", "") if year is None else (str(year),) * 2 for year in graph.documents["year"].to_pylist())
        return

    @cache
    def venue_name(venue: str) -> tuple[str, str]:
        journal = find_journal(venue)
        return venue_key(journal.name if journal else venue) or field_key(venue), venue.strip()

    @cache
    def field_name(field: str, venue: str) -> tuple[str, str]:
        field = field.strip() or field_of_venue(venue) or ""
        return field_key(field), field

    venues = graph.documents["venue"].to_pylist()
    if by == "venue":
        yield from map(venue_name, venues)
    else:
        yield from map(field_name, graph.documents["field"].to_pylist(), venues)
