"""One author's name, taken apart: family name, given name, particles, suffix; or a name that must stay whole.

Sources write names in many ways ("Berg, Jan van der", "Jan van der Berg", "van der Berg J"). What cannot be told for
sure stays a ``literal``, shown as it is; nothing of a name's letters is ever dropped. Ambiguous names come out right
if the source writes "Family, Given", or puts braces around an organisation: ``{Google DeepMind}``.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import regex

from agents.reporting.bibliography.name_words import (
    CAPITALISED_PARTICLES,
    COMPANIES,
    DEGREES,
    GENERATIONS,
    INSIDE_TITLES,
    JOINING,
    NUMERALS,
    OFTEN_ORGANISATIONS,
    ORGANISATIONS,
    PARTICLES,
    TITLES,
)
from agents.reporting.body import is_blank
from agents.reporting.escape import one_line

_LETTERS = r"\p{L}\p{M}"
_NAME = regex.compile(rf"(?:[{_LETTERS}\p{{Cf}}\p{{Z}}.,'’‘`´()\-‐‑–·]|\b[2-4](?:nd|rd|th)\b)+")
_NO_BRACES = {ord("{"): "", ord("}"): ""}
_WITHOUT_SPACES = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]")
_DOTTED = regex.compile(r"(?:\p{L}\p{M}*\.[-‐‑]?)+(?:\p{Lu}\p{M}*)?")
_JOINED_PARTICLE = regex.compile(rf"\p{{Ll}}{{1,3}}[-‐‑'’][{_LETTERS}]")


@dataclass(frozen=True, slots=True)
class PersonName:
    """The parts of a name, as CSL 1.0.2 calls them: either ``literal`` alone, or ``family`` and what goes with it.

    ``particle`` belongs to the family name ("van Gogh"); ``dropping_particle`` is left out where that stands alone
    ("Humboldt, Alexander von"). All parts empty: there was no name.
    """

    family: str = ""
    given: str = ""
    particle: str = ""
    dropping_particle: str = ""
    suffix: str = ""
    literal: str = ""

    @property
    def short(self) -> str:
        """What a citation in the text says: "van Gogh", "World Health Organization"."""
        return self.literal or " ".join(filter(None, (self.particle, self.family)))

    @property
    def inverted(self) -> str:
        """As in a list of references: "van Gogh, Vincent", "Humboldt, Alexander von", "King, Martin Luther, Jr."."""
        given = " ".join(filter(None, (self.given, self.dropping_particle)))
        return self.literal or ", ".join(filter(None, (self.short, given, self.suffix)))

    @property
    def initials(self) -> str:
        """ "George A." -> "G. A.", "JA" -> "J. A.", "Jean-Paul" -> "J.-P."; names of a script without case stay."""
        return " ".join(_initials(word) for word in self.given.split() if not _is_particle(word))


def parse_name(text: str) -> PersonName:
    """The parts of one author's name. Accepts any text; what is not understood as a person's name is ``literal``.

    Without a comma the last word is the family name, with the particles before it, unless initials end the name
    ("Smith JA"). Braces work as in BibTeX.
    """
    text = one_line(text)
    if is_blank(text):
        return PersonName()
    if "{" in text or "}" in text:
        return _braced(text)
    sections = [words for section in text.split(",") if (words := section.split())]
    whole = PersonName(literal=text)
    if not sections or not _NAME.fullmatch(text) or not any(ch.isalpha() for ch in text) or _is_organisation(sections):
        return whole
    if len(sections) > 1:
        return _with_commas(sections) or whole
    if "(" in text or _WITHOUT_SPACES.search(text):
        return whole
    return _in_order(sections[0])


def _with_commas(sections: Sequence[list[str]]) -> PersonName | None:
    """ "Family, Given", "Family, Jr., Given", "Family, Given, Jr." or "Given Family, Jr."; None for anything else."""
    first, second, *more = sections
    if not more:
        full = len(first) > 1 and not _is_particle(first[0])  # given and family name stand before the comma
        if all(_is_suffix(word, numerals=full) for word in second):
            name = _in_order(first) if full else _person(first, [], "")
            suffix = ", ".join(filter(None, (name.suffix, " ".join(second))))
            return dataclasses.replace(name, suffix=suffix)
        first, own = _without_suffix(first, numerals=True)
        second, other = _without_suffix(second, numerals=True)
        return _person(first, second, ", ".join([*own, *other]))
    if len(more) == 1 and all(_is_suffix(word, numerals=True) for word in second):
        return _person(first, more[0], " ".join(second))
    if all(_is_suffix(word, numerals=True, titles=True) for words in more for word in words):
        return _person(first, second, ", ".join(map(" ".join, more)))
    return None


def _in_order(words: list[str]) -> PersonName:
    """A name without commas, given name first unless it ends in initials."""
    words, suffix = _without_suffix(words)
    end = len(words)
    while end > 1 and _is_initials(words[end - 1]):
        end -= 1
    if end < len(words) and not any(map(_is_initials, words[:end])) and _tell_apart(words[:end], words[end:]):
        return _person(words[:end], words[end:], " ".join(suffix))
    start = _start_of_family(words)
    return _person(words[start:], words[:start], " ".join(suffix))


def _start_of_family(words: Sequence[str]) -> int:
    """Where the family name with its particles begins: the last run of particles, else the last word."""
    last = len(words) - 1
    for position in range(1, last):
        if words[position] in JOINING and words[position + 1][0].isupper():  # Ortega y Gasset
            last = position - 1
            break
    nearest = range(last - 1, -1, -1) if not _JOINED_PARTICLE.match(words[last]) else [last - 1]
    for position in nearest:
        if position >= 0 and _is_particle(words[position], capitalised=position > 0):
            while position and _is_particle(words[position - 1], capitalised=position > 1):
                position -= 1
            return position
    return last


def _person(family: Sequence[str], given: Sequence[str], suffix: str) -> PersonName:
    family = " ".join(family).split()
    given = " ".join(given).split()
    before = 0
    while before < len(family) - 1 and _is_particle(family[before]):
        before += 1
    after = len(given)
    while after and _is_particle(given[after - 1]):
        after -= 1
    return PersonName(
        family=" ".join(family[before:]),
        given=" ".join(given[:after]),
        particle=" ".join(family[:before]),
        dropping_particle=" ".join(given[after:]),
        suffix=suffix,
    )


def _braced(text: str) -> PersonName:
    """A name in which braces hold together what belongs together, as BibTeX reads it."""
    depth, depths = 0, []
    for ch in text:
        depth += (ch == "{") - (ch == "}")
        depths.append(depth)
    if min(depths) < 0 or depths[-1] != 0:
        return PersonName(literal=text)
    if text[0] == "{" and 0 not in depths[:-1]:
        inner = text[1:-1].strip()
        return PersonName() if is_blank(inner.strip("{} ")) else PersonName(literal=inner)
    if not _NAME.fullmatch(text.translate(_NO_BRACES)):
        return PersonName(literal=text)
    from bibtexparser.middlewares.names import parse_single_name_into_parts

    parts = parse_single_name_into_parts(text, strict=False)
    family, given, particle, suffix = (
        " ".join(" ".join(words).translate(_NO_BRACES).split())
        for words in (parts.last, parts.first, parts.von, parts.jr)
    )
    return PersonName(literal=text) if is_blank(family) else PersonName(family, given, particle, suffix=suffix)


def _is_organisation(sections: Sequence[Sequence[str]]) -> bool:
    """Whether words say so. "Bank, Peter" is a person: one word before a comma is a family name."""
    if any(word in COMPANIES for words in sections for word in words):
        return True
    first = sections[0]
    if len(first) == 1 or _is_particle(first[0]):
        return False
    plain = [word.casefold().strip(".()") for word in first]
    return (
        any(word in ORGANISATIONS for word in plain)
        or (len(first) > 2 and any(word in OFTEN_ORGANISATIONS for word in plain) and not any(map(_is_initials, first)))
        or any(a in INSIDE_TITLES and not _is_particle(b) for a, b in itertools.pairwise([*first, "-"]))
    )


def _is_particle(word: str, capitalised: bool = False) -> bool:
    if word[0].isupper():
        return capitalised and word.casefold() in CAPITALISED_PARTICLES
    return word in PARTICLES


def _is_suffix(word: str, numerals: bool = False, titles: bool = False) -> bool:
    lower = word.casefold()
    return lower in GENERATIONS or lower in DEGREES or (numerals and word in NUMERALS) or (titles and lower in TITLES)


def _without_suffix(words: list[str], numerals: bool = False) -> tuple[list[str], list[str]]:
    """(name, suffix). Without a comma a numeral needs two words before it: "Petrov IV" has initials."""
    end = len(words)
    while end > 1 and _is_suffix(words[end - 1], numerals=numerals or end > 2):
        end -= 1
    return words[:end], words[end:]


def _is_initials(word: str) -> bool:
    """ "G.", "G.A.", "J.-P.", or one to three capitals."""
    letters = word.replace("-", "").replace("‐", "")
    return bool(_DOTTED.fullmatch(word)) or (letters.isalpha() and letters.isupper() and len(letters) <= 3)


def _tell_apart(names: Sequence[str], initials: Sequence[str]) -> bool:
    """Whether initials differ from names by a stop, or by capitals where names have other letters, too."""
    return all("." in word for word in initials) or any(ch.islower() for word in names for ch in word)


def _initials(word: str) -> str:
    letters = [ch for ch in word if ch.isalpha()]
    if not any(ch.isupper() or ch.islower() for ch in letters):
        return word
    if len(letters) > 1 and "".join(letters) == word and _is_initials(word):
        return " ".join(f"{ch}." for ch in letters)
    pieces = [piece for piece in regex.split(r"(?<=\.)(?=\p{L})", word) if any(ch.isalpha() for ch in piece)]
    return " ".join(map(_initial, pieces))


def _initial(piece: str) -> str:
    parts = [next((ch for ch in part if ch.isalpha()), "") for part in regex.split("[-‐‑]", piece)]
    return "-".join(f"{ch}." for ch in parts if ch)
