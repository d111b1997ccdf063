"""`evigraph search`: the sections that answer a question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from scripts.arguments import Encoder, Graph, Method, TopN
from scripts.console import out, print_json

if TYPE_CHECKING:
    from kg.lateral import LateralGraph
    from retrieval.ranking import Ranking

EXCERPT = 240
"""Characters of a section that are shown; --json gives the whole text."""


@dataclass(frozen=True)
class Arguments:
    """Rank the sections of a graph for a question."""

    graph: Graph
    query: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="QUERY")]
    """The question, or any text."""
    method: Method = "hybrid"
    top_n: TopN = 10
    encoder: Encoder = None
    json: bool = False
    """Print as JSON, with the whole text of each section."""


def run(arguments: Arguments) -> int:
    """Exit 2 when the graph or the query is empty, or nothing matches."""
    from kg.build import open_graph
    from kg.inspect import section_numbers
    from retrieval.method_names import WITHOUT_ENCODER
    from retrieval.methods import Methods
    from retrieval.questions import NoMatchError, checked_question
    from retrieval.relevance import relevant_sections
    from scripts.tools import load_encoder

    graph = open_graph(arguments.graph)
    question = checked_question(graph, arguments.query, arguments.top_n)
    encoder = None if arguments.method in WITHOUT_ENCODER else load_encoder(arguments.encoder, graph.manifest)
    methods = Methods(graph, encoder)
    ranking = methods.retriever(arguments.method).rank(question, arguments.top_n)
    if (
        encoder is not None
    ):  # a ranking always has a first place; if none of it bears on the question, nothing was found
        vector = encoder.encode_queries([question])[0]
        rows = section_numbers(graph, ranking.ids)
        found = bool(relevant_sections(graph, question, vector, rows, methods.lexical))
    else:
        found = bool(ranking.ids)
    if not found:
        raise NoMatchError(question)
    hits = describe_hits(graph, ranking)
    if arguments.json:
        print_json({"question": question, "method": arguments.method, "results": hits})
    else:
        _print(hits)
    return 0


def describe_hits(graph: LateralGraph, ranking: Ranking) -> list[dict[str, Any]]:
    """Ranked sections with what a reader wants to know of each."""
    from kg.inspect import section_rows

    rows = section_rows(graph, ranking.ids)
    return [
        {"rank": rank, "score": score, **row}
        for rank, (score, row) in enumerate(zip(ranking.scores, rows, strict=True), start=1)
    ]


def _print(hits: list[dict[str, Any]]) -> None:
    console = out()
    for hit in hits:
        heading = f" > {hit['heading']}" if hit["heading"] else ""
        console.print(f"{hit['rank']:>2}. {hit['title']} ({hit['year'] or 'n.d.'}){heading}", style="bold")
        console.print(f"    {hit['section_id']}  score {hit['score']:.4f}", style="dim")
        text = " ".join(hit["text"].split())
        console.print(f"    {text[:EXCERPT]}{'...' if len(text) > EXCERPT else ''}")
