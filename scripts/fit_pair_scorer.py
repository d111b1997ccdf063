"""Fit the scorer of pairs of names (``kg/pair_scorer.json``) and say how well it does where it was not fitted.

    python scripts/fit_pair_scorer.py --scirex SCIREX --folder FOLDER --cache FILE --out kg/pair_scorer.json

Data: boards of mentions (``training/names/*.csv``, written for this project) and the names of SciREX (Apache-2.0),
whose sections FOLDER holds as for `scripts/marked_graph.py`. A pair of SciREX weighs .3 of one of a board: what is
linked there is often only related. Boards are reported each left out once; ``--without K`` leaves out the entities of
fold K, for figures cross-validated by entity. What is reported on elsewhere (``evaluation/names``) is never read here.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import tyro

from kg.errors import InputError
from kg.merge import MENTIONS, Names
from scripts.console import out, say
from scripts.entry import run_script
from scripts.merge_boards import Board, read_mentions

if TYPE_CHECKING:
    from training.boosting import Pairs

NAME = "fit_pair_scorer.py"
KEPT = "no weights were written, and what was encoded is in the cache"
ROOT = Path(__file__).resolve().parent.parent
FOLDS = 5
SCIREX_WEIGHT = 0.3


@dataclass(frozen=True)
class Arguments:
    """Fit the scorer of pairs of names."""

    out: Annotated[Path, tyro.conf.arg(metavar="FILE", help="Where the weights go.")]
    boards: Annotated[tuple[Path, ...], tyro.conf.arg(metavar="FILE...")] = ()
    """Boards of mentions; all of training/names if none is named."""
    scirex: Annotated[Path | None, tyro.conf.arg(metavar="DIR", help="Papers of SciREX, one JSON each.")] = None
    folder: Annotated[Path | None, tyro.conf.arg(metavar="DIR", help="BEIR folder of their sections.")] = None
    cache: Annotated[Path, tyro.conf.arg(metavar="FILE", help="Where vectors are kept.")] = Path("names.sqlite")
    without: Annotated[int | None, tyro.conf.arg(metavar="K")] = None
    """Leave out the entities of fold K of 5."""
    encoder: Annotated[str | None, tyro.conf.arg(metavar="DIR|NAME", help="As in `evigraph build`.")] = None


def run(arguments: Arguments) -> int:
    """Read, report on each board left out, fit on all, write."""
    from kg.cache import Cache
    from kg.embedding import CachedEmbedder
    from kg.pair_features import FEATURES
    from scripts.bench_merge import encode
    from scripts.console import track
    from scripts.marked_names import read_marked_names
    from scripts.tools import load_encoder
    from training.boosting import Pairs, as_record, calibrate, fit
    from training.name_pairs import entity_pairs, mention_pairs

    if (arguments.scirex is None) != (arguments.folder is None):
        raise InputError("--scirex and --folder go together: the papers, and the BEIR folder of their sections.")
    if arguments.without is not None and not 0 <= arguments.without < FOLDS:
        raise InputError(f"--without is {arguments.without}; the folds are 0 to {FOLDS - 1}.")
    paths = arguments.boards or tuple(sorted((ROOT / "training" / "names").glob("*.csv")))
    boards = [read_mentions(path) for path in paths]
    encoder = load_encoder(arguments.encoder)
    columns = [encode(board.mentions, encoder) for board in boards]
    clusters = [[f"{board.name}/{mention.cluster}" for mention in board.mentions] for board in boards]
    parts = {b.name: mention_pairs(names, own) for b, names, own in zip(boards, columns, clusters, strict=True)}
    others: list[Pairs] = []
    if arguments.scirex is not None and arguments.folder is not None:
        with Cache(arguments.cache, encoder.fingerprint) as cache:
            names, shares = read_marked_names(arguments.scirex, arguments.folder, CachedEmbedder(encoder, cache, track))
        others = [entity_pairs(names, shares, SCIREX_WEIGHT, MENTIONS.candidates)]
    data = Pairs.joined([*parts.values(), *others])
    if arguments.without is not None:
        data = data.where(~_in_fold(data, arguments.without))
    else:
        for number, board in enumerate(boards):
            rest = [pairs for name, pairs in parts.items() if name != board.name]
            _report(board, columns[number], clusters[number], Pairs.joined([*rest, *others]))
    slope, intercept = calibrate(*_held_out(data))
    record = as_record(fit(data), FEATURES, slope, intercept)
    record["data"] = _statement(parts, others, arguments.without)
    arguments.out.write_text(json.dumps(record, separators=(",", ":")) + "\n", encoding="utf-8")
    say(f"{arguments.out}: {len(record['trees'])} trees, fitted on {len(data.same):,} pairs.")
    return 0


def _in_fold(data: Pairs, fold: int) -> np.ndarray:
    """bool [m]: an end of the pair is an entity of the fold, by the CRC-32 of its name."""
    number = {name: zlib.crc32(str(name).encode()) % FOLDS for name in set(data.clusters.ravel())}
    return np.asarray([any(number[name] == fold for name in ends) for ends in data.clusters], dtype=bool)


def _held_out(data: Pairs) -> tuple[np.ndarray, Pairs]:
    """Log-odds of pairs by a scorer fitted without the entities of either end, and the pairs."""
    from training.boosting import Pairs, fit

    log_odds, pairs = [], []
    for fold in range(FOLDS):
        held = _in_fold(data, fold)
        if held.any() and not held.all():
            pairs.append(data.where(held))
            log_odds.append(fit(data.where(~held)).decision_function(pairs[-1].features))
    return np.concatenate(log_odds), Pairs.joined(pairs)


def _report(board: Board, names: Names, clusters: Sequence[str], data: Pairs) -> None:
    """Print what a scorer fitted on ``data`` makes of a board."""
    from sklearn.metrics import average_precision_score, log_loss

    from evaluation.clusters import cluster_scores
    from kg.linkage import complete_linkage
    from training.boosting import fit
    from training.name_pairs import candidates_of

    pairs, features, refused = candidates_of(names)
    probability = np.where(refused, 0.0, fit(data).predict_proba(features)[:, 1])
    same = np.asarray([clusters[i] == clusters[j] for i, j in pairs.tolist()])
    accepted = probability >= MENTIONS.tolerated
    group = complete_linkage(len(clusters), pairs[accepted], probability[accepted], MENTIONS.join)
    score = cluster_scores(group.tolist(), clusters).pairwise
    loss = log_loss(same, np.clip(probability, 1e-6, 1 - 1e-6))
    out().print(
        f"{board.name}, left out: average precision {average_precision_score(same, probability):.3f}, log loss "
        f"{loss:.3f}, calibration error {_error(same, probability):.3f}, "
        f"pairwise P {score.precision:.3f} R {score.recall:.3f} F1 {score.f1:.3f}"
    )


def _error(same: np.ndarray, probability: np.ndarray, bins: int = 10) -> float:
    """Expected calibration error (Naeini et al. 2015): |mean probability - share that is one|, weighted by bin."""
    place = np.minimum((probability * bins).astype(int), bins - 1)
    return float(
        sum(
            (place == b).mean() * abs(probability[place == b].mean() - same[place == b].mean())
            for b in range(bins)
            if (place == b).any()
        )
    )


def _statement(parts: dict[str, Pairs], others: Sequence[Pairs], without: int | None) -> list[dict[str, Any]]:
    """What the weights rest on."""
    rows = [(f"training/names/{name}", "written for this project, its licence", pairs) for name, pairs in parts.items()]
    rows += [("SciREX", "Apache-2.0", pairs) for pairs in others]
    return [
        {"name": name, "licence": licence, "pairs": len(p.same), "same": round(float(p.same.sum()), 1)}
        | ({} if without is None else {"without_fold": without})
        for name, licence, p in rows
    ]


def main(argv: list[str] | None = None) -> int:
    """Parse, run, say errors in one sentence; returns the exit code."""
    return run_script(Arguments, run, NAME, KEPT, argv)


if __name__ == "__main__":
    sys.exit(main())
