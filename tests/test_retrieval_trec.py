from __future__ import annotations

import os

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from kg.errors import InputError
from kg.records import encode_id
from retrieval.ranking import Ranking
from retrieval.trec import read_run, write_run

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
IDS = st.text(max_size=8).map(encode_id).filter(bool)


@st.composite
def rankings(draw, ids=IDS, scores=FLOATS, min_size=1):
    documents = draw(st.lists(ids, unique=True, min_size=min_size, max_size=8))
    values = draw(st.lists(scores, min_size=len(documents), max_size=len(documents)))
    return Ranking(tuple(documents), tuple(sorted(values, reverse=True)))


@settings(max_examples=60, deadline=None)
@given(run=st.dictionaries(IDS, rankings(), max_size=4))
def test_a_run_comes_back_as_it_was(tmp_path_factory, run):
    path = tmp_path_factory.mktemp("run") / "a.trec"
    write_run(run, path, "bm25")
    back = read_run(path)
    assert back == run
    assert list(back) == list(run)


def test_the_lines_are_trec_eval_s(tmp_path):
    path = tmp_path / "new" / "a.trec"
    write_run(
        {"q2": Ranking(("b", "a"), (np.float32(0.1), 0)), "q0": Ranking((), ()), "q1": Ranking(("a",), (1e-9,))},
        path,
        "x",
    )
    assert path.read_bytes() == (b"q2 Q0 b 1 0.10000000149011612 x\nq2 Q0 a 2 0.0 x\nq1 Q0 a 1 1e-09 x\n")
    assert os.listdir(path.parent) == ["a.trec"]


def test_lines_in_any_order_separators_and_ends(tmp_path):
    path = tmp_path / "a.trec"
    path.write_bytes(b"\xef\xbb\xbfq1\tQ0\ta  7\t1 t\r\nq2 0 x 0 -1e3 t\n\n  q1 Q0 b 3 2.5 t \nq1 Q0 c 5 1.0 t")
    assert read_run(path) == {"q1": Ranking(("b", "c", "a"), (2.5, 1.0, 1.0)), "q2": Ranking(("x",), (-1000.0,))}


def order_of_trec_eval(documents, scores):
    """By reading off the rank of each document, in a query where it alone is relevant."""
    found = dict(zip(documents, scores, strict=True))
    evaluator = pytrec_eval.RelevanceEvaluator({f"q{d}": {d: 1} for d in documents}, {"recip_rank"})
    result = evaluator.evaluate({f"q{d}": found for d in documents})
    return sorted(documents, key=lambda d: -result[f"q{d}"]["recip_rank"])


# Near each other, so that many are equal as 32-bit floats but not as 64-bit ones, and both zeros.
CLOSE = st.sampled_from([0.0, -0.0, 1e-45, -1e-45, 1.0, 1 + 1e-12, 1 - 1e-12, 1 - 1e-7, 16777217.0, 3e38, -1.7e308])


@settings(max_examples=50, deadline=None)
@given(ranking=rankings(ids=st.sampled_from("abcdefgh"), scores=CLOSE | FLOATS))
def test_with_ties_separated_trec_eval_keeps_our_order(tmp_path_factory, ranking):
    path = tmp_path_factory.mktemp("run") / "a.trec"
    write_run({"q": ranking}, path, "x", separate_ties=True)
    back = read_run(path)["q"]
    assert back.ids == ranking.ids
    assert all(np.float32(score) == score for score in back.scores)
    assert order_of_trec_eval(list(back.ids), back.scores) == list(ranking.ids)


def test_separated_scores_are_the_nearest_that_differ(tmp_path):
    scores = (1.0, 1.0, 1.0 - 1e-12, 0.5, 0.0, -0.0)
    write_run({"q": Ranking(tuple("abcdef"), scores)}, tmp_path / "a", "x", separate_ties=True)
    one = np.float32(1)
    below = np.nextafter(one, np.float32(0))
    smallest = float(np.nextafter(np.float32(0), np.float32(-1)))
    expected = (1.0, float(below), float(np.nextafter(below, np.float32(0))), 0.5, 0.0, smallest)
    assert read_run(tmp_path / "a")["q"].scores == expected


def test_without_it_trec_eval_breaks_ties_its_own_way():
    # The reason for separate_ties: equal as 32-bit floats, so the last id comes first.
    assert order_of_trec_eval(["a", "b"], [1.0, 1.0 - 1e-12]) == ["b", "a"]


@pytest.mark.parametrize(
    ("run", "tag", "words"),
    [
        ({"q 1": Ranking(("a",), (1.0,))}, "x", "'q 1'"),
        ({"": Ranking((), ())}, "x", "a query id"),
        ({"q": Ranking(("a\u2028b",), (1.0,))}, "x", "a document id"),
        ({"q": Ranking(("a\u00a0b",), (1.0,))}, "x", "a document id"),
        ({"q": Ranking(("\ud800",), (1.0,))}, "x", "a document id"),
        ({"\ufeffq": Ranking(("a",), (1.0,))}, "x", "a query id"),
        ({}, "my run", "the tag"),
        ({"q": Ranking(("a", "b", "a"), (3.0, 2.0, 1.0))}, "x", "Document a stands twice"),
        ({"q": Ranking(("a", "b"), (1.0, 2.0))}, "x", "Document b of query q has score 2.0 below one of 1.0"),
        ({"q": Ranking(("a",), (float("nan"),))}, "x", "finite"),
        ({"q": Ranking(("a",), (float("inf"),))}, "x", "finite"),
    ],
)
@pytest.mark.parametrize("separate_ties", [False, True])
def test_what_a_trec_file_cannot_hold_is_refused(tmp_path, run, tag, words, separate_ties):
    path = tmp_path / "a.trec"
    path.write_text("old")
    with pytest.raises(InputError, match=words):
        write_run(run, path, tag, separate_ties=separate_ties)
    assert path.read_text() == "old"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"q Q0 b 2 0.5", "5 columns"),
        (b"q Q0 b 2 0.5 t u", "7 columns"),
        (b"q Q0 b two 0.5 t", "rank 'two'"),
        (b"q Q0 b 1.5 0.5 t", "rank '1.5'"),
        (b"q Q0 b 2 0,5 t", "score '0,5'"),
        (b"q Q0 b 2 nan t", "score 'nan'"),
        (b"q Q0 b 2 -inf t", "score '-inf'"),
        (b"q Q0 \xff 2 0.5 t", "not UTF-8"),
        (b"q Q0 b \xff 0.5 t", "rank"),
        (b"q Q0 a 2 0.5 t", "document a stands twice for query q"),
    ],
)
def test_a_damaged_line_is_named(tmp_path, line, words):
    path = tmp_path / "a.trec"
    path.write_bytes(b"q Q0 a 1 1.0 t\n\n" + line + b"\nq Q0 c 3 0.1 t\n")
    with pytest.raises(InputError, match="a.trec, line 3: .*" + words):
        read_run(path)


def test_paths_that_cannot_be_used_are_named(tmp_path):
    with pytest.raises(InputError, match=r"gone\.trec cannot be read"):
        read_run(tmp_path / "gone.trec")
    with pytest.raises(InputError, match="cannot be read"):
        read_run(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write_run({}, tmp_path / "file" / "a.trec", "x")
    assert read_run(tmp_path / "file") == {}
