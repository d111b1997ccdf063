"""Where an export goes: a file, or a directory, that takes its name only when it is complete.

Everything is written beside the target and flushed to the disk first, so a kill leaves the old target or the new.
(A directory is exchanged in two steps: a kill between them leaves the old one beside its name, as ``.NAME.PID.old``.)
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO

from kg.errors import InputError
from kg.files import remove, sync

Opener = Callable[[str], AbstractContextManager[IO[bytes]]]
"""Opens a file of a folder, by name, to be written."""


@contextmanager
def replaced_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write; it becomes ``path``, whose folder is made if need be, when the block ends without an error.

    Raises ``InputError`` if ``path`` is something else than a file, or the system refuses.
    """
    path = path.resolve()  # a link keeps pointing to what is replaced
    if os.path.lexists(path) and not path.is_file():
        raise InputError(f"{path} is there and is no file, so it is not replaced; choose another name.")
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with _told(path, beside):
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
        sync(path.parent)


@contextmanager
def replaced_directory(path: Path, may_replace: Callable[[Path], bool]) -> Iterator[Opener]:
    """Opens files of a folder that becomes ``path`` when the block ends without an error.

    Raises ``InputError`` if ``path`` is there, not empty, and ``may_replace(path)`` is false, or the system refuses.
    """
    path = path.resolve()
    if os.path.lexists(path) and not (path.is_dir() and (_is_empty(path) or may_replace(path))):
        raise InputError(f"{path} is there and is no earlier export, so it is not replaced; choose another name.")
    beside, old = (path.with_name(f".{path.name}.{os.getpid()}.{kind}") for kind in ("tmp", "old"))
    with _told(path, beside):
        path.parent.mkdir(parents=True, exist_ok=True)
        remove(beside)
        beside.mkdir()
        yield lambda name: _synced(beside / name)
        sync(beside)
        if os.path.lexists(path):
            os.rename(path, old)
        try:
            os.rename(beside, path)
        except OSError:
            if old.exists():
                os.rename(old, path)
            raise
        sync(path.parent)
        remove(old)


@contextmanager
def replaced_archive(path: Path) -> Iterator[Opener]:
    """Opens files of a zip archive, one at a time; as ``replaced_file``. The time of writing leaves no trace in it."""
    with replaced_file(path) as file, zipfile.ZipFile(file, "w") as archive:

        def opened(name: str) -> IO[bytes]:
            entry = zipfile.ZipInfo(name)  # dated 1980
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system, entry.external_attr = 3, 0o644 << 16  # as on Unix, wherever it is written
            return archive.open(entry, "w", force_zip64=True)

        yield opened


@contextmanager
def _synced(path: Path) -> Iterator[IO[bytes]]:
    with path.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _told(path: Path, beside: Path) -> Iterator[None]:
    """Leaves nothing beside the target when something fails; what the system refuses is told in a sentence."""
    try:
        yield
    except BaseException as error:
        remove(beside)
        if isinstance(error, OSError):
            reason = error.strerror or error
            raise InputError(f"{path} cannot be written ({reason}); make room or choose another place.") from error
        raise


def _is_empty(path: Path) -> bool:
    return not any(path.iterdir())
