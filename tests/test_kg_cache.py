"""Caches: what is put comes back or counts as absent, never something else; damage is set aside."""

from __future__ import annotations

import logging
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kg.cache import Cache, pack_vectors, unpack_vectors
from kg.errors import GraphError

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "vectors.sqlite"


def fill(path: Path, rows: int = 300, fingerprint: str = "f") -> dict[str, bytes]:
    items = {f"key {n}": random.Random(n).randbytes(100) for n in range(rows)}
    with Cache(path, fingerprint) as cache:
        cache.put_many(items)
    return items


def get(path: Path, keys: list[str], fingerprint: str = "f") -> dict[str, bytes]:
    with Cache(path, fingerprint) as cache:
        return cache.get_many(keys)


# --- what is kept ---


@settings(max_examples=30, deadline=None)
@given(st.dictionaries(texts, st.binary(max_size=20)), st.lists(texts, max_size=5), texts)
def test_what_was_put_is_got_by_its_fingerprint_alone(items: dict[str, bytes], others: list[str], mark: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "c.sqlite"
        with Cache(path, mark) as cache:
            cache.put_many(items)
            wanted = [*items, *others, *items]
            assert cache.get_many(wanted) == items
        assert get(path, wanted, mark) == items
        assert get(path, wanted, mark + "x") == {}


def test_more_keys_than_a_statement_takes(path: Path) -> None:
    items = {str(n): b"%d" % n for n in range(70_000)}
    with Cache(path, "f") as cache:
        cache.put_many(items)
        assert cache.get_many(list(items)) == items
        assert cache.get_many([]) == {}


def test_a_new_value_replaces_the_old(path: Path) -> None:
    with Cache(path, "f") as cache, Cache(path, "g") as other:
        cache.put_many({"a": b"1", "b": b"1"})
        other.put_many({"a": b"other"})
        cache.put_many({"a": b"2"})
        cache.put_many({})
        assert cache.get_many(["a", "b"]) == {"a": b"2", "b": b"1"}
        assert other.get_many(["a", "b"]) == {"a": b"other"}


def test_all_items_or_none(path: Path) -> None:
    with Cache(path, "f") as cache:
        cache.put_many({"a": b"1"})
        assert cache._connection is not None
        cache._connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON entry WHEN new.key = 'c' BEGIN SELECT RAISE(ABORT, 'x'); END"
        )
        cache._set_aside = lambda error: None  # type: ignore[method-assign]
        with pytest.raises(GraphError):
            cache.put_many({"a": b"2", "b": b"2", "c": b"2"})
        assert cache.get_many(["a", "b", "c"]) == {"a": b"1"}


def test_the_file_is_in_wal_mode_and_the_settings_hold(path: Path) -> None:
    with Cache(path, "f") as cache:
        assert cache._connection is not None
        pragmas = ("journal_mode", "synchronous", "busy_timeout")
        found = [cache._connection.execute(f"PRAGMA {name}").fetchone()[0] for name in pragmas]
    assert found[:2] == ["wal", 1]
    assert found[2] >= 5_000


def test_wrong_use_is_no_damage(path: Path) -> None:
    fill(path)
    cache = Cache(path, "f")
    cache.close()
    cache.close()
    with pytest.raises(RuntimeError, match="wrong use"):
        cache.get_many(["key 1"])
    assert sorted(os.listdir(path.parent)) == [path.name]


# --- damage ---


def alter(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("value", "x'00'"), ("value", "'text'"), ("value", "CAST(x'ff' AS TEXT)"), ("value", "7"),
        ("crc32", "7"), ("crc32", "'x'"), ("crc32", "CAST(x'ff' AS TEXT)"), ("fingerprint", "'g'"),
    ],
)  # fmt: skip
def test_a_row_whose_checksum_does_not_fit_is_absent(path: Path, column: str, value: str) -> None:
    items = fill(path, 3)
    alter(path, f"UPDATE entry SET {column} = {value} WHERE key = 'key 1'")
    assert get(path, list(items)) == {key: items[key] for key in ("key 0", "key 2")}
    assert get(path, list(items), "g") == {}
    fill(path, 3)
    assert get(path, list(items)) == items


def test_values_that_changed_places_are_absent(path: Path) -> None:
    items = fill(path, 3)
    other = "(SELECT value, crc32 FROM entry WHERE key = 'key 0')"
    alter(path, f"UPDATE entry SET (value, crc32) = {other} WHERE key = 'key 1'")
    assert get(path, list(items)) == {key: items[key] for key in ("key 0", "key 2")}


def _garbage(path: Path) -> None:
    path.write_bytes(random.Random(1).randbytes(9_000))


def _half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _head(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:1_000])


def _pages(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096:] = random.Random(2).randbytes(len(content) - 4096)
    path.write_bytes(content)


def _foreign(path: Path) -> None:
    path.unlink()
    alter(path, "CREATE TABLE entry (something INTEGER)")


def _newer(path: Path) -> None:
    alter(path, "PRAGMA user_version = 99")


@pytest.mark.parametrize("damage", [_garbage, _half, _head, _pages, _foreign, _newer])
def test_a_damaged_file_is_set_aside_and_a_fresh_one_begun(path: Path, caplog, damage: Callable[[Path], None]) -> None:
    items = fill(path)
    damage(path)
    content = path.read_bytes()
    with caplog.at_level(logging.WARNING):
        found = get(path, list(items))
    assert found == {}
    aside = path.with_name("vectors.sqlite.damaged")
    assert aside.read_bytes()[100:] == content[100:]  # SQLite may change counters in the header
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert str(path) in caplog.text
    assert fill(path) == get(path, list(items))


def test_damage_found_while_open(path: Path) -> None:
    items = fill(path)
    with Cache(path, "f") as cache:
        _pages(path)
        cache.put_many({"new": b"1"})
        assert cache.get_many(["new", *items]) == {"new": b"1"}
    assert path.with_name("vectors.sqlite.damaged").exists()


def test_a_log_that_another_holds_is_not_played_into_the_fresh_file(path: Path) -> None:
    items = fill(path)
    with Cache(path, "f") as other:
        other.put_many({"late": b"1"})
        _garbage(path)
        with Cache(path, "f") as fresh:
            assert fresh.get_many([*items, "late"]) == {}
            fresh.put_many({"new": b"1"})
        assert Path(f"{path}.damaged-wal").exists()
    assert get(path, [*items, "late", "new"]) == {"new": b"1"}


def test_a_flipped_byte_anywhere_never_gives_another_value(path: Path) -> None:
    items = fill(path)
    content = path.read_bytes()
    assert len(content) > 30_000
    chance = random.Random(4)
    got = 0
    for start in range(0, len(content), 400):
        flipped = bytearray(content)
        flipped[min(start + chance.randrange(400), len(content) - 1)] ^= 1 << chance.randrange(8)
        path.write_bytes(flipped)
        found = get(path, list(items))
        got += len(found)
        assert found.items() <= items.items()
    assert got > 0


def test_an_empty_file_is_a_fresh_cache(path: Path, caplog) -> None:
    path.parent.mkdir()
    path.touch()
    items = fill(path, 3)
    assert get(path, list(items)) == items
    assert not caplog.records


# --- surroundings ---


def test_a_place_that_cannot_be_used_gives_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for place in (tmp_path, tmp_path / "file" / "c.sqlite"):
        with pytest.raises(GraphError, match=str(place)):
            Cache(place, "f")
    assert (tmp_path / "file").read_text() == "x"


def test_a_read_only_directory_gives_a_sentence() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        path = Path(name) / "c.sqlite"
        items = fill(path)
        for entry in (path, Path(name)):
            entry.chmod(0o555 if entry.is_dir() else 0o444)
        if os.geteuid() == 0:
            os.seteuid(65534)
        try:
            with pytest.raises(GraphError, match=r"c\.sqlite cannot be used .*permissions"):
                fill(path)
            with pytest.raises(GraphError, match=r"d\.sqlite cannot be used"):
                Cache(Path(name) / "d.sqlite", "f")
        finally:
            os.seteuid(os.getuid())
        Path(name).chmod(0o755)
        path.chmod(0o644)
        assert os.listdir(name) == ["c.sqlite"]
        assert get(path, list(items)) == items


def test_a_cache_that_another_holds_is_no_damage(path: Path, monkeypatch) -> None:
    items = fill(path, 3)
    monkeypatch.setattr("kg.cache._PATIENCE", 0.05)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with Cache(path, "f") as cache:
        assert cache.get_many(list(items)) == items
        with pytest.raises(GraphError, match="locked"):
            cache.put_many({"a": b"1"})
        holder.execute("ROLLBACK")
        holder.close()
        cache.put_many({"a": b"1"})
        assert cache.get_many(["a"]) == {"a": b"1"}


def test_many_writers_that_begin_at_once(path: Path) -> None:
    barrier = threading.Barrier(6)
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            barrier.wait()
            with Cache(path, "f") as cache:
                for part in range(5):
                    cache.put_many({f"{number} {part}": b"%d" % number})
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(get(path, [f"{number} {part}" for number in range(6) for part in range(5)])) == 30


KILLED = """
import sys; sys.path.insert(0, sys.argv[2])
from pathlib import Path
from kg.cache import Cache
with Cache(Path(sys.argv[1]), "f") as cache:
    for n in range(10**9):
        cache.put_many({f"{n} {part}": b"%d" % n for part in range(50)})
        print(n, flush=True)
"""


@pytest.mark.chaos
def test_a_killed_writer_leaves_whole_transactions(path: Path, caplog) -> None:
    root = str(Path(__file__).resolve().parent.parent)
    for last in (3, 40):
        arguments = [sys.executable, "-c", KILLED, str(path), root]
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            for line in writer.stdout:
                if int(line) == last:
                    break
            writer.send_signal(signal.SIGKILL)
        found = get(path, [f"{n} {part}" for n in range(last + 200) for part in range(50)])
        assert {f"{last} {part}" for part in range(50)} <= found.keys()
        assert len(found) % 50 == 0
    assert not caplog.records


# --- vectors ---


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 5), st.integers(1, 7), st.integers(0, 99))
def test_vectors_survive(rows: int, dimension: int, seed: int) -> None:
    vectors = torch.randn(rows, dimension, generator=torch.Generator().manual_seed(seed))
    values = pack_vectors(vectors)
    assert [len(value) for value in values] == [4 * dimension] * rows
    again = unpack_vectors(values, dimension)
    assert again.dtype == torch.float32
    assert again.shape == vectors.shape
    assert torch.equal(again, vectors)


def test_vectors_are_little_endian_float32() -> None:
    assert pack_vectors(torch.tensor([[1.0, -2.0]])) == [bytes.fromhex("0000803f000000c0")]
    turned = torch.tensor([[1.0, 5.0], [-2.0, 6.0]]).T
    assert pack_vectors(turned)[0] == bytes.fromhex("0000803f000000c0")
    unpack_vectors(pack_vectors(turned), 2).add_(1)  # writable memory of its own


def test_vectors_of_another_kind_are_refused() -> None:
    for wrong in (torch.zeros(2, 3, dtype=torch.float64), torch.zeros(3)):
        with pytest.raises(ValueError, match="float32"):
            pack_vectors(wrong)
    with pytest.raises(ValueError, match="takes 12 bytes, not 8"):
        unpack_vectors([bytes(12), bytes(8)], 3)
