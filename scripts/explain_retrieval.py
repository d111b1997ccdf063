"""Explain what an experiment found on a test collection: order, gains, and what unrelated documents stand at the top.

    python scripts/explain_retrieval.py OUT FOLDER --reference dense --measure nDCG@10 --depth 20

OUT is what scripts/evaluate_retrieval.py made of FOLDER; nothing is asked anew, and nothing is written.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from scripts.console import out, print_json, say
from scripts.entry import run_script

NAME = "explain_retrieval.py"
KEPT = "nothing was written"


@dataclass(frozen=True)
class Arguments:
    """Explain what scripts/evaluate_retrieval.py found: by how much a method changes another's order, on which
    questions it gains, and what unrelated documents stand at the top.
    """

    out: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="OUT", help="Where its results went.")]
    folder: Annotated[
        Path,
        tyro.conf.Positional,
        tyro.conf.arg(metavar="FOLDER", help="The BEIR folder: corpus.jsonl, queries.jsonl, qrels/."),
    ]
    methods: Annotated[tuple[str, ...], tyro.conf.arg(metavar="METHOD...")] = ()
    """All that have a run of the folder in OUT unless given."""
    reference: Annotated[str, tyro.conf.arg(metavar="METHOD")] = "dense"
    """What the others are held against."""
    measure: Annotated[str, tyro.conf.arg(metavar="MEASURE", help="As ir_measures names them.")] = "nDCG@10"
    depth: Annotated[int, tyro.conf.arg(metavar="N", help="How many documents are the first of a ranking.")] = 20
    split: Annotated[tuple[str, ...], tyro.conf.arg(metavar="SPLIT...")] = ()
    """Judgements in qrels/, each explained apart; all unless given."""
    score_column: Annotated[int, tyro.conf.arg(metavar="N")] = 3
    """Column of the judgement in qrels/, from 1."""
    cluster_by: Annotated[str | None, tyro.conf.arg(metavar="FIELD")] = None
    """Field of the queries or of their metadata; queries with the same value are drawn together for intervals and
    tests. Unless given, those that share relevant documents are."""
    excluded: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """The file of excluded ids that the runs were made with, if any; a run that ranks one of them is refused."""
    judged_only: bool = False
    """Rank only documents that have a judgement for the query, as where each query has its own search result: the runs
    were made so; one that ranks another is refused."""
    json: bool = False
    """Print JSON instead of tables."""


def run(arguments: Arguments) -> int:
    """Exit 1 when the corpus could be read only in part."""
    from retrieval.collection import Selection, read_collection
    from retrieval.explanation import ExplanationConfig, explain
    from retrieval.explanation_tables import explanation_json, explanation_markdown, remarks
    from retrieval.stored_runs import chosen_runs, read_stored_run
    from retrieval.unrelated import document_text, question_words
    from scripts.reports import read_sources

    config = ExplanationConfig(arguments.reference, arguments.measure, arguments.depth)
    selection = Selection(
        arguments.split,
        score_column=arguments.score_column,
        cluster_by=arguments.cluster_by,
        judged_only=arguments.judged_only,
    )
    collection = read_collection(arguments.folder, selection, arguments.excluded)
    paths = chosen_runs(arguments.out, collection.name, arguments.methods, config.reference)
    documents, read = read_sources([arguments.folder / "corpus.jsonl"], None)
    texts = {document.doc_id: document_text(document) for document in documents}
    words = question_words({query.query_id: query.text for query in collection.queries}, texts)
    reference = read_stored_run(paths.pop(config.reference), collection.queries)
    others = ((method, read_stored_run(path, collection.queries)) for method, path in paths.items())
    explanations = explain(collection, reference, others, words, config)
    if read.rejected or read.duplicates:
        say(f"{arguments.folder}: {read.summary()}.")
    for remark in (*collection.remarks, *remarks(explanations)):
        say(remark)
    if arguments.json:
        print_json(explanation_json(explanations))
    else:
        out().print(explanation_markdown(explanations))
    return 1 if read.rejected else 0


def main(argv: list[str] | None = None) -> int:
    """Parse, run, say errors in one sentence; returns the exit code."""
    return run_script(Arguments, run, NAME, KEPT, argv)


if __name__ == "__main__":
    sys.exit(main())
