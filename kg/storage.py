"""A graph directory and its generations (DESIGN 3, Graph directory), whatever the graph is.

``CURRENT`` names the generation in use and the SHA-256 of its manifest, which lists size and SHA-256 of
every file. A generation is never changed: a writer makes the next one beside it and then replaces
``CURRENT`` in one step, so a writer killed at any moment leaves the old or the new graph.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from kg import files
from kg.errors import GraphError
from kg.lock import prepare_directory, writer_lock

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Generation", "check_generation", "graph_exists", "open_generation", "write_generation"]
__all__ += ["prepare_directory", "writer_lock"]

FORMAT = 2
HASHED_ON_OPENING = 64 * 2**20  # bytes; a file of this size or more is hashed by check_generation only
_ATTEMPTS = 3
_MANIFEST = "manifest.json"
_TENSORS = "tensors.safetensors"
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_CURRENT = re.compile(rb"(\d{4,9}) ([0-9a-f]{64})\n")
T = TypeVar("T")


@dataclass(frozen=True)
class Generation:
    """An opened generation: tables and tensors stay on the disk until touched, and outlive the removal of their files.

    ``manifest`` is what the writer gave, plus ``format`` and ``files``.
    """

    number: int
    manifest: dict[str, Any]
    tables: dict[str, pa.Table]
    tensors: dict[str, Tensor]


def graph_exists(directory: Path) -> bool:
    """Whether a graph was ever finished here; it may be damaged all the same."""
    return os.path.lexists(directory / "CURRENT")


def write_generation(
    directory: Path, tables: Mapping[str, pa.Table], tensors: Mapping[str, Tensor], manifest: Mapping[str, object]
) -> int:
    """Write the next generation, make it current, and return its number; the caller holds ``writer_lock``.

    ``manifest`` holds JSON values; its ``format`` and ``files`` are set here. Tensors are dense. The same
    content gives the same bytes, however tables are chunked or sliced and wherever tensors lie. Of the
    older generations the last stays, for readers that are about to open it. Raises ``GraphError`` where
    the disk refuses; ``CURRENT`` then names the old or the new generation, never a part of one.
    """
    from safetensors import SafetensorError

    for name in tables:
        if not _FILE_NAME.fullmatch(name):
            raise ValueError(f"{name!r} cannot name a table: use letters, digits, _ . -")
    _manifest_text(manifest, {})  # what is not JSON fails before anything is written
    prepare_directory(directory)
    generations = directory / "generations"
    number, kept = _next_number(directory)
    folder = generations / f"{number:04d}"
    try:
        generations.mkdir(exist_ok=True)
        for leftover in _numbers(generations):
            if leftover >= number:  # of a writer that was killed
                files.remove(generations / f"{leftover:04d}")
        folder.mkdir()
        for name in sorted(tables):
            files.write_table(folder / f"{name}.arrow", tables[name])
        files.write_tensors(folder / _TENSORS, tensors)
        digest = _write_manifest(folder, manifest)
        files.sync(folder)
        files.sync(generations)
        _switch(directory, f"{number:04d} {digest}\n")
    except BaseException as error:
        with suppress(GraphError):  # CURRENT cannot be read: it may name what was written
            if (_read_current(directory) or (0, ""))[0] != number:
                files.remove(folder)
        if not isinstance(error, OSError | SafetensorError):
            raise
        reason = getattr(error, "strerror", None) or error
        way_out = "make room or check permissions, and run the command again"
        raise GraphError(f"{folder} could not be written ({reason}); {way_out}") from error
    for older in _numbers(generations) - kept:
        files.remove(generations / f"{older:04d}")
    return number


def open_generation(directory: Path, *, hashed_below: int | None = None) -> Generation:
    """Open the current generation after checking the manifest, every size, and every small file's SHA-256.

    ``hashed_below``: size in bytes from which files are not hashed (``HASHED_ON_OPENING`` unless given).
    Raises ``GraphError``, and nothing else, for a graph that is missing, damaged, unreadable or of a newer format.
    """
    limit = HASHED_ON_OPENING if hashed_below is None else hashed_below

    def attempt(folder: Path, digest: str) -> Generation:
        manifest = _read_manifest(directory, folder, digest)
        for problem in _problems(directory, folder, manifest, limit):
            raise GraphError(problem)
        return _load(directory, folder, manifest)

    return _on_current(directory, attempt)


def check_generation(directory: Path) -> list[str]:
    """Hash every file of the current generation, whatever its size; one sentence per problem, none if it is sound.

    Raises ``GraphError`` where there is no graph to check.
    """
    problems: list[str] = []

    def attempt(folder: Path, digest: str) -> None:
        problems.clear()
        manifest = _read_manifest(directory, folder, digest)
        problems.extend(_problems(directory, folder, manifest, None))
        if problems:
            raise GraphError(problems[0])
        _load(directory, folder, manifest)

    if not graph_exists(directory):
        raise GraphError(_missing(directory))
    try:
        _on_current(directory, attempt)
    except GraphError as error:
        return problems or [str(error)]
    return []


def _next_number(directory: Path) -> tuple[int, set[int]]:
    """The number to write, and the generations to keep once it is written."""
    try:
        current = _read_current(directory)
    except GraphError:
        # No telling which one was current: the new one stands after all, and what the user may want stays.
        existing = _numbers(directory / "generations")
        number = max(existing, default=0) + 1
        return number, existing | {number}
    previous = current[0] if current else 0
    return previous + 1, {previous, previous + 1}


def _numbers(generations: Path) -> set[int]:
    try:
        names = os.listdir(generations)
    except OSError:
        return set()
    return {int(name) for name in names if name.isdecimal() and f"{int(name):04d}" == name}


def _write_manifest(folder: Path, manifest: Mapping[str, object]) -> str:
    """Bring the files of a generation and its manifest to the disk; return the manifest's SHA-256."""
    listed = {}
    for path in sorted(folder.iterdir()):
        listed[path.name] = {"bytes": path.stat().st_size, "sha256": files.sha256(path)}
        files.sync(path)
    content = _manifest_text(manifest, listed)
    (folder / _MANIFEST).write_bytes(content)
    files.sync(folder / _MANIFEST)
    return hashlib.sha256(content).hexdigest()


def _manifest_text(manifest: Mapping[str, object], listed: Mapping[str, object]) -> bytes:
    complete = {**manifest, "format": FORMAT, "files": listed}
    return (json.dumps(complete, allow_nan=False, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


def _switch(directory: Path, line: str) -> None:
    new = directory / "CURRENT.new"
    new.write_text(line, encoding="ascii", newline="\n")
    files.sync(new)
    os.replace(new, directory / "CURRENT")
    files.sync(directory)


def _on_current(directory: Path, attempt: Callable[[Path, str], T]) -> T:
    """``attempt`` on the current generation; again where a writer replaced it meanwhile."""
    for _ in range(_ATTEMPTS):
        current = _read_current(directory)
        if current is None:
            raise GraphError(_missing(directory))
        try:
            return attempt(directory / "generations" / f"{current[0]:04d}", current[1])
        except GraphError:
            if _read_current(directory) == current:
                raise
    raise GraphError(f"{directory} is being rewritten faster than it can be read; try again when that has ended")


def _read_current(directory: Path) -> tuple[int, str] | None:
    """Number and manifest hash of the current generation; None where none was ever finished."""
    path = directory / "CURRENT"
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise GraphError(_unreadable(directory, path, error)) from error
    if found := _CURRENT.fullmatch(_read(directory, path)):
        return int(found[1]), found[2].decode("ascii")
    raise GraphError(_damaged(directory, path, "it does not name a generation"))


def _read_manifest(directory: Path, folder: Path, digest: str) -> dict[str, Any]:
    path = folder / _MANIFEST
    if not os.path.lexists(folder):
        raise GraphError(_damaged(directory, directory / "CURRENT", f"it names {folder}, which does not exist"))
    content = _read(directory, path)
    if hashlib.sha256(content).hexdigest() != digest:
        raise GraphError(_damaged(directory, path, f"its SHA-256 is not the one in {directory / 'CURRENT'}"))
    try:
        manifest = json.loads(content)
        if (version := int(manifest["format"])) > FORMAT:
            way_out = f"update evigraph, or build the graph again: evigraph build {directory} SOURCE... --overwrite"
            raise GraphError(f"{path} has format {version}, newer than the {FORMAT} this version reads; {way_out}")
        sound = all(
            _FILE_NAME.fullmatch(name) and isinstance(entry["bytes"], int) and isinstance(entry["sha256"], str)
            for name, entry in manifest["files"].items()
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        sound = False
    if not sound:
        raise GraphError(_damaged(directory, path, "it is not the manifest of a graph"))
    return manifest


def _problems(directory: Path, folder: Path, manifest: dict[str, Any], hashed_below: int | None) -> Iterator[str]:
    """What is wrong with the files that the manifest lists, in sentences; ``None`` hashes every file."""
    for name, expected in manifest["files"].items():
        path = folder / name
        try:
            status = path.stat()
            if not stat.S_ISREG(status.st_mode):
                yield _damaged(directory, path, "it is not a file")
            elif status.st_size != expected["bytes"]:
                yield _damaged(directory, path, f"it has {status.st_size} bytes instead of {expected['bytes']}")
            elif hashed_below is not None and status.st_size >= hashed_below:
                continue
            elif files.sha256(path) != expected["sha256"]:
                yield _damaged(directory, path, "its SHA-256 is not the one in the manifest")
        except OSError as error:
            yield _unreadable(directory, path, error)


def _load(directory: Path, folder: Path, manifest: dict[str, Any]) -> Generation:
    tables: dict[str, pa.Table] = {}
    tensors: dict[str, Tensor] = {}
    for name in manifest["files"]:
        # A large file was not hashed: whatever its reader trips over is damage.
        try:
            if name.endswith(".arrow"):
                tables[name.removesuffix(".arrow")] = files.open_table(folder / name)
            elif name == _TENSORS:
                tensors = files.open_tensors(folder / name)
        except Exception as error:
            reason = (str(error) or type(error).__name__).splitlines()[0]
            raise GraphError(_damaged(directory, folder / name, reason)) from error
    return Generation(int(folder.name), manifest, tables, tensors)


def _read(directory: Path, path: Path) -> bytes:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # reading a pipe would wait for ever
            raise GraphError(_damaged(directory, path, "it is not a file"))
        return path.read_bytes()
    except OSError as error:
        raise GraphError(_unreadable(directory, path, error)) from error


def _missing(directory: Path) -> str:
    return f"there is no finished graph in {directory}; make one: evigraph build {directory} SOURCE..."


def _damaged(directory: Path, path: Path, reason: str) -> str:
    again = f"evigraph build {directory} SOURCE... --overwrite"
    return f"{path} is damaged: {reason}; restore it, or build the graph again: {again}"


def _unreadable(directory: Path, path: Path, error: OSError) -> str:
    if isinstance(error, PermissionError):
        return f"{path} cannot be read ({error.strerror}); ask its owner for permission"
    return _damaged(directory, path, f"it cannot be read ({error.strerror})")
