from __future__ import annotations

from pathlib import Path

import pytest

from kg.build import Tools, build_graph, open_graph
from kg.lateral import LateralGraph
from kg.records import Document, Part
from retrieval.candidates import Candidates
from retrieval.collection import Collection
from retrieval.measures import evaluate
from retrieval.queries import Query
from retrieval.ranking import Ranking

LONG = tuple(Part(name, f"{name}: risk and the equity premium matter to investors. " * 12) for name in ("One", "Two"))


@pytest.fixture(scope="module")
def graph(tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> LateralGraph:
    directory: Path = tmp_path_factory.mktemp("candidates") / "graph"
    documents = [
        Document("long", "Long", LONG, year=2001),
        Document("new", "New", LONG[:1], year=2010),
        Document("undated", "Undated", LONG[1:]),
        Document("empty", ""),
    ]
    build_graph(directory, documents, tools)
    return open_graph(directory)


def numbers(graph: LateralGraph, unit: str, *queries: Query, relevant: dict[str, int] | None = None) -> list[int]:
    qrels = {query.query_id: relevant or {} for query in queries}
    return list(Candidates(graph, unit).numbers(queries, qrels).values())  # type: ignore[arg-type]


def test_papers_without_text_are_none(graph: LateralGraph) -> None:
    documents, sections = Candidates(graph, "document"), Candidates(graph, "section")
    assert [name in documents for name in ("long", "new", "undated", "empty", "long#0")] == [True] * 3 + [False] * 2
    assert (len(documents), len(sections)) == (3, 4)
    assert "long#1" in sections


def test_later_years_and_exclusions_are_not_counted(graph: LateralGraph) -> None:
    queries = (
        Query("all", "?"),
        Query("early", "?", 2001),
        Query("paper", "?", None, frozenset({"long", "else"})),
        Query("section", "?", None, frozenset({"long#0"})),
        Query("sections", "?", 2001, frozenset({"long#0", "long#1"})),
    )
    assert numbers(graph, "document", *queries) == [3, 2, 2, 3, 1]
    assert numbers(graph, "section", *queries) == [4, 3, 2, 3, 1]


def test_relevant_ones_that_may_not_be_shown_are_added(graph: LateralGraph) -> None:
    early = Query("q", "?", 2001, frozenset({"long"}))
    relevant = {"long": 1, "new": 2, "undated": 1, "gone": 1, "empty": 0}
    assert numbers(graph, "document", early, relevant=relevant) == [1 + 3]


def test_candidates_that_the_graph_shows_are_counted(graph: LateralGraph) -> None:
    queries = (
        Query("papers", "?", candidates=frozenset({"long", "undated", "empty", "else"})),
        Query("sections", "?", candidates=frozenset({"long#1", "new#0"})),
        Query("early", "?", 2001, candidates=frozenset({"long", "new"})),
        Query("excluded", "?", None, frozenset({"long#0", "new"}), frozenset({"long", "new", "undated"})),
        Query("nothing", "?", candidates=frozenset()),
        Query("all", "?"),
    )
    assert numbers(graph, "document", *queries) == [2, 2, 1, 2, 0, 3]
    assert numbers(graph, "section", *queries) == [3, 2, 2, 2, 0, 4]


def test_work_saved_is_over_the_candidates_of_the_query(graph: LateralGraph) -> None:
    candidates = frozenset({"long", "new", "gone", "lost", "empty"})
    query = Query("q", "?", 2001, candidates=candidates)
    # shown: long; relevant and not shown: new is too late, gone is not in the graph; lost and empty are neither
    qrels = {"q": {"long": 1, "new": 1, "gone": 2, "lost": 0, "empty": 0}}
    sizes = Candidates(graph, "document").numbers([query], qrels)
    assert sizes == {"q": 1 + 2}
    # a third of the relevant is found with one of three read
    found = evaluate({"q": Ranking(("long",), (1.0,))}, qrels, ["WSS@33", "WSS@34"], n_candidates=sizes)
    assert found == {
        "WSS@33": {"q": pytest.approx((3 - 1) / 3 - 0.67)},
        "WSS@34": {"q": pytest.approx(0 - 0.66)},
    }


def test_what_is_later_than_a_query_allows_is_found(graph: LateralGraph) -> None:
    queries = [Query("early", "?", 2001), Query("late", "?", 2010), Query("always", "?")]
    queries += [Query(str(n), "?", 1999) for n in range(150)]
    judged = {"long": 1, "new": 2, "undated": 1, "gone": 1, "empty": 0}
    qrels = [{query.query_id: judged for query in queries}, {"early": {"new": 1}, "149": {"long": 0}}]
    expected = {("early", "new")} | {(str(n), name) for n in range(150) for name in ("long", "new")}
    assert Candidates(graph, "document").too_late(queries, qrels) == expected
    sections = [{"early": {"long#0": 1, "new#0": 1, "undated#0": 1}, "late": {"new#0": 1}}]
    assert Candidates(graph, "section").too_late(queries, sections) == {("early", "new#0")}


def test_what_is_judged_and_cannot_be_ranked_is_remarked_on(graph: LateralGraph) -> None:
    judged = {"long": 1, "gone": 1, "new": 1, "undated": 0, "empty": 0, "lost": -1}
    queries = (Query("q", "?", 2001, candidates=frozenset({*judged, "elsewhere"})), Query("else", "?"))
    told = list(
        Candidates(graph, "document").remarks(Collection("tiny", queries, {"tiny.dev": {"q": judged}}, ("dev",)))
    )
    assert told == [
        "tiny.dev: 1 of 3 relevant documents are not in the graph or have no text there; no method can find them.",
        "tiny.dev: 3 of 4 documents that are judged and not relevant are not in the graph or have no text there; they "
        "are neither ranked nor counted as candidates.",
        "tiny: 1 relevant documents are later than their query's latest_year; they count as missed.",
    ]
    whole = Collection("tiny", (Query("q", "?", 2010),), {"tiny": {"q": {"long": 1, "new": 1, "undated": 0}}}, ("dev",))
    assert list(Candidates(graph, "document").remarks(whole)) == []


def test_many_queries_are_counted_each(graph: LateralGraph) -> None:
    queries = [Query(str(n), "?", 2001 if n % 3 else None) for n in range(150)]
    assert numbers(graph, "document", *queries) == [2 if n % 3 else 3 for n in range(150)]
