"""How long a question takes, from the batches of a run."""

from __future__ import annotations

import math
from dataclasses import dataclass

from retrieval.batch import Progress


@dataclass(frozen=True)
class Timing:
    """Seconds of retrieval per query, encoding the question included, opening the graph and preparing not.

    ``mean`` and ``sd`` are over ``n`` queries, each taken to need its batch's seconds divided by the batch's size;
    ``sd`` is None for fewer than two batches, which show no deviation. ``preparation``: median seconds until a first
    question was answered, over the ``starts`` of processes. What an earlier method had prepared is not counted again.
    """

    mean: float
    sd: float | None
    n: int
    preparation: float
    starts: int


def timing(progress: Progress) -> Timing:
    """Sum up what was measured; a run without a batch gives zeros."""
    n = sum(size for size, _ in progress.batches)
    mean = sum(seconds for _, seconds in progress.batches) / n if n else 0.0
    squares = sum(size * (seconds / size - mean) ** 2 for size, seconds in progress.batches)
    sd = math.sqrt(squares / (n - 1)) if len(progress.batches) > 1 else None
    prepared = sorted(progress.preparations)
    middle = len(prepared) // 2
    preparation = (prepared[middle] + prepared[~middle]) / 2 if prepared else 0.0
    return Timing(mean, sd, n, preparation, len(prepared))
