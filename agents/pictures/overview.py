"""The page of a whole graph: a map of its communities, what each is about, and the same as a table."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from scipy import sparse

from agents.pictures.overview_layout import ASPECT, place_circles
from agents.pictures.overview_papers import Profile
from agents.pictures.overview_summary import Community, Neighbour, Overview
from agents.pictures.palette import CATEGORIES
from agents.pictures.text import clean_label, shorten
from agents.reporting.pages import asset, d3_source, render_page
from agents.reporting.wording import number_of
from kg.communities import partition

_WIDTH = 1200.0
_COVERED = 0.36
"""Part of a box of width ``_WIDTH`` that circles cover."""
_GAP = 7.0
_LINKS_PER_COMMUNITY = 2
_NAMED = 3
"""Concepts that name a community."""
_LABEL = (24.0, 12.0)
"""Widest name on the map, in ems, and the font size it is reckoned for; the whole name stands in the panel."""


@dataclass(frozen=True)
class Colouring:
    """``of`` numbers the colour of each community from 1, 0 for none; ``legend`` names (number, name) in use."""

    what: str
    of: tuple[int, ...]
    legend: tuple[tuple[int, str], ...]
    groups: int = 0


def render_overview(overview: Overview, name: str, title: str | None = None) -> str:
    """One self-contained HTML page on the graph called ``name``; the same for the same overview.

    Its heading is ``title``, or "Overview of" the name where there is none.
    """
    colouring = colour(overview)
    links = drawn_links(overview)
    data = {
        "communities": _communities(overview, colouring),
        "links": links,
        "bins": overview.bins.labels(),
        "fields": [{"name": field, "colour": _field_colour(n, field)} for n, field in enumerate(overview.fields)],
        "whole": _profile(overview.whole),
    }
    return render_page(
        "overview.html",
        [*([d3_source(), asset("overview_map.js")] if overview.communities else []), asset("overview.js")],
        title=clean_label(title or "") or f"Overview of {clean_label(name)}",
        about=in_words(overview),
        language="en",
        styles=["overview.css"],
        data=data,
        overview=overview,
        colouring=colouring,
        n_links=len(links),
        possible=int(np.count_nonzero(np.triu(overview.links))),
        rows=[_row(community, overview) for community in overview.communities],
        fields=[field for field in overview.fields if field],
        searched=sum(len(community.names) for community in overview.communities),
    )


def in_words(overview: Overview) -> str:
    """What graph it is, in a sentence or two."""
    counts, years = overview.counts, overview.years
    of = "" if years is None else f" of {years[0]}" + (f" to {years[1]}" if years[0] != years[1] else "")
    papers, concepts = number_of(counts["documents"], "paper"), number_of(counts["concepts"], "concept")
    text = f"{papers}{of} and the {concepts} that {'it mentions' if counts['documents'] == 1 else 'they mention'}."
    if not overview.communities:
        return text
    number = len(overview.communities) + overview.smaller
    groups = "one community" if number == 1 else f"{number:,} communities"
    return f"{text} Concepts that are closely related stand together in {groups}."


def colour(overview: Overview) -> Colouring:
    """By the field that most of a community's papers are of, where any is known; else by groups of linked communities.

    The groups maximise modularity over the cosines, as communities do over concepts.
    """
    named = [n for n, field in enumerate(overview.fields) if field]
    if named:
        of = [_leading(community.profile, named) for community in overview.communities]
        numbers = [0 if field is None else _field_colour(field, overview.fields[field]) for field in of]
        legend = [(n + 1, overview.fields[n]) for n in named if n + 1 in numbers]
        if 0 in numbers:
            legend.append((0, "other or unknown"))
        return Colouring("field", tuple(numbers), tuple(legend))
    if not overview.communities:
        return Colouring("group", (), ())
    ids = [f"{community.number:06d}" for community in overview.communities]
    group = partition(sparse.csr_matrix(overview.cosines), ids).of
    numbers = [int(g) + 1 if 0 <= g < len(CATEGORIES) else 0 for g in group]
    return Colouring("group", tuple(numbers), (), len(set(group.tolist()) - {-1}))


def drawn_links(overview: Overview) -> list[tuple[int, int, float]]:
    """(one, other, width in (0, 1]): the links of highest cosine, at least one of every community that has any.

    Widths go with the root of the weight.
    """
    cosines, weights = overview.cosines, overview.links
    one, other = np.nonzero(np.triu(cosines))
    order = np.lexsort((other, one, -cosines[one, other]))
    pairs = [(int(one[i]), int(other[i])) for i in order]
    chosen = set(pairs[: _LINKS_PER_COMMUNITY * len(cosines)])
    for number in range(len(cosines)):
        own = [pair for pair in pairs if number in pair]
        chosen.update(own[:1])
    heaviest = weights.max(initial=0.0)
    return [(a, b, round(float(np.sqrt(weights[a, b] / heaviest)), 3)) for a, b in sorted(chosen)]


def _communities(overview: Overview, colouring: Colouring) -> list[dict[str, Any]]:
    sizes = np.array([community.size for community in overview.communities], dtype=np.float64)
    area = _COVERED * _WIDTH * _WIDTH / ASPECT
    radii = np.sqrt(sizes * area / (np.pi * max(sizes.sum(), 1.0)))
    radii = np.minimum(radii, _WIDTH / ASPECT / 4) if len(radii) < 3 else radii
    places = place_circles(radii, _pull(overview.cosines), _GAP)
    return [
        {
            "x": round(float(x), 1), "y": round(float(y), 1), "r": round(float(r), 1), "colour": number,
            "lines": [shorten(label, _LABEL[0] * _LABEL[1], _LABEL[1]) for label in _naming(community)],
            "name": community_name(community), "size": community.size, "inside": round(community.inside, 4),
            "concepts": [(concept.label, concept.sections, concept.papers) for concept in community.concepts],
            "papers": [
                (paper.who, paper.year, paper.title, paper.url, round(paper.share, 4)) for paper in community.papers
            ],
            "near": [_near(neighbour) for neighbour in community.neighbours],
            "names": "\n".join(community.names), "profile": _profile(community.profile),
        }
        for community, (x, y), r, number in zip(overview.communities, places, radii, colouring.of, strict=True)
    ]  # fmt: skip


def community_name(community: Community) -> str:
    """Its first concepts."""
    return " · ".join(_naming(community))


def _naming(community: Community) -> list[str]:
    return [concept.label for concept in community.concepts[:_NAMED]]


def _pull(cosines: np.ndarray) -> np.ndarray:
    """Cosines relative to the weakest of those that a picture would draw, up to twice that."""
    ordered = np.sort(cosines[np.triu_indices(len(cosines), 1)])[::-1]
    ordered = ordered[ordered > 0]
    if not len(ordered):
        return cosines
    return np.asarray(np.minimum(cosines / ordered[min(_LINKS_PER_COMMUNITY * len(cosines), len(ordered)) - 1], 2.0))


def _leading(profile: Profile, named: list[int]) -> int | None:
    best = max(named, key=lambda n: (profile.fields[n], -n))
    return best if profile.fields[best] > 0 else None


def _field_colour(number: int, field: str) -> int:
    return number + 1 if field and number < len(CATEGORIES) else 0


def _profile(profile: Profile) -> dict[str, Any]:
    return {
        "papers": round(profile.papers, 2), "undated": round(profile.undated, 2),
        "years": [round(count, 2) for count in profile.years], "fields": [round(count, 2) for count in profile.fields],
    }  # fmt: skip


def _near(neighbour: Neighbour) -> tuple[Any, ...]:
    said = astuple(neighbour.example) if neighbour.example else None
    return neighbour.number, round(neighbour.share, 4), said


def _row(community: Community, overview: Overview) -> dict[str, Any]:
    """A row of the table."""
    named = [n for n, field in enumerate(overview.fields) if field]
    leading = _leading(community.profile, named) if named else None
    return {
        "number": community.number,
        "name": community_name(community),
        "size": community.size,
        "papers": community.profile.papers,
        "median_year": community.median_year,
        "field": "" if leading is None else overview.fields[leading],
        "field_share": 0.0 if leading is None else community.profile.fields[leading] / community.profile.papers,
        "inside": community.inside,
    }
