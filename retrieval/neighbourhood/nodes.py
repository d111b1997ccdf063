"""What the concept neighbourhood of a question consists of: concepts, sections, links with their evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from kg.sectioning import Span
from retrieval.neighbourhood.evidence import Evidence

SeedReason: TypeAlias = Literal["named", "near", "held"]
"""Named in the question; near it in meaning; held by the sections nearest to it, where it names and is near nothing."""


@dataclass(frozen=True)
class ConceptNode:
    """A concept shown. ``score`` is its Personalized PageRank; ``distance`` counts relations from the nearest seed.

    ``seed`` is None for a further concept. ``distance`` is -1 where no relation to a concept shown leads here.
    ``field`` is that of most papers that mention it, "" where none is known; ``community`` numbers clusters of the
    concepts shown, from 0, and is -1 outside of them.
    """

    row: int
    label: str
    score: float
    seed: SeedReason | None
    distance: int
    field: str
    community: int
    papers: int
    sections: int


@dataclass(frozen=True)
class SectionNode:
    """A section with its paper. ``rank`` is its place in the ranking, from 1; None where it is cited but not shown."""

    row: int
    section_id: str
    heading: str
    text: str
    title: str
    authors: tuple[str, ...]
    year: int | None
    doi: str
    field: str
    rank: int | None = None
    score: float = 0.0


@dataclass(frozen=True)
class RelationLink:
    """``source`` is not further from the seeds than ``target``; ``reverse`` says that the label reads target first.

    ``sections`` counts the sections that assert the relation, ``weight`` is the edge's in the diffusion graph.
    """

    source: int
    target: int
    label: str
    directed: bool
    reverse: bool
    weight: float
    sections: int
    evidence: Evidence


@dataclass(frozen=True)
class MentionLink:
    """A concept in a section, ``count`` times, carrying ``share`` of its score. Not all are ``drawn``.

    ``spans`` are the places of the section's text that name it; ``evidence`` is the first sentence that does.
    """

    concept: int
    section: int
    count: int
    share: float
    drawn: bool
    spans: tuple[Span, ...]
    evidence: Evidence | None


@dataclass(frozen=True)
class LeftOut:
    """What limits keep out of the picture.

    ``named`` counts concepts that the question names, ``seeds`` further ones that it is about.
    ``sections`` counts those that bear on the question among the first ``ranked`` or, where they were ``given``, of the
    ``ranked`` that were; ``unrelated`` are ranked before the last one shown and do not bear on the question.
    ``carried`` is the share of the shown sections' scores that the shown concepts carry.
    """

    ranked: int
    seeds: int
    sections: int
    concepts: int
    relations: int
    mentions: int
    carried: float
    unrelated: int = 0
    named: int = 0
    given: bool = False


@dataclass(frozen=True)
class Neighbourhood:
    """Concepts by distance and score, sections by rank; links name their ends by row.

    ``wording`` are sections that no shown concept leads to; ``elsewhere`` gives, by concept, sections not shown that
    mention it most, with a sentence; ``others`` are sections that are only cited. ``clear``: some section shown is
    clearly about the question (``retrieval.relevance``), or the caller chose them.
    """

    question: str
    concepts: tuple[ConceptNode, ...]
    sections: tuple[SectionNode, ...]
    relations: tuple[RelationLink, ...]
    mentions: tuple[MentionLink, ...]
    wording: tuple[int, ...]
    elsewhere: dict[int, tuple[Evidence, ...]]
    others: tuple[SectionNode, ...]
    left_out: LeftOut
    clear: bool = True

    def section(self, row: int) -> SectionNode:
        """The section of that row, shown or cited."""
        return next(section for section in (*self.sections, *self.others) if section.row == row)
