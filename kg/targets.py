"""Where results go: a file, or a directory, that takes its name only when it is complete, and never inside a graph.

Everything is written beside the target and flushed to the disk first, so a kill leaves the old target or the new.
(A directory is exchanged in two steps: a kill between them leaves the old one beside its name, ``.NAME.XXXXXXXX.old``.)
What a killed writer left beside, ``.NAME.XXXXXXXX.tmp``, goes when the same target is written again: a writer that
lives holds the lock (``flock``) of its own. Links are followed, also to what is not there yet.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import secrets
import stat
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO

from kg.errors import InputError
from kg.files import remove, sync
from kg.places import fault_of_path, reason_of

Opener = Callable[[str], AbstractContextManager[IO[bytes]]]
"""Opens a file of a folder, by name, to be written."""
_LONGEST = 200
"""Bytes of a name that still fits, with what is put around it, into the 255 that file systems allow."""
_WAYS_OUT = {
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ENOSPC: "make room or choose another place",
    errno.EDQUOT: "make room or choose another place",
    errno.EFBIG: "choose a place where larger files are allowed",
}


@contextmanager
def replaced_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write; it becomes ``path``, whose folder is made if need be, when the block ends without an error.

    A file that is there keeps its permissions. Raises ``InputError`` if ``path`` is something else than a file or
    inside a graph, or the system refuses.
    """
    with _told(path), _Staged(path) as staged:
        yield staged.file
        staged.flush()
        staged.commit()


def replace_files(contents: Mapping[Path, bytes]) -> None:
    """Write all the files, then give them their names, in order; as ``replaced_file``.

    Where one cannot be written none is replaced. Where one cannot take its name, the ``InputError`` names those that
    have.
    """
    done: list[str] = []
    with ExitStack() as stack:
        ready: list[_Staged] = []
        for path, content in contents.items():
            with _told(path):
                staged = stack.enter_context(_Staged(path))
                staged.file.write(content)
                staged.flush()
                ready.append(staged)
        for staged in ready:
            try:
                with _told(staged.path):
                    staged.commit()
            except InputError as error:
                raise InputError(f"{error} Already written: {', '.join(done)}." if done else str(error)) from error
            done.append(str(staged.path))


@contextmanager
def replaced_directory(path: Path, may_replace: Callable[[Path], bool]) -> Iterator[Opener]:
    """Opens files of a folder that becomes ``path`` when the block ends without an error.

    Raises ``InputError`` if ``path`` is there, not empty, and ``may_replace(path)`` is false, if it is inside a graph
    or the directory this process works in, or the system refuses.
    """
    with _told(path):
        if fault := fault_of_path(path, is_directory=True):
            raise InputError(f"{path} {fault}; choose another place.")
        target = path.resolve()
        if target.is_dir() and any(target.iterdir()) and not may_replace(target):
            raise InputError(f"{path} is there and is no earlier export, so it is not replaced; choose another name.")
        with suppress(OSError):  # of a working directory that is gone itself
            if target.is_dir() and Path.cwd().is_relative_to(target):
                raise InputError(f"{path} is replaced whole, so it cannot be where you are; name a directory in it.")
        with _folder(target.parent):
            _remove_leftovers(target, "tmp")
            beside, held = _claim(target, is_directory=True)
            try:
                yield lambda name: _synced(beside / name)
                sync(beside)
                _exchange(beside, target)
            finally:
                os.close(held)
                remove(beside)
        _remove_leftovers(target, "old")


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


class _Staged:
    """A file beside its target; removed when the ``with`` block ends, unless ``commit`` gave it the name."""

    def __init__(self, path: Path) -> None:
        if fault := fault_of_path(path, is_directory=False):
            raise InputError(f"{path} {fault}; choose another place.")
        self.path = path
        self._target = path.resolve()
        with ExitStack() as stack:
            stack.enter_context(_folder(self._target.parent))
            _remove_leftovers(self._target, "tmp")
            self._beside, held = _claim(self._target, is_directory=False)
            self.file: IO[bytes] = os.fdopen(held, "wb")
            self._undo = stack.pop_all()

    def __enter__(self) -> _Staged:
        return self

    def flush(self) -> None:
        """Bring the content to the disk."""
        self.file.flush()
        os.fsync(self.file.fileno())

    def commit(self) -> None:
        """Give the file its name."""
        with suppress(FileNotFoundError):
            os.fchmod(self.file.fileno(), stat.S_IMODE(self._target.stat().st_mode))
        os.replace(self._beside, self._target)
        sync(self._target.parent)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        remove(self._beside)
        with suppress(OSError):  # what was not written is told by whatever ended the block
            self.file.close()
        self._undo.__exit__(kind, error, traceback)


@contextmanager
def _folder(folder: Path) -> Iterator[None]:
    """Make ``folder``; those that had to be made are gone again, unless something is in them, after an error."""
    made = [parent for parent in (folder, *folder.parents) if not os.path.lexists(parent)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        with suppress(OSError):
            for parent in made:
                parent.rmdir()
        raise


def _claim(target: Path, is_directory: bool) -> tuple[Path, int]:
    """A new file or directory beside ``target``, open, and locked where the file system knows locks."""
    while True:
        beside = target.with_name(f"{_stem(target)}{secrets.token_hex(4)}.tmp")
        if is_directory:
            beside.mkdir()
            held = os.open(beside, os.O_RDONLY | os.O_CLOEXEC)
        else:
            held = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        with suppress(OSError):
            fcntl.flock(held, fcntl.LOCK_EX)
        if os.path.lexists(beside):  # else another writer took it for a leftover before it was locked
            return beside, held
        os.close(held)


def _remove_leftovers(target: Path, kind: str) -> None:
    """Remove what writers of ``target`` that were killed left beside it."""
    name = re.compile(re.escape(_stem(target)) + r"[0-9a-f]{8}\." + kind)
    for entry in os.listdir(target.parent):
        if name.fullmatch(entry):
            with suppress(OSError):  # BlockingIOError: its writer lives
                held = os.open(target.parent / entry, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
                try:
                    fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    remove(target.parent / entry)
                finally:
                    os.close(held)


def _stem(target: Path) -> str:
    name = target.name
    if len(os.fsencode(name)) > _LONGEST:
        name = hashlib.sha256(os.fsencode(name)).hexdigest()[:32]
    return f".{name}."


def _exchange(beside: Path, target: Path) -> None:
    old = target.with_name(beside.name.removesuffix("tmp") + "old")
    try:
        with suppress(FileNotFoundError):
            os.rename(target, old)
        os.rename(beside, target)
    except BaseException:
        if old.exists() and not target.exists():
            os.rename(old, target)
        raise
    sync(target.parent)
    remove(old)


@contextmanager
def _synced(path: Path) -> Iterator[IO[bytes]]:
    with path.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """What the system refuses is told in a sentence."""
    try:
        yield
    except OSError as error:
        way_out = _WAYS_OUT.get(error.errno or 0, "choose another place")
        raise InputError(f"{path} cannot be written ({reason_of(error)}); {way_out}.") from error
