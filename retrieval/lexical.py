"""The BM25 index of a graph's sections, kept beside the graph so that only the first question waits for it."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
from pathlib import Path

from kg.lateral import LateralGraph
from retrieval.bm25 import DEFAULT, BM25Config, BM25Index

log = logging.getLogger(__name__)
_SUMS = "SHA256"


def section_bm25(graph: LateralGraph, config: BM25Config = DEFAULT) -> BM25Index:
    """BM25 over title, heading and text of each section, in the order of the sections table.

    The index lies in the graph's ``cache`` under the hash of the sections and the settings, with its own checksum; one
    that is damaged, or cannot be written, is made anew.
    """
    folder = _folder(graph, config)
    if folder is not None and folder.is_dir():
        try:
            if (folder / _SUMS).read_bytes() == _digest(folder).encode():
                return BM25Index.load(folder, config)
            log.warning("%s is damaged; the index is made again", folder)
        except (OSError, ValueError, KeyError) as error:  # another process replaced it, or it is no index
            log.info("%s could not be read: %s", folder, error)
    index = BM25Index([s.full_text() for paper in graph.papers() for s in paper.sections], config)
    if folder is not None:
        _keep(index, folder)
    return index


def _folder(graph: LateralGraph, config: BM25Config) -> Path | None:
    """None for a graph that was not opened from a directory."""
    files = graph.manifest.get("files")
    if graph.directory is None or not files:
        return None
    stored = files["sections.arrow"]["sha256"] + files["documents.arrow"]["sha256"]
    settings, key = (hashlib.sha256(text.encode()).hexdigest()[:n] for text, n in ((str(config), 6), (stored, 16)))
    return Path(graph.directory) / "cache" / f"bm25-{settings}-{key}"


def _digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.iterdir() if p.name != _SUMS):
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _keep(index: BM25Index, folder: Path) -> None:
    """Write beside, then rename; what was kept for earlier sections with these settings goes."""
    temporary = folder.with_name(f"{folder.name}.{os.getpid()}.tmp")
    try:
        index.save(temporary)
        (temporary / _SUMS).write_text(_digest(temporary))
        for old in folder.parent.glob(folder.name.rpartition("-")[0] + "-*"):
            if not old.name.endswith(".tmp"):  # those are others' at work
                shutil.rmtree(old, ignore_errors=True)
        temporary.rename(folder)
    except OSError as error:  # a graph on a read-only disk is searched all the same
        log.info("the BM25 index could not be kept in %s: %s", folder.parent, error)
        shutil.rmtree(temporary, ignore_errors=True)
