"""Lists of authors as references and citations show them."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import regex

from agents.reporting.bibliography.person import PersonName, parse_name
from agents.reporting.body import is_blank
from agents.reporting.escape import one_line

__all__ = ["PersonName", "format_authors", "parse_authors", "parse_name", "short_authors", "sort_key"]

_OTHERS = regex.compile(
    r"(?i)(?:^|(?<![\s,;])[\s,;]++)(?:et\.? al(?:\.|ii|iae)?|(?:and|&) others)[\s.,;]*$|^(?:others|\.\.\.|…)$"
)
# Letters that Unicode does not decompose, as alphabets without them sort them.
_BASE_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h", "ŧ": "t"}
)


def parse_authors(authors: Sequence[str]) -> tuple[list[PersonName], bool]:
    """The names, and whether the source says that there are more ("et al.", "and others"); empty entries fall out."""
    names, more = [], False
    for author in map(one_line, authors):
        named = _OTHERS.sub("", author)
        more = more or named != author
        if not is_blank(named) and (name := parse_name(named)) != PersonName():
            names.append(name)
    return names, more


def format_authors(authors: Sequence[str], limit: int = 6, shown: int = 3) -> str:
    """ "Family, Given; Family, Given"; of more than ``limit`` the first ``shown`` and "et al."; "" of none.

    The form of ISO 690 and of the ACS Guide: every name inverted, semicolons between them. Given names stand as the
    source gives them, so that nothing is dropped; names of organisations stay whole.
    """
    names, more = parse_authors(authors)
    if len(names) > limit:
        names, more = names[:shown], True
    return "; ".join(name.inverted for name in names) + (" et al." if names and more else "")


def short_authors(authors: Sequence[str], conjunction: str = "and") -> str:
    """How a text names them: "Akerlof", "Fama and French", "Lee et al." of more than two; "" of none."""
    names, more = parse_authors(authors)
    return join_short([name.short for name in names], more, conjunction)


def join_short(names: Sequence[str], more: bool, conjunction: str) -> str:
    """``names`` as a text gives them; ``more`` says that there are others."""
    if not names:
        return ""
    if more or len(names) > 2:
        return f"{names[0]} et al."
    return f" {conjunction} ".join(names)


def sort_key(text: str) -> str:
    """Letters and digits of ``text`` without accents and case, in the order of most readers: Åkerlund stands under A.

    Letter by letter, spaces and punctuation ignored, as APA (7th ed., 9.44) says. No locale is asked.
    """
    folded = unicodedata.normalize("NFKD", text).casefold().translate(_BASE_LETTERS)
    return "".join(ch for ch in unicodedata.normalize("NFKD", folded) if ch.isalnum())
