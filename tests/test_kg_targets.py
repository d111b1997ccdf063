"""Targets take their names only when they are complete, links are followed, graphs are left alone, faults are told."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg.errors import InputError
from kg.places import fault_of_directory, fault_of_file
from kg.storage import graph_exists
from kg.targets import replace_files, replaced_archive, replaced_directory, replaced_file
from tests.conftest import ROOT


def write_file(path: Path) -> None:
    with replaced_file(path) as file:
        file.write(b"new")


def write_files(path: Path) -> None:
    replace_files({path: b"new"})


def write_archive(path: Path) -> None:
    with replaced_archive(path) as opened, opened("a") as file:
        file.write(b"new")


def write_directory(path: Path) -> None:
    with replaced_directory(path, lambda _: True) as opened, opened("a") as file:
        file.write(b"new")


FILE_WRITERS = [write_file, write_files, write_archive]
WRITERS = [*FILE_WRITERS, write_directory]
Writer = Callable[[Path], None]


def make_graph(directory: Path, mark: str = "CURRENT") -> Path:
    (directory / "generations").mkdir(parents=True)
    (directory / mark).touch()
    return directory


def content(path: Path) -> bytes:
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return archive.read("a")
    return (path / "a" if path.is_dir() else path).read_bytes()


@pytest.mark.parametrize("write", WRITERS)
def test_a_target_is_all_there_is_and_its_folders_are_made(tmp_path: Path, write: Writer) -> None:
    for _ in range(2):  # new, then replaced
        write(tmp_path / "deep" / "er" / "t")
        assert [path.name for path in (tmp_path / "deep" / "er").iterdir()] == ["t"]
        assert content(tmp_path / "deep" / "er" / "t") == b"new"


@pytest.mark.parametrize("write", WRITERS)
def test_a_name_as_long_as_the_system_allows_is_written(tmp_path: Path, write: Writer) -> None:
    write(tmp_path / ("x" * 255))
    assert [len(path.name) for path in tmp_path.iterdir()] == [255]
    with pytest.raises(InputError, match="File name too long"):
        write(tmp_path / ("x" * 256))


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("fault", [RuntimeError("broken"), KeyboardInterrupt(), SystemExit(3), OSError(28, "No space")])
def test_whatever_ends_the_writing_leaves_what_was_there(
    tmp_path: Path, write: Writer, fault: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "t")
    before = content(tmp_path / "t")

    def stop(*_: object) -> None:
        raise fault

    monkeypatch.setattr(os, "fsync", stop)
    for name in ("t", "fresh", "new/folders/t"):
        with pytest.raises(InputError if isinstance(fault, OSError) else type(fault)):
            write(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["t"]
    assert content(tmp_path / "t") == before


@pytest.mark.parametrize("reached", range(3))
def test_of_several_files_none_is_replaced_if_one_cannot_be_written(tmp_path: Path, reached: int) -> None:
    paths = [tmp_path / name for name in "abc"]
    replace_files(dict.fromkeys(paths, b"old"))
    paths[reached] = tmp_path / "a" / "below a file"
    with pytest.raises(InputError, match=r"below a file cannot be written \(.*\); choose another place"):
        replace_files(dict.fromkeys(paths, b"new"))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == dict.fromkeys("abc", b"old")


def test_what_was_replaced_before_a_fault_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace, (a, b, c) = os.replace, (tmp_path / name for name in "abc")

    def refuse_b(source: Path, target: Path) -> None:
        if target.name == "b":
            raise PermissionError(1, "Operation not permitted")
        replace(source, target)

    monkeypatch.setattr(os, "replace", refuse_b)
    with pytest.raises(InputError) as error:
        replace_files({a: b"1", b: b"2", c: b"3"})
    assert str(error.value) == (
        f"{b} cannot be written (Operation not permitted); choose another place. Already written: {a}."
    )
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("write", FILE_WRITERS)
@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664])
def test_a_file_keeps_its_permissions(tmp_path: Path, write: Writer, mode: int) -> None:
    (tmp_path / "t").touch()
    (tmp_path / "t").chmod(mode)
    write(tmp_path / "t")
    assert stat.S_IMODE((tmp_path / "t").stat().st_mode) == mode


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("dangling", [True, False])
def test_links_are_followed(tmp_path: Path, write: Writer, dangling: bool) -> None:
    real, link, second = tmp_path / "away" / "real", tmp_path / "link", tmp_path / "second"
    link.symlink_to(Path("away", "real"))
    second.symlink_to(link)
    if not dangling:
        write(real)
    write(second)
    assert second.is_symlink()
    assert link.is_symlink()
    assert not real.is_symlink()
    assert content(real) == b"new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["away", "link", "second"]
    assert [path.name for path in real.parent.iterdir()] == ["real"]


@pytest.mark.parametrize("write", WRITERS)
def test_a_link_to_itself_is_refused(tmp_path: Path, write: Writer) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(InputError, match="a is a link that leads to itself"):
        write(tmp_path / "a")
    assert fault_of_file(tmp_path / "a")
    assert (tmp_path / "a").is_symlink()


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("mark", ["CURRENT", "lock"])
@pytest.mark.parametrize("below", [".", "t", "generations/0001/t", "new/folder/t", "figures/../t"])
def test_nothing_is_written_into_a_graph(tmp_path: Path, write: Writer, mark: str, below: str) -> None:
    graph = make_graph(tmp_path / "graph", mark)
    (tmp_path / "link").symlink_to(graph / below)
    (tmp_path / "into").symlink_to(graph)
    before = sorted(graph.rglob("*"))
    for path in (graph / below, tmp_path / "link", tmp_path / "into" / below, tmp_path / "other" / ".." / "into" / "t"):
        with pytest.raises(InputError, match=rf"is (inside the graph {graph}|a directory)"):
            write(path)
        assert "inside the graph" in fault_of_directory(path)
        assert fault_of_file(path)
    assert sorted(graph.rglob("*")) == before


def test_beside_a_graph_and_in_what_only_looks_like_one_is_room(tmp_path: Path) -> None:
    make_graph(tmp_path / "graph")
    (tmp_path / "notes" / "generations").mkdir(parents=True)
    (tmp_path / "CURRENT").touch()
    for path in (tmp_path / "t", tmp_path / "notes" / "t", tmp_path / "graph.html"):
        assert (fault_of_file(path), fault_of_directory(path)) == ("", "")
        write_file(path)


def test_a_graph_is_known_by_what_storage_writes(sample_directory: Path) -> None:
    assert graph_exists(sample_directory)
    assert fault_of_file(sample_directory / "t") == f"is inside the graph {sample_directory.resolve()}"


def special(kind: str, folder: Path) -> Path:
    path = folder / kind
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(os.path.relpath(path))
    elif kind == "link to a device":
        path.symlink_to(os.devnull)
    return path if kind != "device" else Path("/dev/full")


@pytest.mark.parametrize("kind", ["pipe", "socket", "device", "link to a device"])
def test_what_is_no_file_is_not_replaced(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = special(kind, tmp_path)
    mode = path.stat().st_mode
    for write in FILE_WRITERS:
        with pytest.raises(InputError, match="is there and is no file"):
            write(path)
    with pytest.raises(InputError, match="is there and is no directory"):
        write_directory(path)
    assert fault_of_file(path) == "is there and is no file"
    assert fault_of_directory(path) == "is there and is no directory"
    assert path.stat().st_mode == mode


@pytest.mark.parametrize("write", FILE_WRITERS)
def test_what_a_process_has_open_is_not_replaced(tmp_path: Path, write: Writer) -> None:
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("needs /proc")
    with (tmp_path / "open").open("wb") as file:
        number = file.fileno()
        (tmp_path / "link").symlink_to(f"/dev/fd/{number}")
        for path in (Path(f"/proc/self/fd/{number}"), Path(f"/proc/{os.getpid()}/fd/{number}"), tmp_path / "link"):
            with pytest.raises(InputError, match="leads to what a process has open"):
                write(path)
        for path in (Path(f"/dev/fd/{number}"), Path("/dev/stdout")):
            assert not path.exists() or fault_of_file(path)
    assert (tmp_path / "open").read_bytes() == b""


@pytest.mark.parametrize("place", ["/proc", "/sys"])
@pytest.mark.parametrize("below", ["x.html", "new/x.html"])
def test_a_place_where_no_file_can_be_made_is_told_and_found_out_before(place: str, below: str) -> None:
    if not os.path.isdir(place):
        pytest.skip(f"needs {place}")
    path = Path(place, below)
    for fault in (fault_of_file(path), fault_of_directory(path)):
        assert fault.startswith(f"cannot be written, as no file can be made in {place} (")
        assert "No such file" not in fault
    for write in WRITERS:
        with pytest.raises(InputError, match=r"cannot be written \((?!No such file).+\); choose another place"):
            write(path)


def test_a_place_below_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file" / "t", tmp_path / "file" / "deep" / "t"):
        assert fault_of_file(path) == f"cannot be written, as {tmp_path / 'file'} is no directory"
        assert fault_of_directory(path) == f"cannot be written, as {tmp_path / 'file'} is no directory"


def test_looking_for_faults_leaves_no_trace(tmp_path: Path) -> None:
    assert (fault_of_file(tmp_path / "a" / "b"), fault_of_directory(tmp_path / "c")) == ("", "")
    assert list(tmp_path.iterdir()) == []


def test_the_directory_one_is_in_is_not_taken_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here" / "deeper").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here" / "deeper")
    for path in (Path(), Path(".."), tmp_path / "here"):
        with pytest.raises(InputError, match="cannot be where you are"):
            write_directory(path)
    write_directory(Path("inside"))
    assert content(Path("inside")) == b"new"


KILLED = """
import os, sys
from pathlib import Path
from kg.targets import replaced_directory, replaced_file
path, kind, number = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
def end(file):
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), number)
if kind == "file":
    with replaced_file(path) as file:
        end(file)
with replaced_directory(path, lambda _: True) as opened, opened("a") as file:
    end(file)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize(("kind", "write"), [("file", write_file), ("directory", write_directory)])
def test_what_a_killed_writer_left_goes_with_the_next(
    tmp_path: Path, kind: str, write: Writer, number: signal.Signals
) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, tmp_path / "t", kind, str(int(number))], cwd=ROOT)
    assert done.returncode == -number
    [left] = tmp_path.iterdir()
    assert left.name.startswith(".t.")
    assert left.name.endswith(".tmp")
    write(tmp_path / "other")  # is no writer of t
    assert left.exists()
    write(tmp_path / "t")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "t"]


def test_an_old_directory_that_a_kill_left_beside_goes_once_there_is_a_new_one(tmp_path: Path) -> None:
    (tmp_path / ".t.0123abcd.old").mkdir()

    def failing() -> None:
        with replaced_directory(tmp_path / "t", lambda _: True):
            raise RuntimeError

    with pytest.raises(RuntimeError):
        failing()
    assert [path.name for path in tmp_path.iterdir()] == [".t.0123abcd.old"]
    write_directory(tmp_path / "t")
    assert [path.name for path in tmp_path.iterdir()] == ["t"]


def test_files_of_the_user_are_no_leftovers(tmp_path: Path) -> None:
    names = [".t.tmp", ".t.1234.tmp", "t.0123abcd.tmp", ".tt.0123abcd.tmp", ".t.0123abcd.tmp.bak", ".t.0123ABCD.tmp"]
    for name in names:
        (tmp_path / name).touch()
    (tmp_path / ".t.0123abcd.tmp").symlink_to("elsewhere")  # no writer makes a link
    write_file(tmp_path / "t")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*names, ".t.0123abcd.tmp", "t"])


def test_a_writer_that_lives_is_not_cleaned_away(tmp_path: Path) -> None:
    with replaced_file(tmp_path / "t") as slow:
        write_file(tmp_path / "t")
        with replaced_file(tmp_path / "t") as second:
            second.write(b"second")
        slow.write(b"slow")
    assert content(tmp_path / "t") == b"slow"
    assert [path.name for path in tmp_path.iterdir()] == ["t"]


def test_without_locks_files_are_written_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    for write in WRITERS:
        write(tmp_path / write.__name__)
    (tmp_path / ".write_file.0123abcd.tmp").touch()  # of a writer that may live
    write_file(tmp_path / "write_file")
    assert len(list(tmp_path.iterdir())) == len(WRITERS) + 1


@pytest.mark.parametrize("write", [write_file, write_files])
def test_many_writers_of_one_target_do_not_trip_over_each_other(tmp_path: Path, write: Writer) -> None:
    faults: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(15):
                write(tmp_path / "t")
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert [path.name for path in tmp_path.iterdir()] == ["t"]


@given(st.lists(st.binary(max_size=40), max_size=5))
def test_what_is_written_is_what_is_there(tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes]) -> None:
    path = tmp_path_factory.mktemp("written") / "t"

    def write(file: IO[bytes]) -> None:
        for piece in pieces:
            file.write(piece)

    with replaced_file(path) as file:
        write(file)
    assert path.read_bytes() == b"".join(pieces)
