"""Entity resolution rung by rung: how well mentions of one thing are joined, what is joined wrongly, and how fast.

    python scripts/bench_merge.py [--mentions FILE...] [--scirex DIR] [--variants DIR] [--encoder DIR|NAME] [--json]

Rungs, each asked alone for the whole partition: the exact string; ``keys`` (kg.names); ``rules``, ``embeddings`` and
``scorer`` of kg.merge, which join what graphs join; ``edges``, the default here, joins also what graphs only link.
Every mention is a unit of its own, so that a rung may also keep apart two that are written alike. Beside F1 stand 95 %
intervals over gold clusters, and the gain over the rung before on the same resamples.

On itext2kg_er (``--variants``) pairs are counted: how many variants are joined with their name, and how many of three
kinds of pairs from different concepts. Thresholds of the cosine alone stand beside the rungs there, chosen on half of
the concepts for 0.5 % of joined negatives; all is reported on the other half.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import numpy as np
import torch
import tyro
from torch import Tensor

from evaluation.clusters import ClusterScores, F1Intervals, cluster_scores, f1_differences, f1_intervals
from kg.acronyms import find_definitions
from kg.merge import MENTIONS, MergeConfig, Names, merge_names
from kg.names import name_form, name_key
from kg.protocols import Encoder
from kg.senses import Senses
from scripts.console import out, print_json, track
from scripts.entry import run_script
from scripts.merge_boards import (
    NEGATIVES,
    Board,
    Mention,
    Pair,
    Variants,
    read_concepts,
    read_mentions,
    read_scirex_mentions,
    split_concepts,
)
from scripts.merge_tables import board_tables, variants_table
from scripts.tools import load_encoder

NAME = "bench_merge.py"
KEPT = "nothing was written"
ROOT = Path(__file__).resolve().parent.parent
ALLOWED = 0.005
SEED = 718
Rung = Literal["exact", "keys", "rules", "embeddings", "scorer", "edges"]
RUNGS: tuple[Rung, ...] = get_args(Rung)


@dataclass(frozen=True)
class Arguments:
    """Score the rungs of entity resolution; on SciREX and itext2kg_er of EVIGRAPH_DATA unless a board is named."""

    mentions: Annotated[tuple[Path, ...], tyro.conf.arg(metavar="FILE...", help_behavior_hint="")] = ()
    """CSV files with columns mention,name,type,context,cluster; with a column kind also scored by kind."""
    scirex: Annotated[Path | None, tyro.conf.arg(metavar="DIR", help="Papers of SciREX, one JSON each.")] = None
    variants: Annotated[Path | None, tyro.conf.arg(metavar="DIR", help="Lists of concepts of itext2kg_er.")] = None
    encoder: Annotated[str | None, tyro.conf.arg(metavar="DIR|NAME", help="As in `evigraph build`.")] = None
    json: bool = False
    """Print one JSON document, which also holds the group of each mention, instead of tables."""


@dataclass(frozen=True)
class Result:
    """What a rung made of a board: ``groups`` [n], from 0 as they appear; ``gain`` over the rung before it."""

    groups: list[int]
    scores: ClusterScores
    intervals: F1Intervals
    gain: F1Intervals | None
    seconds: float


def run(arguments: Arguments) -> int:
    """Read all boards before any is encoded, so that a mistake in one costs no time."""
    data = Path(os.environ.get("EVIGRAPH_DATA", ROOT.parent / "shared" / "data"))
    default = not (arguments.mentions or arguments.scirex or arguments.variants)
    scirex = data / "scirex" if default else arguments.scirex
    variants = data / "itext2kg_er" if default else arguments.variants
    boards = [read_mentions(path) for path in arguments.mentions]
    boards += [read_scirex_mentions(scirex)] if scirex else []
    concepts = read_concepts(variants) if variants else None
    encoder = load_encoder(arguments.encoder)
    report: dict[str, Any] = {"encoder": encoder.name, "boards": []}
    for board in boards:
        found = bench_board(board, encoder)
        report["boards"].append(found)
        _show(board_tables(found), arguments.json)
    if concepts is not None:
        report["variants"] = bench_variants(concepts, encoder)
        _show(variants_table(report["variants"]), arguments.json)
    if arguments.json:
        print_json(report)
    return 0


def _show(lines: list[str], json: bool) -> None:
    """Tables as soon as they are known, unless one document is to hold everything."""
    if not json:
        out().print("\n".join(lines) + "\n")


def bench_board(board: Board, encoder: Encoder) -> dict[str, Any]:
    """The part of the report on one board, as JSON holds it."""
    start = time.perf_counter()
    names = encode(board.mentions, encoder)
    encoding = time.perf_counter() - start
    gold = [mention.cluster for mention in board.mentions]
    results = score_rungs(names, gold)
    rows_of: dict[str, list[int]] = {}
    for row, mention in enumerate(board.mentions):
        rows_of.setdefault(mention.kind, []).append(row)
    ids = [mention.mention for mention in board.mentions]
    return {
        "board": board.name,
        "mentions": len(gold),
        "clusters": len(set(gold)),
        "left_out": board.left_out,
        "encoding_seconds": encoding,
        "rungs": {rung: _as_json(result) for rung, result in results.items()},
        "kinds": {
            kind: {
                "mentions": len(rows),
                "rungs": {
                    rung: asdict(cluster_scores([result.groups[row] for row in rows], [gold[row] for row in rows]))
                    for rung, result in results.items()
                },
            }
            for kind, rows in sorted(rows_of.items())
            if len(rows_of) > 1 or kind
        },
        "predicted": dict(zip(ids, results[RUNGS[-1]].groups, strict=True)),
    }


def encode(mentions: Sequence[Mention], encoder: Encoder) -> Names:
    """The columns that the merge reads; each text is encoded once."""
    contexts = [mention.context if mention.context.strip() else "" for mention in mentions]
    defined = [(row, *pair) for row, context in enumerate(contexts) for pair in find_definitions(context)]
    return Names(
        types=[mention.type.strip() for mention in mentions],
        surfaces=[mention.name for mention in mentions],
        vectors=_encoded([name_form(mention.name) for mention in mentions], encoder),
        contexts=_encoded(contexts, encoder) if any(contexts) else None,
        expansions=Senses.of(defined, range(len(contexts))).expansions(),
    )


def _encoded(texts: Sequence[str], encoder: Encoder) -> Tensor:
    """Float32 [n, d], rows of zeros for empty texts."""
    row_of = {text: row for row, text in enumerate(dict.fromkeys(filter(None, texts)))}
    vectors = torch.cat([encoder.encode_documents(list(row_of), track), torch.zeros(1, encoder.dimension)])
    return vectors[[row_of.get(text, len(row_of)) for text in texts]]


def score_rungs(names: Names, gold: Sequence[str]) -> dict[Rung, Result]:
    """Every rung's partition against ``gold`` [n]."""
    found: dict[Rung, Result] = {}
    before: list[int] | None = None
    for rung in RUNGS:
        groups, seconds = timed(rung, names)
        gain = f1_differences(groups, before, gold, seed=SEED) if before else None
        intervals = f1_intervals(groups, gold, seed=SEED)
        found[rung] = Result(groups, cluster_scores(groups, gold), intervals, gain, seconds)
        before = groups
    return found


def timed(rung: Rung, names: Names) -> tuple[list[int], float]:
    """``group``, and its seconds in the second of two runs: whichever rung is first fills the caches of words."""
    group(rung, names)
    start = time.perf_counter()
    groups = group(rung, names)
    return groups, time.perf_counter() - start


def group(rung: Rung, names: Names) -> list[int]:
    """Group of each name [n], numbered from 0 as they appear."""
    if rung == "exact":
        return _numbered(names.surfaces)
    if rung == "keys":
        return _numbered(_keys(names))
    if rung == "edges":
        return _numbered(merge_names(names, MENTIONS).group.tolist())
    as_in_graphs = replace(MENTIONS, rungs=rung, join=MergeConfig().join, by_rules=True)
    return _numbered(merge_names(names, as_in_graphs).group.tolist())


def _keys(names: Names) -> list[Hashable]:
    """Key and type; a name without a type is of the only type that its key has, where there is but one."""
    keys = [name_key(surface) for surface in names.surfaces]
    types_of: dict[str, set[str]] = {}
    for key, kind in zip(keys, names.types, strict=True):
        types_of.setdefault(key, set()).update({kind} - {""})
    return [
        (key, kind or (min(types_of[key]) if len(types_of[key]) == 1 else ""))
        for key, kind in zip(keys, names.types, strict=True)
    ]


def _numbered(labels: Sequence[Hashable]) -> list[int]:
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(label, len(numbers)) for label in labels]


def bench_variants(concepts: dict[str, set[str]], encoder: Encoder) -> dict[str, Any]:
    """The part of the report on pairs of names and variants: shares of pairs joined."""
    names = sorted({name for concept, variants in concepts.items() for name in (concept, *variants)})
    number = {name: row for row, name in enumerate(names)}
    columns = encode([Mention(name, name, "", "", name) for name in names], encoder)
    cosines = (columns.vectors.double() @ columns.vectors.double().T).numpy()
    choosing, reported = split_concepts(concepts, cosines, names, SEED)

    def cosine(pair: Pair) -> float:
        return float(cosines[number[pair[0]], number[pair[1]]])

    rungs: dict[str, dict[str, float | None]] = {}
    for rung in RUNGS:
        groups, seconds = timed(rung, columns)
        rungs[rung] = {**_shares(reported, _same(groups, number)), "seconds": seconds}
    for kind in NEGATIVES:
        least = choose([cosine(pair) for pair in getattr(choosing, kind)])
        shares = _shares(reported, lambda pair, least=least: cosine(pair) >= least)  # type: ignore[misc]
        rungs[f"cosine >= {least:.3f} ({ALLOWED:.1%} of {kind} negatives)"] = {**shares, "seconds": None}
    return {"board": "itext2kg_er", "names": len(names), "concepts": len(concepts), "rungs": rungs}


def _same(groups: Sequence[int], number: dict[str, int]) -> Callable[[Pair], bool]:
    return lambda pair: groups[number[pair[0]]] == groups[number[pair[1]]]


def _shares(half: Variants, joins: Callable[[Pair], bool]) -> dict[str, float | None]:
    return {kind: float(np.mean([joins(pair) for pair in getattr(half, kind)])) for kind in ("variants", *NEGATIVES)}


def choose(negatives: Sequence[float]) -> float:
    """The least cosine at or above which at most ``ALLOWED`` of the negatives lie."""
    ordered = sorted(negatives, reverse=True)
    return ordered[int(len(ordered) * ALLOWED)] + 1e-6


def _as_json(result: Result) -> dict[str, Any]:
    return {
        **asdict(result.scores),
        "groups": len(set(result.groups)),
        "intervals": asdict(result.intervals),
        "gain": asdict(result.gain) if result.gain else None,
        "seconds": result.seconds,
    }


def main(argv: list[str] | None = None) -> int:
    """Parse, run, say errors in one sentence; returns the exit code."""
    return run_script(Arguments, run, NAME, KEPT, argv)


if __name__ == "__main__":
    sys.exit(main())
