"""`evigraph brief`: a cited brief on a question, without a language model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from scripts.arguments import ALL_FORMATS, Citations, Encoder, Formats, Graph, MaxAuthors, Method, TopN
from scripts.console import out, print_json, say, working


@dataclass(frozen=True)
class Arguments:
    """Write the passages that answer a question, grouped by concept, each quoted word for word and cited."""

    graph: Graph
    question: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="QUESTION")]
    """What you want to know."""
    out: Annotated[Path, tyro.conf.arg(metavar="DIR")]
    """Directory of the report: brief.html and other formats, report.json, claims.jsonl."""
    method: Method = "hybrid"
    top_n: TopN = 12
    formats: Formats = ALL_FORMATS
    citations: Citations = "numbered"
    max_authors: MaxAuthors = 6
    encoder: Encoder = None
    json: bool = False
    """Print the paths and counts as JSON."""


def run(arguments: Arguments) -> int:
    """Exit 1 when nothing bears on the question, and the report says so; 2 when the graph or the question is empty."""
    with working("loading libraries"):
        from agents.brief import BriefConfig, write_brief
        from agents.reporting.formats import write_renderings
        from agents.reporting.model import walk
        from agents.reporting.store import check_directory
        from kg.build import open_graph
        from retrieval.questions import checked_question
        from scripts.reports import check_formats, citation_style
        from scripts.tools import load_encoder

    check_directory(arguments.out)
    check_formats(arguments.formats)
    style = citation_style(arguments.citations, arguments.max_authors)
    graph = open_graph(arguments.graph)
    question = checked_question(graph, arguments.question, arguments.top_n)
    config = BriefConfig(method=arguments.method, top_n=arguments.top_n)
    with working("loading the encoder"):
        encoder = load_encoder(arguments.encoder, graph.manifest)
    with working("searching and choosing quotations"):
        report = write_brief(graph, encoder, question, config)
    with working("writing the report"):
        written = write_renderings(report, arguments.out, "brief", arguments.formats, style, with_data=True)
    for caution in report.cautions:
        say(f"Caution: {caution}")
    claims = sum(sentence.kind == "claim" for _, sentence in walk(report.sections))
    if arguments.json:
        files = {name: str(path) for name, path in written.items()}
        counts = {"claims": claims, "references": len(report.references)}
        print_json({"files": files, **counts, "cautions": report.cautions})
    else:
        from agents.reporting.wording import number_of

        first = next(iter(written.values()), arguments.out)
        others = f" (and {', '.join(path.name for path in [*written.values()][1:])})" if len(written) > 1 else ""
        out().print(
            f"{first}: {number_of(claims, 'quotation')} from {number_of(len(report.references), 'paper')}{others}"
        )
    return 0 if claims else 1
