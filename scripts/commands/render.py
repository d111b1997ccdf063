"""`evigraph render`: a report that was written, in other formats or another citation style."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from scripts.arguments import ALL_FORMATS, Citations, Formats, MaxAuthors
from scripts.console import out, print_json


@dataclass(frozen=True)
class Arguments:
    """Write a stored report again: Markdown, HTML, Word, BibTeX, CSL-JSON; numbered or author-year citations."""

    report: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="REPORT")]
    """Directory of a report: report.json and claims.jsonl."""
    out: Annotated[Path | None, tyro.conf.arg(metavar="DIR")] = None
    """Where to write; the directory of the report unless given."""
    name: Annotated[str, tyro.conf.arg(metavar="NAME")] = "report"
    """Name of the files, without suffix."""
    formats: Formats = ALL_FORMATS
    citations: Citations = "numbered"
    max_authors: MaxAuthors = 6
    json: bool = False
    """Print the paths as JSON."""


def run(arguments: Arguments) -> int:
    """Exit 2 when there is no report, it is damaged, or no file can be written as asked."""
    from agents.reporting.formats import check_name, write_renderings
    from agents.reporting.store import check_directory, read_report
    from scripts.reports import check_formats, citation_style

    stored = arguments.report
    target = arguments.out or (stored.parent if stored.is_file() else stored)
    check_name(arguments.name)
    check_formats(arguments.formats)
    style = citation_style(arguments.citations, arguments.max_authors)
    report = read_report(stored)
    check_directory(target)
    written = write_renderings(report, target, arguments.name, arguments.formats, style)
    if arguments.json:
        print_json({name: str(path) for name, path in written.items()})
    else:
        for path in written.values():
            out().print(str(path))
    return 0
