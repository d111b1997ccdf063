"""A report directory in the formats that people read: one call for every writer of reports.

Whoever has a ``Report`` calls ``write_renderings``; no writer renders by itself.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from agents.reporting.bibliography.citing import NUMBERED, CitationStyle
from agents.reporting.model import Figure, Report, ReportSection
from agents.reporting.store import stored_files
from kg.errors import InputError
from kg.targets import replace_files

Format: TypeAlias = Literal["html", "md", "docx", "bib", "csl"]
FORMATS: tuple[Format, ...] = get_args(Format)
LONGEST_NAME = 250
"""Bytes of a name that leave room for ".docx" in the 255 that file systems allow."""


def write_renderings(
    report: Report,
    directory: str | os.PathLike[str],
    name: str,
    formats: Sequence[Format] = FORMATS,
    style: CitationStyle = NUMBERED,
    *,
    with_data: bool = False,
) -> dict[Format, Path]:
    """Write ``NAME.md``, ``NAME.html``, ``NAME.docx``, ``references.bib``, ``references.json`` (CSL-JSON), as asked.

    Markdown shows figures from ``figures/`` beside it, which is written with it. Nothing is written before all formats
    are rendered, and nothing is replaced before all files are on the disk. ``with_data`` writes ``report.json`` and
    ``claims.jsonl`` among them.
    Raises ``InputError`` if ``name`` can name no file, a file cannot be written or a figure cannot be drawn.
    """
    check_name(name)
    folder = Path(directory)
    written: dict[Format, Path] = {}
    contents: dict[Path, bytes] = stored_files(report, folder) if with_data else {}
    for wanted in dict.fromkeys(formats):
        path = folder / {"bib": "references.bib", "csl": "references.json"}.get(wanted, f"{name}.{wanted}")
        if wanted == "md":
            contents |= _figures(report, folder)
        contents[path] = render(report, wanted, style)
        written[wanted] = path
    replace_files(contents)
    return written


def check_name(name: str) -> None:
    """Raise ``InputError`` if ``name`` cannot be that of the files, without suffix."""
    length = len(os.fsencode(name))
    if not name.strip() or name in {".", ".."} or "/" in name or "\0" in name:
        raise InputError(f"{name!r} cannot name the files of a report; give a name without slashes, such as report")
    if length > LONGEST_NAME:
        raise InputError(f"the name that begins {name[:20]!r} has {length:,} bytes; give one of at most {LONGEST_NAME}")


def render(report: Report, wanted: Format, style: CitationStyle = NUMBERED) -> bytes:
    """The file of one format; equal reports give equal bytes."""
    match wanted:  # imported here: a user of one format does not wait for the others
        case "md":
            from agents.reporting.markdown import render_markdown

            return render_markdown(report, style).encode("utf-8")
        case "html":
            from agents.reporting.html import render_html

            return render_html(report, style).encode("utf-8")
        case "docx":
            from agents.reporting.docx import render_docx

            return render_docx(report, style)
        case "bib":
            from agents.reporting.bibliography.bibtex import render_bibtex

            return render_bibtex(report.references).encode("utf-8")
        case "csl":
            from agents.reporting.bibliography.csl import render_csl_json

            return render_csl_json(report.references).encode("utf-8")


def _figures(report: Report, folder: Path) -> dict[Path, bytes]:
    from agents.reporting.markdown import figure_path

    return {folder / figure_path(figure): figure.content for figure in figures_of(report.sections)}


def figures_of(sections: Sequence[ReportSection]) -> list[Figure]:
    """The figures of all sections, in reading order."""
    found: list[Figure] = []
    for section in sections:
        found += [block for block in section.blocks if isinstance(block, Figure)]
        found += figures_of(section.sections)
    return found
