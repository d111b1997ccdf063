"""Acronyms and the expansions that a text itself gives them: "false discovery rate (FDR)".

The matching rule is Schwartz & Hearst (2003), "A simple algorithm for identifying abbreviation definitions in
biomedical text": read the short form from its end; each of its letters must be found, in order, in the words
before the parenthesis, and its first letter must begin a word. Both orders are recognised: "long (SHORT)" and
"SHORT (long)".
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

_PARENTHESIS = regex.compile(r"\(([^()]{2,80})\)")
_SHORT = regex.compile(r"^[\p{L}\p{N}][\p{L}\p{N}\-&/.+]{1,9}$")
_WORDS_BEFORE = regex.compile(r"[\p{L}\p{N}\p{M}'’\-]+")
_PIECES = regex.compile(r"[\p{L}\p{N}\p{M}]+")
SMALL_WORDS = frozenset("of the and in for on to a an with by at from based like type".split())
_YEAR = regex.compile(r"\b(?:1[5-9]|20)\d\d[a-z]?\b")  # "FF (Fama and French 1993)" cites, it does not define
_CLAUSE = regex.compile(r"[.;:!?()\[\]]\s*")


def find_definitions(text: str) -> list[tuple[str, str]]:
    """(acronym, expansion) pairs that ``text`` defines, in order, each acronym once (its first definition).

    >>> find_definitions("the capital asset pricing model (CAPM) holds")
    [('CAPM', 'capital asset pricing model')]
    """
    found: dict[str, str] = {}
    for match in _PARENTHESIS.finditer(text):
        inside = match[1].split(",")[0].split(";")[0].strip()
        before = _CLAUSE.split(text[max(0, match.start() - 200) : match.start()])[-1].rstrip()
        if _is_short(inside):
            short, expansion = inside, _expansion(inside, before)
        else:
            words = before.split()
            short = words[-1] if words else ""
            spelled = _is_short(short) and not _YEAR.search(inside) and _whole(short, inside)
            expansion = _expansion(short, inside) if spelled else None
        if expansion and short not in found:
            found[short] = expansion
    return list(found.items())


def _is_short(token: str) -> bool:
    """2 to 10 characters, a letter, and at least two capitals (or one besides a digit): an acronym, not a word."""
    if not _SHORT.match(token):
        return False
    capitals = sum(ch.isupper() for ch in token)
    return capitals >= 2 or (capitals >= 1 and any(ch.isdigit() for ch in token))


def _expansion(short: str, before: str) -> str | None:
    """The shortest run of words at the end of ``before`` that spells ``short``; None if there is none."""
    letters = [ch.casefold() for ch in short.removesuffix("s") if ch.isalnum()]
    words = list(_WORDS_BEFORE.finditer(before))
    # At most |short| + 5 words or twice as many words as letters, as in the paper.
    window = words[-min(len(letters) + 5, 2 * len(letters)) :]
    if not window:
        return None
    if initials := _by_initials(letters, before):
        return initials
    long = before[window[0].start() :]
    position = len(long) - 1
    for index in range(len(letters) - 1, -1, -1):
        while position >= 0 and (
            long[position].casefold() != letters[index]
            or (index == 0 and position > 0 and long[position - 1].isalnum())
        ):
            position -= 1
        if position < 0:
            return None
        position -= 1
    expansion = " ".join(long[position + 1 :].split())
    enough = len(expansion) > len(short) and len(expansion.split()) <= 8
    return expansion if enough and short.casefold() not in expansion.casefold().split() else None


def _by_initials(letters: list[str], before: str) -> str | None:
    """The last words whose first letters spell the acronym, small words skipped ("analysis of variance").

    Tried first, since reading from the end stops too early where a late word holds all the letters: ITIM is
    "immunoreceptor tyrosine-based inhibition motif", not "inhibition motif".
    """
    pieces = list(_PIECES.finditer(before))
    position = len(letters) - 1
    for number in range(len(pieces) - 1, -1, -1):
        piece = pieces[number][0].casefold()
        if piece[0] == letters[position]:
            position -= 1
            if position < 0:
                at_word = pieces[number].start() == 0 or before[pieces[number].start() - 1] not in "-‐‑'’"
                return " ".join(before[pieces[number].start() :].split()) if at_word and len(letters) > 1 else None
        elif piece not in SMALL_WORDS or number == len(pieces) - 1:
            return None
    return None


def _whole(short: str, inside: str) -> bool:
    """In "SHORT (long)" the parenthesis must be the expansion and nothing else."""
    expansion = _expansion(short, inside)
    return expansion is not None and expansion.casefold() == " ".join(inside.split()).casefold()


def spells(letters: str, words: str) -> bool:
    """Whether lower-case ``letters`` stand for ``words`` by the rule of definitions: in order, the first beginning all.

    >>> spells("ptb", "penn treebank"), spells("mse", "root mean square error")
    (True, False)
    """
    pieces = words.split()
    if not pieces or not 2 <= len(letters) < len(words) or len(pieces) > len(letters):
        return False
    used = {0}  # letters that the words so far may have used up
    for word in pieces:
        used = {after for before in used for after in _after(letters, before, word)}
    return len(letters) in used


def _after(letters: str, before: int, word: str) -> Iterator[int]:
    """Letters used after a word that gives its first letter, and then further letters of its own, in order."""
    if letters[before : before + 1] != word[0]:
        if word in SMALL_WORDS:
            yield before
        return
    position = 0
    for after, ch in enumerate(letters[before:], before + 1):  # as many as this word can give
        position = word.find(ch, position) + 1
        if not position:
            return
        yield after
