"""What commands show: progress with rate and time left on stderr, results on stdout."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

T = TypeVar("T")
_PLAIN_INTERVAL = 15.0
"""Seconds between two lines of progress where stderr is no terminal."""


def out() -> Console:
    """stdout; texts of papers are never read as markup."""
    return Console(markup=False, highlight=False, soft_wrap=not sys.stdout.isatty())


def say(sentence: str) -> None:
    """A remark to the user, on stderr."""
    print(sentence, file=sys.stderr)


def print_json(value: object) -> None:
    """One JSON value on stdout."""
    print(json.dumps(value, ensure_ascii=False, indent=1))


def track(items: Iterable[T], total: int, label: str) -> Iterable[T]:
    """``kg.protocols.Track``: a bar on a terminal, a line now and then elsewhere, nothing for short work."""
    return _bar(items, total, label) if sys.stderr.isatty() else _lines(items, total, label)


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
            say(f"{label}: {done:,} of {total:,}, {rate:,.0f}/s, {(total - done) / rate:,.0f} s left")
