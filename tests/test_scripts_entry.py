from __future__ import annotations

from dataclasses import dataclass

import pytest

from kg.errors import BudgetError, InputError, ModelError
from scripts.entry import run_script


@dataclass(frozen=True)
class Arguments:
    """What it does."""

    top_n: int = 3
    loud: bool = False


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
