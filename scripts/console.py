"""What commands show: progress with rate and time left on stderr, results on stdout."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

T = TypeVar("T")
_PLAIN_INTERVAL = 15.0
"""Seconds between two lines of progress where stderr is no terminal."""
_TELLING = 0.02
"""Share of the work after which its rate says how long the rest takes; the first items wait for their batch."""
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def harmless(text: str) -> str:
    """``text`` with control characters spelt out, so that no title moves the cursor or renames the terminal.

    Lone surrogates, as names of files may hold them, are spelt out too: no terminal could print them.
    """
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], text)


class Out:
    """stdout: texts of papers are shown as they are, never read as markup, emoji names or terminal codes."""

    def __init__(self) -> None:
        self._console = _Console(markup=False, emoji=False, highlight=False, soft_wrap=not sys.stdout.isatty())

    def print(self, text: str, style: str | None = None) -> None:
        """One line, or several. Raises ``BrokenPipeError`` when nobody reads any more."""
        self._console.print(harmless(text), style=style)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        # Theirs ends the process with exit code 1; that the reader has seen enough is no failure.
        raise BrokenPipeError


def out() -> Out:
    """stdout as it is now."""
    return Out()


def say(sentence: str) -> None:
    """A remark to the user, on stderr."""
    print(harmless(sentence), file=sys.stderr)


def print_json(value: object) -> None:
    """One JSON value on stdout."""
    # Legal as they are, but a terminal would obey some (U+009B) and no encoding takes others (lone surrogates).
    text = re.sub(
        "[\x7f-\x9f\ud800-\udfff]", lambda m: f"\\u{ord(m[0]):04x}", json.dumps(value, ensure_ascii=False, indent=1)
    )
    print(text)


def track(items: Iterable[T], total: int, label: str) -> Iterable[T]:
    """``kg.protocols.Track``: a bar on a terminal, a line now and then elsewhere, nothing for short work."""
    return _bar(items, total, label) if sys.stderr.isatty() else _lines(items, total, label)


@contextmanager
def working(label: str) -> Iterator[None]:
    """Says on a terminal what the user waits for, with a moving sign, until the block ends; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield
        return
    with Console(stderr=True).status(Text(harmless(label))):
        yield


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f}/s" if task.speed else "", style="progress.data.speed")


def _bar(items: Iterable[T], total: int, label: str) -> Iterator[T]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Rate(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield from progress.track(items, total=total, description=label)


def _lines(items: Iterable[T], total: int, label: str) -> Iterator[T]:
    start = last = time.monotonic()
    for done, item in enumerate(items, 1):
        yield item
        now = time.monotonic()
        if now - last >= _PLAIN_INTERVAL:
            last = now
            rate = done / (now - start)
            known = f", {rate:,.0f}/s, {(total - done) / rate:,.0f} s left" if done >= total * _TELLING else ""
            say(f"{label}: {done:,} of {total:,}{known}")
