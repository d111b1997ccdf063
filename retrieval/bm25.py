"""BM25 over texts in any script; the scoring is the bm25s library's, the words are ours."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

from kg.errors import InputError
from retrieval.ranking import top_k

if TYPE_CHECKING:
    import bm25s

_WORDS = "words.json"

# Vowel signs and accents are part of a word, but no \w: without them, Hindi or Thai words fall to pieces.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u0900-\u0963\u0966-\u0df3"
    "\u0e31-\u0e4e\u0eb1-\u0ece\u0f18-\u0fbc\u102b-\u109d\u17b4-\u17d3\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0"
)
_WORD = re.compile(rf"(?:[^\W_]|[{_MARKS}])+")
# Scripts that put no space between words, and Korean, which glues particles to them.
_CJK = (
    "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U000323af"
)
_RUN = re.compile(rf"[{_CJK}]+|[^{_CJK}]+")
_IS_CJK = re.compile(rf"[{_CJK}]")


@dataclass(frozen=True)
class BM25Config:
    """How texts become words and words become scores.

    ``k1`` >= 0 saturates counts and ``b`` in [0, 1] normalises lengths (Robertson and Zaragoza 2009).
    ``method`` (of the term frequency) and ``idf_method`` name variants that bm25s has (Kamphuis et al., ECIR
    2020). ``stop_words``: the 33 of Lucene, or none. ``stemmer``: Snowball's for English
    (Porter 2), ``plural`` (see ``fold_plural``), or none. Words shorter than ``min_length`` characters are dropped;
    pairs of Chinese, Japanese or Korean characters are always kept.
    """

    k1: float = 0.9
    b: float = 0.4
    method: Literal["lucene", "robertson", "atire"] = "lucene"
    idf_method: Literal["lucene", "robertson", "atire"] = "lucene"
    stop_words: Literal["english", "none"] = "english"
    stemmer: Literal["english", "plural", "none"] = "english"
    min_length: int = 1

    def __post_init__(self) -> None:
        if not (0 <= self.k1 < float("inf") and 0 <= self.b <= 1):
            raise InputError(f"BM25 has k1 {self.k1} and b {self.b}; k1 must be >= 0 and b in [0, 1].")


DEFAULT = BM25Config()

OKAPI = BM25Config(k1=1.5, b=0.75, method="atire", idf_method="robertson", stop_words="none", min_length=2)
"""Stemmed, with Robertson's inverse frequency, where a word that half of the texts hold counts nothing: what fusion and
seeds use. docs/retrieval.md says how it was chosen."""

METASYN = BM25Config(
    k1=1.5, b=0.75, method="atire", idf_method="robertson", stop_words="none", stemmer="none", min_length=3
)
"""The released settings of MetaSyn's baseline: Okapi, where a word that half of the texts hold counts nothing."""


class BM25Index:
    """BM25 over ``texts``, whose places in the sequence are the indices that a search returns."""

    def __init__(self, texts: Sequence[str], config: BM25Config = DEFAULT) -> None:
        """Index ``texts``; none at all, or texts without a word, make an index that finds nothing."""
        import bm25s

        self.config = config
        self._size = len(texts)
        self._vocabulary: dict[str, int] = {}
        self._scorer: bm25s.BM25 | None = None
        ids = [
            [self._vocabulary.setdefault(word, len(self._vocabulary)) for word in words(text, config)] for text in texts
        ]
        if self._vocabulary:
            self._scorer = bm25s.BM25(k1=config.k1, b=config.b, method=config.method, idf_method=config.idf_method)
            self._scorer.index((ids, self._vocabulary), create_empty_token=False, show_progress=False)

    def save(self, folder: Path) -> None:
        """Write the index into ``folder`` (made if need be); ``load`` gives back one with the same scores."""
        folder.mkdir(parents=True, exist_ok=True)
        words = {"size": self._size, "vocabulary": list(self._vocabulary)}
        (folder / _WORDS).write_text(json.dumps(words, ensure_ascii=False), encoding="utf-8")
        if self._scorer is not None:
            self._scorer.save(folder, show_progress=False)

    @classmethod
    def load(cls, folder: Path, config: BM25Config = DEFAULT) -> BM25Index:
        """Inverse of ``save``; ``config`` must be the one it was made with."""
        import bm25s

        words = json.loads((folder / _WORDS).read_text(encoding="utf-8"))
        index = cls([], config)
        index._size = words["size"]
        index._vocabulary = {word: number for number, word in enumerate(words["vocabulary"])}
        if index._vocabulary:
            index._scorer = bm25s.BM25.load(folder)
        return index

    def __len__(self) -> int:
        return self._size

    def frequency(self, word: str) -> int:
        """How many texts hold ``word``, a term as ``words`` gives it."""
        number = self._vocabulary.get(word)
        if number is None or self._scorer is None:
            return 0
        starts = self._scorer.scores["indptr"]
        return int(starts[number + 1] - starts[number])

    def search(self, queries: Sequence[str], k: int) -> list[tuple[Tensor, Tensor]]:
        """For each query, float32 scores and int64 indices of its best texts, best first.

        At most ``k`` of them, all with a score > 0; ties by the smaller index. A word that the query repeats
        counts each time. A query without a known word finds nothing.

        Raises:
            InputError: one string instead of a sequence of them, or a negative k.
        """
        if isinstance(queries, str):
            raise InputError("BM25 search takes a sequence of queries; put the one query into a list.")
        return [self._search(query, k) for query in queries]

    def scores(self, queries: Sequence[str]) -> Tensor:
        """float32 [B, texts]: the score of every text, 0 without a word of the query."""
        return torch.stack([self._scores(query) for query in queries]) if queries else torch.zeros(0, self._size)

    def _scores(self, query: str) -> Tensor:
        # Sorted, so that the order of the words cannot change a rounding.
        ids = sorted(self._vocabulary[word] for word in words(query, self.config) if word in self._vocabulary)
        if self._scorer is None or not ids:
            return torch.zeros(self._size)
        return torch.from_numpy(self._scorer.get_scores_from_ids(ids))

    def _search(self, query: str, k: int) -> tuple[Tensor, Tensor]:
        values, indices = top_k(self._scores(query), k)
        found = int((values > 0).sum())
        return values[:found], indices[:found]


def words(text: str, config: BM25Config = DEFAULT) -> list[str]:
    """The indexing terms of ``text``, in order: NFKC, case folded; Chinese, Japanese, Korean as pairs of characters."""
    stop, stem = _stop_words(config), _stem(config)
    terms: list[str] = []
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        for run in _RUN.findall(word):
            if _IS_CJK.match(run):
                terms.extend(run[i : i + 2] for i in range(max(1, len(run) - 1)))
            elif len(run) >= config.min_length and run not in stop:
                terms.append(stem(run))
    return terms


def fold_plural(word: str) -> str:
    """Singular of an English plural: -ies -> -y, -es -> -e, -s -> nothing.

    The S-stemmer of Harman, "How effective is suffixing?", JASIS 42(1), 1991. Words of up to three letters stay,
    and so do those in -us and -ss.
    """
    if len(word) <= 3 or not word.endswith("s"):
        return word
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    if word.endswith("es") and not word.endswith(("aes", "ees", "oes")):
        return word[:-1]
    return word if word.endswith(("us", "ss")) else word[:-1]


def _stem(config: BM25Config) -> Callable[[str], str]:
    if config.stemmer == "english":
        return _english_stem()
    return fold_plural if config.stemmer == "plural" else str


@cache
def _english_stem() -> Callable[[str], str]:
    """Words that are not ASCII stay: they are hardly English."""
    import Stemmer

    stem = Stemmer.Stemmer("english").stemWord
    return lambda word: stem(word) if word.isascii() else word


def _stop_words(config: BM25Config) -> frozenset[str]:
    if config.stop_words == "none":
        return frozenset()
    from bm25s.stopwords import STOPWORDS_EN

    return frozenset(STOPWORDS_EN)
