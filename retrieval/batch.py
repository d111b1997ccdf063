"""Runs of a method over many queries: batch by batch, shared by processes, going on where a killed run ended.

What is done lies in ``folder`` as JSON lines, one file per process: first the configuration, then a line per batch with
its rankings and seconds. A batch counts once its line is whole; a line that a kill tore is asked again.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kg.errors import InputError
from kg.protocols import Track, no_track
from kg.records import content_hash
from retrieval.queries import Query
from retrieval.ranking import Ranking
from retrieval.retriever import Retriever, Unit

_WARM_UP = Query("warm-up", "What is known about this?")


@dataclass(frozen=True)
class Share:
    """Which of the batches this process asks: those whose number leaves ``index`` when divided by ``count``."""

    index: int = 0
    count: int = 1


ALONE = Share()


@dataclass(frozen=True)
class BatchConfig:
    """How queries are asked: ``top_n`` results each, ranked ``unit``, ``size`` queries at a time."""

    top_n: int = 1000
    unit: Unit = "document"
    size: int = 16

    def __post_init__(self) -> None:
        if self.top_n < 1 or self.size < 1:
            raise InputError(f"top_n is {self.top_n} and the batch size {self.size}; both must be 1 or more.")


@dataclass
class Progress:
    """What is done of a run.

    ``run``: rankings by query id. ``batches``: (queries, seconds) of each, retrieval alone. ``preparations``: seconds
    until the first question could be asked and answered, once per process and start.
    """

    run: dict[str, Ranking] = field(default_factory=dict)
    batches: list[tuple[int, float]] = field(default_factory=list)
    preparations: list[float] = field(default_factory=list)


def read_progress(folder: Path, configuration: Mapping[str, Any]) -> Progress:
    """All that the processes have written to ``folder``; empty where there is none.

    Raises:
        InputError: results made under another ``configuration``, or a file that holds something else than results.
    """
    progress = Progress()
    for line in _results(folder, configuration):
        if "preparation" in line:
            progress.preparations.append(line["preparation"])
            continue
        progress.batches.append((len(line["queries"]), line["seconds"]))
        for query in line["queries"]:
            # Ids come again and again; kept once each, many rankings fit into memory.
            progress.run[query["id"]] = Ranking(tuple(map(sys.intern, query["ids"])), tuple(query["scores"]))
    return progress


def missing(folder: Path, queries: Sequence[Query], configuration: Mapping[str, Any]) -> list[Query]:
    """Those of ``queries`` that are still to be asked.

    Raises:
        InputError: as ``read_progress``, or a query that was asked with another text, year, exclusions or candidates.
    """
    lines = _results(folder, configuration)
    asked = {query["id"]: query["asked"] for line in lines for query in line.get("queries", ())}
    for query in queries:
        if asked.get(query.query_id, _digest(query)) != _digest(query):
            raise InputError(
                f"{folder} holds results of query {query.query_id} with another text, year, exclusions "
                "or candidates; choose another --out, or start anew with --overwrite."
            )
    return [query for query in queries if query.query_id not in asked]


def run_batches(
    make: Callable[[], Retriever],
    queries: Sequence[Query],
    folder: Path,
    configuration: Mapping[str, Any],
    config: BatchConfig = BatchConfig(),
    *,
    share: Share = ALONE,
    track: Track = no_track,
    label: str = "retrieving",
) -> None:
    """Ask this process's share of what is missing; ``make`` gives the retriever and is called only if something is.

    Batches are cut from all ``queries`` in their order, whatever is done already and however many processes there are,
    so that each query always stands beside the same others. Each batch is on the disk before the next is asked. An
    interrupted process leaves what it has done.

    Raises:
        InputError: as ``missing``; whatever ``make`` and the retriever raise.
    """
    open_ids = {query.query_id for query in missing(folder, queries, configuration)}
    starts = range(0, len(queries), config.size)
    batches = [
        [query for query in queries[start : start + config.size] if query.query_id in open_ids]
        for number, start in enumerate(starts)
        if number % share.count == share.index
    ]
    batches = [batch for batch in batches if batch]
    if not batches:
        return
    path = folder / f"{share.index}.jsonl"
    _start_file(path, configuration)
    begun = time.perf_counter()
    retriever = make()
    # Makes whatever the method makes at its first question, so that no batch's seconds hold it.
    retriever.retrieve([_WARM_UP], config.top_n, config.unit)
    _append(path, {"preparation": time.perf_counter() - begun})
    for batch in track(batches, len(batches), label):
        begun = time.perf_counter()
        run = retriever.retrieve(batch, config.top_n, config.unit)
        seconds = time.perf_counter() - begun
        _append(path, {"seconds": seconds, "queries": [_stored(query, run[query.query_id]) for query in batch]})


def _results(folder: Path, configuration: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The lines after the first of each file, whose configuration is checked."""
    for path in sorted(folder.glob("*.jsonl")):
        for number, (line, _) in enumerate(_whole_lines(path)):
            if not (_is_first(line) if number == 0 else _is_result(line)):
                raise InputError(
                    f"{path}, line {number + 1}, is no result of a run; choose another --out, or start anew with "
                    "--overwrite."
                )
            if number == 0:
                _check_configuration(folder, line["configuration"], _plain(configuration))
            else:
                yield line


def _is_first(line: Any) -> bool:
    return isinstance(line, dict) and isinstance(line.get("configuration"), dict)


def _is_result(line: Any) -> bool:
    """Whether ``line`` has the form that ``run_batches`` writes after the first."""
    if not isinstance(line, dict):
        return False
    if "preparation" in line:
        return _is_number(line["preparation"])
    queries = line.get("queries")
    return _is_number(line.get("seconds")) and isinstance(queries, list) and all(map(_is_answer, queries))


def _is_answer(query: Any) -> bool:
    if not isinstance(query, dict) or not all(isinstance(query.get(key), str) for key in ("id", "asked")):
        return False
    ids, scores = query.get("ids"), query.get("scores")
    return (
        isinstance(ids, list) and isinstance(scores, list) and len(ids) == len(scores)
        and all(isinstance(one, str) for one in ids) and all(map(_is_number, scores))
    )  # fmt: skip


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def _stored(query: Query, ranking: Ranking) -> dict[str, Any]:
    return {"id": query.query_id, "asked": _digest(query), "ids": ranking.ids, "scores": ranking.scores}


def _digest(query: Query) -> str:
    asked: list[object] = [query.text, query.latest_year, sorted(query.excluded)]
    if query.candidates is not None:  # a query without keeps the digest that results made before candidates hold
        asked.append(sorted(query.candidates))
    return content_hash(*asked)


def _plain(configuration: Mapping[str, Any]) -> Any:
    """As JSON gives it back."""
    return json.loads(json.dumps(configuration))


def _check_configuration(folder: Path, theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> None:
    for key in sorted(theirs.keys() | ours.keys()):
        if theirs.get(key) != ours.get(key):
            raise InputError(
                f"{folder} holds results with {key} {theirs.get(key)}, not {ours.get(key)}; "
                "choose another --out, or start anew with --overwrite."
            )


def _start_file(path: Path, configuration: Mapping[str, Any]) -> None:
    """Leave of the file only its whole lines, the configuration first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    end = 0
    if path.exists():
        for _, end in _whole_lines(path):  # noqa: B007
            pass
        os.truncate(path, end)
    if end == 0:
        _append(path, {"configuration": configuration})


def _whole_lines(path: Path) -> Iterator[tuple[Any, int]]:
    """(value, where it ends in bytes) of each line up to the first that is torn, which only the last can be."""
    end = 0
    with path.open("rb") as file:
        for line in file:
            if not line.endswith(b"\n"):
                return
            try:
                value = json.loads(line)
            except ValueError:  # blocks of a file may reach the disk in another order when the machine fails
                return
            except RecursionError:  # nothing that a kill could leave
                value = None
            end += len(line)
            yield value, end


def _append(path: Path, value: Mapping[str, Any]) -> None:
    with path.open("ab") as file:
        file.write(json.dumps(value, ensure_ascii=True).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
