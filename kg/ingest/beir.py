"""A BEIR folder: ``corpus.jsonl`` of ``{_id, title, text, metadata}``; its queries and judgements are no papers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from kg.ingest import jsonl
from kg.ingest.encoding import Unreadable, decode_head, place_of, read_head
from kg.ingest.kinds import unread_kind
from kg.ingest.report import ReadReport
from kg.records import Document

CORPUS = "corpus.jsonl"


def accepts(path: Path, head: bytes) -> bool:
    """Whether ``path`` is a folder that holds a corpus; ``head`` is empty for folders."""
    return not head and os.path.isfile(path / CORPUS)


def read(path: Path, report: ReadReport) -> Iterator[Document]:
    """Yield the documents of the corpus. Raises ``Unreadable`` when it is no text, ``OSError``."""
    corpus = path / CORPUS
    head = read_head(corpus)
    text = decode_head(head)
    if kind := unread_kind(head, text):
        raise Unreadable(f"its {CORPUS} is {kind[0]}; {kind[1]}")
    if not text.strip():
        raise Unreadable(f"its {CORPUS} is empty; put one JSON object a line in it")
    yield from jsonl.read(corpus, report)
    beside = sorted(p for p in path.iterdir() if p.name not in {CORPUS, "queries.jsonl", "qrels"} and p.name[0] != ".")
    report.skipped.extend(place_of(p) for p in beside)
