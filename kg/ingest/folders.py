"""The files of a folder that may be papers, in an order that is the same on every machine."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from kg.ingest.encoding import place_of
from kg.ingest.report import ReadReport

_NO_PAPER = re.compile(r"readme(?:[.-][\w-]+)*|(?:licen[cs]e|changelog)(?:[.-][\w.-]*)?", re.IGNORECASE)


def walk(folder: Path, report: ReadReport, is_whole: Callable[[Path], bool]) -> Iterator[Path]:
    """Yield what lies below ``folder``, sorted by name folder by folder: files, and folders that are one source.

    Hidden names are passed over; README and its like go to ``report.skipped``. Links are followed, but each
    folder is entered once, so that a loop of links ends.
    """
    yield from _walk(folder, report, is_whole, set())


def _walk(
    folder: Path, report: ReadReport, is_whole: Callable[[Path], bool], entered: set[tuple[int, int]]
) -> Iterator[Path]:
    try:
        status = folder.stat()
        names = sorted(os.listdir(folder))
    except OSError as error:
        report.reject(place_of(folder), f"cannot be opened ({error.strerror}); check its permissions")
        return
    if (status.st_dev, status.st_ino) in entered:
        return
    entered.add((status.st_dev, status.st_ino))
    for name in names:
        path = folder / name
        if name.startswith("."):
            continue
        if os.path.isdir(path):  # unlike Path.is_dir, False where permission is denied
            if is_whole(path):
                yield path
            else:
                yield from _walk(path, report, is_whole, entered)
        elif _NO_PAPER.fullmatch(name):
            report.skipped.append(place_of(path))
        elif os.path.isfile(path):
            yield path
        else:
            reason = "is a link to nothing" if path.is_symlink() else "is no regular file"
            report.reject(place_of(path), f"{reason}; remove it or put the paper in its place")
