"""Reading sources and telling what became of them, for build, add and remove."""

from __future__ import annotations

import resource
import sys
from collections.abc import Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from scripts.console import out, print_json

if TYPE_CHECKING:
    from agents.reporting.bibliography.citing import CitationForm, CitationStyle
    from kg.build import BuildReport
    from kg.ingest import ReadReport
    from kg.openie import OpenIE
    from kg.records import Document

SHOWN = 20
"""Entries of a list that are printed before "and n more"."""


def read_sources(sources: Sequence[Path], limit: int | None) -> tuple[list[Document], ReadReport]:
    """All papers of the sources, at most ``limit``. Raises ``InputError`` when there is none."""
    from kg.errors import InputError
    from kg.ingest import read_all

    if not sources:
        raise InputError("No source was named; pass at least one file or folder with papers.")
    if limit is not None and limit < 1:
        raise InputError(f"--limit is {limit}; it must be 1 or more.")
    documents, report = read_all(sources)
    if not documents:
        reasons = "; ".join(map(str, islice(report.rejected, 3)))
        more = f" and {len(report.rejected) - 3} more" if len(report.rejected) > 3 else ""
        raise InputError(
            f"No paper could be read from {', '.join(map(str, sources))}: {reasons or 'nothing is there'}{more}."
        )
    return documents[:limit], report


def citation_style(form: CitationForm, max_authors: int) -> CitationStyle:
    """The style that the flags name. Raises ``InputError`` for a number of authors below 1."""
    from agents.reporting.bibliography.citing import CitationStyle
    from kg.errors import InputError

    if max_authors < 1:
        raise InputError(f"--max_authors is {max_authors}; it must be 1 or more.")
    return CitationStyle(form, max_authors, min(max_authors, 3))


def check_formats(formats: Sequence[str]) -> None:
    """Raise ``InputError`` where none is named."""
    from kg.errors import InputError
    from scripts.arguments import ALL_FORMATS

    if not formats:
        raise InputError(f"--formats names no format; name some of {', '.join(ALL_FORMATS)}, or leave it out for all.")


def peak_megabytes() -> float:
    """Most memory this process ever held, MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def show_report(
    graph: Path, report: BuildReport, read: ReadReport | None, as_json: bool, openie: OpenIE | None = None
) -> int:
    """Print what was done; returns 1 when records were left out, or sections had no ready triples, else 0.

    Malformed triples are told of, but let no command fail: language models wrote them, and no reader can mend them.
    """
    if as_json:
        value = asdict(report) | {"peak_mb": round(peak_megabytes())}
        if read is not None:
            value |= {
                "rejected": [asdict(r) for r in read.rejected],
                "skipped": read.skipped,
                "duplicates": [str(d) for d in read.duplicates],
            }
        if openie is not None:
            counted = ("triples", "entities", "passages")
            value["triples"] = {
                "read": openie.read, "passages": len(openie.passages), "repeated": openie.repeated,
                "loops": openie.loops, "left_out": {what: openie.left_out(what) for what in counted},
                "reasons": [asdict(entry) for entry in openie.skipped],
            }  # fmt: skip
        print_json(value)
    else:
        _print(graph, report, read, openie)
    partly = (read is not None and read.rejected) or (openie is not None and openie.left_out("passages"))
    return 1 if partly or report.without_triples else 0


def _print(graph: Path, report: BuildReport, read: ReadReport | None, openie: OpenIE | None) -> None:
    console = out()
    done = [
        f"{len(ids):,} {word}"
        for word, ids in (
            ("added", report.added),
            ("replaced", report.replaced),
            ("unchanged", report.unchanged),
            ("removed", report.removed),
        )
        if ids
    ] + (["the list of names replaced"] if report.overruled else [])
    console.print(f"{graph}: {', '.join(done) or 'nothing to do'}")
    if report.counts:
        c = report.counts
        shown = ("documents", "sections", "concepts", "edges")
        console.print("  " + ", ".join(f"{c[name]:,} {name}" for name in shown))
        stages = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in report.seconds.items())
        console.print(f"  {stages}; peak memory {peak_megabytes():,.0f} MB")
    if openie is not None:
        console.print(f"  {openie.summary()}")
        for entry in openie.skipped:
            console.print(f"    {entry}")
        _list("sections without ready triples (kept, but they hold no concept)", report.without_triples)
        _list("passages with ready triples that are in no paper here", report.unused_passages)
    _list("names of the list that no concept has (what is said of them waits until one does)", report.unknown_names)
    _list("of what the list of names says has no effect", report.unheeded)
    _list("without any text (kept, but nothing of them can be found)", report.empty)
    _list("with a title only", report.title_only)
    _list("replaced by a paper of another title (if they are two papers, give one another id)", report.retitled)
    _list("perhaps the same paper under two ids (give it one id, then remove the other)", report.same_doi)
    if read is not None:
        _list("left out", [str(r) for r in read.rejected])
        _list("given twice, counted once", [str(d) for d in read.duplicates])
        _list("passed over as no paper", read.skipped)


def _list(what: str, entries: Sequence[str]) -> None:
    if entries:
        console = out()
        console.print(f"  {len(entries):,} {what}:")
        for entry in entries[:SHOWN]:
            console.print(f"    {entry}")
        if len(entries) > SHOWN:
            console.print(f"    and {len(entries) - SHOWN:,} more (--json lists all)")
