"""Commands killed at any moment leave the old or the new graph; damage is noticed; one writer at a time (DESIGN 3).

Commands run in children of one helper process that has loaded the libraries, so that a kill costs a fraction of a
second; each child is a process of its own, with SIGKILL meant for it alone.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import kg.storage
import scripts.tools
from kg.build import open_graph
from kg.errors import GraphError
from kg.lateral import TABLES
from kg.storage import Generation, graph_exists, open_generation, writer_lock
from scripts.cli import main
from tests.conftest import ROOT, HashEncoder

pytestmark = pytest.mark.chaos

KILLS = 10
DRIVER = """
import contextlib, io, json, os, signal, sys, tempfile, time
from pathlib import Path
import scripts.cli, scripts.console, scripts.tools
from tests.conftest import HashEncoder

scripts.tools.load_encoder = lambda given, manifest=None: HashEncoder()

STEPS = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "shutil.rmtree", "sqlite3.connect"}

def die_at(step, folder):
    # Every operation on a file below the folder that Python knows of is a moment to die.
    taken = 0
    def watch(event, arguments):
        nonlocal taken
        if event in STEPS and str(arguments[0]).startswith(folder):
            taken += 1
            os.write(2, f"step {event} {arguments[0]}\\n".encode())
            if taken == step:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(watch)

def wait_at_encoding(folder):
    encode = HashEncoder.encode_documents
    def held(self, texts, track=None):
        Path(folder, "reached").touch()
        while not Path(folder, "go").exists():
            time.sleep(0.005)
        return encode(self, texts, track)
    HashEncoder.encode_documents = held

def warm_up():
    # What is first used here need not be loaded again by every child. One thread: threads do not survive a fork.
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        source = Path(folder, "p.jsonl")
        papers = [{"id": str(n), "title": "A", "abstract": "A supply chain and loss aversion."} for n in range(3)]
        source.write_text(chr(10).join(map(json.dumps, papers)))
        graph = str(Path(folder, "g"))
        assert scripts.cli.main(["build", graph, str(source)]) == 0
        assert scripts.cli.main(["remove", graph, "0"]) == 0
        assert scripts.cli.main(["add", graph, str(source)]) == 0
        assert scripts.cli.main(["info", graph]) == 0

warm_up()
for line in sys.stdin:
    task = json.loads(line)
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(os.open(task["err"], os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
        os.dup2(os.open(task["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
        if "hold" in task:
            wait_at_encoding(task["hold"])
        if "step" in task:
            die_at(task["step"], task["folder"])
        code = scripts.cli.main(task["argv"])
        if task.get("finalise"):
            sys.exit(code)
        sys.stdout.flush()
        os._exit(code)  # unloading the libraries takes longer than the command
    print(child, flush=True)
    sys.stdin.readline()  # until it is waited for, the child's id is its own, even when it has ended
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Workshop:
    """Runs commands in processes of their own, one at a time.

    ``start`` takes what the driver knows: ``hold`` (folder in which the signs ``reached`` and ``go`` are given),
    ``step`` and ``folder`` (die at that operation on its files), ``finalise`` (end as an interpreter does), ``out``.
    """

    def __init__(self, folder: Path) -> None:
        script = folder / "driver.py"
        script.write_text(DRIVER, encoding="utf-8")
        self.out, self.err = folder / "out", folder / "err"
        self.err.touch()
        self._driver = subprocess.Popen(
            [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )  # fmt: skip

    def start(self, *argv: object, **task: object) -> int:
        """Start a command and return its process id; ``ended`` must follow."""
        assert self._driver.stdin is not None
        self.err.write_text("")
        given = {"argv": [str(a) for a in argv], "out": str(self.out), "err": str(self.err), **task}
        self._driver.stdin.write(json.dumps(given) + "\n")
        self._driver.stdin.flush()
        return self._answer()

    def ended(self) -> int:
        """Wait for the command; its exit code, or minus the signal that killed it."""
        assert self._driver.stdin is not None
        self._driver.stdin.write("\n")
        self._driver.stdin.flush()
        return self._answer()

    def run(self, *argv: object, **task: object) -> int:
        self.start(*argv, **task)
        return self.ended()

    def _answer(self) -> int:
        assert self._driver.stdout is not None
        line = self._driver.stdout.readline()
        assert line, "the helper process has ended"
        return int(line)

    def close(self) -> None:
        self._driver.communicate(timeout=60)


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    made = Workshop(tmp_path_factory.mktemp("workshop"))
    yield made
    made.close()


TOPICS = (
    "supply chain",
    "loss aversion",
    "stock return",
    "causal effect",
    "queue length",
    "minimum wage",
    "risk factor",
)


def record(number: int, version: int = 1) -> dict[str, object]:
    """A small paper that shares its topics with others."""
    one, two, three = (TOPICS[(number * step + step) % len(TOPICS)] for step in (1, 2, 3))
    return {
        "id": f"p{number}",
        "title": f"On {one} and {two}",
        "sections": [
            {
                "heading": "Question",
                "text": f"Study {number} asks how {one} changes {two}. Version {version} is final.",
            },
            {"heading": "Finding", "text": f"The {two} model explains {three}. The {three} model leaves {one} open."},
        ],
    }


@dataclass(frozen=True)
class Command:
    """A command on a copy of ``before`` (None: on nothing) that ends with ``after``."""

    argv: tuple[object, ...]
    before: Path | None
    after: Path

    def on(self, graph: Path) -> list[object]:
        return [self.argv[0], graph, *self.argv[1:]]


@pytest.fixture(scope="module")
def commands(workshop: Workshop, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Command]:
    folder = tmp_path_factory.mktemp("commands")
    files = {
        "first": [record(n) for n in range(20)],
        "more": [record(n, version=2) for n in range(18, 20)] + [record(n) for n in range(20, 24)],
        "all": [record(n) for n in range(18)] + [record(n, version=2) for n in range(18, 20)]
        + [record(n) for n in range(20, 24)],
        "rest": [record(n) for n in range(3, 20)],
    }  # fmt: skip
    for name, records in files.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
        if name != "more":
            assert workshop.run("build", folder / name, folder / f"{name}.jsonl") == 0
    return {
        "build": Command(("build", folder / "first.jsonl"), None, folder / "first"),
        "rebuild": Command(("build", folder / "all.jsonl", "--overwrite"), folder / "first", folder / "all"),
        "add": Command(("add", folder / "more.jsonl"), folder / "first", folder / "all"),
        "remove": Command(("remove", "p0", "p1", "p2"), folder / "first", folder / "rest"),
    }


def copy(source: Path | None, target: Path) -> Path:
    if source is not None:
        shutil.copytree(source, target)
    return target


def same(one: Generation, other: Generation) -> bool:
    return (
        all(one.tables[name].equals(other.tables[name]) for name in TABLES)
        and one.tensors.keys() == other.tensors.keys()
        and all(one.tensors[key].equal(other.tensors[key]) for key in one.tensors)
    )


def state(graph: Path, command: Command) -> str:
    """``old`` or ``new``; fails for anything else, and where the lock is not free."""
    if graph.exists():
        with writer_lock(graph):
            pass
    if not graph_exists(graph):
        assert command.before is None
        with pytest.raises(GraphError, match="no finished graph"):
            open_graph(graph)
        return "old"
    open_graph(graph)
    found = open_generation(graph)
    if same(found, open_generation(command.after)):
        return "new"
    assert command.before is not None
    assert same(found, open_generation(command.before))
    return "old"


def assert_can_be_repeated(workshop: Workshop, command: Command, graph: Path, before: str) -> None:
    """The command again gives the expected graph, or says that there is nothing left to do."""
    code = workshop.run(*command.on(graph))
    if before == "old" or command.argv[0] == "add" or "--overwrite" in command.argv:
        assert code == 0, workshop.err.read_text()
    else:
        assert code == 2
        expected = {"build": "already holds a graph", "remove": "holds no document 'p0'"}[str(command.argv[0])]
        assert expected in workshop.err.read_text()
    assert state(graph, command) == "new"
    assert kg.storage.check_generation(graph) == []
    kept = sorted(path.name for path in (graph / "generations").iterdir())
    current = (graph / "CURRENT").read_text().split()[0]
    assert current in kept
    assert len(kept) <= 2
    assert kept[-1] == current


@pytest.mark.parametrize("name", ["build", "rebuild", "add", "remove"])
def test_a_command_killed_at_random_moments(
    workshop: Workshop, commands: dict[str, Command], tmp_path: Path, name: str
) -> None:
    command = commands[name]
    durations = []
    for whole in (tmp_path / "whole", tmp_path / "again"):
        started = time.monotonic()
        assert workshop.run(*command.on(copy(command.before, whole))) == 0
        durations.append(time.monotonic() - started)
        assert state(whole, command) == "new"
    rng = random.Random(name)
    killed = 0
    for kill in range(KILLS):
        graph = copy(command.before, tmp_path / str(kill))
        moment = min(durations) * (kill + rng.random()) / KILLS
        process = workshop.start(*command.on(graph))
        time.sleep(moment)
        os.kill(process, signal.SIGKILL)
        code = workshop.ended()
        killed += code == -signal.SIGKILL
        assert code in {-signal.SIGKILL, 0}
        found = state(graph, command)
        assert found == "new" or code != 0
        assert_can_be_repeated(workshop, command, graph, found)
    assert killed


@pytest.mark.parametrize("name", ["rebuild", "remove"])
def test_a_command_killed_at_steps_of_its_writing(
    workshop: Workshop, commands: dict[str, Command], tmp_path: Path, name: str
) -> None:
    command = commands[name]
    whole = copy(command.before, tmp_path / "whole")
    assert workshop.run(*command.on(whole), step=0, folder=str(whole)) == 0
    steps = [line for line in workshop.err.read_text().splitlines() if line.startswith("step ")]
    first = next(number for number, line in enumerate(steps, 1) if "sqlite3.connect" in line)
    found = []
    for step in range(first, len(steps) + 1):
        graph = copy(command.before, tmp_path / str(step))
        assert workshop.run(*command.on(graph), step=step, folder=str(graph)) == -signal.SIGKILL
        found.append(state(graph, command))
        assert_can_be_repeated(workshop, command, graph, found[-1])
    switch = next(number for number, line in enumerate(steps, 1) if "CURRENT.new" in line and "os.rename" in line)
    # The moment before the renaming is the last of the old graph, the moment after it the first of the new.
    assert found == ["old"] * (switch - first + 1) + ["new"] * (len(steps) - switch)
    assert switch < len(steps)


def hold(workshop: Workshop, command: Command, graph: Path, signs: Path) -> int:
    """Start a command that stops while it writes; returns its process id once it has."""
    process = workshop.start(*command.on(graph), hold=str(signs))
    deadline = time.monotonic() + 30
    while not (signs / "reached").exists():
        assert time.monotonic() < deadline, workshop.err.read_text()
        time.sleep(0.005)
    return process


def test_a_second_writer_is_refused_while_the_first_writes(
    workshop: Workshop,
    commands: dict[str, Command],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(scripts.tools, "load_encoder", lambda given, manifest=None: HashEncoder())
    command = commands["add"]
    graph = copy(command.before, tmp_path / "graph")
    process = hold(workshop, command, graph, tmp_path)
    try:
        for other in commands.values():
            argv = [str(argument) for argument in other.on(graph)]
            assert main([*argv, "--overwrite"] if argv[0] == "build" and "--overwrite" not in argv else argv) == 2
            assert f"process {process} is writing to {graph}" in capsys.readouterr().err
        assert main(["info", str(graph)]) == 0, "readers are let in"
        assert same(open_generation(graph), open_generation(commands["add"].before or graph))
    finally:
        (tmp_path / "go").touch()
        assert workshop.ended() == 0
    assert state(graph, command) == "new"


def flip(path: Path, position: int) -> None:
    raw = bytearray(path.read_bytes())
    raw[position] ^= 0x10
    path.write_bytes(raw)


@pytest.mark.parametrize("command", ["info", "search", "add", "remove"])
def test_a_flipped_byte_is_refused_at_opening_naming_the_file(
    commands: dict[str, Command],
    tmp_path: Path,
    command: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(scripts.tools, "load_encoder", lambda given, manifest=None: HashEncoder())
    more = {"search": ["why?"], "remove": ["p0"], "add": [str(commands["add"].argv[1])]}.get(command, [])
    rng = random.Random(command)
    for name in ("manifest.json", "tensors.safetensors", *(f"{table}.arrow" for table in TABLES)):
        graph = copy(commands["add"].before, tmp_path / name)
        damaged = graph / "generations" / "0001" / name
        flip(damaged, rng.randrange(damaged.stat().st_size))
        assert main([command, str(graph), *more]) == 2
        error = capsys.readouterr().err
        assert error.startswith(f"evigraph: {damaged} is damaged: ")
        assert error.count("\n") == 1


def test_a_flipped_byte_in_a_large_file_is_found_by_check(
    commands: dict[str, Command], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = copy(commands["add"].before, tmp_path / "graph")
    tensors = graph / "generations" / "0001" / "tensors.safetensors"
    monkeypatch.setattr(kg.storage, "HASHED_ON_OPENING", tensors.stat().st_size)
    assert main(["check", str(graph)]) == 0
    flip(tensors, tensors.stat().st_size - 2)
    assert main(["info", str(graph)]) == 0, "a large file is not hashed when it is opened"
    capsys.readouterr()
    assert main(["check", str(graph)]) == 2
    shown = capsys.readouterr()
    assert shown.out.startswith(f"{tensors} is damaged: its SHA-256 ")
    assert shown.err == ""
    monkeypatch.setattr(kg.storage, "HASHED_ON_OPENING", tensors.stat().st_size + 1)
    assert main(["info", str(graph)]) == 2
