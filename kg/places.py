"""Whether anything can be written at a path: one rule for whatever takes a target, asked before the work is done.

What stands against it is given as the end of a sentence, so that each caller names the path as its user does.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import tempfile
from pathlib import Path

from kg.lock import LOCK
from kg.storage import graph_exists

_DESCRIPTORS = re.compile(r"/proc/\d+(/task/\d+)?/fd")


def fault_of_file(path: Path) -> str:
    """Why ``targets.replaced_file`` could not write ``path``, as the end of a sentence, as "is a directory".

    "" where it could; directories that are missing would be made.
    """
    return fault_of_path(path, is_directory=False) or _fault_of_place(path.resolve().parent)


def fault_of_directory(path: Path) -> str:
    """Why no file could be written in the directory ``path``, as the end of a sentence; "" if it could, or be made."""
    return fault_of_path(path, is_directory=True) or _fault_of_place(path.resolve())


def fault_of_path(path: Path, is_directory: bool) -> str:
    """What ``path`` itself, or a graph around it, has against being written, as the end of a sentence; else ""."""
    try:
        target = path.resolve()
        mode = path.stat().st_mode if path.exists() else None
    except OSError as error:
        return f"cannot be reached ({error.strerror})"
    except RuntimeError:  # before Python 3.13
        return "is a link that leads to itself"
    if target.is_symlink():
        return "is a link that leads to itself"
    if _is_descriptor(path):
        return "leads to what a process has open"
    if mode is not None and is_directory and not stat.S_ISDIR(mode):
        return "is there and is no directory"
    if mode is not None and not is_directory and stat.S_ISDIR(mode):
        return "is a directory"
    if mode is not None and not is_directory and not stat.S_ISREG(mode):
        return "is there and is no file"
    for folder in (target, *target.parents):
        marked = graph_exists(folder) or os.path.lexists(folder / LOCK)
        if marked and os.path.isdir(folder / "generations"):
            return f"is inside the graph {folder}"
    return ""


def _is_descriptor(path: Path) -> bool:
    """Whether ``path``, such as /dev/stdout, stands for an open file: its name may be that of anything."""
    while not _DESCRIPTORS.fullmatch(str(path.parent.resolve())):
        if not path.is_symlink():
            return False
        path = path.parent.resolve() / path.readlink()
    return True


def _fault_of_place(folder: Path) -> str:
    """Whether a file can be made in ``folder``, or in what is there of it, is found out by making one."""
    nearest = next(parent for parent in (folder, *folder.parents) if os.path.lexists(parent))
    if not nearest.is_dir():
        return f"cannot be written, as {nearest} is no directory"
    try:
        with tempfile.TemporaryFile(dir=nearest):
            return ""
    except OSError as error:
        return f"cannot be written, as no file can be made in {nearest} ({reason_of(error)})"


def reason_of(error: OSError) -> str:
    """What the system says of a file that could not be made."""
    if error.errno == errno.ENOENT:  # "No such file": that is why one was to be made
        return "the system allows no new file there"
    return error.strerror or str(error)
