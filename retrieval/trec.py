"""Runs as TREC files: one line ``query Q0 document rank score tag`` per document, ranks from 1."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from kg.errors import InputError
from kg.targets import replace_files
from retrieval.ranking import Ranking

Run = Mapping[str, Ranking]
"""Query id -> the documents (or sections) found for it."""

_WORD = re.compile(r"[^\s\ufeff\ud800-\udfff]+")
_BOM = b"\xef\xbb\xbf"


def write_run(run: Run, path: str | os.PathLike[str], tag: str, *, separate_ties: bool = False) -> None:
    """Write ``run`` to ``path``, queries in the order of the mapping; a kill leaves the old file or the new.

    A query without results leaves no line, so whoever evaluates the file takes the queries from the judgements.
    Scores are written so that ``read_run`` gives the same floats in the same order. Programs built on trec_eval
    ignore ranks: they sort by the score as a 32-bit float and equal ones by document id, last id first. For them
    ``separate_ties`` writes 32-bit scores, each lowered to the next float below the one before where it is not
    lower already; the order then holds everywhere, the scores nearly.

    Raises:
        InputError: an id or tag that is empty, holds white space, a byte-order mark or a lone surrogate; a
            document twice in one ranking; a score that is not finite or higher than the one before; a path that
            cannot be written.
    """
    _check_word(tag, "the tag")
    lines: list[str] = []
    for query, ranking in run.items():
        _check_word(query, "a query id")
        scores = [float(score) for score in ranking.scores]
        _check(query, ranking.ids, scores)
        if separate_ties:
            scores = _strictly_decreasing(scores)
        lines += [
            f"{query} Q0 {document} {rank} {score!r} {tag}\n"
            for rank, (document, score) in enumerate(zip(ranking.ids, scores, strict=True), start=1)
        ]
    replace_files({Path(path): "".join(lines).encode("utf-8")})


def read_run(path: str | os.PathLike[str]) -> dict[str, Ranking]:
    """Query id -> ranking, queries in the order of their first line, which need not stand together.

    Documents stand by score, highest first, equal ones by the rank given, then by line. Columns are separated by
    any ASCII white space; the second and the tag are not looked at. Ids are taken as they stand: in our files
    ``kg.records.encode_id`` made them.

    Raises:
        InputError: a file that cannot be read; a line that has not six columns, is not UTF-8, whose rank is no
            whole number or whose score is no finite number; a document twice for one query. The sentence names
            file and line.
    """
    found: dict[str, dict[str, tuple[float, int]]] = {}
    try:
        with Path(path).open("rb") as file:
            for number, line in enumerate(file, start=1):
                fields = (line.removeprefix(_BOM) if number == 1 else line).split()
                if fields:
                    _add(found, fields, f"{path}, line {number}")
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); name a TREC run file.") from None
    run: dict[str, Ranking] = {}
    for query, documents in found.items():
        ranked = sorted(documents.items(), key=lambda item: (-item[1][0], item[1][1]))
        run[query] = Ranking(tuple(document for document, _ in ranked), tuple(score for _, (score, _) in ranked))
    return run


def _add(found: dict[str, dict[str, tuple[float, int]]], fields: list[bytes], where: str) -> None:
    if len(fields) != 6:
        raise InputError(f"{where}: {len(fields)} columns; a TREC run has six (query Q0 document rank score tag).")
    try:
        query, document = fields[0].decode("utf-8"), fields[2].decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{where}: not UTF-8; convert the file to UTF-8.") from None
    try:
        rank = int(fields[3])
    except ValueError:
        raise InputError(f"{where}: rank {_shown(fields[3])} is no whole number; correct the line.") from None
    try:
        score = float(fields[4])
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise InputError(f"{where}: score {_shown(fields[4])} is no finite number; correct the line.")
    documents = found.setdefault(query, {})
    if document in documents:
        raise InputError(f"{where}: document {document} stands twice for query {query}; keep one of the lines.")
    documents[document] = score, rank


def _shown(field: bytes) -> str:
    return repr(field.decode("utf-8", "replace"))


def _check_word(word: str, what: str) -> None:
    if not _WORD.fullmatch(word):
        raise InputError(
            f"{word!r} cannot be {what} in a TREC file, whose columns white space separates; "
            "encode the white space, as encode_id does."
        )


def _check(query: str, documents: tuple[str, ...], scores: list[float]) -> None:
    for document in documents:
        _check_word(document, "a document id")
    if len(set(documents)) < len(documents):
        twice = next(document for i, document in enumerate(documents) if document in documents[:i])
        raise InputError(f"Document {twice} stands twice in the ranking of query {query}; keep its best place.")
    for before, document, score in zip([math.inf, *scores], documents, scores, strict=False):
        if not math.isfinite(score):
            raise InputError(f"Document {document} of query {query} has score {score}; scores must be finite.")
        if score > before:
            raise InputError(
                f"Document {document} of query {query} has score {score} below one of {before}; "
                "sort the ranking, best first."
            )


def _strictly_decreasing(scores: list[float]) -> list[float]:
    """``scores`` (non-increasing) as 32-bit floats, each lowered, where it must be, to less than the one before."""
    # Within 1e38 there is room left to step down from the least.
    bits = np.clip(np.array(scores), -1e38, 1e38).astype(np.float32).view(np.int32).astype(np.int64)
    # Numbers the floats in their order, both zeros alike, so that a step down to the next float is a step of one.
    places = np.where(bits >= 0, bits, -(bits & 0x7FFFFFFF))
    steps = np.arange(len(scores))
    places = np.minimum.accumulate(places + steps) - steps
    lowered = np.where(places >= 0, places, -places | 0x80000000).astype(np.uint32).view(np.float32)
    return [float(score) for score in lowered]
