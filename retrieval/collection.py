"""A test collection: what is asked of a corpus, which answers are right, and which may be given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from kg.errors import InputError
from kg.records import encode_id
from retrieval.beir import read_excluded, read_groups, read_latest_years, read_qrels, read_queries, splits
from retrieval.measures import Qrels
from retrieval.queries import Query


@dataclass(frozen=True)
class Collection:
    """Queries with their judgements, each split under a name of its own.

    ``queries`` are those of all splits, each once. ``qrels``: name -> judgements, the name being the collection's, or
    ``collection.split`` where there are several splits. ``remarks``: what was left out, one sentence each.
    """

    name: str
    queries: tuple[Query, ...]
    qrels: Mapping[str, Qrels]
    splits: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    groups: Mapping[str, int] | None = None
    """Query id -> number of its cluster, where the queries' own field ``cluster_by`` says it."""
    cluster_by: str | None = None


@dataclass(frozen=True)
class Selection:
    """What of a BEIR folder is taken.

    ``splits``: all if empty. ``limit``: the first queries of each split. ``score_column``: as in ``read_qrels``.
    ``years``: queries have their ``latest_year``. ``cluster_by``: a field of the queries; those with the same value are
    one cluster. If None, those that share relevant documents are. ``judged_only``: a query's candidates are all that
    the chosen splits hold a judgement of for it, whatever the judgement.
    """

    splits: tuple[str, ...] = ()
    limit: int | None = None
    score_column: int = 3
    years: bool = False
    cluster_by: str | None = None
    judged_only: bool = False


def read_collection(folder: Path, selection: Selection = Selection(), excluded: Path | None = None) -> Collection:
    """Read a BEIR folder without its corpus; ``excluded`` is a file for ``read_excluded``.

    Queries without a relevant document are left out, as no measure tells anything of them.

    Raises:
        InputError: what ``retrieval.beir`` refuses; a judged query without a text; years or a field asked for where no
            query has one; ``judged_only`` and a split without a judgement of 0 or less; nothing left to ask.
    """
    if selection.limit is not None and selection.limit < 1:
        raise InputError(f"The limit is {selection.limit} queries; take 1 or more.")
    name = encode_id(folder.resolve().name)
    chosen = tuple(dict.fromkeys(selection.splits)) or tuple(splits(folder))
    if not chosen:
        raise InputError(f"{folder} has no judgements; put them into qrels/<split>.tsv.")
    texts = read_queries(folder)
    remarks: list[str] = []
    qrels: dict[str, Qrels] = {}
    judgements: list[Qrels] = []
    for split in chosen:
        label = name if len(chosen) == 1 else f"{name}.{encode_id(split)}"
        judged = read_qrels(folder, split, score_column=selection.score_column)
        if lacking := [query for query in judged if query not in texts]:
            raise InputError(
                f"{len(lacking):,} judged queries of {label} have no text in {folder / 'queries.jsonl'}, "
                f"{lacking[0]} first; add them there, or take them out of the judgements."
            )
        useful = {query: own for query, own in judged.items() if any(score > 0 for score in own.values())}
        if not useful:
            raise InputError(f"{label} has no query with a relevant document; choose another split or score column.")
        if selection.judged_only and all(score > 0 for own in judged.values() for score in own.values()):
            raise InputError(
                f"{label} has no judgement of 0 or less, so that every candidate would be relevant and every ranking "
                "perfect; leave --judged_only out, or choose another split or score column."
            )
        judgements.append(judged)
        if len(useful) < len(judged):
            remarks.append(f"{label}: {len(judged) - len(useful):,} queries without a relevant document are left out.")
        qrels[label] = dict(islice(useful.items(), selection.limit))
        if len(qrels[label]) < len(useful):
            remarks.append(f"{label}: the first {len(qrels[label]):,} of {len(useful):,} queries are asked.")
    asked = {query for own in qrels.values() for query in own}
    years = _years(folder, asked, name, remarks) if selection.years else {}
    barred = _excluded(excluded, qrels, name, remarks) if excluded is not None else {}
    candidates = _candidates(judgements, qrels, name, remarks) if selection.judged_only else {}
    queries = tuple(
        Query(query, text, years.get(query), barred.get(query, frozenset()), candidates.get(query))
        for query, text in texts.items()
        if query in asked
    )
    groups = None if selection.cluster_by is None else _groups(folder, asked, selection.cluster_by, name, remarks)
    return Collection(name, queries, qrels, chosen, tuple(remarks), groups, selection.cluster_by)


def read_collections(
    folders: Sequence[Path], selection: Selection = Selection(), excluded: Sequence[Path] = ()
) -> list[Collection]:
    """``read_collection`` of each; ``excluded``: none, or a file per folder. ``InputError`` for clashing names."""
    if excluded and len(excluded) != len(folders):
        raise InputError(f"There are {len(excluded)} files of excluded ids for {len(folders)} folders; give one each.")
    paths: Sequence[Path | None] = excluded or [None] * len(folders)
    made = [read_collection(folder, selection, path) for folder, path in zip(folders, paths, strict=True)]
    names = [collection.name for collection in made]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"Two folders are called {twice}; rename one, as results go by that name.")
    if "lock" in names:
        raise InputError("A folder is called lock, as a file among the results is; rename it.")
    labels = [label for collection in made for label in collection.qrels]
    if twice := next((label for label in labels if labels.count(label) > 1), None):
        raise InputError(f"A split of one folder and another folder are both called {twice}; rename the folder.")
    return made


def _years(folder: Path, asked: set[str], name: str, remarks: list[str]) -> dict[str, int]:
    years = {query: year for query, year in read_latest_years(folder).items() if query in asked}
    if not years:
        raise InputError(f"No query of {folder} has a latest_year; leave --years out.")
    if lacking := len(asked) - len(years):
        remarks.append(
            f"{name}: {lacking:,} of {len(asked):,} queries have no latest_year and see papers of all years."
        )
    return years


def _groups(folder: Path, asked: set[str], field: str, name: str, remarks: list[str]) -> dict[str, int]:
    values = {query: value for query, value in read_groups(folder, field).items() if query in asked}
    if not values:
        raise InputError(f"No query of {folder} has a field {field}; leave --cluster_by out, or name another.")
    if lacking := len(asked) - len(values):
        remarks.append(f"{name}: {lacking:,} of {len(asked):,} queries have no {field}; each is a cluster of its own.")
    numbers: dict[tuple[str, str], int] = {}
    keys = {query: ("value", values[query]) if query in values else ("query", query) for query in sorted(asked)}
    return {query: numbers.setdefault(key, len(numbers)) for query, key in keys.items()}


def _candidates(
    judgements: Sequence[Qrels], qrels: Mapping[str, Qrels], name: str, remarks: list[str]
) -> dict[str, frozenset[str]]:
    """Of each query of ``qrels``, the documents that any of ``judgements`` judges for it."""
    judged: dict[str, set[str]] = {query: set() for own in qrels.values() for query in own}
    for query, documents in judged.items():
        for split in judgements:
            documents.update(split.get(query, {}))
    sizes = [len(documents) for documents in judged.values()]
    remarks.append(
        f"{name}: each query ranks only the documents that have a judgement for it, "
        f"{min(sizes):,} at the least and {max(sizes):,} at the most."
    )
    for label, own in qrels.items():
        certain = sum(all(of_query.get(d, 0) > 0 for d in judged[query]) for query, of_query in own.items())
        if certain:
            remarks.append(f"{label}: {certain:,} of {len(own):,} queries have only relevant candidates.")
    return {query: frozenset(documents) for query, documents in judged.items()}


def _excluded(path: Path, qrels: Mapping[str, Qrels], name: str, remarks: list[str]) -> dict[str, frozenset[str]]:
    excluded = read_excluded(path)
    asked = {query for own in qrels.values() for query in own}
    if not asked & excluded.keys():
        raise InputError(f"{path} excludes nothing for any query of {name}; is it the file of another folder?")
    lost = {
        (query, document)
        for own in qrels.values()
        for query, judged in own.items()
        for document, score in judged.items()
        if score > 0 and document in excluded.get(query, ())
    }
    if lost:
        remarks.append(
            f"{name}: {len(lost):,} relevant documents are excluded from the rankings; they count as missed."
        )
    return excluded
