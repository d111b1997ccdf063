"""What may stand after --out where a command writes one file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def check_file(path: Path, suffixes: Sequence[str], wanted: str) -> None:
    """Raise ``InputError`` if ``path`` has none of ``suffixes`` or could not be written, before any work is done.

    ``wanted`` says what to name instead of what is no such file. A missing directory is no fault: it will be made.
    """
    from kg.errors import InputError
    from kg.places import fault_of_file

    fault = fault_of_file(path)
    if not fault and path.suffix.lower() not in suffixes:
        fault = f"has the suffix {path.suffix!r}" if path.suffix else "has no suffix"
    elif fault and not path.is_dir():
        wanted = "choose another place"
    if fault:
        raise InputError(f"--out is {path}, which {fault}; {wanted}.")
