"""How often a question is met with an answer, a caution or nothing: questions of a graph's corpus, and of others.

    python scripts/bench_relevance.py GRAPH FOLDER... [--limit N]

GRAPH is what `evigraph build` made, FOLDERs are BEIR folders whose queries are asked of it: its own corpus first, where
answers should be clear, then others, where there should be none. Nothing is chosen on these numbers but the two bounds
of a clear answer in retrieval/relevance.py.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from pathlib import Path

from kg.build import open_graph
from kg.inspect import section_numbers
from retrieval.beir import read_queries
from retrieval.methods import Methods
from retrieval.relevance import clear_sections, relevant_sections
from scripts.tools import load_encoder

OUTCOMES = ("clear", "only related", "no match")


def main() -> int:
    """Print one row per folder: shares of questions by outcome among the first 12 sections of `hybrid`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", type=Path)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--limit", type=int, default=200, help="questions of each folder, drawn with a fixed seed")
    arguments = parser.parse_args()
    graph = open_graph(arguments.graph)
    encoder = load_encoder(None, graph.manifest)
    methods = Methods(graph, encoder)
    retriever = methods.retriever("hybrid")
    print(f"{'questions of':<28}{'n':>5}" + "".join(f"{name:>14}" for name in OUTCOMES))
    for folder in arguments.folders:
        questions = sorted(read_queries(folder).values())
        asked = random.Random(718).sample(questions, min(arguments.limit, len(questions)))
        vectors = encoder.encode_queries(asked)
        found: Counter[str] = Counter()
        for question, vector, ranking in zip(asked, vectors, retriever.retrieve(asked, 12).values(), strict=True):
            rows = section_numbers(graph, ranking.ids)
            kept = sorted(relevant_sections(graph, question, vector, rows, methods.lexical))
            clear = clear_sections(graph, question, vector, kept, methods.lexical)
            found["clear" if clear else "only related" if kept else "no match"] += 1
        shares = "".join(f"{found[name] / len(asked):>14.0%}" for name in OUTCOMES)
        print(f"{folder.resolve().name:<28}{len(asked):>5}{shares}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
