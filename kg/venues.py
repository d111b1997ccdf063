"""The 73 journals of economics, finance, operations management and statistics (BizSage, Appendix A, Tables 6 to 9).

``venues.tsv`` holds them as printed, with names that the same journal goes by: former titles, full titles, and ISO 4 or
other customary abbreviations. An abbreviation that several journals share, or bare initials, names none.
"""

from __future__ import annotations

import csv
import html
import io
import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

FIELDS = ("economics", "finance", "operations management", "statistics")


@dataclass(frozen=True, slots=True)
class Journal:
    """A row of the tables; ``papers`` and the years say what BizSage's corpus holds of the journal."""

    name: str
    field: str
    publisher: str
    first_year: int
    last_year: int
    papers: int
    aliases: tuple[str, ...] = ()


@cache
def journals() -> tuple[Journal, ...]:
    """All journals: by field, the one with most papers first, as printed."""
    text = files("kg").joinpath("venues.tsv").read_text(encoding="utf-8")
    return tuple(
        Journal(
            row["journal"], row["field"], row["publisher"], int(row["first_year"]), int(row["last_year"]),
            int(row["papers"]), tuple(filter(None, row["aliases"].split(" | "))),
        )
        for row in csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE)
    )  # fmt: skip


def field_key(field: str) -> str:
    """What two spellings of one field share: NFKC, case, white space."""
    return " ".join(unicodedata.normalize("NFKC", field).casefold().split())


def venue_key(venue: str) -> str:
    """What two spellings of one venue share: NFKC, case, punctuation, "&" for "and", "The" before or after.

    Empty where a name has no letter or digit.
    """
    plain = unicodedata.normalize("NFKC", html.unescape(venue)).casefold().replace("&", " and ")
    words = re.sub(r"[\W_]+", " ", plain).split()
    if words[:1] == ["the"]:
        words = words[1:]
    elif words[-1:] == ["the"]:
        words = words[:-1]
    return " ".join(words)


def find_journal(venue: str) -> Journal | None:
    """The journal of that name or alias, compared by ``venue_key``; None where the whole name is none of them."""
    return _by_key().get(venue_key(venue))


def field_of_venue(venue: str) -> str | None:
    """One of ``FIELDS``, or None for a venue outside the tables."""
    journal = find_journal(venue)
    return journal.field if journal else None


@cache
def _by_key() -> dict[str, Journal]:
    return {venue_key(name): journal for journal in journals() for name in (journal.name, *journal.aliases)}
