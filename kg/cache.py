"""SQLite caches of what is costly to compute, keyed by content and by the fingerprint of what computed it.

A cache can always be computed again: one that is damaged is set aside and a fresh one begun, and a
value whose checksum does not fit counts as absent.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

import numpy as np

from kg.errors import GraphError

if TYPE_CHECKING:
    from torch import Tensor

log = logging.getLogger(__name__)

LAYOUT = 1  # of the tables; kept as the database's user_version
_BATCH = 500  # SQLite takes at least 999 variables in a statement
_PATIENCE = 30.0  # seconds to wait for another process's transaction
# Primary result codes that tell of what surrounds the file (held, forbidden, full), not of damage to it.
_SURROUNDINGS = frozenset(
    {
        sqlite3.SQLITE_PERM, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOLFS, sqlite3.SQLITE_AUTH,
    }
)  # fmt: skip
T = TypeVar("T")


class Cache:
    """Bytes by key, separate for each fingerprint; for one thread, while other processes may use the same file.

    Every method raises ``GraphError`` where the file cannot be used: a read-only directory, a full disk.
    """

    def __init__(self, path: Path, fingerprint: str) -> None:
        self.path = path
        self.fingerprint = fingerprint
        self._connection: sqlite3.Connection | None = None
        self._run(lambda connection: None)

    def get_many(self, keys: Sequence[str]) -> dict[str, bytes]:
        """The values of those ``keys`` that are present and sound."""

        def read(connection: sqlite3.Connection) -> dict[str, bytes]:
            found: dict[str, bytes] = {}
            for start in range(0, len(keys), _BATCH):
                batch = keys[start : start + _BATCH]
                marks = ",".join("?" * len(batch))
                query = f"SELECT key, value, crc32 FROM entry WHERE fingerprint = ? AND key IN ({marks})"
                rows = connection.execute(query, (self.fingerprint, *batch))
                found |= {key: value for key, value, crc in rows if self._is_sound(key, value, crc)}
            return found

        return self._run(read)

    def put_many(self, items: Mapping[str, bytes]) -> None:
        """Store all ``items`` or, where that fails, none; a key that is present gets the new value."""
        rows = [(self.fingerprint, key, value, self._crc(key, value)) for key, value in items.items()]

        def write(connection: sqlite3.Connection) -> None:
            _transaction(
                connection, lambda: connection.executemany("INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?)", rows)
            )

        if rows:
            self._run(write)

    def close(self) -> None:
        """Close the file; the cache is of no use afterwards."""
        if self._connection is not None:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _is_sound(self, key: object, value: object, crc: object) -> bool:
        return isinstance(key, str) and isinstance(value, bytes) and crc == self._crc(key, value)

    def _crc(self, key: str, value: bytes) -> int:
        # Over the key as well: a damaged index may lead to another row, sound in itself.
        return zlib.crc32(value, zlib.crc32(f"{self.fingerprint}\0{key}\0".encode()))

    def _run(self, operation: Callable[[sqlite3.Connection], T]) -> T:
        """``operation``, and once more on a fresh file where damage stopped it."""
        try:
            return self._attempt(operation)
        except sqlite3.DatabaseError as error:
            self._set_aside(error)
        try:
            return self._attempt(operation)
        except sqlite3.DatabaseError as error:
            raise GraphError(f"{self.path} cannot be used ({error}); remove it and run the command again") from error

    def _attempt(self, operation: Callable[[sqlite3.Connection], T]) -> T:
        """Raises ``sqlite3.DatabaseError`` for damage, ``GraphError`` for what the user can set right."""
        try:
            if self._connection is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._connection = _connect(self.path)
            return operation(self._connection)
        except OSError as error:
            raise GraphError(f"{self.path} cannot be made ({error.strerror}); check {self.path.parent}") from error
        except (sqlite3.ProgrammingError, sqlite3.DataError) as error:
            raise RuntimeError(f"wrong use of the cache {self.path}") from error
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _SURROUNDINGS:
                raise
            way_out = "let other commands on it end, check permissions and free space, and run the command again"
            raise GraphError(f"the cache {self.path} cannot be used ({error}); {way_out}") from error

    def _set_aside(self, error: sqlite3.DatabaseError) -> None:
        aside = self.path.with_name(self.path.name + ".damaged")
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None
        try:
            for suffix in ("-wal", "-shm", ""):  # an old log must not be played into the fresh file
                with suppress(FileNotFoundError):
                    os.replace(f"{self.path}{suffix}", f"{aside}{suffix}")
        except OSError as failure:
            sentence = f"{self.path} is damaged and cannot be moved ({failure.strerror}); remove it"
            raise GraphError(sentence) from failure
        log.warning("%s is damaged (%s): moved to %s, a fresh cache is begun", self.path, error, aside.name)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
    try:
        # Damaged text must reach the checksum, not stop the query.
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        _write_ahead(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        if _layout(connection) != LAYOUT:
            _transaction(connection, lambda: _create(connection))
        connection.execute("SELECT fingerprint, key, value, crc32 FROM entry LIMIT 1").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging. SQLite does not wait for another that is just switching, so we do."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= deadline:
                raise
            time.sleep(0.01)


def _layout(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _create(connection: sqlite3.Connection) -> None:
    if _layout(connection) == LAYOUT:  # made by another process meanwhile
        return
    if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise sqlite3.DatabaseError("its tables are not those of this version")
    connection.execute(
        "CREATE TABLE entry (fingerprint TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, "
        "crc32 INTEGER NOT NULL, PRIMARY KEY (fingerprint, key))"
    )
    connection.execute(f"PRAGMA user_version = {LAYOUT}")


def _transaction(connection: sqlite3.Connection, steps: Callable[[], object]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        steps()
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def pack_vectors(vectors: Tensor) -> list[bytes]:
    """[n, d] float32 -> n values of 4 d bytes, little-endian. Raises ``ValueError`` for another dtype or shape."""
    import torch

    if vectors.dtype != torch.float32 or vectors.ndim != 2:
        raise ValueError(f"vectors must be float32 [n, d], not {vectors.dtype} {list(vectors.shape)}")
    return [row.tobytes() for row in vectors.detach().cpu().numpy().astype("<f4", copy=False)]


def unpack_vectors(values: Sequence[bytes], dimension: int) -> Tensor:
    """n values of ``pack_vectors`` -> float32 [n, dimension]. Raises ``ValueError`` for a value of another length."""
    import torch

    wrong = next((len(value) for value in values if len(value) != 4 * dimension), None)
    if wrong is not None:
        raise ValueError(f"a vector of {dimension} numbers takes {4 * dimension} bytes, not {wrong}")
    rows = np.frombuffer(bytearray(b"".join(values)), dtype="<f4").reshape(len(values), dimension)
    return torch.from_numpy(rows.astype(np.float32, copy=False))
