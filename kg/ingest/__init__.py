"""Papers from files: one reader per format, recognised by content, and a report of all that was left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from kg.errors import InputError
from kg.ingest import beir, jsonl, markdown, text
from kg.ingest.encoding import Unreadable, decode_head, place_of, read_head
from kg.ingest.folders import walk
from kg.ingest.kinds import unread_kind
from kg.ingest.report import Duplicate, ReadReport, Rejected
from kg.records import Document

__all__ = [
    "FILE_READERS",
    "FOLDER_READERS",
    "Duplicate",
    "ReadReport",
    "Reader",
    "Rejected",
    "read_all",
    "read_documents",
]


class Reader(Protocol):
    """A module that reads one format."""

    def accepts(self, path: Path, head: bytes) -> bool:
        """Whether this reader knows what ``path`` holds; ``head`` is its beginning, empty for a folder."""

    def read(self, path: Path, report: ReadReport) -> Iterator[Document]:
        """Yield the documents; what cannot be read goes to ``report``. Raises ``Unreadable`` or ``OSError``."""


FOLDER_READERS: tuple[Reader, ...] = (beir,)
"""Readers of folders that are one source; any other folder is read file by file."""

FILE_READERS: tuple[Reader, ...] = (jsonl, markdown, text)
"""Asked in this order; the last takes any text."""


def read_documents(path: Path | str, report: ReadReport) -> Iterator[Document]:
    """Yield the documents of a file or folder, in a fixed order, and note in ``report`` what is left out.

    Raises ``InputError`` at once for a path that does not exist or cannot be opened, and at the end for a
    folder that gave no document.
    """
    path = Path(path)
    try:
        is_folder = path.is_dir()
        if is_folder:
            next(path.iterdir(), None)
        elif path.is_file():
            read_head(path)
        elif path.exists():
            raise InputError(f"{place_of(path)} is neither a file nor a folder; give a file or folder of papers")
        else:
            raise InputError(f"{place_of(path)} does not exist; give a file or folder of papers")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{place_of(path)} cannot be opened ({reason}); check the path and its permissions") from None
    return _counted(_read_folder(path, report) if is_folder else _read_one(path, report), report)


def read_all(paths: Sequence[Path | str]) -> tuple[list[Document], ReadReport]:
    """Read several files or folders and keep each document once.

    The same document again (same id, same content) is a duplicate; another document with an id already
    taken is rejected. Raises ``InputError`` as ``read_documents``.
    """
    report = ReadReport()
    kept: dict[str, tuple[str, Document]] = {}
    for document in (document for path in [read_documents(path, report) for path in paths] for document in path):
        digest = document.content_hash
        first_digest, first = kept.setdefault(document.doc_id, (digest, document))
        if first is document:
            continue
        report.documents -= 1
        if digest == first_digest:
            report.duplicates.append(Duplicate(document.doc_id, document.origin, first.origin))
        else:
            report.reject(
                document.origin,
                f"has the id {document.doc_id} of a different document in {first.origin}; "
                "give one of them an id of its own",
            )
    return [document for _, document in kept.values()], report


def _counted(documents: Iterator[Document], report: ReadReport) -> Iterator[Document]:
    for document in documents:
        report.documents += 1
        yield document


def _read_folder(folder: Path, report: ReadReport) -> Iterator[Document]:
    before, found = len(report.rejected), False
    sources = iter([folder]) if _is_whole(folder) else walk(folder, report, _is_whole)
    for source in sources:
        for document in _read_one(source, report):
            found = True
            yield document
    if not found:
        rejected = report.rejected[before:]
        why = f"{len(rejected)} rejected, the first is {rejected[0]}" if rejected else "give one that holds papers"
        raise InputError(f"{place_of(folder)} holds nothing that can be read; {why}")


def _is_whole(folder: Path) -> bool:
    return any(reader.accepts(folder, b"") for reader in FOLDER_READERS)


def _read_one(path: Path, report: ReadReport) -> Iterator[Document]:
    """The documents of one file, or of one folder that a reader takes as a whole."""
    readers, head = FOLDER_READERS, b""
    try:
        if not path.is_dir():
            readers, head = FILE_READERS, read_head(path)
            if kind := unread_kind(head, decode_head(head)):
                raise Unreadable(f"is {kind[0]}; {kind[1]}")
        reader = next(reader for reader in readers if reader.accepts(path, head))
        yield from reader.read(path, report)
    except Unreadable as error:
        report.reject(place_of(path), str(error))
    except OSError as error:
        report.reject(place_of(path), f"cannot be read ({error.strerror}); check its permissions")
