"""The rankings that an experiment (``retrieval.experiment``) has left, found by collection and method."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kg.errors import InputError
from retrieval.batch import missing, read_progress
from retrieval.queries import Query
from retrieval.ranking import Ranking
from retrieval.trec import Run, read_run


@dataclass(frozen=True)
class StoredRun:
    """One method's run. ``path``: its TREC file. ``state``: where ``retrieval.batch`` keeps what was asked, with
    ``configuration``, which is None where nothing is kept.
    """

    path: Path
    state: Path
    configuration: Mapping[str, Any] | None


def stored_runs(out: Path, collection: str) -> dict[str, StoredRun]:
    """Method -> ``out/runs/COLLECTION.METHOD.trec``, methods sorted; their names hold no dot."""
    names = {path.stem.removeprefix(f"{collection}."): path for path in (out / "runs").glob("*.trec")}
    found = {}
    for method, path in sorted(names.items()):
        if path.stem == f"{collection}.{method}" and "." not in method:
            state = out / "state" / collection / method
            found[method] = StoredRun(path, state, stored_configuration(state))
    return found


def chosen_runs(out: Path, collection: str, methods: Sequence[str], reference: str) -> dict[str, StoredRun]:
    """The runs of ``reference``, first, and of ``methods``, of all if none is named.

    Raises:
        InputError: no run of the collection; none of the reference or of one of the methods; one that ranks sections.
    """
    found = stored_runs(out, collection)
    if not found:
        raise InputError(
            f"There is no run of {collection} in {out / 'runs'}; make some with scripts/evaluate_retrieval.py, or name "
            "the folder that they are of."
        )
    those = f"there are those of {', '.join(found)}"
    if reference not in found:
        raise InputError(f"{out} has no run of the reference {reference!r} for {collection}; {those}.")
    for method in methods:
        if method not in found:
            raise InputError(f"{out} has no run of the method {method!r} for {collection}; {those}.")
    chosen = {method: found[method] for method in (reference, *(methods or found))}
    described = _described(out, collection)
    for method, run in chosen.items():
        unit = (run.configuration or described.get(method, {})).get("unit", "document")
        if unit != "document":
            raise InputError(
                f"{run.path} ranks {unit}s, and only runs over documents are explained; ask {collection} with "
                "--unit document and another --out, and explain that."
            )
    return chosen


def read_stored_run(stored: StoredRun, queries: Sequence[Query]) -> Run:
    """The run, which ranks for each of ``queries`` only what it lets; empty where the state says that nothing was
    found, of which a TREC file has no line.

    Raises:
        InputError: as ``read_run``; a query that was not asked, or with a ranking that holds what it excludes or what
            is no candidate of it.
    """
    path, run = stored.path, read_run(stored.path)
    lacking = [query.query_id for query in queries if query.query_id not in run]
    if lacking and stored.configuration is not None:
        asked = read_progress(stored.state, stored.configuration).run
        empty = {query: Ranking((), ()) for query in lacking if query in asked and not asked[query].ids}
        run |= empty
        lacking = [query for query in lacking if query not in empty]
    if lacking:
        raise InputError(
            f"{path} ranks nothing for {len(lacking):,} of {len(queries):,} judged queries, {lacking[0]} first; ask "
            "them with scripts/evaluate_retrieval.py, or name the --split and --limit that were asked."
        )
    for query in queries:
        if barred := query.excluded.intersection(run[query.query_id].ids):
            raise InputError(
                f"{path} ranks {min(barred)} for query {query.query_id}, which excludes it; give the file of excluded "
                "ids that the run was made with, or none."
            )
        if query.candidates is not None and (others := set(run[query.query_id].ids) - query.candidates):
            raise InputError(
                f"{path} ranks {min(others)} for query {query.query_id}, which has no judgement of it; leave "
                "--judged_only out, or name the --split that the run was made with."
            )
    return run


def asked_alike(stored: StoredRun, queries: Sequence[Query]) -> bool | None:
    """Whether those of ``queries`` that were asked were asked with these texts, years, exclusions and candidates; None
    where no state tells.

    Raises:
        InputError: a state that holds something else than results.
    """
    if stored.configuration is None:
        return None
    try:
        missing(stored.state, queries, stored.configuration)
    except InputError:
        read_progress(stored.state, stored.configuration)  # raises if it is the state that is at fault
        return False
    return True


def stored_configuration(state: Path) -> Mapping[str, Any] | None:
    """The first line of a file there, as ``retrieval.batch`` writes it; None where there is none that is whole."""
    for path in sorted(state.glob("*.jsonl")):
        with path.open("rb") as file:
            line = file.readline()
        try:
            first = json.loads(line) if line.endswith(b"\n") else None  # else a kill tore it
        except (ValueError, RecursionError):
            continue
        if isinstance(first, dict) and isinstance(first.get("configuration"), dict):
            return dict(first["configuration"])
    return None


def _described(out: Path, collection: str) -> Mapping[str, Any]:
    """Method -> what configuration.json says of it; empty where it says nothing of the collection."""
    path = out / "configuration.json"
    if not path.exists():
        return {}
    try:
        methods = json.loads(path.read_text("utf-8"))["collections"].get(collection, {}).get("methods", {})
        return {method: dict(own) for method, own in methods.items()}
    except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError):
        raise InputError(
            f"{path} is not what scripts/evaluate_retrieval.py writes; make it anew, or move it away."
        ) from None
