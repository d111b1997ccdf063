"""Fit the scorer of pairs of names, ``kg/pair_scorer.json``, and say how well it does on boards that it has not seen.

    python scripts/fit_pair_scorer.py --scirex SCIREX --folder FOLDER --cache CACHE --out kg/pair_scorer.json

It is fitted on boards of mentions (``training/names``) and on the names of SciREX, whose sections FOLDER holds as for
``scripts/marked_graph.py``. What people linked there is often only related, so that its pairs weigh .3 of a board's.
Pairs of the boards count once more without their contexts, which names of other collections may lack.

A row is a board that was left out: average precision, log loss and expected calibration error over its candidate pairs,
and pairwise precision, recall and F1 of what ``kg.merge`` joins. ``--without K`` leaves out every pair in which an
entity of fold K takes part, for figures on SciREX itself (``scripts/bench_lateral.py``), and prints no rows.
``evaluation/names`` is refused: what is reported on is not fitted on. The same data give the same bytes.

All takes about six minutes on one core, ``--without`` about four, beside the encoding of sections, kept in CACHE.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import tyro

from kg.errors import InputError
from kg.targets import replaced_file
from scripts.console import out, say, track
from scripts.entry import run_script
from scripts.merge_boards import Board, read_mentions
from scripts.outputs import check_file

if TYPE_CHECKING:
    from kg.merge import Names
    from kg.protocols import Encoder
    from training.boosting import Pairs

NAME = "fit_pair_scorer.py"
KEPT = "no weights were written, and what was encoded of the sections is in the cache"
ROOT = Path(__file__).resolve().parent.parent
BOARDS = ROOT / "training" / "names"
REPORTED = ROOT / "evaluation" / "names"
SCIREX_WEIGHT = 0.3
BINS = 10
HEAD = ["left out", "average precision", "log loss", "calibration error", "P", "R", "F1"]


@dataclass(frozen=True)
class Arguments:
    """Fit the scorer of pairs of names on boards and on SciREX."""

    out: Annotated[Path, tyro.conf.arg(metavar="FILE", help="Where the weights go.")]
    boards: Annotated[tuple[Path, ...], tyro.conf.arg(metavar="FILE...", help_behavior_hint="")] = ()
    """CSV files with columns mention,name,type,context,cluster; those of training/names unless some are named."""
    scirex: Annotated[Path | None, tyro.conf.arg(metavar="DIR", help="Papers of SciREX, one JSON each.")] = None
    folder: Annotated[Path | None, tyro.conf.arg(metavar="DIR", help="BEIR folder of their sections.")] = None
    cache: Annotated[Path | None, tyro.conf.arg(metavar="FILE", help="Where the vectors of sections are kept.")] = None
    without: Annotated[int | None, tyro.conf.arg(metavar="K", help="Leave out the entities of fold K.")] = None
    folds: int = 5
    """Folds of entities, for the calibration and for --without."""
    encoder: Annotated[str | None, tyro.conf.arg(metavar="DIR|NAME", help="As in `evigraph build`.")] = None


@dataclass(frozen=True)
class Source:
    """Where ``pairs`` come from."""

    name: str
    licence: str
    pairs: Pairs


@dataclass(frozen=True)
class BoardSource(Source):
    """A board: its ``names``, and the ``clusters`` that they should fall into."""

    names: Names
    clusters: Sequence[str]


def run(arguments: Arguments) -> int:
    """All boards are read before anything is encoded, so that a mistake in one costs no time."""
    from retrieval.cells import markdown_table
    from scripts.tools import load_encoder
    from training.boosting import Pairs
    from training.name_pairs import held_out_log_odds, takes_part, without_context

    _check(arguments)
    paths = arguments.boards or sorted(BOARDS.glob("*.csv"))
    read = [read_mentions(path) for path in paths]
    encoder = load_encoder(arguments.encoder)
    boards = [_of_board(path, board, encoder) for path, board in zip(paths, read, strict=True)]
    corpora = _of_scirex(arguments, encoder)
    parts = [Pairs.joined([board.pairs, without_context(board.pairs)]) for board in boards]
    parts += [source.pairs for source in corpora]
    data, origin = Pairs.joined(parts), np.repeat(np.arange(len(parts)), list(map(len, parts)))
    if arguments.without is not None:
        kept = ~takes_part(data, arguments.without, arguments.folds)
        data, origin = data.where(kept), origin[kept]
    log_odds = held_out_log_odds(data, arguments.folds)
    if arguments.without is None and len(parts) > 1:
        rest = [origin != number for number in range(len(boards))]
        rows = [_row(board, _weights(data.where(own), log_odds[own])) for board, own in zip(boards, rest, strict=True)]
        out().print("\n".join(markdown_table(HEAD, rows)))
    record = {
        "command": _command(arguments),
        "versions": {name: version(name) for name in ("evigraph", "scikit-learn")},
        "encoder": Path(encoder.name).name,
        "data": _statement([*boards, *corpora], data, origin),
        **_weights(data, log_odds),
    }
    with replaced_file(arguments.out) as file:
        file.write(json.dumps(record, separators=(",", ":")).encode() + b"\n")
    say(f"{arguments.out}: {len(record['trees'])} trees, fitted on {len(data):,} pairs.")
    return 0


def _check(arguments: Arguments) -> None:
    together = (arguments.scirex, arguments.folder, arguments.cache)
    if any(together) and not all(together):
        raise InputError(
            "--scirex, --folder and --cache go together: papers, their sections, and where vectors are kept."
        )
    least = 2 if arguments.without is None else 3
    if arguments.folds < least:
        raise InputError(
            f"--folds is {arguments.folds}; there must be {least} or more, to hold out one from the others."
        )
    if arguments.without is not None and not 0 <= arguments.without < arguments.folds:
        raise InputError(f"--without is {arguments.without}; the folds are 0 to {arguments.folds - 1}.")
    for path in arguments.boards:
        if path.resolve().is_relative_to(REPORTED):
            raise InputError(f"{path} is reported on, so nothing is fitted on it; name boards of training/names.")
    check_file(arguments.out, [".json"], "name a file ending in .json")


def _of_board(path: Path, board: Board, encoder: Encoder) -> BoardSource:
    from scripts.bench_merge import encode
    from training.name_pairs import mention_pairs

    names = encode(board.mentions, encoder)
    clusters = [mention.cluster for mention in board.mentions]
    licence = "this project's" if path.resolve().parent == BOARDS else "not stated"
    return BoardSource(board.name, licence, mention_pairs(names, clusters), names, clusters)


def _of_scirex(arguments: Arguments, encoder: Encoder) -> list[Source]:
    """None where no folder is named."""
    from kg.cache import Cache
    from kg.embedding import CachedEmbedder
    from scripts.marked_names import read_marked_names
    from training.name_pairs import entity_pairs

    if arguments.scirex is None or arguments.folder is None or arguments.cache is None:
        return []
    with Cache(arguments.cache, encoder.fingerprint) as cache:
        embed = CachedEmbedder(encoder, cache, track)
        names, shares = read_marked_names(arguments.scirex, arguments.folder, embed)
    return [Source("SciREX", "Apache-2.0", entity_pairs(names, shares, SCIREX_WEIGHT))]


def _weights(data: Pairs, log_odds: np.ndarray) -> dict[str, Any]:
    """Weights fitted on the pairs, calibrated by their held-out log-odds float64 [m]."""
    from kg.pair_features import FEATURES
    from training.boosting import as_record, calibrate, fit

    return as_record(fit(data), FEATURES, *calibrate(log_odds, data))


def _row(board: BoardSource, record: dict[str, Any]) -> list[str]:
    """What weights make of a board."""
    from sklearn.metrics import average_precision_score, log_loss

    from evaluation.clusters import cluster_scores
    from kg.evidence import refused
    from kg.merge import MENTIONS, merge_names
    from kg.pair_scorer import load_scorer

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "weights.json"  # in a folder of its own: scorers are remembered by their paths
        path.write_text(json.dumps(record), encoding="utf-8")
        probability = load_scorer(str(path)).probabilities(board.pairs.features)
        group = merge_names(board.names, replace(MENTIONS, scorer=str(path))).group.tolist()
    same, probability = board.pairs.same, np.where(refused(board.pairs.features), 0.0, probability)
    joined = cluster_scores(group, board.clusters).pairwise
    values = (
        average_precision_score(same, probability),
        log_loss(same, np.clip(probability, 1e-6, 1 - 1e-6)),
        calibration_error(same, probability),
        *(joined.precision, joined.recall, joined.f1),
    )
    return [board.name, *(f"{value:.3f}" for value in values)]


def calibration_error(same: np.ndarray, probability: np.ndarray) -> float:
    """Expected calibration error (Naeini et al., AAAI 2015): |mean probability - share of pairs that are one|, both
    float64 [m], over ``BINS`` equal intervals of the probability, weighted by their pairs."""
    bins = np.minimum((probability * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, weights=probability - same, minlength=BINS)
    return float(np.abs(gaps).sum() / len(same))


def _statement(sources: Sequence[Source], data: Pairs, origin: np.ndarray) -> list[dict[str, Any]]:
    """What the weights rest on: of each source the pairs fitted on, twice those of a board, and how many are one."""
    return [
        {
            "name": source.name,
            "licence": source.licence,
            "pairs": int((origin == number).sum()),
            "positives": round(float(data.same[origin == number].sum()), 1),
        }
        for number, source in enumerate(sources)
    ]


def _command(arguments: Arguments) -> str:
    """What was asked for; of paths only the names, since other machines have others."""
    words = ["python", f"scripts/{NAME}"]
    words += ["--boards", *(path.name for path in arguments.boards)] if arguments.boards else []
    for option in ("scirex", "folder"):
        path = getattr(arguments, option)
        words += [f"--{option}", path.name] if path else []
    words += ["--without", str(arguments.without)] if arguments.without is not None else []
    return " ".join([*words, "--folds", str(arguments.folds)])


def main(argv: list[str] | None = None) -> int:
    """Parse, run, say errors in one sentence; returns the exit code."""
    return run_script(Arguments, run, NAME, KEPT, argv)


if __name__ == "__main__":
    sys.exit(main())
