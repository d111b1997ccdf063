from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from kg.errors import BudgetError, InputError, ModelError
from scripts.entry import run_script


@dataclass(frozen=True)
class Arguments:
    """What it does."""

    top_n: int = 3
    loud: bool = False
    out: Path | None = None
    methods: tuple[str, ...] = ()
    paths: tuple[Path, ...] = ()


def start(run, *argv: str) -> int:
    return run_script(Arguments, run, "script.py", "half is kept", argv)


def raising(error: BaseException):
    def run(arguments: Arguments) -> int:
        raise error

    return run


def test_flags_reach_the_run_and_its_code_comes_back() -> None:
    seen = []
    assert start(lambda arguments: seen.append(arguments) or 7, "--top_n", "5", "--loud") == 7
    assert seen == [Arguments(5, True)]


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (InputError("No file x; name\nanother."), 2, "script.py: No file x; name another."),
        (BudgetError("Spent."), 3, "script.py: Spent."),
        (ModelError("No model."), 4, "script.py: No model."),
        (KeyboardInterrupt(), 130, "script.py: interrupted; half is kept"),
        (PermissionError(13, "Permission denied", "/x"), 1, "the system refused /x: Permission denied."),
        (OSError(28, "No space left on device"), 1, "No space is left on the disk for the output; free some"),
        (OSError(28, "No space left on device", "/x"), 1, "No space is left on the disk to write /x; free some"),
        (RuntimeError("odd"), 1, "internal error, RuntimeError: odd"),
    ],
)
def test_errors_are_one_sentence_and_a_code(
    capsys: pytest.CaptureFixture[str], error: BaseException, code: int, words: str
) -> None:
    assert start(raising(error)) == code
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1


def test_debug_shows_where_an_error_comes_from() -> None:
    with pytest.raises(InputError):
        start(raising(InputError("No.")), "--debug")


def test_help_and_unknown_flags_end_as_they_should(capsys: pytest.CaptureFixture[str]) -> None:
    assert start(raising(AssertionError()), "--help") == 0
    assert "--top_n" in capsys.readouterr().out
    assert start(raising(AssertionError()), "--topn", "3") == 2


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ("--methods a --methods b", "--methods is given 2 times; give it once"),
        ("--top_n 3 --loud --top_n=3", "--top_n is given 2 times"),
        ("--top-n 3 --top_n 4", "--top_n is given 2 times"),
        ("--loud --loud", "--loud is given 2 times"),
        ("--out |", "--out is empty; name a file or a directory"),
        ("--out=", "--out is empty"),
        ("--paths a | b", "is empty; name a file or a directory"),
    ],
)
def test_options_given_twice_and_empty_paths_are_refused(
    capsys: pytest.CaptureFixture[str], argv: str, words: str
) -> None:
    assert start(raising(AssertionError()), *(word.replace("|", "") for word in argv.split())) == 2
    told = capsys.readouterr().err
    assert told.startswith("script.py: ")
    assert words in told
    assert told.count("\n") == 1


def test_several_values_and_paths_reach_the_run() -> None:
    seen = []
    assert (
        start(lambda a: seen.append(a) or 0, "--methods", "a", "b", "--out", "x", "--paths", "y", ".", "--debug") == 0
    )
    assert seen == [Arguments(out=Path("x"), methods=("a", "b"), paths=(Path("y"), Path()))]


def test_a_run_that_leaves_python_does_so() -> None:
    with pytest.raises(SystemExit):
        start(raising(SystemExit(5)))
