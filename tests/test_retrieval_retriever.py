"""Rankings from scores: years, exclusions, candidates, papers instead of sections, reranking, against brute force."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kg.build import Tools, build_graph, open_graph
from kg.errors import InputError
from kg.lateral import LateralGraph
from kg.records import Document, Part
from retrieval.method_names import METHODS
from retrieval.methods import Methods
from retrieval.queries import Query, as_queries
from retrieval.ranking import Ranking
from retrieval.retriever import Retriever
from retrieval.visibility import Visibility
from tests.conftest import HashEncoder

YEARS = [1990, 2000, None, 2000, 2010]


@pytest.fixture(scope="module")
def graph(tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> LateralGraph:
    """Five papers of two sections each, years as above."""
    directory = tmp_path_factory.mktemp("years") / "g"
    papers = [
        Document(
            f"p{n}", f"Loss aversion {n}", (Part("A", f"Loss aversion {n}."), Part("B", f"Supply {n}.")), year=year
        )
        for n, year in enumerate(YEARS)
    ]
    build_graph(directory, papers, tools)
    return open_graph(directory)


class Given:
    """Scores that the test chose."""

    def __init__(self, scores: Sequence[float]) -> None:
        self.scores = torch.tensor(scores)

    def score(self, texts: Sequence[str], usable: torch.Tensor | None = None) -> torch.Tensor:
        return self.scores.expand(len(texts), -1).clone()


scores = st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0, float("-inf")]), min_size=10, max_size=10)


@given(scores, st.integers(0, 12), st.sampled_from([None, 1989, 1990, 2000, 2005, 2020]), st.booleans())
def test_the_best_allowed_units_come_first(
    graph: LateralGraph, values: list[float], top_n: int, year: int | None, documents: bool
) -> None:
    excluded = frozenset({"p1#0", "p3", "elsewhere"})
    sections = graph.sections.to_pylist()
    query = Query("q", "loss", year, excluded)
    unit = "document" if documents else "section"
    ranking = Retriever(graph, Given(values)).retrieve([query], top_n, unit)["q"]
    best: dict[str, float] = {}
    for value, section in zip(values, sections, strict=True):
        doc_id = section["section_id"].rpartition("#")[0]
        published = YEARS[int(doc_id[1:])]
        late = year is not None and published is not None and published > year
        if late or {doc_id, section["section_id"]} & excluded or value == float("-inf"):
            continue
        name = doc_id if documents else section["section_id"]
        best[name] = max(best.get(name, value), value)
    names = [f"p{n}" for n in range(5)] if documents else [section["section_id"] for section in sections]
    expected = sorted(best, key=lambda name: (-best[name], names.index(name)))[:top_n]
    assert list(ranking.ids) == expected
    assert list(ranking.scores) == [best[name] for name in expected]


names = st.frozensets(
    st.sampled_from([*(f"p{n}" for n in range(5)), *(f"p{n}#{k}" for n in range(5) for k in range(2)), "elsewhere"])
)
papers = st.frozensets(st.sampled_from([*(f"p{n}" for n in range(5)), "elsewhere"]))


@given(scores, names, names, st.sampled_from([None, 1990, 2000]))
def test_candidates_take_sections_out_and_change_nothing_else(
    graph: LateralGraph, values: list[float], candidates: frozenset[str], excluded: frozenset[str], year: int | None
) -> None:
    asked = [Query("all", "loss", year, excluded), Query("own", "loss", year, excluded, candidates)]
    run = Retriever(graph, Given(values)).retrieve(asked, 100)
    whole = zip(run["all"].ids, run["all"].scores, strict=True)
    kept = [(name, score) for name, score in whole if {name, name.partition("#")[0]} & candidates]
    assert list(zip(run["own"].ids, run["own"].scores, strict=True)) == kept


@given(scores, papers, papers, st.sampled_from([None, 1990, 2000]))
def test_candidates_take_papers_out_and_change_nothing_else(
    graph: LateralGraph, values: list[float], candidates: frozenset[str], excluded: frozenset[str], year: int | None
) -> None:
    asked = [Query("all", "loss", year, excluded), Query("own", "loss", year, excluded, candidates)]
    run = Retriever(graph, Given(values)).retrieve(asked, 100, "document")
    whole = zip(run["all"].ids, run["all"].scores, strict=True)
    kept = [(name, score) for name, score in whole if name in candidates]
    assert list(zip(run["own"].ids, run["own"].scores, strict=True)) == kept


@pytest.mark.parametrize("method", METHODS)
def test_others_still_lead_to_candidates(method: str, graph: LateralGraph, hash_encoder: HashEncoder) -> None:
    retriever = Methods(graph, hash_encoder).retriever(method)
    own = frozenset({"p1", "p3#1", "p4#0"})
    asked = [Query("all", "loss aversion"), Query("own", "loss aversion", candidates=own)]
    run = retriever.retrieve(asked, 100)
    whole = zip(run["all"].ids, run["all"].scores, strict=True)
    kept = [(name, score) for name, score in whole if name in {"p1#0", "p1#1", "p3#1", "p4#0"}]
    assert list(zip(run["own"].ids, run["own"].scores, strict=True)) == kept
    if method not in ("bm25_okapi", "bm25_metasyn"):  # to which a word that half of the texts hold is nothing
        assert "p4#0" in run["own"].ids


def test_candidates_by_hand(graph: LateralGraph) -> None:
    """Sections p0#0, p0#1, p1#0 and so on score 9, 8, 7 and so on."""
    retriever = Retriever(graph, Given([float(9 - n) for n in range(10)]))
    of_papers = frozenset({"p0", "p2", "p4", "elsewhere"})
    of_both = frozenset({"p1", "p3#1"})
    asked = [
        Query("papers", "loss", candidates=of_papers),
        Query("both", "loss", candidates=of_both),
        Query("all", "loss"),
        Query("less", "loss", 2000, frozenset({"p0#0"}), of_papers),
        Query("none", "loss", candidates=frozenset()),
        Query("elsewhere", "loss", candidates=frozenset({"elsewhere"})),
    ]
    sections = {query: ranking.ids for query, ranking in retriever.retrieve(asked, 4).items()}
    assert sections == {
        "papers": ("p0#0", "p0#1", "p2#0", "p2#1"),
        "both": ("p1#0", "p1#1", "p3#1"),
        "all": ("p0#0", "p0#1", "p1#0", "p1#1"),
        "less": ("p0#1", "p2#0", "p2#1"),
        "none": (),
        "elsewhere": (),
    }
    run = retriever.retrieve(asked, 4, "document")
    assert run["papers"] == Ranking(("p0", "p2", "p4"), (9.0, 5.0, 1.0))
    assert run["both"] == Ranking(("p1", "p3"), (7.0, 2.0))  # p3 by the section that is a candidate
    assert run["less"] == Ranking(("p0", "p2"), (8.0, 5.0))
    assert run["none"] == run["elsewhere"] == Ranking((), ())


def test_only_what_is_named_is_masked(graph: LateralGraph) -> None:
    visibility = Visibility(graph)
    assert visibility.rankable([Query("a", "loss"), Query("b", "loss")]) is None
    own = Query("c", "loss", candidates=frozenset({"p1"}))
    mask = visibility.rankable([Query("a", "loss"), own])
    assert mask is not None
    assert mask.tolist() == [[True] * 10, [n in {2, 3} for n in range(10)]]
    assert visibility.usable([own]) is None


@pytest.mark.parametrize("method", METHODS)
def test_what_is_later_is_neither_found_nor_used(method: str, graph: LateralGraph, hash_encoder: HashEncoder) -> None:
    retriever = Methods(graph, hash_encoder).retriever(method)
    asked = [Query("a", "loss aversion", 2000), Query("b", "loss aversion"), Query("c", "loss aversion", 2000)]
    run = retriever.retrieve(asked, 10)
    assert {name.partition("#")[0] for name in run["a"].ids} <= {"p0", "p1", "p2", "p3"}
    if method not in ("bm25_okapi", "bm25_metasyn"):  # to which a word that half of the texts hold is nothing
        assert "p4#0" in run["b"].ids
    assert run["a"] == run["c"] == retriever.retrieve(asked[:1], 10)["a"]


def test_a_reranker_reads_the_first_and_leaves_the_others_below(graph: LateralGraph) -> None:
    class Backwards:
        depth = 3

        def scores(self, question: str, rows: Sequence[int]) -> torch.Tensor:
            return torch.arange(float(len(rows)))

    given_scores = Given([9.0, 8.0, 7.0, 6.0, 5.0, float("-inf"), 3.0, 2.0, 1.0, 0.0])
    plain = Retriever(graph, given_scores).rank("loss", 10).ids
    ranked = Retriever(graph, given_scores, Backwards()).rank("loss", 10)
    assert ranked.ids == (*plain[:3][::-1], *plain[3:])
    assert list(ranked.scores) == sorted(ranked.scores, reverse=True)
    for query in (
        Query("q", "loss", excluded=frozenset(plain[:1])),
        Query("q", "loss", candidates=frozenset(plain[1:5])),
    ):
        assert Retriever(graph, given_scores, Backwards()).retrieve([query], 3)["q"].ids == plain[1:4][::-1]


def test_queries_are_checked(graph: LateralGraph) -> None:
    assert [query.query_id for query in as_queries(["x", Query("k", "y"), "z"])] == ["0", "k", "2"]
    retriever = Retriever(graph, Given([0.0] * 10))
    for wrong, message in (("loss", "into a list"), ([Query("0", "x"), "y", Query("1", "z")], "Two queries")):
        with pytest.raises(InputError, match=message):
            retriever.retrieve(wrong, 3)
    with pytest.raises(InputError, match="top_n is -1"):
        retriever.retrieve(["loss"], -1)
    assert retriever.retrieve([], 3) == {}


def test_an_empty_graph_finds_nothing(tools: Tools, hash_encoder: HashEncoder, tmp_path: Path) -> None:
    build_graph(tmp_path / "g", [], tools)
    methods = Methods(open_graph(tmp_path / "g"), hash_encoder)
    for method in METHODS:
        assert methods.retriever(method).retrieve(["loss"], 5)["0"].ids == ()
