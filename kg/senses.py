"""What an acronym stands for: the senses that papers give it, and which of them is meant where none is given.

"CRF" is a conditional random field in one paper and a case report form in another. A paper's own definition decides
there; elsewhere the sense that nearly all papers give, or the one whose papers speak of the same things.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kg.acronyms import SMALL_WORDS
from kg.alignment import align
from kg.names import form_key, name_form, name_key
from kg.typewords import core_words

DOMINANT = 0.8
"""Share of the defining papers from which one sense is taken for the acronym's everywhere."""
MARGIN = 0.1
"""Cosine by which a paper must be nearer to the papers of one sense than to those of any other."""
_COMPARED = 64
"""The most frequent expansions of an acronym, with which further ones are compared."""
_SHORTEST = 3
"""Characters of an acronym that is explained in papers which do not define it themselves."""

Definition = tuple[int, str, str]
"""(section, acronym, expansion)."""


@dataclass(frozen=True)
class Senses:
    """``own``: (paper, key of the acronym) -> form; ``known``: key -> the forms of its senses, most papers first."""

    own: Mapping[tuple[int, str], str]
    known: Mapping[str, tuple[str, ...]]
    dominant: Mapping[str, str]
    papers: Mapping[tuple[str, str], frozenset[int]]

    @classmethod
    def of(cls, definitions: Sequence[Definition], documents: Sequence[int] | np.ndarray) -> Senses:
        """From what papers define; ``documents`` numbers the paper of each section.

        The spellings of one sense are put under the one that most papers use, ties by code point.
        """
        first: dict[tuple[int, str], str] = {}
        for section, short, expansion in definitions:
            first.setdefault((int(documents[section]), name_key(short)), name_form(expansion))
        spelled: dict[str, Counter[str]] = defaultdict(Counter)
        for (_, key), form in first.items():
            spelled[key][form] += 1
        leader = {
            (key, form): group[0]
            for key, forms in spelled.items()
            for group in group_expansions(forms)
            for form in group
        }
        own = {(paper, key): leader[key, form] for (paper, key), form in first.items()}
        papers: dict[tuple[str, str], set[int]] = defaultdict(set)
        for (paper, key), form in own.items():
            papers[key, form].add(paper)
        known: dict[str, list[str]] = defaultdict(list)
        for key, form in sorted(papers, key=lambda sense: (sense[0], -len(papers[sense]), sense[1])):
            known[key].append(form)
        dominant = {
            key: forms[0] for key, forms in known.items() if len(key) >= _SHORTEST and _agreed(key, forms, papers)
        }
        return cls(
            own, {key: tuple(forms) for key, forms in known.items()}, dominant,
            {sense: frozenset(of) for sense, of in papers.items()},
        )  # fmt: skip

    def expansions(self) -> dict[str, tuple[str, ...]]:
        """Acronyms that nearly all papers explain alike, those of two letters included, and the words they stand
        for."""
        return {key: tuple(forms[0].split()) for key, forms in self.known.items() if _agreed(key, forms, self.papers)}

    def meant(self, key: str, paper: int, vectors: np.ndarray | None) -> str | None:
        """The form that an acronym stands for in a paper; None where the papers leave it open.

        ``vectors`` float64 [papers, d]: unit rows, what each paper speaks of.
        """
        if (form := self.own.get((paper, key)) or self.dominant.get(key)) is not None:
            return form
        forms = self.known.get(key, ())
        if vectors is None or len(key) < _SHORTEST or len(forms) < 2:
            return None
        # Paper by paper, in order: a sum must not depend on what else is compared.
        near = sorted(
            (
                (max(float(vectors[paper] @ vectors[other]) for other in sorted(self.papers[key, form])), form)
                for form in forms
            ),
            key=lambda sense: (-round(sense[0], 6), sense[1]),
        )
        return near[0][1] if near[0][0] >= near[1][0] + MARGIN else None


def _agreed(key: str, forms: Sequence[str], papers: Mapping[tuple[str, str], Collection[int]]) -> bool:
    """Whether nearly all papers that define an acronym give it the first of its senses."""
    return len(papers[key, forms[0]]) >= DOMINANT * sum(len(papers[key, form]) for form in forms)


def group_expansions(forms: Mapping[str, int]) -> list[list[str]]:
    """Spellings of one expansion together, the most frequent first, ties by code point.

    >>> group_expansions({"multi layer perceptron": 9, "multilayer perceptron": 6, "mean level price": 1})
    [['multi layer perceptron', 'multilayer perceptron'], ['mean level price']]
    """
    groups: list[list[str]] = []
    for form in sorted(forms, key=lambda form: (-forms[form], form)):
        home = next((group for group in groups[:_COMPARED] if same_words(group[0], form)), None)
        if home is None:
            groups.append([form])
        else:
            home.append(form)
    return groups


def same_words(left: str, right: str) -> bool:
    """Whether two forms are one but for inflection, spelling, type words, and acronyms of runs of words."""
    if form_key(left) == form_key(right):
        return True
    whole = tuple(left.split()), tuple(right.split())
    return any(_matched(*words) for words in (whole, tuple(map(core_words, whole))))


def _matched(left: Sequence[str], right: Sequence[str]) -> bool:
    alignment = align(left, right)
    return "initial" not in alignment.kinds and all(word in SMALL_WORDS for word in alignment.left + alignment.right)
