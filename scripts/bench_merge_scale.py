"""How long merging takes and how much memory it needs, by the number of names; vectors are given.

    python scripts/bench_merge_scale.py [N ...]

Names are made up of 60,000 words with frequencies as in language (Zipf): one to four words, and for every third name a
variant of another: a type word more, a plural, a spelling error, an acronym, another order. A vector is the sum of the
words' random vectors and some noise, so that names that share words are near, as with an encoder.
"""

from __future__ import annotations

import resource
import sys
import time
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import torch
import tyro

from kg.merge import MergeConfig, Names, merge_names
from scripts.console import out
from scripts.entry import run_script

NAME = "bench_merge_scale.py"
KEPT = "nothing was written"
WORDS = 60_000
DIMENSION = 384
NOISE = 0.6
_TYPES = ("dataset", "model", "score", "task", "method", "disease")
_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "il", "os", "um")]


@dataclass(frozen=True)
class Arguments:
    """Seconds and memory of merging N names, for each N; memory is the process's peak so far."""

    sizes: Annotated[tuple[int, ...], tyro.conf.Positional, tyro.conf.arg(metavar="N")] = (10_000, 100_000)
    seed: int = 718


def made_up(n: int, seed: int) -> tuple[list[str], torch.Tensor]:
    """(names, vectors float32 [n, 384] unit rows)."""
    rng = np.random.default_rng(seed)
    vocabulary = ["".join(rng.choice(_SYLLABLES, size=rng.integers(2, 5))) for _ in range(WORDS)]
    directions = rng.standard_normal((WORDS, DIMENSION)).astype(np.float32)
    weights = 1.0 / np.arange(10, WORDS + 10)
    lengths = rng.choice([1, 2, 3, 4], size=n, p=[0.15, 0.45, 0.3, 0.1])
    drawn = rng.choice(WORDS, size=(n, 4), p=weights / weights.sum())
    names: list[str] = []
    vectors = np.empty((n, DIMENSION), dtype=np.float32)
    for row in range(n):
        source = row
        if row and rng.random() < 1 / 3:
            source = int(rng.integers(row))
            drawn[row], lengths[row] = drawn[source], lengths[source]
        words = [vocabulary[word] for word in drawn[row, : lengths[row]]]
        names.append(_varied(words, rng) if source != row else " ".join(words))
        vectors[row] = directions[drawn[row, : lengths[row]]].sum(axis=0)
    vectors += NOISE * rng.standard_normal(vectors.shape, dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return names, torch.from_numpy(vectors)


def _varied(words: list[str], rng: np.random.Generator) -> str:
    kind = int(rng.integers(5))
    if kind == 0:
        return " ".join([*words, str(rng.choice(_TYPES))])
    if kind == 1:
        return " ".join(words) + "s"
    if kind == 2 and len(words) > 2:
        return "".join(word[0] for word in words).upper()
    if kind == 3:
        place = int(rng.integers(len(words[0]) - 1))
        return " ".join([words[0][:place] + words[0][place + 1 :], *words[1:]])
    return " ".join(reversed(words))


def run(arguments: Arguments) -> int:
    """Print one line per size."""
    out().print(f"{'names':>10}{'groups':>10}{'pairs kept':>12}{'seconds':>9}{'per name':>12}{'peak memory':>13}")
    for n in arguments.sizes:
        names, vectors = made_up(n, arguments.seed)
        start = time.perf_counter()
        merged = merge_names(Names([""] * n, names, vectors), MergeConfig())
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        groups = len(np.unique(merged.group))
        out().print(
            f"{n:>10,}{groups:>10,}{len(merged.pairs):>12,}{seconds:>9.1f}{seconds / n * 1e6:>9.0f} µs{peak:>10.2f} GiB"
        )
    return 0


def main(argv: list[str] | None = None) -> int:
    """Parse, run, say errors in one sentence; returns the exit code."""
    return run_script(Arguments, run, NAME, KEPT, argv)


if __name__ == "__main__":
    sys.exit(main())
