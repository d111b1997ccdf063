"""Keys under which BibTeX and CSL-JSON know a reference: readable, ASCII, no two alike."""

from __future__ import annotations

import itertools
import re
import string
from collections.abc import Iterator, Sequence

from agents.reporting.bibliography.names import parse_authors, sort_key
from agents.reporting.model import Reference

_SMALL_WORDS = frozenset(
    """a an and are as at by can das de dem den der die do does ein eine el en et for from how in is la las le les los
    of on or por pour some sur the to toward towards un una und une what when why with zu zum zur""".split()
)
_LONGEST_NAME, _LONGEST_WORD = 24, 20


def citation_keys(references: Sequence[Reference]) -> list[str]:
    """One key per reference, in the same order: first author, year, first telling word of the title.

    ``akerlof1970market``; of equal ones the second ends in ``-a``, the third in ``-b``. Keys are of ``[a-z0-9-]``,
    begin with a letter and are the same for the same list of references.
    """
    taken: set[str] = set()
    keys = []
    for reference in references:
        key = next(key for key in _candidates(_base(reference)) if key not in taken)
        taken.add(key)
        keys.append(key)
    return keys


def _candidates(base: str) -> Iterator[str]:
    yield base
    for length in itertools.count(1):
        yield from (
            f"{base}-{''.join(letters)}" for letters in itertools.product(string.ascii_lowercase, repeat=length)
        )


def _base(reference: Reference) -> str:
    names, _ = parse_authors(reference.authors)
    author = _fitting(names[0].short.split(), _LONGEST_NAME) if names else ""
    words = [word for word in map(_ascii, re.findall(r"[^\W_]+", reference.title)) if word]
    telling = next((word for word in words if word not in _SMALL_WORDS and not word.isdigit()), "")
    key = author + (str(reference.year) if reference.year is not None else "") + telling[:_LONGEST_WORD]
    return key if key[:1].isalpha() else f"ref{key}"


def _fitting(words: Sequence[str], length: int) -> str:
    """As many words as fit, at least a part of the first."""
    plain = [word for word in map(_ascii, words) if word]
    fitting = "".join(plain[:1])[:length]
    for word in plain[1:]:
        if len(fitting) + len(word) > length:
            break
        fitting += word
    return fitting


def _ascii(text: str) -> str:
    return "".join(ch for ch in sort_key(text) if ch.isascii())
