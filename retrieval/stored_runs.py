"""The rankings that an experiment (``retrieval.experiment``) has left, found by collection and method."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kg.errors import InputError
from retrieval.queries import Query
from retrieval.trec import Run, read_run


def stored_runs(out: Path, collection: str) -> dict[str, Path]:
    """Method -> ``out/runs/COLLECTION.METHOD.trec``, methods sorted; their names hold no dot."""
    names = {path.stem.removeprefix(f"{collection}."): path for path in (out / "runs").glob("*.trec")}
    return {
        method: path
        for method, path in sorted(names.items())
        if path.stem == f"{collection}.{method}" and "." not in method
    }


def chosen_runs(out: Path, collection: str, methods: Sequence[str], reference: str) -> dict[str, Path]:
    """The runs of ``reference``, first, and of ``methods``, of all if none is named.

    Raises:
        InputError: no run of the collection; none of the reference or of one of the methods.
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
    return {method: found[method] for method in (reference, *(methods or found))}


def read_stored_run(path: Path, queries: Sequence[Query]) -> Run:
    """The run in ``path``, which ranks something for all of ``queries``, and only what these let it.

    Raises:
        InputError: as ``read_run``; a query without a ranking, or with one that holds what it excludes or what is no
            candidate of it.
    """
    run = read_run(path)
    if lacking := [query.query_id for query in queries if query.query_id not in run]:
        raise InputError(
            f"{path} ranks nothing for {len(lacking):,} of {len(queries):,} judged queries, {lacking[0]} first; ask "
            "them with scripts/evaluate_retrieval.py, or name the --split that was asked."
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
