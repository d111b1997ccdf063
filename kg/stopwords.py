"""Which language's stop words break the phrases of a section: English always, another where the text is in it."""

from __future__ import annotations

from functools import lru_cache

import regex

_LANGUAGES = (
    "DANISH", "DUTCH", "FRENCH", "GERMAN", "ITALIAN", "NORWEGIAN", "PORTUGUESE", "RUSSIAN",
    "SPANISH", "SWEDISH", "TURKISH",
)  # fmt: skip
_WORDS = regex.compile(r"[\p{L}\p{M}]+")


@lru_cache(maxsize=1)
def _lists() -> dict[str, frozenset[str]]:
    """The stop word lists that come with bm25s."""
    from bm25s import stopwords

    lists = {name: frozenset(getattr(stopwords, f"STOPWORDS_{name}")) for name in _LANGUAGES}
    return {"ENGLISH": frozenset(stopwords.STOPWORDS_EN_PLUS), **lists}


def section_stopwords(text: str) -> frozenset[str]:
    """Stop words of the language that most of the first words of ``text`` belong to; none for English.

    English is left to ``kg.wordlists``, which knows more of it. A language has to win clearly, since short words
    are shared between languages.
    """
    words = [word.lower() for word in _WORDS.findall(text[:1500])]
    hits = {name: sum(word in stop for word in words) for name, stop in _lists().items()}
    best = max(hits, key=lambda name: (hits[name], name))
    if best == "ENGLISH" or hits[best] < 5 or hits[best] < 1.3 * hits["ENGLISH"]:
        return frozenset()
    return _lists()[best]
