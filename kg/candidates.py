"""Which pairs of names to compare: a deterministic function of the set of names, near-linear in its size.

Two rungs propose pairs: equal signatures (stems of the words, whatever their order, spelling variant and accents
aside), and near neighbours by embedding, found with random hyperplanes of a fixed seed (SimHash: Charikar 2002) and
compared exactly within each bucket. Nothing here is trained, and nothing depends on the order of the names.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
import regex
import Stemmer
import torch
from torch import Tensor

_SPARE_BITS = 12
_LARGEST_BUCKET = 8192
_LONGEST_WORD = 60
_OTHER_SCRIPT = regex.compile(r"[^\p{Latin}\p{Greek}\p{Common}\p{Inherited}]")
Name = tuple[str, str]
"""(type, form); names of different types are never compared."""

_BRITISH = (
    (regex.compile(r"(?<=\w{2})our(?=$|s$|al$|ed$|ing$|ite)"), "or"),
    (regex.compile(r"(?<=\w{3})is(?=e$|ed$|ing$|ation$|er$)"), "iz"),
    (regex.compile(r"(?<=\w{2})ys(?=e$|ed$|ing$)"), "yz"),
    (regex.compile(r"[ao]e(?=[^u])(?<=\w{2})"), "e"),
    (regex.compile(r"(?<=\w{2}[bt])re$"), "er"),
    (regex.compile(r"ogue$"), "og"),
)


@dataclass(frozen=True)
class CandidateConfig:
    """``floor``: least cosine of an embedding candidate. Tables and the seed fix the hashing."""

    floor: float = 0.8
    tables: int = 8
    bucket: int = 256
    seed: int = 718
    largest_block: int = 64


@lru_cache(maxsize=1)
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")


@lru_cache(maxsize=1 << 18)
def american(token: str) -> str:
    """A word with accents and British spelling folded; words of other scripts come back unchanged."""
    folded = "".join(ch for ch in unicodedata.normalize("NFD", token) if unicodedata.category(ch) != "Mn")
    if not folded.isascii():
        return token
    for pattern, replacement in _BRITISH:
        folded = pattern.sub(replacement, folded)
    return folded


@lru_cache(maxsize=1 << 18)
def stem(token: str) -> str:
    """Snowball stem of ``american(token)``; words of other scripts come back unchanged."""
    folded = american(token)
    return str(_stemmer().stemWord(folded)) if folded.isascii() else folded


@lru_cache(maxsize=1 << 18)
def signature(form: str) -> str:
    """Stems in code-point order: "modeling of climates" and "climate modelling" differ only by "of"."""
    return " ".join(sorted(stem(token) for token in form.split()))


def readable(form: str) -> bool:
    """Whether a vector says what a name means: Latin or Greek script, and words short enough to be words.

    An encoder turns what its vocabulary lacks into one and the same unknown token, so to it such names are all equal.
    """
    return not _OTHER_SCRIPT.search(form) and max(map(len, form.split()), default=0) <= _LONGEST_WORD


def candidate_pairs(
    names: Sequence[Name],
    vectors: Tensor,
    config: CandidateConfig = CandidateConfig(),
) -> np.ndarray:
    """Pairs int64 [m, 2] of name numbers (i < j), sorted; ``vectors`` are unit rows, float32 [n, d]."""
    pairs = {pair for block in _signature_blocks(names, config) for pair in combinations(sorted(block), 2)}
    by_type: dict[str, list[int]] = defaultdict(list)
    for number, (kind, form) in enumerate(names):
        if readable(form):
            by_type[kind].append(number)
    found = [np.asarray(sorted(pairs), dtype=np.int64).reshape(-1, 2)]
    for _, numbers in sorted(by_type.items()):
        index = np.asarray(numbers, dtype=np.int64)
        found.append(index[near_pairs(vectors[torch.from_numpy(index)], config)])
    return _distinct(found, len(names))


def _distinct(found: list[np.ndarray], n: int) -> np.ndarray:
    """Pairs int64 [m, 2] of numbers below ``n``, each once, sorted; by one number per pair, far faster than by rows."""
    pairs = np.concatenate(found) if found else np.zeros((0, 2), dtype=np.int64)
    first, second = np.divmod(np.unique(pairs[:, 0] * max(n, 1) + pairs[:, 1]), max(n, 1))
    return np.stack([first, second], axis=1)


def _signature_blocks(names: Sequence[Name], config: CandidateConfig) -> list[list[int]]:
    blocks: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, (kind, form) in enumerate(names):
        blocks[kind, signature(form)].append(number)
    # A block this large holds a stem that says nothing; its true pairs are near neighbours too.
    return [block for block in blocks.values() if 1 < len(block) <= config.largest_block]


def near_pairs(vectors: Tensor, config: CandidateConfig = CandidateConfig()) -> np.ndarray:
    """Pairs int64 [m, 2] (i < j) of rows with cosine >= ``floor``; exact up to ``2 * bucket`` rows.

    Beyond that, rows meet if they share a bucket in one of the tables: with b bits a pair at angle t does so with
    probability 1 - (1 - (1 - t / pi)^b)^tables, .97 at cosine .9 for 65,000 names.
    """
    n = len(vectors)
    bits = max(0, int(np.ceil(np.log2(max(n, 1) / (2 * config.bucket)))))
    if bits == 0:
        return _pairs_within(vectors, np.arange(n), config.floor)
    planes = torch.from_numpy(
        np.random.Generator(np.random.PCG64(config.seed))
        .standard_normal((config.tables, vectors.shape[1], bits + _SPARE_BITS))
        .astype(np.float32)
    )
    # Vectors of most encoders lie in a cone: around their mean they fill the buckets evenly.
    around = vectors - vectors.mean(dim=0)
    found: list[np.ndarray] = []
    for table in planes:
        signs = (around @ table > 0).numpy()
        buckets = _buckets(signs, np.arange(n), bits, 4 * config.bucket)
        found.extend(_pairs_within(vectors, rows, config.floor) for rows in buckets)
    return _distinct(found, n)


def _buckets(signs: np.ndarray, rows: np.ndarray, bits: int, largest: int) -> Iterator[np.ndarray]:
    """Rows of equal signs in the first ``bits`` columns; a bucket over ``largest`` is divided by further columns."""
    code = signs[rows, :bits] @ (1 << np.arange(bits, dtype=np.int64))
    order = np.argsort(code, kind="stable")
    borders = np.flatnonzero(np.diff(code[order])) + 1
    for own in np.split(rows[order], borders):
        if len(own) > largest and bits < signs.shape[1]:
            yield from _buckets(signs, own, bits + 1, largest)
        elif 1 < len(own) <= _LARGEST_BUCKET:  # more vectors than this that no plane tells apart say nothing
            yield own


def _pairs_within(vectors: Tensor, rows: np.ndarray, floor: float, block: int = 4096) -> np.ndarray:
    chosen = vectors[torch.from_numpy(rows)]
    found = []
    for start in range(0, len(rows), block):
        cosines = (chosen[start : start + block] @ chosen[start:].T).numpy()
        close = np.flatnonzero(cosines >= floor - 1e-4)
        i, j = close // cosines.shape[1] + start, close % cosines.shape[1] + start
        found.append(np.stack([i[i < j], j[i < j]], axis=1))
    pairs = rows[np.concatenate(found)] if found else np.zeros((0, 2), dtype=np.int64)
    return np.sort(pairs, axis=1)
