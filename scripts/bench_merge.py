"""How many variants of a name the merge joins, and how many different names it joins wrongly.

    python scripts/bench_merge.py [--data DIR] [--encoder DIR]

Data: the three concept lists of itext2kg_er, 500 (name, variant) pairs each. Negatives are pairs of names from
different concepts: random ones, those that share a word, and hard ones, each name with its nearest name of another
concept by embedding. Thresholds of the cosine alone are chosen on half of the concepts so that at most 0.5 % of the
negatives are joined, and reported on the other half; the rules of kg.merge have no parameter fitted here.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import openpyxl
import torch

from kg.merge import MergeConfig, pair_score
from kg.names import name_form, name_key
from scripts.tools import load_encoder

ROOT = Path(__file__).resolve().parent.parent
ALLOWED = 0.005
SEED = 718
RANDOM_NEGATIVES = 20_000

Pair = tuple[str, str]


@dataclass(frozen=True)
class Split:
    """Positive pairs and three kinds of negatives of one half of the concepts."""

    variants: list[Pair]
    random: list[Pair]
    word: list[Pair]
    hard: list[Pair]


def main() -> int:
    """Print one row per rung: recall of variants, false merges of random and of hard negatives."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = Path(os.environ.get("EVIGRAPH_DATA", ROOT.parent / "shared" / "data"))
    parser.add_argument("--data", type=Path, default=data / "itext2kg_er")
    parser.add_argument("--encoder")
    arguments = parser.parse_args()
    concepts = read_concepts(arguments.data)
    names = sorted({name for concept, variants in concepts.items() for name in (concept, *variants)})
    vectors = load_encoder(arguments.encoder).encode_documents([name_form(name) for name in names])
    cosines = dict(zip(names, vectors, strict=True))

    def cosine(a: str, b: str) -> float:
        return float(torch.dot(cosines[a].double(), cosines[b].double()))

    halves = split(concepts, np.asarray(vectors @ vectors.T), names)
    print(f"{len(names):,} names of {len(concepts):,} concepts; reported on the second half of the concepts")
    print(f"{'rung':<46}{'recall':>8}{'random':>9}{'word':>8}{'hard':>8}")
    config = MergeConfig()
    rungs: dict[str, Callable[[str, str], bool]] = {
        "exact string": lambda a, b: a == b,
        "keys": lambda a, b: name_key(a) == name_key(b),
        "keys + merge rules and embeddings (default)": lambda a, b: (
            name_key(a) == name_key(b) or pair_score(name_form(a), name_form(b), cosine(a, b), config) > 0
        ),
    }
    for kind in ("random", "word", "hard"):
        threshold = choose([cosine(*pair) for pair in getattr(halves[0], kind)])
        rungs[f"cosine >= {threshold:.3f} (0.5 % of {kind} negatives)"] = _above(cosine, threshold)
    for rung, joins in rungs.items():
        second = halves[1]
        rates = [
            np.mean([joins(*pair) for pair in pairs])
            for pairs in (second.variants, second.random, second.word, second.hard)
        ]
        print(f"{rung:<46}{rates[0]:>8.3f}{rates[1]:>9.4f}{rates[2]:>8.4f}{rates[3]:>8.4f}")
    return 0


def _above(cosine: Callable[[str, str], float], threshold: float) -> Callable[[str, str], bool]:
    return lambda a, b: cosine(a, b) >= threshold


def read_concepts(folder: Path) -> dict[str, set[str]]:
    """Concept -> variants; a concept that occurs in several lists keeps all its variants."""
    concepts: dict[str, set[str]] = {}
    for path in sorted(folder.glob("*Concept*.xlsx")):
        workbook = openpyxl.load_workbook(path, read_only=True)
        for concept, variant in workbook.worksheets[0].iter_rows(min_row=2, values_only=True):
            concepts.setdefault(str(concept), set()).add(str(variant))
    if not concepts:
        sys.exit(f"{folder} holds no list of concepts; pass the folder itext2kg_er with --data")
    return concepts


def split(concepts: dict[str, set[str]], cosines: np.ndarray, names: list[str]) -> list[Split]:
    """Two halves of the concepts; negatives never join a half with the other."""
    rng = random.Random(SEED)
    order = sorted(concepts)
    rng.shuffle(order)
    together: dict[str, set[str]] = {}
    for concept, variants in concepts.items():
        for name in (concept, *variants):
            together.setdefault(name_key(name), set()).update(map(name_key, (concept, *variants)))
    number = {name: i for i, name in enumerate(names)}
    halves = []
    for half in (order[::2], order[1::2]):
        own = sorted({name for concept in half for name in (concept, *concepts[concept])})
        positive = [(c, v) for c in half for v in sorted(concepts[c])]
        random_pairs: list[Pair] = []
        while len(random_pairs) < RANDOM_NEGATIVES:
            a, b = rng.sample(own, 2)
            if name_key(b) not in together[name_key(a)]:
                random_pairs.append((a, b))
        hard: list[Pair] = []
        columns = np.asarray([number[name] for name in own])
        for name in own:
            for i in np.argsort(-cosines[number[name], columns], kind="stable"):
                other = own[int(i)]
                if name_key(other) not in together[name_key(name)]:
                    hard.append((name, other))
                    break
        word = [
            (a, b)
            for a, b in combinations(own, 2)
            if set(name_form(a).split()) & set(name_form(b).split()) and name_key(b) not in together[name_key(a)]
        ]
        halves.append(Split(positive, random_pairs, word, hard))
    return halves


def choose(negatives: list[float]) -> float:
    """The least cosine at or above which at most ``ALLOWED`` of the negatives lie."""
    ordered = sorted(negatives, reverse=True)
    return ordered[int(len(ordered) * ALLOWED)] + 1e-6


if __name__ == "__main__":
    sys.exit(main())
