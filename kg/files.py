"""Tables and tensors as files: the same content gives the same bytes, and opening reads only what is touched."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from torch import Tensor

_ROWS_PER_BATCH = 65_536


def write_table(path: Path, table: pa.Table) -> None:
    """Write uncompressed Arrow IPC in batches of 65,536 rows; chunks, slices and values under nulls leave no trace.

    (Values inside a null of a fixed-size list do, and in dictionary columns the order of the dictionary.)
    """
    table = table.unify_dictionaries()
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        for start in range(0, table.num_rows, _ROWS_PER_BATCH):
            rows = table.slice(start, _ROWS_PER_BATCH).combine_chunks()
            # Taking every row builds the buffers anew, without what only lay beside the content.
            writer.write_table(rows.take(pa.array(np.arange(rows.num_rows))))


def open_table(path: Path) -> pa.Table:
    """Map an Arrow IPC file into memory. The table stays valid when the file is removed."""
    with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as reader:
        table = reader.read_all()
    table.validate()
    return table


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write dense tensors, from any device, as safetensors. Raises ``ValueError`` for a sparse one."""
    import torch
    from safetensors.torch import save_file

    dense: dict[str, Tensor] = {}
    storages: set[int] = set()
    for name in sorted(tensors):
        if tensors[name].layout != torch.strided:
            raise ValueError(f"tensor {name!r} is sparse; store its indices and values")
        tensor = tensors[name].detach().cpu().contiguous()
        storage = tensor.untyped_storage().data_ptr()
        dense[name] = tensor.clone() if storage in storages else tensor  # save_file refuses two views of one storage
        storages.add(storage)
    save_file(dense, path)
    path.chmod(path.parent.stat().st_mode & 0o666)  # save_file lets its owner alone read it


def open_tensors(path: Path) -> dict[str, Tensor]:
    """Map a safetensors file into memory. The tensors outlive the file's removal; writing to them does not reach it."""
    from safetensors import safe_open

    with safe_open(path, framework="pt") as reader:
        return {name: reader.get_tensor(name) for name in sorted(reader.keys())}


def sha256(path: Path) -> str:
    """SHA-256 (hex) of a file's content."""
    with path.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


def sync(path: Path) -> None:
    """Return when ``path``, a file or the list of names in a directory, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove(path: Path) -> None:
    """Remove a file, or a directory with all in it, as far as the system lets us."""
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
