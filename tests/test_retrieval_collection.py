from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from kg.errors import InputError
from retrieval.collection import Selection, read_collection, read_collections
from retrieval.queries import Query
from tests.beir_folder import QRELS, QUERIES, write_beir


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_beir(tmp_path / "tiny", q1={"latest_year": 2001}, q2={"latest_year": 1999})


def test_each_split_has_its_own_judgements_and_each_query_stands_once(folder: Path) -> None:
    collection = read_collection(folder)
    assert collection.queries == tuple(Query(key, text) for key, text in QUERIES.items())
    assert collection.qrels == {"tiny.dev": QRELS["dev"], "tiny.test": {"q6": QRELS["test"]["q6"]}}
    assert collection.remarks == ("tiny.test: 1 queries without a relevant document are left out.",)


def test_one_split_goes_by_the_name_of_the_collection(folder: Path) -> None:
    collection = read_collection(folder, Selection(("test",)))
    assert list(collection.qrels) == ["tiny"]
    assert [query.query_id for query in collection.queries] == ["q6"]


def test_a_limit_takes_the_first_of_each_split_and_says_so(folder: Path) -> None:
    collection = read_collection(folder, Selection(limit=1))
    assert {name: list(own) for name, own in collection.qrels.items()} == {"tiny.dev": ["q1"], "tiny.test": ["q6"]}
    assert "tiny.dev: the first 1 of 5 queries are asked." in collection.remarks


def test_years_only_when_asked_for(folder: Path) -> None:
    assert {query.latest_year for query in read_collection(folder).queries} == {None}
    collection = read_collection(folder, Selection(years=True))
    assert {q.query_id: q.latest_year for q in collection.queries if q.latest_year} == {"q1": 2001, "q2": 1999}
    assert "tiny: 4 of 6 queries have no latest_year and see papers of all years." in collection.remarks


def test_exclusions_reach_their_queries_and_lost_answers_are_counted(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "excluded.tsv"
    path.write_text("q1\td2\nq1\td7\nelse\td1\n")
    collection = read_collection(folder, excluded=path)
    assert {q.query_id: q.excluded for q in collection.queries if q.excluded} == {"q1": {"d2", "d7"}}
    assert "tiny: 1 relevant documents are excluded from the rankings; they count as missed." in collection.remarks


def candidates(folder: Path, *splits: str, **more: Any) -> dict[str, frozenset[str] | None]:
    collection = read_collection(folder, Selection(splits, judged_only=True, **more))
    return {query.query_id: query.candidates for query in collection.queries}


def test_candidates_are_what_is_judged_whatever_the_judgement(folder: Path) -> None:
    assert {query.candidates for query in read_collection(folder).queries} == {None}
    judged = {
        "q1": {"d1", "d2", "d5"}, "q2": {"d3", "d4"}, "q3": {"d5", "d6"}, "q4": {"d7"}, "q5": {"d8", "d2"},
    }  # fmt: skip
    assert candidates(folder, "dev") == judged
    # q1's judgement in the other split counts, though q1 is not asked there
    assert candidates(folder) == {**judged, "q1": {"d1", "d2", "d5", "d8"}, "q6": {"d3", "d7"}}
    (folder / "qrels" / "dev.tsv").write_text("q1\td1\t0\t1\nq1\td2\t1\t-1\n")
    assert candidates(folder, "dev", score_column=4) == {"q1": {"d1", "d2"}}


def test_candidates_are_remarked_on(folder: Path) -> None:
    assert read_collection(folder, Selection(judged_only=True)).remarks == (
        "tiny.test: 1 queries without a relevant document are left out.",
        "tiny: each query ranks only the documents that have a judgement for it, 1 at the least and 4 at the most.",
        "tiny.dev: 4 of 5 queries have only relevant candidates.",
        "tiny.test: 1 of 1 queries have only relevant candidates.",
    )
    first = read_collection(folder, Selection(("dev",), limit=1, judged_only=True))
    assert first.remarks == (
        "tiny: the first 1 of 5 queries are asked.",
        "tiny: each query ranks only the documents that have a judgement for it, 3 at the least and 3 at the most.",
    )
    with (folder / "qrels" / "test.tsv").open("a") as file:
        file.write("q4\td1\t0\n")  # what another split alone judges is a candidate, and not relevant
    both = read_collection(folder, Selection(judged_only=True))
    assert "tiny.dev: 3 of 5 queries have only relevant candidates." in both.remarks
    (folder / "qrels" / "more.tsv").write_text("".join(f"q2\tm{n}\t{n // 1199}\n" for n in range(1200)))
    assert any(
        "1,200 at the least" in remark
        for remark in read_collection(folder, Selection(("more",), judged_only=True)).remarks
    )


def test_a_split_that_judges_only_relevant_documents_has_no_candidates(folder: Path) -> None:
    (folder / "qrels" / "test.tsv").write_text("q6\td3\t1\nq6\td7\t2\n")
    sentence = (
        "tiny.test has no judgement of 0 or less, so that every candidate would be relevant and every ranking perfect; "
        "leave --judged_only out, or choose another split or score column."
    )
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        candidates(folder)
    assert len(candidates(folder, "dev")) == 5
    (folder / "qrels" / "test.tsv").write_text("q6\td3\t1\nq6\td7\t-1\n")
    assert candidates(folder, "test") == {"q6": {"d3", "d7"}}


def test_what_cannot_be_asked_is_refused(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "excluded.tsv"
    other.write_text("else\td1\n")
    with pytest.raises(InputError, match="excludes nothing for any query of tiny"):
        read_collection(folder, excluded=other)
    with pytest.raises(InputError, match="limit is 0"):
        read_collection(folder, Selection(limit=0))
    with pytest.raises(InputError, match="1 files of excluded ids for 2 folders"):
        read_collections([folder, folder], excluded=[other])
    with pytest.raises(InputError, match="Two folders are called tiny"):
        read_collections([folder, folder])
    (folder / "qrels" / "odd.tsv").write_text("q9\td1\t1\n")
    with pytest.raises(InputError, match="1 judged queries of tiny have no text"):
        read_collection(folder, Selection(("odd",)))
    (folder / "qrels" / "odd.tsv").write_text("q1\td1\t0\n")
    with pytest.raises(InputError, match="tiny has no query with a relevant document"):
        read_collection(folder, Selection(("odd",)))
    shutil.rmtree(folder / "qrels")
    with pytest.raises(InputError, match="has no judgements"):
        read_collection(folder)


def test_years_where_there_are_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has a latest_year; leave --years out"):
        read_collection(write_beir(tmp_path / "tiny"), Selection(years=True))


def test_clusters_by_a_field_of_the_queries(tmp_path: Path) -> None:
    folder = write_beir(
        tmp_path / "tiny", q1={"entity": "d"}, q2={"entity": 7}, q3={"entity": "q5"}, q4={"entity": "d"}
    )
    collection = read_collection(folder, Selection(cluster_by="entity"))
    assert collection.groups is not None
    own = {query: number for query, number in collection.groups.items() if query not in {"q1", "q4"}}
    assert collection.groups["q1"] == collection.groups["q4"]
    assert len({collection.groups["q1"], *own.values()}) == 5  # q5 has no value, and is not the "q5" of q3
    assert "tiny: 2 of 6 queries have no entity; each is a cluster of its own." in collection.remarks
    with pytest.raises(InputError, match="has a field kind"):
        read_collection(folder, Selection(cluster_by="kind"))


def test_names_that_clash_are_refused(tmp_path: Path) -> None:
    write_beir(tmp_path / "a")
    write_beir(tmp_path / "a.dev")
    (tmp_path / "a.dev" / "qrels" / "test.tsv").unlink()
    with pytest.raises(InputError, match=r"both called a\.dev"):
        read_collections([tmp_path / "a", tmp_path / "a.dev"])
    write_beir(tmp_path / "lock")
    with pytest.raises(InputError, match="called lock"):
        read_collections([tmp_path / "lock"])
