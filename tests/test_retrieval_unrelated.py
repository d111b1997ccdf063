from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg.records import Document, Part
from retrieval.ranking import Ranking
from retrieval.unrelated import DRAWS, KINDS, count_unrelated, document_text, question_words

NOT_RELEVANT, CLUSTER, ELSEWHERE, NOT_JUDGED = KINDS
RAREST, OTHER, NONE, NO_TEXT = DRAWS
TEXTS = {
    "zinc": "Zinc and the common cold",
    "cold": "Colds in winter",
    "winter": "Winter sports",
    "moon": "The moon",
    "empty": "",
}
QUERIES = {"q1": "Does zinc shorten colds?", "q2": "Which sports do we do in winter?", "q3": "What is selenology?"}
# q1 and q2 are one cluster; q3 is not.
QRELS = {"q1": {"zinc": 2, "winter": 0}, "q2": {"zinc": 1, "cold": 1}, "q3": {"moon": 1}}
CLUSTERS = {"q1": 0, "q2": 0, "q3": 1}


def run(**rankings):
    return {query: Ranking(tuple(ids), tuple(range(len(ids), 0, -1))) for query, ids in rankings.items()}


def filled(counts):
    """Kind -> draw -> number, those above 0."""
    return {kind: kept for kind, own in counts.items() if (kept := {draw: n for draw, n in own.items() if n})}


def test_the_rarest_word_is_that_in_fewest_texts_of_those_that_any_holds():
    words = question_words(QUERIES, TEXTS)
    assert words.asked["q1"] == {"zinc", "shorten", "cold"}
    assert words.rarest["q1"] == {"zinc"}  # "shorten" is nowhere, "cold" in two texts as "cold" and "Colds"
    assert words.asked["q2"] == {"sport", "winter"}
    assert words.rarest["q2"] == {"sport"}
    assert words.rarest["q3"] == frozenset()
    assert [words.draw("q1", document) for document in ("zinc", "cold", "moon", "empty", "unknown")] == [
        RAREST, OTHER, NONE, NONE, NO_TEXT,
    ]  # fmt: skip
    assert words.draw("q3", "moon") == NONE


def test_words_that_are_equally_rare_are_both_the_rarest():
    words = question_words({"q": "zinc sports"}, TEXTS)
    assert words.draw("q", "zinc") == words.draw("q", "winter") == RAREST


def test_kinds_and_draws_by_hand():
    words = question_words(QUERIES, TEXTS)
    found = count_unrelated(
        run(q1=["zinc", "winter", "cold", "moon", "empty"], q2=["zinc", "winter", "lost"], q3=["moon", "zinc", "gone"]),
        QRELS, CLUSTERS, words, depth=4,
    )  # fmt: skip
    assert filled(found.counts) == {
        NOT_RELEVANT: {NONE: 1},  # winter for q1
        CLUSTER: {OTHER: 1},  # cold for q1
        ELSEWHERE: {NONE: 2},  # moon for q1, zinc for q3
        NOT_JUDGED: {RAREST: 1, NO_TEXT: 2},  # winter and lost for q2, gone for q3; empty is fifth for q1
    }
    assert found.total == 7
    assert (found.per_query.mean, found.per_query.n, found.per_query.n_clusters) == (pytest.approx(7 / 3), 3, 2)
    assert found.n_absent == 2
    assert found.n_unjudged == 3 + 2 + 2  # cold, moon, empty; winter, lost; zinc, gone


def test_a_judgement_for_the_query_goes_before_those_for_others():
    qrels = {"q1": {"zinc": 1, "cold": -1}, "q2": {"cold": 1}}
    words = question_words(QUERIES, TEXTS)
    found = count_unrelated(run(q1=["cold"]), qrels, {"q1": 0, "q2": 0}, words, depth=1)
    assert filled(found.counts) == {NOT_RELEVANT: {OTHER: 1}}
    assert found.per_query.mean == 0.5  # q2 has no ranking


def test_titles_headings_and_texts_are_searched():
    document = Document("d", "A title", (Part("", "Some text."), Part("A heading", "More.")))
    assert document_text(document).split("\n") == ["A title", "", "Some text.", "A heading", "More."]


IDS = st.lists(st.sampled_from([*TEXTS, "lost", "gone"]), unique=True)
JUDGED = st.dictionaries(st.sampled_from([*TEXTS, "lost"]), st.integers(-1, 2))


@given(
    rankings=st.fixed_dictionaries(dict.fromkeys(QUERIES, IDS)),
    qrels=st.fixed_dictionaries(dict.fromkeys(QUERIES, JUDGED)),
    clusters=st.fixed_dictionaries(dict.fromkeys(QUERIES, st.integers(0, 1))),
    depth=st.integers(1, 8),
)
def test_kinds_add_up_to_the_total(rankings, qrels, clusters, depth):
    found = count_unrelated(run(**rankings), qrels, clusters, question_words(QUERIES, TEXTS), depth)
    relevant = {query: {d for d, judgement in own.items() if judgement > 0} for query, own in qrels.items()}
    number = sum(len(set(ids[:depth]) - relevant[query]) for query, ids in rankings.items())
    assert found.total == sum(n for own in found.counts.values() for n in own.values()) == number
    assert found.total == sum(map(found.drawn, DRAWS))
    assert found.per_query.mean == pytest.approx(number / len(QUERIES))
    assert list(found.counts) == list(KINDS)
    if len(set(clusters.values())) == 1:
        assert not any(found.counts[ELSEWHERE].values())
