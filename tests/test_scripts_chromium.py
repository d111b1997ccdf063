"""The browser of the tests: found, or missed with a sentence; what a page does wrong is seen."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from kg.errors import InputError
from scripts import chromium as module
from tests.browser import open_file, overflow, watched_page


def write(path: Path, body: str) -> Path:
    path.write_text(f"<!doctype html><meta charset='utf-8'><title>a</title>{body}", encoding="utf-8")
    return path


def test_the_environment_names_the_browser(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "browser"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv(module.VARIABLE, str(program))
    assert module.find_chromium() == str(program)
    monkeypatch.setenv(module.VARIABLE, str(tmp_path / "none"))
    with pytest.raises(InputError, match="none, which cannot be run"):
        module.find_chromium()


def test_a_missing_browser_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(module.VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="no Chromium is on the PATH"):
        module.find_chromium()


@pytest.mark.browser
@pytest.mark.parametrize(
    ("body", "offence"),
    [
        ("<script>console.log('hello')</script>", "console log: hello"),
        ("<script>throw new Error('broken')</script>", "error: broken"),
        ("<img src='https://example.org/a.png'>", "request: https://example.org/a.png"),
        ("<img src='other.png'>", "request: file:"),
        ("<script src='data:text/javascript,console.warn(1)'></script>", "console warning: 1"),
    ],
)
def test_what_a_page_does_wrong_is_caught(chromium: Browser, tmp_path: Path, body: str, offence: str) -> None:
    with pytest.raises(AssertionError, match="complained or called out") as caught, watched_page(chromium) as page:
        open_file(page, write(tmp_path / "a.html", body))
    assert offence in str(caught.value)


@pytest.mark.browser
def test_a_quiet_page_passes_and_its_width_is_measured(page: Page, tmp_path: Path) -> None:
    open_file(page, write(tmp_path / "a.html", "<p id='x'>Quiet."), "x")
    assert page.url.endswith("a.html#x")
    assert overflow(page) == 0
    open_file(page, write(tmp_path / "wide.html", "<p style='width:1300px'>Wide."))
    assert overflow(page) > 0
