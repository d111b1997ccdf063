"""Pages in headless Chromium for tests; a page that complains or calls out fails its test.

Tests take the fixture ``page`` (1280 x 800, light), or ``watched_page(chromium, ...)`` for other options, mark
themselves ``browser`` and open files with ``open_file``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kg.errors import InputError
from scripts.chromium import launched

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Request

TIMEOUT = 10_000
"""Milliseconds that any one step in the browser may take."""


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One browser for all tests; they are skipped where there is none."""
    try:
        with launched() as browser:
            yield browser
    except InputError as error:
        pytest.skip(str(error))


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A page of its own; console messages, errors and requests for anything but files' own pages fail the test."""
    with watched_page(chromium) as page:
        yield page


@contextmanager
def watched_page(browser: Browser, **options: Any) -> Iterator[Page]:
    """A page in a context of its own; ``options`` are those of ``Browser.new_context``.

    At the end nothing may have been said on the console, thrown, or asked for beyond the file itself and ``data:``.
    """
    context = browser.new_context(**({"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"} | options))
    context.set_default_timeout(TIMEOUT)
    offences: list[str] = []

    def on_console(message: ConsoleMessage) -> None:
        offences.append(f"console {message.type}: {message.text}")

    def on_error(error: Error) -> None:
        offences.append(f"error: {error}")

    def on_request(request: Request) -> None:
        if not (request.url.startswith("data:") or (_is_file(request.url) and request.is_navigation_request())):
            offences.append(f"request: {request.url[:200]}")

    context.on("console", on_console)
    context.on("request", on_request)
    page = context.new_page()
    page.on("pageerror", on_error)
    try:
        yield page
    finally:
        context.close()
    assert not offences, "the page complained or called out: " + "; ".join(offences)


def open_file(page: Page, path: Path, fragment: str = "") -> None:
    """Show the file, at ``#fragment`` if one is given."""
    page.goto(path.absolute().as_uri() + (f"#{fragment}" if fragment else ""))


def overflow(page: Page) -> float:
    """By how many CSS pixels the page is wider than the window; 0 for a page that scrolls downwards only."""
    return float(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def _is_file(url: str) -> bool:
    return url.startswith("file:")
