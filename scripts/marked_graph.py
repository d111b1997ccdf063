"""The graph of a BEIR folder over sections of SciREX, with the names that people marked instead of an extractor's.

    python scripts/marked_graph.py SCIREX FOLDER GRAPH

SCIREX holds the papers, one JSON each; FOLDER holds their sections as documents `paper#n`, n the section's number in
the paper. What is missed in finding names is then no fault of retrieval by them: `scripts/evaluate_retrieval.py
FOLDER --graph GRAPH` shows what the rest can do.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro

from kg.acronyms import find_definitions
from kg.errors import GraphError, InputError
from kg.mentions import MentionTable
from kg.ready_triples import NamePlaces
from kg.records import Extraction, Section, clean_text, content_hash, encode_id
from kg.sectioning import sentence_spans
from scripts.entry import run_script
from scripts.labelled_sections import join_words, scirex_papers

NAME = "marked_graph.py"
KEPT = "no graph is half-written, and what was encoded is in its cache"


@dataclass(frozen=True)
class Arguments:
    """Build the graph of sections of SciREX from the names that people marked in them."""

    scirex: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="SCIREX", help="Papers, one JSON each.")]
    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER", help="BEIR folder of sections.")]
    graph: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="GRAPH", help="Where the graph goes.")]
    overwrite: bool = False
    """Replace the graph that is there."""


class MarkedNames:
    """``kg.protocols.Extractor`` that knows each document's names; relations are read off sentences that hold two."""

    name = "marked"
    cooccurrence = True

    def __init__(self, names: Mapping[str, tuple[str, ...]]) -> None:
        """``names`` by document id."""
        self._names = names
        self._fingerprint = f"marked-2/{content_hash(sorted(names.items()))}"

    @property
    def fingerprint(self) -> str:
        """Of all names."""
        return self._fingerprint

    def extract(self, section: Section) -> Extraction:
        """The document's names as far as this section of it holds them, by their normal forms, and what it defines."""
        places = NamePlaces(section, sentence_spans(section.text))
        held = [name for name in self._names.get(section.doc_id, ()) if places.find(name)]
        return Extraction(
            places.mentions(held), definitions=tuple(find_definitions(section.text)), sentences=places.spans
        )

    def select(self, mentions: MentionTable) -> np.ndarray:
        """Mask, bool [rows]: all of them, since people have chosen."""
        return np.ones(len(mentions.section), dtype=bool)


def read_marked(folder: Path) -> dict[str, tuple[str, ...]]:
    """Document ``paper#n`` -> the spellings marked in that section of that paper, in code-point order.

    Raises:
        InputError: as ``scirex_papers``.
    """
    marked: dict[str, tuple[str, ...]] = {}
    for paper in scirex_papers(folder):
        for number, (start, end) in enumerate(paper["sections"]):
            spans = [span for span in paper["ner"] if start <= span[0] and span[1] <= end]
            names = {clean_text(join_words(paper["words"], span[0], span[1])[0]) for span in spans}
            marked[f"{encode_id(paper['doc_id'])}#{number}"] = tuple(sorted(filter(None, names)))
    return marked


def run(arguments: Arguments) -> int:
    """Exit 1 when the corpus could be read only in part."""
    from kg.build import build_graph, check_target
    from scripts.reports import read_sources, show_report
    from scripts.tools import build_tools, load_encoder

    try:
        check_target(arguments.graph, arguments.overwrite)
    except GraphError as error:  # names the flag of another command
        raise GraphError(
            f"{arguments.graph} already holds a graph, or what is left of one; choose another place, or replace it "
            "with --overwrite."
        ) from error
    names = read_marked(arguments.scirex)
    documents, read = read_sources([arguments.folder], None)
    if not any(document.doc_id in names for document in documents):
        raise InputError(
            f"{arguments.folder} holds no section of the papers in {arguments.scirex}; name those of one set."
        )
    tools = replace(build_tools(load_encoder(None)), extractor=MarkedNames(names))
    report = build_graph(arguments.graph, documents, tools, overwrite=arguments.overwrite)
    return show_report(arguments.graph, report, read, False, None)


def main(argv: list[str] | None = None) -> int:
    """Parse, run, say errors in one sentence; returns the exit code."""
    return run_script(Arguments, run, NAME, KEPT, argv)


if __name__ == "__main__":
    sys.exit(main())
