"""`python -m scripts.screenshots`: the pictures of the README, made anew from the sample papers.

Builds the sample graph, writes a brief, a picture and an overview, and photographs them: HTML in headless Chromium at
1280 and 390 CSS pixels, light and dark; the Word document through LibreOffice and PDF. Needs `make browser-tools`.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PIL import Image

from scripts.chromium import launched
from scripts.cli import main as evigraph

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parent.parent
QUESTION = "How does asymmetric information shape markets?"
COLOURS = 128
"""Colours kept in a PNG: screens of text lose nothing that one sees, and the files a third of their size."""


def main() -> int:
    """Write all pictures; the exit code is that of the first command that fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "images")
    parser.add_argument("--graph", type=Path, help="a graph of the sample papers that is there already")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        graph = arguments.graph or work / "graph"
        commands: list[Sequence[str]] = [
            ("brief", str(graph), QUESTION, "--out", str(work / "brief")),
            ("picture", str(graph), QUESTION, "--out", str(work / "picture.html")),
            ("overview", str(graph), "--out", str(work / "overview.html")),
        ]
        if arguments.graph is None:
            commands.insert(0, ("build", str(graph), str(Path(__file__).parent / "sample_corpus")))
        for command in commands:
            if code := evigraph(command):
                return code
        with launched() as browser:
            photograph(browser, work, arguments.out)
        photograph_word(work / "brief" / "brief.docx", arguments.out / "brief_docx.png")
    return 0


def photograph(browser: Browser, work: Path, out: Path) -> None:
    """The pages, each as its readers see it."""
    brief = work / "brief" / "brief.html"
    shoot(browser, brief, out / "brief_light.png", passage=True)
    shoot(browser, brief, out / "brief_dark.png", dark=True)
    shoot(browser, brief, out / "brief_phone_light.png", phone=True)
    shoot(browser, brief, out / "brief_phone_dark.png", phone=True, dark=True, passage=True)
    shoot(browser, work / "picture.html", out / "picture_light.png", full=True)
    shoot(browser, work / "picture.html", out / "picture_dark.png", dark=True, full=True)
    shoot(browser, work / "overview.html", out / "overview_light.png")


def shoot(
    browser: Browser,
    page: Path,
    target: Path,
    *,
    phone: bool = False,
    dark: bool = False,
    passage: bool = False,
    full: bool = False,
) -> None:
    """One picture; ``passage`` opens the third citation first, ``full`` shows the page's whole height."""
    options: dict[str, Any] = {
        "viewport": {"width": 390, "height": 844} if phone else {"width": 1280, "height": 860},
        "device_scale_factor": 2 if phone else 1,
        "color_scheme": "dark" if dark else "light",
        "reduced_motion": "reduce",
    }
    context = browser.new_context(**options)
    tab: Page = context.new_page()
    tab.goto(page.absolute().as_uri())
    if passage:
        tab.locator("a.cite").nth(2).click()
        tab.locator("dialog[open] mark").first.wait_for()
    tab.screenshot(path=str(target), full_page=full)
    context.close()
    slim(target)


def photograph_word(document: Path, target: Path) -> None:
    """The first two pages of the Word document side by side."""
    if not shutil.which("soffice") or not shutil.which("pdftoppm"):
        print(
            "LibreOffice or poppler is missing (make browser-tools); no picture of the Word document", file=sys.stderr
        )
        return
    folder = document.parent
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    convert = ["soffice", profile, "--headless", "--convert-to", "pdf", "--outdir", str(folder), str(document)]
    subprocess.run(convert, check=True, capture_output=True, timeout=180)
    subprocess.run(
        ["pdftoppm", "-r", "80", "-l", "2", "-png", str(document.with_suffix(".pdf")), str(folder / "page")], check=True
    )
    pages = [Image.open(path) for path in sorted(folder.glob("page*.png"))]
    both = Image.new("RGB", (sum(page.width for page in pages) + 16, pages[0].height), "#c9cdd3")
    for number, page in enumerate(pages):
        both.paste(page, (number * (page.width + 16), 0))
    both.save(target)
    slim(target)


def slim(path: Path) -> None:
    """Write the PNG again with a palette."""
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    sys.exit(main())
