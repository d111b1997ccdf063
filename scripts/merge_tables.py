"""Tables of ``scripts.bench_merge``, Markdown, from its report as JSON holds it."""

from __future__ import annotations

from typing import Any

from retrieval.cells import interval_cell, markdown_table
from retrieval.significance import Interval
from scripts.merge_boards import NEGATIVES


def board_tables(found: dict[str, Any]) -> list[str]:
    """Lines of the tables of one board, from its part of the report."""
    left_out = f"; {found['left_out']:,} names left out, marked as several things" if found["left_out"] else ""
    lines = [
        f"## {found['board']}: {found['mentions']:,} mentions of {found['clusters']:,} things, "
        f"encoded in {found['encoding_seconds']:.1f} s{left_out}",
        "",
    ]
    head = [f"{measure} {part}" for measure in ("pairwise", "B-cubed", "CEAF-e") for part in ("P", "R", "F1")]
    rows = [[rung, *_cells(result)] for rung, result in found["rungs"].items()]
    lines += markdown_table(["rung", *head, "false merges", "chains (mentions)", "seconds"], rows)
    gains = [
        [rung, *(interval_cell(Interval(**result["gain"][measure]), "+.3f") for measure in ("pairwise", "bcubed"))]
        for rung, result in found["rungs"].items()
        if result["gain"]
    ]
    lines += ["", *markdown_table(["rung", "pairwise F1 over the rung before", "B-cubed F1 over it"], gains)]
    if found["kinds"]:
        last = list(found["rungs"])[-1]
        head = [
            "mentions",
            *(f"B-cubed F1: {rung}" for rung in found["rungs"]),
            *(f"{last}: {m}" for m in ("P", "R", "false")),
        ]
        rows = [
            [
                kind or "(none)",
                f"{own['mentions']:,}",
                *(f"{own['rungs'][rung]['bcubed']['f1']:.3f}" for rung in found["rungs"]),
                *(f"{own['rungs'][last]['pairwise'][part]:.3f}" for part in ("precision", "recall")),
                f"{own['rungs'][last]['false_merge_rate']:.4f}",
            ]
            for kind, own in found["kinds"].items()
        ]
        lines += ["", "Within each kind; P and R over pairs:", "", *markdown_table(["kind", *head], rows)]
    return lines


def _cells(result: dict[str, Any]) -> list[str]:
    cells = []
    for measure in ("pairwise", "bcubed", "ceafe"):
        precision, recall, f1 = (f"{result[measure][part]:.3f}" for part in ("precision", "recall", "f1"))
        interval = result["intervals"].get(measure)
        cells += [precision, recall, interval_cell(Interval(**interval), ".3f") if interval else f1]
    chains = f"{result['chains']:,} ({result['chained_mentions']:,})"
    return [*cells, f"{result['false_merge_rate']:.5f}", chains, f"{result['seconds']:.2f}"]


def variants_table(found: dict[str, Any]) -> list[str]:
    """Lines of the table of names and variants, from its part of the report."""
    title = f"## {found['board']}: {found['names']:,} names of {found['concepts']:,} concepts, half of them reported"
    head = ["rung", "variants joined", "false: random", "share a word", "hard", "seconds"]
    rows = [
        [
            rung,
            f"{own['variants']:.3f}",
            *(f"{own[kind]:.4f}" for kind in NEGATIVES),
            "" if own["seconds"] is None else f"{own['seconds']:.2f}",
        ]
        for rung, own in found["rungs"].items()
    ]
    return [title, "", *markdown_table(head, rows)]
