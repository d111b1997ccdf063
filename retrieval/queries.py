"""What is asked: a text, and what an answer may not use or show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kg.errors import InputError


@dataclass(frozen=True)
class Query:
    """A question with its id.

    ``latest_year``: papers of later years are neither ranked nor used to find others; those of that year, and those
    without one, are (MetaSyn 5.1). ``excluded``: ids of sections or papers that are not ranked, but may lead to others;
    ids that the graph does not hold are allowed. ``candidates``: ids of sections or papers that alone are ranked, while
    all others may still lead to them, as where each review has its own search result; None: all; ids that the graph
    does not hold are allowed.
    """

    query_id: str
    text: str
    latest_year: int | None = None
    excluded: frozenset[str] = field(default_factory=frozenset)
    candidates: frozenset[str] | None = None


def as_queries(queries: Sequence[Query | str]) -> list[Query]:
    """Queries with ids; a text alone gets its place, from 0, as its id.

    Raises:
        InputError: one string instead of a sequence, or an id that is used twice.
    """
    if isinstance(queries, str):
        raise InputError("Retrieval takes a sequence of queries; put the one query into a list.")
    made = [query if isinstance(query, Query) else Query(str(n), query) for n, query in enumerate(queries)]
    seen: set[str] = set()
    for query in made:
        if query.query_id in seen:
            raise InputError(f"Two queries have the id {query.query_id!r}; give each its own.")
        seen.add(query.query_id)
    return made
