"""Papers of communities, counted fractionally, as bibliometrics does (Waltman & van Eck 2015).

A paper counts in each community by the share of its mentions of concepts that lie there, so that the counts of all
communities sum to the papers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from agents.pictures.overview_years import year_bins
from agents.pictures.text import clean_label
from agents.pictures.words import short_authors
from agents.reporting.bibliography.citing import doi_url
from kg.communities import Communities
from kg.lateral import LateralGraph
from retrieval.neighbourhood.fields import paper_fields

_TYPICAL_MENTIONS = 10.0
"""Mentions that a paper needs for its share to weigh half: one of three mentions is no evidence of what it is about."""


@dataclass(frozen=True)
class TopPaper:
    """A paper and the share of its mentions in the community; ``url`` is that of its DOI, or ""."""

    who: str
    year: int | None
    title: str
    url: str
    share: float


@dataclass(frozen=True)
class Profile:
    """Papers, in all and by period and field (``Overview.fields``); whole numbers for the graph, else fractional."""

    papers: float
    years: tuple[float, ...]
    undated: float
    fields: tuple[float, ...]


def paper_mentions(graph: LateralGraph, communities: Communities, n_drawn: int) -> sparse.csr_matrix:
    """Mentions by paper and community, float64 [documents, drawn + 1]; the last column holds all others."""
    section, concept = graph.mentions["section"].to_numpy(), graph.mentions["concept"].to_numpy()
    paper = graph.sections["document"].to_numpy()[section]
    of = communities.of[concept]
    column = np.where((of >= 0) & (of < n_drawn), of, n_drawn)
    counted = graph.mentions["count"].to_numpy().astype(np.float64)
    return sparse.coo_matrix((counted, (paper, column)), shape=(graph.n_documents, n_drawn + 1)).tocsr()


class Papers:
    """Profiles and leading papers of communities."""

    def __init__(self, graph: LateralGraph, mentions: sparse.csr_matrix) -> None:
        self.table = graph.documents
        self.mentions = mentions.tocsc()
        self.total = np.asarray(mentions.sum(axis=1)).ravel()
        years = self.table["year"].to_pylist()
        self.years = np.array([np.nan if year is None else year for year in years], dtype=np.float64)
        self.bins, self.period_of = year_bins(years)
        numbers, names = paper_fields(graph)
        counts = np.bincount(numbers, minlength=len(names))
        order = [n for n in sorted(range(1, len(names)), key=lambda n: (-counts[n], names[n])) if counts[n]]
        order += [0] if counts[0] else []  # the unknown last
        place = np.zeros(len(names), dtype=np.int64)
        place[order] = np.arange(len(order))
        self.fields = tuple(clean_label(names[n]) for n in order)
        self.field_of = place[numbers]

    def whole(self) -> Profile:
        """Of all papers, each counted once."""
        return self._profile(np.arange(len(self.total)), np.ones(len(self.total)))

    def span(self) -> tuple[int, int] | None:
        """The first and the last year of all papers."""
        dated = self.years[np.isfinite(self.years)]
        return (int(dated.min()), int(dated.max())) if len(dated) else None

    def profile(self, number: int) -> Profile:
        """Of one community."""
        papers, counts = self._column(number)
        return self._profile(papers, counts / self.total[papers])

    def leading(self, number: int, most: int) -> list[TopPaper]:
        """Papers with the highest share of mentions here, those of few mentions set back."""
        papers, counts = self._column(number)
        rank = np.lexsort((papers, -counts / (self.total[papers] + _TYPICAL_MENTIONS)))[:most]
        rows = self.table.take(papers[rank]).to_pylist()
        return [
            TopPaper(
                short_authors(row["authors"]), row["year"], clean_label(row["title"]) or row["doc_id"],
                doi_url(row["doi"]), float(counts[i] / self.total[papers[i]]),
            )
            for i, row in zip(rank, rows, strict=True)
        ]  # fmt: skip

    def median_year(self, number: int) -> int | None:
        """The year by which half of the dated papers of a community had appeared."""
        papers, counts = self._column(number)
        years = self.years[papers]
        dated = np.isfinite(years)
        if not dated.any():
            return None
        order = np.argsort(years[dated], kind="stable")
        passed = np.cumsum((counts / self.total[papers])[dated][order])
        return int(years[dated][order][np.searchsorted(passed, passed[-1] / 2)])

    def _column(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        start, end = self.mentions.indptr[number : number + 2]
        return self.mentions.indices[start:end], self.mentions.data[start:end]

    def _profile(self, papers: np.ndarray, weights: np.ndarray) -> Profile:
        periods = np.bincount(self.period_of[papers] + 1, weights=weights, minlength=len(self.bins) + 1)
        fields = np.bincount(self.field_of[papers], weights=weights, minlength=len(self.fields))
        return Profile(float(weights.sum()), tuple(periods[1:].tolist()), float(periods[0]), tuple(fields.tolist()))
