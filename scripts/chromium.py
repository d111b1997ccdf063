"""The system's Chromium, driven by Playwright, for browser tests, measurements and screenshots of pages.

Pages are files; the flags keep the browser from calling out on its own account.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from kg.errors import InputError

if TYPE_CHECKING:
    from playwright.sync_api import Browser

VARIABLE = "EVIGRAPH_CHROMIUM"
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find_chromium() -> str:
    """The path of the browser: what ``EVIGRAPH_CHROMIUM`` names, else the first of ``NAMES`` on the PATH.

    Raises ``InputError`` if there is none, or no Playwright to drive it.
    """
    if find_spec("playwright") is None:
        raise InputError("Playwright is not installed; pip install 'evigraph[dev]'")
    wanted = os.environ.get(VARIABLE, "")
    path = shutil.which(wanted) if wanted else next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        raise InputError(
            f"{VARIABLE} names {wanted}, which cannot be run; name the browser itself"
            if wanted
            else f"no Chromium is on the PATH (apt install chromium); or name one in {VARIABLE}"
        )
    return path


@contextmanager
def launched() -> Iterator[Browser]:
    """A running headless browser, closed at the end. Raises ``InputError`` as ``find_chromium`` does."""
    path = find_chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS), headless=True)
        try:
            yield browser
        finally:
            browser.close()
