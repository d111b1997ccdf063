"""Generations: same bytes for same content, old or new after a kill, every damage named."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import SafetensorError

from kg import files, lock, storage
from kg.errors import GraphError
from kg.storage import (
    Generation,
    check_generation,
    graph_exists,
    open_generation,
    prepare_directory,
    write_generation,
    writer_lock,
)

TABLES = {
    "concepts": pa.table({"label": ["β-VAE", None, "量子计算"], "forms": [["a", "b"], [], None]}),
    "documents": pa.table({"id": pa.array([], pa.string()), "year": pa.array([], pa.int32())}),
}
TENSORS = {"weights": torch.tensor([0.5, -1.0]), "rows": torch.arange(6).reshape(2, 3), "none": torch.zeros(0, 4)}


def write(directory: Path, value: int, **extra: object) -> int:
    tables = TABLES | {"value": pa.table({"value": [value] * 5})}
    return write_generation(directory, tables, TENSORS | {"value": torch.tensor(value)}, {"value": value} | extra)


def value(directory: Path) -> int:
    """The value of a graph of ``write``; fails unless all its parts agree."""
    opened = open_generation(directory)
    found = {opened.manifest["value"], opened.tables["value"]["value"][4].as_py(), int(opened.tensors["value"])}
    assert len(found) == 1
    return found.pop()


def contents(directory: Path) -> dict[str, bytes]:
    return {str(p.relative_to(directory)): p.read_bytes() for p in sorted(directory.rglob("*")) if p.is_file()}


def said(action: Callable[[], object], otherwise: str = "") -> str:
    """The sentence of the ``GraphError`` that ``action`` raises; any other error goes through."""
    try:
        action()
    except GraphError as error:
        return str(error)
    return otherwise


def folder(directory: Path, number: int = 1) -> Path:
    return directory / "generations" / f"{number:04d}"


@pytest.fixture(autouse=True)
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Paths handed to fsync, which is slow and here only recorded: what a process wrote outlives the process anyway."""
    paths: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: paths.append(_path_of(descriptor)))
    return paths


def _path_of(descriptor: int) -> str:
    link = f"/proc/self/fd/{descriptor}"
    return os.readlink(link) if os.path.lexists(link) else ""


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph of two generations, not to be changed."""
    directory = tmp_path_factory.mktemp("two") / "graph"
    write(directory, 1)
    write(directory, 2)
    return directory


@pytest.fixture
def graph(two: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(two, tmp_path / "graph"))


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """A directory with mode 755 of this user, whom modes stop while the fixture lasts (root becomes nobody)."""
    with tempfile.TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True) as name:
        if os.geteuid() == 0:
            os.chown(name, 65534, -1)
            os.seteuid(65534)
        try:
            yield Path(name)
        finally:
            os.seteuid(os.getuid())


# --- round trip ---


def test_what_was_written_is_read(two: Path) -> None:
    opened = open_generation(two)
    assert isinstance(opened, Generation)
    assert opened.number == 2
    assert opened.tables["concepts"].equals(TABLES["concepts"])
    assert opened.tables["documents"].equals(TABLES["documents"])
    assert set(opened.tables) == {"concepts", "documents", "value"}
    for name, tensor in TENSORS.items():
        assert torch.equal(opened.tensors[name], tensor)
        assert opened.tensors[name].shape == tensor.shape
    assert check_generation(two) == []
    assert graph_exists(two)


def test_the_manifest_lists_size_and_hash_of_every_file(two: Path) -> None:
    text = (folder(two, 2) / "manifest.json").read_text(encoding="utf-8")
    manifest = json.loads(text)
    assert text == json.dumps(manifest, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    assert manifest["format"] == 2
    assert manifest["value"] == 2
    on_disk = {path.name: path.read_bytes() for path in folder(two, 2).iterdir() if path.name != "manifest.json"}
    expected = {name: {"bytes": len(c), "sha256": hashlib.sha256(c).hexdigest()} for name, c in on_disk.items()}
    assert manifest["files"] == expected
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert (two / "CURRENT").read_text() == f"0002 {digest}\n"


dtypes = {
    torch.bool: st.booleans(),
    torch.int64: st.integers(-(2**63), 2**63 - 1),
    torch.float32: st.floats(width=32, allow_nan=False),
    torch.float16: st.floats(width=16, allow_nan=False),
}
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
columns = {
    "text": (pa.string(), texts),
    "long": (pa.large_string(), texts),
    "flag": (pa.bool_(), st.booleans()),
    "number": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "score": (pa.float32(), st.floats(width=32, allow_nan=False)),
    "names": (pa.list_(pa.string()), st.lists(st.none() | texts, max_size=3)),
    "spans": (pa.list_(pa.int32()), st.lists(st.integers(-9, 9), max_size=3)),
    "pair": (
        pa.struct([("key", pa.string()), ("n", pa.int8())]),
        st.fixed_dictionaries({"key": st.none() | texts, "n": st.none() | st.integers(-9, 9)}),
    ),
}


@st.composite
def table_values(draw: st.DrawFn) -> dict[str, list[object]]:
    rows = draw(st.integers(0, 20))
    names = draw(st.lists(st.sampled_from(sorted(columns)), unique=True, min_size=1))
    return {name: draw(st.lists(st.none() | columns[name][1], min_size=rows, max_size=rows)) for name in names}


@st.composite
def tensor_values(draw: st.DrawFn) -> torch.Tensor:
    dtype = draw(st.sampled_from(sorted(dtypes, key=str)))
    shape = draw(st.lists(st.integers(0, 3), max_size=3))
    size = int(torch.Size(shape).numel())
    return torch.tensor(draw(st.lists(dtypes[dtype], min_size=size, max_size=size)), dtype=dtype).reshape(shape)


def as_table(values: dict[str, list[object]]) -> pa.Table:
    return pa.table({name: pa.array(column, columns[name][0]) for name, column in values.items()})


@settings(max_examples=25, deadline=None)
@given(table_values(), st.dictionaries(st.sampled_from("abcd"), tensor_values()))
def test_any_table_and_tensor_survives(values: dict[str, list[object]], tensors: dict[str, torch.Tensor]) -> None:
    table = as_table(values)
    with tempfile.TemporaryDirectory() as name:
        write_generation(Path(name), {"t": table}, tensors, {})
        opened = open_generation(Path(name))
    assert opened.tables["t"].schema == table.schema
    assert opened.tables["t"].to_pylist() == table.to_pylist()
    assert opened.tensors.keys() == tensors.keys()
    for key, tensor in tensors.items():
        assert opened.tensors[key].dtype == tensor.dtype
        assert opened.tensors[key].shape == tensor.shape
        assert torch.equal(opened.tensors[key], tensor)


# --- same content, same bytes ---


def test_two_writes_of_one_content_are_identical(tmp_path: Path) -> None:
    for name, turn in (("a", 1), ("b", -1)):
        tables = dict(sorted(TABLES.items())[::turn])
        tensors = dict(sorted(TENSORS.items())[::turn])
        write_generation(tmp_path / name, tables, tensors, dict([("x", 1), ("y", {"v": 2, "u": [0.1]})][::turn]))
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert str(tmp_path).encode() not in b"".join(contents(tmp_path / "a").values())


@settings(max_examples=25, deadline=None)
@given(table_values(), st.data())
def test_chunks_and_slices_leave_no_trace(values: dict[str, list[object]], data: st.DataObject) -> None:
    table = as_table(values)
    rows = table.num_rows
    cut = data.draw(st.integers(0, rows))
    twice = pa.concat_tables([table, table]).combine_chunks()
    garbage = pa.table({name: _garbage_under_nulls(table[name]) for name in table.column_names})
    variants = [table, pa.concat_tables([table[:cut], table[cut:]]), twice[:rows], twice[rows:], garbage]
    with tempfile.TemporaryDirectory() as name:
        written = set()
        for variant in variants:
            assert variant.to_pylist() == table.to_pylist()
            files.write_table(Path(name) / "t.arrow", variant)
            written.add((Path(name) / "t.arrow").read_bytes())
    assert len(written) == 1


def _garbage_under_nulls(column: pa.ChunkedArray) -> pa.Array:
    """The same values, with something else than zeros in the places of nulls where the type has such places."""
    array = column.combine_chunks()
    present = array.drop_null()
    if pa.types.is_nested(array.type) or not len(present) or len(present) == len(array):
        return array
    filled = pc.fill_null(array, present[0])
    valid = pc.is_valid(array)
    return pa.Array.from_buffers(array.type, len(array), [valid.buffers()[1], *filled.buffers()[1:]])


def test_tensors_that_share_memory_or_are_strided(tmp_path: Path) -> None:
    base = torch.arange(12.0).reshape(3, 4)
    views = {"all": base, "row": base[1], "turned": base.T, "grad": base.clone().requires_grad_()}
    write_generation(tmp_path, {}, views, {})
    opened = open_generation(tmp_path).tensors
    assert all(torch.equal(opened[name], view) for name, view in views.items())
    write_generation(tmp_path / "copies", {}, {name: view.detach().clone() for name, view in views.items()}, {})
    assert contents(folder(tmp_path)) == contents(folder(tmp_path / "copies"))


def test_a_long_table_is_written_in_batches(tmp_path: Path) -> None:
    table = pa.table({"n": pa.array(range(150_000), pa.int32())})
    write_generation(tmp_path, {"long": table}, {}, {})
    opened = open_generation(tmp_path).tables["long"]
    assert [len(chunk) for chunk in opened["n"].chunks] == [65_536, 65_536, 18_928]
    assert opened.equals(table)


def test_dictionaries_and_schema_metadata_survive(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(files, "_ROWS_PER_BATCH", 2)
    column = pa.chunked_array([pa.array(["a", "b"]).dictionary_encode(), pa.array(["c", None]).dictionary_encode()])
    table = pa.table({"kind": column}).replace_schema_metadata({"unit": "none"})
    write_generation(tmp_path, {"t": table}, {}, {})
    opened = open_generation(tmp_path).tables["t"]
    assert opened["kind"].to_pylist() == ["a", "b", "c", None]
    assert opened.schema == table.schema
    assert opened.schema.metadata == {b"unit": b"none"}


@pytest.mark.parametrize(
    ("tables", "tensors", "manifest"),
    [
        ({"../t": TABLES["documents"]}, {}, {}),
        ({}, {"s": torch.eye(2).to_sparse_coo()}, {}),
        ({}, {}, {"x": float("nan")}),
        ({}, {}, {"x": "\ud800"}),
    ],
    ids=["name", "sparse", "nan", "surrogate"],
)
def test_content_that_cannot_be_kept_changes_nothing(graph: Path, tables, tensors, manifest) -> None:
    before = contents(graph)
    with pytest.raises(ValueError):
        write_generation(graph, tables, tensors, manifest)
    assert contents(graph) == before


# --- memory map ---


def test_files_are_mapped_and_outlive_their_removal(tmp_path: Path) -> None:
    numbers = pa.table({"n": pa.array(range(100_000), pa.int64())})
    vectors = torch.arange(500_000, dtype=torch.float32)
    write_generation(tmp_path, {"numbers": numbers}, {"vectors": vectors}, {})
    allocated = pa.total_allocated_bytes()
    opened = open_generation(tmp_path)
    assert pa.total_allocated_bytes() - allocated < 50_000  # of 800,000
    if sys.platform == "linux":
        maps = Path("/proc/self/maps").read_text()
        assert str(folder(tmp_path) / "numbers.arrow") in maps
        assert str(folder(tmp_path) / "tensors.safetensors") in maps
    write(tmp_path, 2)
    write(tmp_path, 3)
    assert not folder(tmp_path).exists()
    assert opened.tables["numbers"].equals(numbers)
    assert torch.equal(opened.tensors["vectors"], vectors)


def test_writing_to_an_opened_tensor_stays_private(graph: Path) -> None:
    open_generation(graph).tensors["weights"].fill_(9)
    assert check_generation(graph) == []
    assert torch.equal(open_generation(graph).tensors["weights"], TENSORS["weights"])


# --- generations ---


def test_the_generation_before_stays_and_older_ones_go(tmp_path: Path) -> None:
    assert [write(tmp_path, n) for n in (1, 2, 3)] == [1, 2, 3]
    assert sorted(os.listdir(tmp_path / "generations")) == ["0002", "0003"]
    assert sorted(os.listdir(tmp_path)) == ["CURRENT", "generations", "lock"]
    assert value(tmp_path) == 3


def test_leftovers_of_killed_writers_go_and_strange_names_stay(graph: Path) -> None:
    for name in ("0003", "0007", "notes", "01"):
        (graph / "generations" / name).mkdir()
        (graph / "generations" / name / "manifest.json").write_text("half")
    (graph / "generations" / "0009").write_text("a file")
    (graph / "CURRENT.new").write_text("0003 ha")
    assert value(graph) == 2
    assert write(graph, 3) == 3
    assert sorted(os.listdir(graph / "generations")) == ["0002", "0003", "01", "notes"]
    assert value(graph) == 3


@pytest.mark.parametrize("content", [b"", b"garbage", b"0002 abc\n"])
def test_a_damaged_current_is_replaced_by_a_new_build_that_removes_nothing(graph: Path, content: bytes) -> None:
    (graph / "CURRENT").write_bytes(content)
    assert write(graph, 3) == 3
    assert sorted(os.listdir(graph / "generations")) == ["0001", "0002", "0003"]
    assert value(graph) == 3


def test_a_generation_is_readable_for_whom_the_directory_is(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        write(tmp_path, 1)
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in folder(tmp_path).iterdir()} == {0o644}


@pytest.mark.parametrize("step", ["_read_manifest", "_problems", "_load"])
def test_a_reader_whose_generation_was_removed_takes_the_next(graph: Path, monkeypatch, step: str) -> None:
    original = getattr(storage, step)
    pending = [3, 4]

    def overtaken(*arguments: object) -> object:
        while pending:
            write(graph, pending.pop(0))
        return original(*arguments)

    monkeypatch.setattr(storage, step, overtaken)
    assert value(graph) == 4
    assert not pending
    pending += [5, 6]
    assert check_generation(graph) == []
    assert not pending


def test_a_graph_that_changes_all_the_time_is_given_up(graph: Path, monkeypatch) -> None:
    original = files.open_tensors
    numbers = iter(range(3, 99))

    def overtaken(path: Path) -> object:
        write(graph, next(numbers))
        write(graph, next(numbers))
        return original(path)

    monkeypatch.setattr(files, "open_tensors", overtaken)
    with pytest.raises(GraphError, match="try again"):
        open_generation(graph)


# --- killed ---


@pytest.mark.skipif(sys.platform != "linux", reason="paths of descriptors are read from /proc")
def test_all_is_on_the_disk_before_the_switch(graph: Path, monkeypatch, synced: list[str]) -> None:
    replace = os.replace

    def switch(source: Path, target: Path) -> None:
        synced.append(f"{source} -> {target}")
        replace(source, target)

    monkeypatch.setattr(os, "replace", switch)
    synced.clear()
    write(graph, 3)
    at = synced.index(f"{graph}/CURRENT.new -> {graph}/CURRENT")
    inside = {str(path) for path in folder(graph, 3).iterdir()}
    assert set(synced[:at]) == inside | {str(folder(graph, 3)), f"{graph}/generations", f"{graph}/CURRENT.new"}
    assert len(inside) == 5
    assert synced[at + 1 :] == [str(graph)]


class Stopped(BaseException):
    """Stands for a kill in the same process."""


def stop_at_line(k: int, stop: Callable[[], None]) -> Callable[..., object]:
    """A trace function that calls ``stop`` before the k-th line executed in kg/storage.py, files.py, lock.py."""
    modules = {module.__file__ for module in (storage, files, lock)}
    seen = 0

    def trace(frame: types.FrameType, event: str, _: object) -> object:
        nonlocal seen
        if frame.f_code.co_filename not in modules:
            return None
        if event == "line":
            seen += 1
            if seen == k:
                stop()
        return trace

    return trace


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a file opened by the stopped line
def test_an_exception_at_every_third_line_leaves_the_old_or_the_new(two: Path, tmp_path: Path) -> None:
    seen = set()
    k = 0
    while True:
        k += 3
        graph = Path(shutil.copytree(two, tmp_path / str(k)))

        def stop() -> None:
            raise Stopped

        before = sys.gettrace()
        sys.settrace(stop_at_line(k, stop))
        try:
            write(graph, 3)
            finished = True
        except Stopped:
            finished = False
        finally:
            sys.settrace(before)
        seen.add(value(graph))
        assert check_generation(graph) == []
        if finished:
            break
        write(graph, 4)
        assert value(graph) == 4
        assert len(os.listdir(graph / "generations")) == 2
        shutil.rmtree(graph)
    assert k > 100
    assert seen == {2, 3}


@pytest.mark.parametrize("failing", ["fsync", "replace", "mkdir", "listdir"])
def test_a_refusing_disk_gives_a_sentence_and_leaves_the_graph(graph: Path, monkeypatch, failing: str) -> None:
    original = getattr(os, failing)
    for k in range(1, 30):
        calls = 0

        def refuse(*arguments: object, **options: object) -> object:
            nonlocal calls
            calls += 1
            if calls >= k:  # noqa: B023
                raise OSError(errno.ENOSPC, "No space left on device")
            return original(*arguments, **options)

        with monkeypatch.context() as patch:
            patch.setattr(os, failing, refuse)
            sentence = said(lambda: write(graph, 3))
        if not sentence:
            break
        assert str(graph) in sentence
        assert "No space left on device" in sentence
        assert check_generation(graph) == []
        assert value(graph) in {2, 3}
    else:
        pytest.fail("never succeeded")


def test_a_failed_write_leaves_no_rest_behind(graph: Path, monkeypatch) -> None:
    before = contents(graph)

    def full(*_: object) -> None:
        raise SafetensorError("I/O error: No space left on device (os error 28)")

    monkeypatch.setattr(files, "write_tensors", full)
    with pytest.raises(GraphError, match=r"0003.*No space left"):
        write(graph, 3)
    assert contents(graph) == before
    assert not folder(graph, 3).exists()


KILLED = """
import os, random, shutil, signal, sys, time
from pathlib import Path
sys.path[:0] = {paths!r}
from test_kg_storage import stop_at_line, value, write, write_generation, open_generation, check_generation
import pyarrow as pa, torch

def forked(work):
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return child

fsync, os.fsync = os.fsync, lambda descriptor: None  # slow, and what a killed process wrote outlives it anyway
root, seen, k = Path(sys.argv[1]), [], 0
while True:  # killed before every fifth line, one after the other, with no clean-up whatever
    k += 5
    graph = root / "lines" / str(k)
    write(graph, 1)
    def work():
        sys.settrace(stop_at_line(k, lambda: os._exit(9)))
        write(graph, 2)
    _, status = os.waitpid(forked(work), 0)
    seen.append(value(graph))
    assert check_generation(graph) == []
    if status == 0:
        break
    write(graph, 3)
    assert value(graph) == 3 and len(os.listdir(graph / "generations")) == 2
    shutil.rmtree(graph)
os.fsync = fsync
assert k > 100 and set(seen) == {{1, 2}}, (k, set(seen))

chance, graph, last, kills = random.Random(7), root / "moments", 0, 0
big = torch.zeros(1_500_000)
def generation(n):
    tables = {{"value": pa.table({{"value": [n] * 5}})}}
    write_generation(graph, tables, {{"value": torch.tensor(n), "big": big}}, {{"value": n}})
generation(0)
until = time.monotonic() + 1
while time.monotonic() < until:  # killed by the system at random moments of writing 6 MB
    child = forked(lambda: generation(last + 1))
    time.sleep(chance.random() * 0.04)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    kills += status != 0
    now = value(graph)
    assert now in (last, last + 1), (now, last)
    assert check_generation(graph) == []
    last = now
print(k, kills, last)
assert kills > 2
"""


@pytest.mark.chaos
def test_a_kill_at_every_fifth_line_or_any_moment_leaves_the_old_or_the_new(tmp_path: Path) -> None:
    here = Path(__file__).resolve().parent
    program = KILLED.format(paths=[str(here), str(here.parent)])
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


# --- damage ---

PARTS = ["CURRENT", "manifest.json", "concepts.arrow", "documents.arrow", "value.arrow", "tensors.safetensors"]


def part(graph: Path, name: str) -> Path:
    return graph / name if name == "CURRENT" else folder(graph, 2) / name


@pytest.mark.parametrize("name", PARTS)
def test_a_flipped_byte_anywhere_is_refused_by_name(graph: Path, name: str) -> None:
    path = part(graph, name)
    content = path.read_bytes()
    chance = random.Random(3)
    for position in {*range(0, len(content), max(1, len(content) // 40)), len(content) - 1}:
        flipped = bytearray(content)
        flipped[position] ^= 1 << chance.randrange(8)
        path.write_bytes(flipped)
        with pytest.raises(GraphError, match=name) as caught:
            open_generation(graph)
        assert "evigraph build" in str(caught.value)
        assert check_generation(graph) == [str(caught.value)]
    path.write_bytes(content)
    assert value(graph) == 2


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _garbage(path: Path) -> None:
    path.write_bytes(random.Random(1).randbytes(path.stat().st_size))


def _grow(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\n")


def _directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path)


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("damage", [_cut, _empty, _garbage, _grow, Path.unlink, _directory, _pipe, _loop])
def test_any_damage_is_refused_by_name(graph: Path, name: str, damage: Callable[[Path], None]) -> None:
    damage(part(graph, name))
    expected = "no finished graph" if (name, damage) == ("CURRENT", Path.unlink) else name
    with pytest.raises(GraphError, match=expected):
        open_generation(graph)


def test_check_names_every_damaged_file(graph: Path) -> None:
    for name in ("concepts.arrow", "tensors.safetensors"):
        _garbage(part(graph, name))
    part(graph, "value.arrow").unlink()
    problems = check_generation(graph)
    assert [any(name in problem for problem in problems) for name in PARTS[2:]] == [True, False, True, True]
    assert len(problems) == 3


@pytest.mark.parametrize("name", ["concepts.arrow", "tensors.safetensors"])
def test_a_large_file_is_hashed_by_check_only(graph: Path, monkeypatch, name: str) -> None:
    path = part(graph, name)
    content = bytearray(path.read_bytes())
    at = content.index("量子计算".encode()) if name == "concepts.arrow" else len(content) - 1
    content[at] ^= 1
    path.write_bytes(content)
    monkeypatch.setattr(storage, "HASHED_ON_OPENING", path.stat().st_size)
    assert open_generation(graph).number == 2
    with pytest.raises(GraphError, match=name):
        open_generation(graph, hashed_below=path.stat().st_size + 1)
    assert [name in problem for problem in check_generation(graph)] == [True]


@pytest.mark.parametrize("name", ["concepts.arrow", "tensors.safetensors"])
def test_a_large_file_of_another_size_is_refused(graph: Path, name: str) -> None:
    _grow(part(graph, name))
    with pytest.raises(GraphError, match=rf"{name} is damaged: it has \d+ bytes instead of \d+"):
        open_generation(graph, hashed_below=0)


def test_large_garbage_never_escapes_as_another_error(graph: Path) -> None:
    chance = random.Random(5)
    for name in ("concepts.arrow", "tensors.safetensors"):
        path = part(graph, name)
        content = path.read_bytes()
        for _ in range(60):
            hurt = bytearray(content)
            start = chance.randrange(len(hurt))
            hurt[start : start + 8] = chance.randbytes(len(hurt[start : start + 8]))
            path.write_bytes(hurt)
            assert name in said(lambda: open_generation(graph, hashed_below=0), otherwise=name)
        path.write_bytes(content)


def rewrite_manifest(graph: Path, content: bytes) -> None:
    (folder(graph, 2) / "manifest.json").write_bytes(content)
    (graph / "CURRENT").write_text(f"0002 {hashlib.sha256(content).hexdigest()}\n")


def test_a_newer_format_is_refused(graph: Path) -> None:
    manifest = json.loads((folder(graph, 2) / "manifest.json").read_bytes())
    rewrite_manifest(graph, json.dumps(manifest | {"format": 3}).encode())
    with pytest.raises(GraphError, match=r"format 3.*update evigraph"):
        open_generation(graph)
    assert "format 3" in check_generation(graph)[0]


@pytest.mark.parametrize(
    "content",
    [
        b"", b"[]", b"{}", b"\xff", b'{"format": null, "files": {}}', b'{"format": 1, "files": [1]}',
        b'{"format": 1, "files": {"a.arrow": {}}}', b'{"format": 1, "files": {"../../x": {"bytes": 1, "sha256": ""}}}',
        b"[" * 100_000,
    ],
)  # fmt: skip
def test_a_manifest_that_is_none_is_refused(graph: Path, content: bytes) -> None:
    rewrite_manifest(graph, content)
    with pytest.raises(GraphError, match=r"manifest\.json is damaged"):
        open_generation(graph)


def test_a_missing_graph_says_how_to_make_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "unfinished" / "generations" / "0001").mkdir(parents=True)
    for name in ("nothing", "file", "unfinished"):
        for use in (open_generation, check_generation):
            with pytest.raises(GraphError, match=f"no finished graph in .*{name}.*evigraph build .*{name} SOURCE"):
                use(tmp_path / name)
        assert not graph_exists(tmp_path / name)


def test_files_without_permission(unprivileged: Path) -> None:
    graph = unprivileged / "graph"
    write(graph, 1)
    for path in (graph / "CURRENT", folder(graph) / "manifest.json", folder(graph) / "concepts.arrow"):
        path.chmod(0)
        with pytest.raises(GraphError, match=f"{path.name} cannot be read"):
            open_generation(graph)
        path.chmod(0o644)
    graph.chmod(0)
    with pytest.raises(GraphError, match="cannot be read"):
        open_generation(graph)
    graph.chmod(0o555)
    assert value(graph) == 1
    with pytest.raises(GraphError, match=r"could not be written|cannot be written"):
        write(graph, 2)
    graph.chmod(0o755)
    assert value(graph) == 1


# --- the directory ---


def test_prepare_makes_a_directory_and_knows_its_own(tmp_path: Path) -> None:
    graph = tmp_path / "a" / "b"
    prepare_directory(graph)
    prepare_directory(graph)
    assert os.listdir(graph) == ["lock"]
    (graph / "generations" / "0001").mkdir(parents=True)  # a first build that was killed
    (graph / "cache").mkdir()
    prepare_directory(graph)
    write(graph, 1)
    (graph / "notes.txt").write_text("the user's")
    prepare_directory(graph)
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / ".DS_Store").write_text("")
    prepare_directory(tmp_path / "hidden")
    (tmp_path / "cached" / "cache").mkdir(parents=True)
    prepare_directory(tmp_path / "cached")


@pytest.mark.parametrize("names", [["thesis.txt"], ["generations"], ["cache", "x"], ["lock", "x"], ["CURRENT", "x"]])
def test_prepare_refuses_what_belongs_to_others(tmp_path: Path, names: list[str]) -> None:
    for name in names:
        (tmp_path / name).mkdir()
    with pytest.raises(GraphError, match="not a graph directory"):
        prepare_directory(tmp_path)
    with pytest.raises(GraphError, match="not a graph directory"):
        write(tmp_path, 1)
    assert sorted(os.listdir(tmp_path)) == sorted(names)


def test_prepare_refuses_a_file_in_the_place(unprivileged: Path) -> None:
    file = unprivileged / "file"
    file.write_text("x")
    for path in (file, file / "below"):
        with pytest.raises(GraphError, match="under a file"):
            prepare_directory(path)
    unprivileged.chmod(0o555)
    with pytest.raises(GraphError, match="cannot be written to"):
        prepare_directory(unprivileged / "graph")
    unprivileged.chmod(0o755)


# --- the lock ---

HOLDER = (
    "import sys, time; sys.path.insert(0, sys.argv[2]); from pathlib import Path; from kg.lock import writer_lock\n"
)
HOLDER += "with writer_lock(Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"


def test_a_second_process_is_refused_until_the_first_is_killed(tmp_path: Path) -> None:
    root = str(Path(__file__).resolve().parent.parent)
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path), root], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(GraphError, match=f"process {holder.pid} is writing to"), writer_lock(tmp_path):
            pass
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.communicate()
    assert (tmp_path / "lock").read_text() == f"{holder.pid}\n"
    with writer_lock(tmp_path):
        assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"
    assert (tmp_path / "lock").read_text() == ""


def test_a_second_thread_is_refused_and_the_lock_comes_free(tmp_path: Path) -> None:
    def second() -> None:
        try:
            with writer_lock(tmp_path):
                outcome.append("entered")
        except GraphError as error:
            outcome.append(str(error))

    outcome: list[str] = []
    thread = threading.Thread(target=second)
    with suppress(KeyError), writer_lock(tmp_path):
        thread.start()
        thread.join()
        raise KeyError
    second()
    assert f"process {os.getpid()} is writing" in outcome[0]
    assert outcome[1] == "entered"


@pytest.mark.parametrize("stale", ["", "999999999\n", "not a number", "9" * 32])
def test_a_stale_id_is_not_named(tmp_path: Path, stale: str) -> None:
    with writer_lock(tmp_path):
        (tmp_path / "lock").write_text(stale)
        with pytest.raises(GraphError, match="another process is writing"), writer_lock(tmp_path):
            pass
    (tmp_path / "lock").write_text(stale)
    with writer_lock(tmp_path):
        pass


def test_the_lock_of_no_directory(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match="evigraph build"), writer_lock(tmp_path / "nothing"):
        pass
    (tmp_path / "lock").mkdir()
    with pytest.raises(GraphError, match="lock cannot be opened"), writer_lock(tmp_path):
        pass
