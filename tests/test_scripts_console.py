"""Progress where stderr is no terminal: no estimate before the first items tell anything."""

from __future__ import annotations

import itertools

import pytest

from scripts import console


def test_no_rate_is_told_before_two_percent_are_done(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = itertools.count(0.0, 20.0)
    monkeypatch.setattr(console.time, "monotonic", lambda: next(clock))
    assert list(console.track(iter(range(100)), 100, "encoding")) == list(range(100))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "encoding: 1 of 100"
    assert lines[1].startswith("encoding: 2 of 100, ")
    assert lines[1].endswith(" s left")


def test_a_terminal_alone_shows_what_is_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    with console.working("loading"):
        pass
    assert capsys.readouterr().err == ""
