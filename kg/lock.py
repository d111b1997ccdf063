"""Who may write to a graph directory: what counts as one, and the lock that lets one writer in at a time."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kg.errors import GraphError

LOCK = "lock"
_OWN_NAMES = frozenset({"CURRENT", "CURRENT.new", "generations", "cache", LOCK})


def prepare_directory(directory: Path) -> None:
    """Create ``directory`` for a graph, or accept one that is empty or already holds a graph.

    The empty file ``lock`` marks it as ours. Raises ``GraphError`` when a file, or a directory with
    anything else in it, is in the way: a writer removes generations, so it must be sure whose they are.
    """
    try:
        os.fspath(directory).encode("utf-8")
    except UnicodeEncodeError:
        raise GraphError(f"the name of {os.fspath(directory)!a} is not valid UTF-8; name another directory") from None
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if not _is_ours({name for name in os.listdir(directory) if not name.startswith(".")}):
            raise GraphError(f"{directory} is not empty and not a graph directory; name a new or an empty directory")
        (directory / LOCK).touch()
    except (FileExistsError, NotADirectoryError) as error:
        raise GraphError(f"{directory} is or lies under a file; name a directory for the graph") from error
    except OSError as error:
        raise GraphError(f"{directory} cannot be written to ({error.strerror}); name another directory") from error


def _is_ours(names: set[str]) -> bool:
    if {"CURRENT", "generations"} <= names:
        return True
    # Other programs have a "generations" too: alone, without the mark, it is not taken for ours.
    return names <= _OWN_NAMES and ("generations" not in names or bool(names & {"CURRENT", LOCK}))


@contextmanager
def writer_lock(directory: Path) -> Iterator[None]:
    """Be the one writer of ``directory`` inside the ``with`` block.

    Does not wait: raises ``GraphError`` with the holder's process id when another process or thread
    writes. The kernel drops the lock with its process, however that ends; the id in the file only informs.
    """
    path = directory / LOCK
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except FileNotFoundError as error:
        raise GraphError(f"there is no graph in {directory}; make one: evigraph build {directory} SOURCE...") from error
    except OSError as error:
        raise GraphError(f"{path} cannot be opened ({error.strerror}); check who owns {directory}") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = _holder(descriptor)
            raise GraphError(f"{holder} is writing to {directory}; wait until it has finished, or stop it") from error
        except OSError as error:
            raise GraphError(f"{path} cannot be locked ({error.strerror}); keep the graph on a local disk") from error
        try:
            _write_pid(descriptor, f"{os.getpid()}\n")
            yield
        finally:
            _write_pid(descriptor, "")
            # Explicitly, as a forked child may still hold a copy of the descriptor.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        os.close(descriptor)


def _write_pid(descriptor: int, text: str) -> None:
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, text.encode("ascii"), 0)
    except OSError:  # a full disk: the lock holds without the id
        return


def _holder(descriptor: int) -> str:
    # A writer that has just taken the lock may not have replaced the id that a killed one left.
    for _ in range(10):
        text = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
        if text.isdecimal() and _is_running(int(text)):
            return f"process {text}"
        time.sleep(0.01)
    return "another process"


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True
