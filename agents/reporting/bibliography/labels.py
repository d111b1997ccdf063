"""Labels of the author-year style: what the text says for each paper, no two alike, and the order of the list.

Follows the Publication Manual of the APA (7th ed.), 8.11 to 8.20 (in the text) and 9.44 to 9.49 (order of the list).
"""

from __future__ import annotations

import itertools
import re
import string
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.reporting.bibliography.entries import title_of, year_of
from agents.reporting.bibliography.names import PersonName, join_short, parse_authors, sort_key
from agents.reporting.model import Reference

_ARTICLE = re.compile(r"(?i)^(?:an?|the)\s+(?=\S)")
_TITLE_WORDS, _TITLE_CHARACTERS = 6, 60


@dataclass(frozen=True)
class Label:
    """``names`` and ``year``, the latter with the letter that tells it from others; ``order`` sorts the list."""

    names: str
    year: str
    order: tuple[object, ...]

    @property
    def text(self) -> str:
        """ "Fama & French, 1993a"."""
        return f"{self.names}, {self.year}"


def author_year_labels(references: Sequence[Reference]) -> list[Label]:
    """One label per reference, in the same order, no two the same even if case is ignored.

    First authors who share a family name get their initials (8.20); labels that are still the same get a letter at
    the year, by title (8.19, 9.47). A paper without authors goes by its title. ``Label.order`` is by what the label
    shows: first author, year, further authors, then title.
    """
    authors = [parse_authors(reference.authors) for reference in references]
    shared = _shared_families([names[0] for names, _ in authors if names])
    named = [
        _names(reference, names, more, shared) for reference, (names, more) in zip(references, authors, strict=True)
    ]
    years = _with_letters([names for names, _ in named], references)
    return [
        Label(names, year, (*first, _year_order(reference), sort_key(names), *_title_order(reference)))
        for reference, (names, first), year in zip(references, named, years, strict=True)
    ]


def short_title(title: str) -> str:
    """The first words of a title, as a citation gives them; an ellipsis says that there are more."""
    words = title.split()
    short = " ".join(words[:_TITLE_WORDS])
    if len(short) > _TITLE_CHARACTERS:
        short = short[:_TITLE_CHARACTERS].rstrip()
    return short if short == " ".join(words) else f"{short}…"


def _names(
    reference: Reference, names: Sequence[PersonName], more: bool, shared: set[str]
) -> tuple[str, tuple[str, str]]:
    """What the label says of the authors, and how that sorts: the first author, initials where they are shown."""
    if not names:
        title = title_of(reference)
        return f"“{short_title(title)}”", (sort_key(_ARTICLE.sub("", title)), "")
    first = names[0]
    initials = first.initials if sort_key(first.short) in shared and not first.literal else ""
    spoken = [f"{initials} {first.short}".strip(), *(name.short for name in names[1:])]
    return join_short(spoken, more, "&"), (sort_key(_ARTICLE.sub("", first.short)), sort_key(initials))


def _shared_families(first_authors: Sequence[PersonName]) -> set[str]:
    """Sort keys of the family names that belong to different people.

    Initials tell people apart; "E." may be "E. F." as another source gives it.
    """
    people: dict[str, set[tuple[str, ...]]] = {}
    for name in first_authors:
        people.setdefault(sort_key(name.short), set()).add(tuple(name.initials.casefold().split()))
    return {
        family
        for family, initials in people.items()
        if any(a[: len(b)] != b for a, b in itertools.combinations(sorted(initials, key=len, reverse=True), 2))
    }


def _with_letters(names: Sequence[str], references: Sequence[Reference]) -> list[str]:
    """Years, with letters where names and year are those of another reference."""
    years = [year_of(reference) for reference in references]
    groups: dict[str, list[int]] = {}
    for index, (name, year) in enumerate(zip(names, years, strict=True)):
        groups.setdefault(_seen(f"{name}, {year}"), []).append(index)
    taken = set(groups)
    for group in groups.values():
        if len(group) == 1:
            continue
        label = f"{names[group[0]]}, {years[group[0]]}" + ("" if years[group[0]][-1:].isdigit() else "-")
        free = (letter for letter in _letters() if _seen(label + letter) not in taken)
        for index in sorted(group, key=lambda index: _title_order(references[index])):
            years[index] += ("" if years[index][-1:].isdigit() else "-") + next(free)
    return years


def _letters() -> Iterator[str]:
    """a, b, ... z, aa, ab, ..."""
    for length in itertools.count(1):
        yield from map("".join, itertools.product(string.ascii_lowercase, repeat=length))


def _seen(label: str) -> str:
    """The label as a hasty reader sees it: without case, width of characters, and what is invisible."""
    visible = "".join(ch for ch in unicodedata.normalize("NFKC", label) if ch.isprintable())
    return " ".join(visible.casefold().split())


def _year_order(reference: Reference) -> tuple[int, int, str]:
    """No date before dates, dates before "in press" (9.46)."""
    year = year_of(reference)
    if reference.year is not None:
        return 1, reference.year, ""
    return (0, 0, "") if year == "n.d." else (2, 0, sort_key(year))


def _title_order(reference: Reference) -> tuple[str, str, str]:
    title = title_of(reference)
    return sort_key(_ARTICLE.sub("", title)), title, reference.doc_id
