"""Explain what an experiment found on a test collection: order, gains, and what unrelated documents stand at the top.

    python scripts/explain_retrieval.py OUT FOLDER --reference dense --measure nDCG@10 --depth 20

OUT is what scripts/evaluate_retrieval.py made of FOLDER; nothing is asked anew, and nothing is written. Give the same
--split, --limit, --excluded and --judged_only as there.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from scripts.console import out, print_json, say
from scripts.entry import run_script

if TYPE_CHECKING:
    from retrieval.queries import Query
    from retrieval.stored_runs import StoredRun

NAME = "explain_retrieval.py"
KEPT = "nothing was written"


@dataclass(frozen=True)
class Arguments:
    """Explain what scripts/evaluate_retrieval.py found: by how much a method changes another's order, on which
    questions it gains, and what unrelated documents stand at the top.
    """

    out: Annotated[
        Path, tyro.conf.Positional, tyro.conf.arg(metavar="OUT", help="What evaluate_retrieval.py was given as --out.")
    ]
    folder: Annotated[
        Path,
        tyro.conf.Positional,
        tyro.conf.arg(metavar="FOLDER", help="The BEIR folder it was asked of: corpus.jsonl, queries.jsonl, qrels/."),
    ]
    methods: Annotated[tuple[str, ...], tyro.conf.arg(metavar="METHOD...")] = ()
    """Methods to explain, as evaluate_retrieval.py had them; all that have a run of the folder in OUT unless given."""
    reference: Annotated[str, tyro.conf.arg(metavar="METHOD")] = "dense"
    """The method that each other is compared with; it needs a run too."""
    measure: Annotated[str, tyro.conf.arg(metavar="MEASURE")] = "nDCG@10"
    """What gains are of, as ir_measures names it: nDCG@10, R@20, P@5, AP, RR and so on."""
    depth: Annotated[int, tyro.conf.arg(metavar="N")] = 20
    """How many documents from the top of each ranking are looked at for what it shares, lacks and shows unrelated."""
    split: Annotated[tuple[str, ...], tyro.conf.arg(metavar="SPLIT...")] = ()
    """Names of files in qrels/ without .tsv, each explained apart; all unless given."""
    limit: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """Explain only the first N queries of each split, as where only these were asked."""
    score_column: Annotated[int, tyro.conf.arg(metavar="N")] = 3
    """Column of the judgement in the files of qrels/, counted from 1."""
    cluster_by: Annotated[str | None, tyro.conf.arg(metavar="FIELD")] = None
    """Field of the queries or of their metadata; queries with the same value are drawn together for intervals and
    tests. Unless given, those that share relevant documents are."""
    excluded: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """The file of excluded ids that the runs were made with, if any; a run that ranks one of them is refused."""
    judged_only: bool = False
    """Say that the runs were made with --judged_only; one that ranks a document without a judgement for the query is
    refused."""
    json: bool = False
    """Print JSON instead of tables."""


def run(arguments: Arguments) -> int:
    """Exit 1 when the corpus could be read only in part."""
    from retrieval.collection import Selection, read_collection
    from retrieval.explanation import ExplanationConfig, explain
    from retrieval.explanation_tables import explanation_json, explanation_markdown, remarks
    from retrieval.measures import canonical
    from retrieval.stored_runs import chosen_runs, read_stored_run
    from retrieval.unrelated import document_text, question_words
    from scripts.reports import read_sources

    config = ExplanationConfig(arguments.reference, canonical(arguments.measure), arguments.depth)
    selection = Selection(
        arguments.split,
        arguments.limit,
        arguments.score_column,
        cluster_by=arguments.cluster_by,
        judged_only=arguments.judged_only,
    )
    collection = read_collection(arguments.folder, selection, arguments.excluded)
    stored = chosen_runs(arguments.out, collection.name, arguments.methods, config.reference)
    documents, read = read_sources([arguments.folder / "corpus.jsonl"], None)
    texts = {document.doc_id: document_text(document) for document in documents}
    words = question_words({query.query_id: query.text for query in collection.queries}, texts)
    alike = {method: _asked_alike(run, collection.queries, arguments.folder) for method, run in stored.items()}
    reference = read_stored_run(stored.pop(config.reference), collection.queries)
    others = ((method, read_stored_run(run, collection.queries)) for method, run in stored.items())
    explanations = explain(collection, reference, others, words, config)
    if read.rejected or read.duplicates:
        say(f"{arguments.folder}: {read.summary()}.")
    if unlike := [method for method, same in alike.items() if same is False]:
        say(
            f"{collection.name}: other queries were asked for {', '.join(unlike)} than these (another text, year, "
            "exclusions or candidates); give --excluded, --judged_only and --split as the runs were made with."
        )
    for remark in (*collection.remarks, *remarks(explanations, asked_alike=all(alike.values()))):
        say(remark)
    if arguments.json:
        print_json(explanation_json(explanations))
    else:
        out().print(explanation_markdown(explanations))
    return 1 if read.rejected else 0


def _asked_alike(stored: StoredRun, queries: Sequence[Query], folder: Path) -> bool | None:
    """``asked_alike``; whether the runs were made with --years makes no difference."""
    from retrieval.beir import read_latest_years
    from retrieval.stored_runs import asked_alike

    alike = asked_alike(stored, queries)
    if alike is False:
        years = read_latest_years(folder)
        return asked_alike(stored, [replace(query, latest_year=years.get(query.query_id)) for query in queries])
    return alike


def main(argv: list[str] | None = None) -> int:
    """Parse, run, say errors in one sentence; returns the exit code."""
    return run_script(Arguments, run, NAME, KEPT, argv)


if __name__ == "__main__":
    sys.exit(main())
