"""Queries, judgements and exclusions of a BEIR folder: ``queries.jsonl``, ``qrels/<split>.tsv``, ``excluded*.tsv``.

Ids come out as the corpus readers give them (``kg.records.encode_id``). Files are UTF-8, with or without a
byte-order mark, with Unix or Windows line ends.
"""

from __future__ import annotations

import json
import re
import reprlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kg.errors import InputError
from kg.records import clean_text, encode_id

LARGEST = 1_000_000
"""The largest judgement, in absolute value: trec_eval holds judgements in 32 bits and counts documents by judgement."""

_QUERY_HEADERS = frozenset({"query", "queryid", "qid", "topic", "topicid", "question", "questionid"})
_DOCUMENT_HEADERS = frozenset(
    f"{what}{end}"
    for what in ("corpus", "doc", "document", "paper", "passage", "section", "text", "excluded")
    for end in ("", "id")
) | {"id", "pid", "did", "docno"}
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_LAST_YEAR = 9999


def read_queries(folder: str | Path) -> dict[str, str]:
    """Query id -> text, in the order of ``queries.jsonl`` (lines ``{"_id": ..., "text": ...}``).

    Raises:
        InputError: a missing or undecodable file, or no file; a line that is no JSON object, lacks ``_id`` or
            ``text``, or repeats an id. The sentence names file, line and field.
    """
    queries: dict[str, str] = {}
    for query_id, where, record in _query_records(folder):
        text = record.get("text")
        if not isinstance(text, str):
            raise InputError(f"{where}: field text is missing or no string; give the query's text.")
        queries[query_id] = clean_text(text)
    return queries


def read_latest_years(folder: str | Path) -> dict[str, int]:
    """Query id -> ``latest_year`` of its record or of the record's ``metadata``, of the queries that have one.

    Raises:
        InputError: as ``read_queries``, or a year that is no whole number from -9999 to 9999.
    """
    years: dict[str, int] = {}
    for query_id, where, record in _query_records(folder):
        given = _field(record, "latest_year")
        if given is None:
            continue
        year = _whole_number(str(given), _LAST_YEAR) if isinstance(given, str | int | float) else None
        if year is None:
            raise InputError(
                f"{where}: field latest_year of query {query_id} is {reprlib.repr(given)}; "
                f"give a year as a whole number, {_LAST_YEAR} at the most."
            )
        years[query_id] = year
    return years


def read_groups(folder: str | Path, field: str) -> dict[str, str]:
    """Query id -> ``field`` of its record or of the record's ``metadata``, of the queries that have one.

    Raises:
        InputError: as ``read_queries``, or a value that is neither text nor number.
    """
    groups: dict[str, str] = {}
    for query_id, where, record in _query_records(folder):
        value = _field(record, field)
        if value is None:
            continue
        if not isinstance(value, str | int | float):
            raise InputError(
                f"{where}: field {field} is a {type(value).__name__}; queries are grouped by text or number."
            )
        groups[query_id] = str(value)
    return groups


def read_excluded(path: str | Path) -> dict[str, frozenset[str]]:
    """Query id -> ids of papers or sections that its ranking may not hold, from lines ``query id <tab> id``.

    A first line that names its columns is skipped.

    Raises:
        InputError: a missing or undecodable file, a line with fewer than two columns, an empty id.
    """
    if not Path(path).is_file():
        raise InputError(
            f"{path} is no file; name one with lines of query id, tab, and the id left out of its ranking."
        )
    excluded: dict[str, set[str]] = {}
    for number, line in _lines(Path(path)):
        fields = line.split("\t")
        if number == 1 and _is_header(fields):
            continue
        if len(fields) < 2:
            raise InputError(f"{path}, line {number}: one column; give query id and excluded id, separated by a tab.")
        query_id, excluded_id = encode_id(fields[0]), encode_id(fields[1])
        if not query_id or not excluded_id:
            raise InputError(f"{path}, line {number}: an id is empty; give query id and excluded id.")
        excluded.setdefault(query_id, set()).add(excluded_id)
    return {query_id: frozenset(ids) for query_id, ids in excluded.items()}


def _query_records(folder: str | Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(query id, place, record) of each line of ``queries.jsonl``."""
    path = Path(folder) / "queries.jsonl"
    seen: set[str] = set()
    for number, line in _lines(path):
        where = f"{path}, line {number}"
        try:
            record = json.loads(line)
        except ValueError as error:
            raise InputError(f"{where}: not JSON ({error}); each line must be one object.") from None
        except RecursionError:
            raise InputError(f"{where}: nested too deeply to be read; each line must be one flat object.") from None
        if not isinstance(record, dict):
            raise InputError(f"{where}: a {type(record).__name__}; each line must be one JSON object.")
        raw = record.get("_id")
        if isinstance(raw, int) and not isinstance(raw, bool):
            raw = str(raw)
        if not isinstance(raw, str) or not raw.strip():
            raise InputError(f"{where}: field _id is missing or empty; give each query an id.")
        query_id = encode_id(raw)
        if query_id in seen:
            raise InputError(f"{where}: field _id repeats {raw!r}; ids of queries must differ.")
        seen.add(query_id)
        yield query_id, where, record


def splits(folder: str | Path) -> list[str]:
    """Names of the splits that have judgements, sorted: the stems of ``qrels/*.tsv``. Empty without a ``qrels``.

    Raises:
        InputError: the folder does not exist.
    """
    if not Path(folder).is_dir():
        raise InputError(f"{folder} is no folder; a BEIR folder holds corpus.jsonl, queries.jsonl and qrels/.")
    return sorted(path.stem for path in (Path(folder) / "qrels").glob("*.tsv"))


def read_qrels(folder: str | Path, split: str, *, score_column: int = 3) -> dict[str, dict[str, int]]:
    """Query id -> document id -> judgement, in the order of ``qrels/<split>.tsv``.

    Columns are separated by tabs: query id, document id, score, and maybe further scores (as in judgements on
    full text and on the abstract); ``score_column`` counts from 1. A first line that names its columns is
    skipped. A pair judged twice alike counts once.

    Raises:
        InputError: a split that does not exist (the sentence lists those that do), an undecodable file, a line
            with too few columns, an empty id, a score that is no whole number or beyond ``LARGEST``, or a pair
            judged in two ways.
    """
    if score_column < 3:
        raise InputError(f"score_column is {score_column}; columns 1 and 2 are ids, so it must be 3 or more.")
    known = splits(folder)
    if split not in known:
        raise InputError(f"{folder} has no judgements for split {split!r}; there are {', '.join(known) or 'none'}.")
    path = Path(folder) / "qrels" / f"{split}.tsv"
    qrels: dict[str, dict[str, int]] = {}
    for number, line in _lines(path):
        fields = line.split("\t")
        if number == 1 and _is_header(fields, score_column):
            continue
        where = f"{path}, line {number}"
        if len(fields) < score_column:
            raise InputError(f"{where}: {len(fields)} columns; the score is expected in column {score_column} (tabs).")
        query_id, doc_id = encode_id(fields[0]), encode_id(fields[1])
        if not query_id or not doc_id:
            raise InputError(f"{where}: field {'corpus-id' if query_id else 'query-id'} is empty; give an id.")
        score = _whole_number(fields[score_column - 1])
        if score is None:
            raise InputError(
                f"{where}: field score (column {score_column}) is {reprlib.repr(fields[score_column - 1])}; "
                f"it must be a whole number, {LARGEST:,} at the most."
            )
        if qrels.setdefault(query_id, {}).setdefault(doc_id, score) != score:
            raise InputError(
                f"{where}: field score says {score} for {query_id} and {doc_id}, an earlier line "
                f"{qrels[query_id][doc_id]}; keep one."
            )
    return qrels


def _field(record: dict[str, Any], name: str) -> Any:
    metadata = record.get("metadata")
    return record.get(name, metadata.get(name) if isinstance(metadata, dict) else None)


def _is_header(fields: Sequence[str], score_column: int | None = None) -> bool:
    """Whether the first two columns are names of columns, as whole words, and that of the score is no number."""
    words = [re.sub("[-_ ]", "", field.strip().casefold()) for field in fields[:2]]
    if len(words) < 2 or words[0] not in _QUERY_HEADERS or words[1] not in _DOCUMENT_HEADERS:
        return False
    return score_column is None or not any(ch.isdigit() for ch in "".join(fields[score_column - 1 : score_column]))


def _whole_number(field: str, largest: int = LARGEST) -> int | None:
    """The value of ``1``, ``-2`` or ``1.0`` in ASCII; None for anything else, or beyond ``largest`` either way."""
    if not _NUMBER.fullmatch(field.strip()):
        return None
    value = float(field)
    return int(value) if value.is_integer() and abs(value) <= largest else None


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """(number from 1, line) of the lines that are not blank. Only line feeds end a line, not U+2028 and its like."""
    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for
            raise InputError(f"{path} is no file; a BEIR folder holds corpus.jsonl, queries.jsonl and qrels/.")
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise InputError(
            f"{path} does not exist; a BEIR folder holds corpus.jsonl, queries.jsonl and qrels/."
        ) from None
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); name a folder that can.") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 (byte {error.start}); convert it to UTF-8.") from None
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line.removesuffix("\r")
