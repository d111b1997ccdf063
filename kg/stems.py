"""Words and names with inflection, accents and British spelling folded."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

import regex
import Stemmer

LONGEST_WORD = 60
"""Letters beyond which a token is no word: an encoder cannot read it, and nobody has misspelled it."""
_OTHER_SCRIPT = regex.compile(r"[^\p{Latin}\p{Greek}\p{Common}\p{Inherited}]")
_BRITISH = (
    (regex.compile(r"(?<=\w{2})our(?=$|s$|al$|ed$|ing$|ite)"), "or"),
    (regex.compile(r"(?<=\w{3})is(?=e$|ed$|ing$|ation$|er$)"), "iz"),
    (regex.compile(r"(?<=\w{2})ys(?=e$|ed$|ing$)"), "yz"),
    (regex.compile(r"[ao]e(?=[^u])(?<=\w{2})"), "e"),
    (regex.compile(r"(?<=\w{2}[bt])re$"), "er"),
    (regex.compile(r"ogue$"), "og"),
    (regex.compile(r"(?<=sul)ph"), "f"),
)


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
    return not _OTHER_SCRIPT.search(form) and max(map(len, form.split()), default=0) <= LONGEST_WORD
