"""Which papers mean one thing by one name: a name is parted where what surrounds it falls apart.

Two papers mean the same if what they say is near by meaning, or if other papers that hold the name lead from one to the
other (single linkage). Only where nothing bridges them does a name become two concepts: a name parted wrongly costs a
link between papers, which is what the graph is for. Acronyms alone are parted unless asked for more: words and
longer names stand in papers that have nothing else in common and mean the same (docs/merging.md gives the figures).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import regex
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from kg.names import name_key

if TYPE_CHECKING:
    from kg.mentions import MentionTable

Scope = Literal["none", "acronyms", "all"]
_ACRONYM = regex.compile(r"(?:\p{Lu}[./&-]?){2,4}s?")
"""Two to four capitals: longer ones are mostly names of things, or words of a heading."""


@dataclass(frozen=True)
class HomonymConfig:
    """``scope``: which names may be parted; with "none" an acronym also means in all papers what some define it as.

    Two papers are bridged from a cosine of ``bridge`` on, chosen on SciREX and SciFact for all-MiniLM-L6-v2.

    A name in more than ``most_papers`` is left whole: to show that no paper of one sense is near one of another takes
    their square in comparisons, and among so many papers a bridge is nearly certain.
    """

    scope: Scope = "acronyms"
    bridge: float = 0.1
    most_papers: int = 256


@dataclass(frozen=True)
class Parted:
    """``mentions`` with a name for each sense, those of one spelling beside each other, the sense with most mentions
    first; ``first_paper`` [names]: "" for it and for whole names, else the least id of the papers of the sense."""

    mentions: MentionTable
    first_paper: list[str]

    def spellings(self) -> np.ndarray:
        """Number of each name's (type, key), int64 [names]: senses of one spelling have the same."""
        numbers: dict[tuple[str, str], int] = {}
        names = self.mentions.names
        return np.fromiter((numbers.setdefault(name, len(numbers)) for name in names), np.int64, len(names))


def part_homonyms(
    mentions: MentionTable,
    sections: Tensor,
    papers: Sequence[str],
    config: HomonymConfig = HomonymConfig(),
    whole: Collection[str] = (),
) -> Parted:
    """Part names by what surrounds them in each paper; those whose key is in ``whole`` are left as they are.

    ``sections`` float32 [sections, d]: unit rows; ``papers``: ids in ascending order, as ``section_document`` numbers
    them. The senses of a name are a function of the papers that hold it, and of nothing else.
    """
    further = np.zeros(len(mentions.names), dtype=np.int64)
    parted = list(_parted_names(mentions, sections.numpy(), config, whole))
    for name, _, sense in parted:
        further[name] = sense.max()
    place = np.arange(len(further)) + np.cumsum(further) - further  # of each name's first sense
    number = place[mentions.name]
    first_paper = [""] * (len(further) + int(further.sum()))
    for name, rows, sense in parted:
        number[rows] += sense
        document = mentions.section_document[mentions.section[rows]]
        for later in range(1, int(sense.max()) + 1):
            first_paper[place[name] + later] = papers[int(document[sense == later].min())]
    repeats = (further + 1).tolist()
    table = replace(
        mentions,
        name=number.astype(mentions.name.dtype),
        names=[n for n, times in zip(mentions.names, repeats, strict=True) for _ in range(times)],
        forms=[f for f, times in zip(mentions.forms, repeats, strict=True) for _ in range(times)],
    )
    return Parted(table, first_paper)


def _parted_names(
    mentions: MentionTable, vectors: np.ndarray, config: HomonymConfig, whole: Collection[str]
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """(name, its rows, the sense of each row) of names with two senses or more; int64, sense 0 that of most mentions,
    ties by least paper."""
    written = mentions.written() if config.scope == "acronyms" else []
    for name, rows in _rows_by_name(mentions) if config.scope != "none" else ():
        key = mentions.names[name][1]
        if key in whole or (config.scope == "acronyms" and not is_acronym(written[name], key)):
            continue
        section = mentions.section[rows]
        papers, paper_of = np.unique(mentions.section_document[section], return_inverse=True)
        if not 1 < len(papers) <= config.most_papers:
            continue
        contexts = np.stack([_context(vectors, section[paper_of == paper]) for paper in range(len(papers))])
        part_of = components(contexts, config.bridge)[paper_of]
        mass = np.bincount(part_of, weights=mentions.count[rows])
        if len(mass) > 1:
            rank = np.empty(len(mass), dtype=np.int64)
            rank[np.argsort(-mass, kind="stable")] = np.arange(len(mass))
            yield name, rows, rank[part_of]


def is_acronym(written: str, key: str) -> bool:
    """Whether a name is written as an acronym of two to four capitals that nothing explains.

    >>> is_acronym("C-V", "cv"), is_acronym("DNNs", "dnn"), is_acronym("Iran", "iran"), is_acronym("PCA", "principal")
    (True, True, False, False)
    """
    return bool(_ACRONYM.fullmatch(written)) and name_key(written) == key


def components(contexts: np.ndarray, bridge: float) -> np.ndarray:
    """Single linkage: int64 [n], rows (float64 [n, d], unit) that a chain of cosines >= ``bridge`` leads between have
    one number, from 0 in the order of the least row of each.
    """
    # Row by row and rounded: whether two papers are near must not depend on a third.
    near = [np.round(np.einsum("ij,j->i", contexts, row), 6) >= bridge for row in contexts]
    _, label = connected_components(sparse.csr_matrix(np.asarray(near)), directed=False)
    _, first, number = np.unique(label, return_index=True, return_inverse=True)
    rank = np.empty_like(first)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[number], dtype=np.int64)


def carried_too_far(
    meant: Mapping[tuple[str, int], str],
    giving: Mapping[tuple[str, str], Collection[int]],
    vectors: np.ndarray,
    config: HomonymConfig,
) -> list[tuple[str, int]]:
    """Uses (acronym, paper) of ``meant`` where no chain of papers that use it so leads to one that explains it.

    ``giving``: (acronym, form) -> the papers that explain it so; ``vectors`` float64 [papers, d]: unit rows.
    """
    using: dict[tuple[str, str], set[int]] = {}
    for (key, paper), form in meant.items() if config.scope != "none" else ():
        using.setdefault((key, form), set()).add(paper)
    found = []
    for (key, form), own in using.items():
        papers = sorted(own.union(giving[key, form]))
        explained = np.isin(papers, list(giving[key, form]))
        if not explained.all() and len(papers) <= config.most_papers:
            part = components(vectors[papers], config.bridge)
            found += [(key, papers[row]) for row in np.flatnonzero(~np.isin(part, part[explained])).tolist()]
    return found


def _context(vectors: np.ndarray, sections: np.ndarray) -> np.ndarray:
    """Mean direction of one paper's sections, float64 [d]; each section counts once, in order."""
    mean = vectors[np.unique(sections)].astype(np.float64).sum(axis=0)
    return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-12))


def _rows_by_name(mentions: MentionTable) -> Iterator[tuple[int, np.ndarray]]:
    """Each name and its rows, both ascending."""
    order = np.argsort(mentions.name, kind="stable")
    names, start = np.unique(mentions.name[order], return_index=True)
    return zip(names.tolist(), np.split(order, start)[1:], strict=True)
