"""`evigraph brief`: a cited brief on a question, without a language model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from scripts.arguments import Encoder, Graph, Method, TopN
from scripts.console import out, print_json


@dataclass(frozen=True)
class Arguments:
    """Write the passages that answer a question, grouped by concept, each quoted word for word and cited."""

    graph: Graph
    question: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="QUESTION")]
    """What you want to know."""
    out: Annotated[Path, tyro.conf.arg(metavar="DIR")]
    """Directory of the report: brief.md, report.json, claims.jsonl."""
    method: Method = "hybrid"
    top_n: TopN = 12
    encoder: Encoder = None
    json: bool = False
    """Print the paths and counts as JSON."""


def run(arguments: Arguments) -> int:
    """Exit 2 when the graph or the question is empty, or nothing matches."""
    from agents.brief import BriefConfig, write_brief
    from agents.reporting.markdown import render_markdown
    from agents.reporting.model import walk
    from agents.reporting.store import check_directory, write_atomically, write_report
    from kg.build import open_graph
    from retrieval.questions import checked_question
    from scripts.tools import load_encoder

    check_directory(arguments.out)
    graph = open_graph(arguments.graph)
    question = checked_question(graph, arguments.question, arguments.top_n)
    config = BriefConfig(method=arguments.method, top_n=arguments.top_n)
    report = write_brief(graph, load_encoder(arguments.encoder, graph.manifest), question, config)
    write_report(report, arguments.out)
    path = arguments.out / "brief.md"
    write_atomically(path, render_markdown(report).encode("utf-8"))
    claims = sum(sentence.kind == "claim" for _, sentence in walk(report.sections))
    if arguments.json:
        print_json({"brief": str(path), "claims": claims, "references": len(report.references)})
    else:
        papers = "paper" if len(report.references) == 1 else "papers"
        out().print(f"{path}: {claims} passages from {len(report.references)} {papers}")
    return 0
