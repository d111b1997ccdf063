from __future__ import annotations

import os

import pytest

from kg.errors import InputError
from retrieval.beir import read_excluded, read_groups, read_latest_years, read_qrels, read_queries, splits


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "qrels").mkdir()
    return tmp_path


def write_qrels(folder, text, split="dev"):
    (folder / "qrels" / f"{split}.tsv").write_bytes(text.encode("utf-8"))


def write_queries(folder, data):
    (folder / "queries.jsonl").write_bytes(data if isinstance(data, bytes) else data.encode("utf-8"))


def test_queries_in_order_with_safe_ids(folder):
    write_queries(
        folder,
        '\ufeff{"_id": "q 2", "text": "first", "metadata": {}}\r\n\r\n{"_id": 1, "text": "line\u2028two e\u0301"}',
    )
    assert read_queries(folder) == {"q%202": "first", "1": "line\u2028two é"}
    assert list(read_queries(str(folder))) == ["q%202", "1"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ('{"_id": "1", "text": "a"}\n{"_id": "2", "text": \n', "line 2: not JSON"),
        ('["1", "a"]', "line 1: a list"),
        ('{"text": "a"}', "line 1: field _id"),
        ('{"_id": " ", "text": "a"}', "line 1: field _id"),
        ('{"_id": true, "text": "a"}', "line 1: field _id"),
        ('\n{"_id": "1"}', "line 2: field text"),
        ('{"_id": "1", "text": null}', "line 1: field text"),
        ('{"_id": "1", "text": "a"}\n{"_id": " 1", "text": "b"}', "line 2: field _id repeats"),
        ('{"_id": "1", "text": "a"}\n' + "[" * 200_000, "line 2: nested too deeply"),
        ('{"_id": ' + "9" * 5000 + "}", "line 1: not JSON"),
        (b'{"_id": "1", "text": "\xff"}', "not UTF-8"),
    ],
)
def test_query_errors_name_file_line_and_field(folder, data, words):
    write_queries(folder, data)
    with pytest.raises(InputError, match=words) as caught:
        read_queries(folder)
    assert "queries.jsonl" in str(caught.value)


def test_missing_files(folder):
    with pytest.raises(InputError, match=r"queries\.jsonl does not exist"):
        read_queries(folder)
    with pytest.raises(InputError, match="no folder"):
        splits(folder / "absent")
    with pytest.raises(InputError, match="no folder"):
        read_qrels(folder / "absent", "dev")


@pytest.mark.parametrize("header", ["", "query-id\tcorpus-id\tscore\n", "\ufeffquery-id\tcorpus-id\tscore\r\n"])
def test_qrels_with_and_without_header(folder, header):
    write_qrels(folder, header + "q 1\td1\t1\r\nq 1\t10.1/a#0\t0\n\nq2\td1\t-2\nq2\td2\t1.0\nq2\td2\t1")
    assert read_qrels(folder, "dev") == {"q%201": {"d1": 1, "10.1/a#0": 0}, "q2": {"d1": -2, "d2": 1}}


def test_a_byte_order_mark_without_header(folder):
    write_qrels(folder, "\ufeffq1\td1\t1\n")
    assert read_qrels(folder, "dev") == {"q1": {"d1": 1}}


def test_four_columns(folder):
    write_qrels(folder, "query-id\tcorpus-id\tscore\tabstract_level\nA\t1\t0\t1\nA\t2\t1\t1\n")
    assert read_qrels(folder, "dev") == {"A": {"1": 0, "2": 1}}
    assert read_qrels(folder, "dev", score_column=4) == {"A": {"1": 1, "2": 1}}


def test_splits(folder):
    assert splits(folder) == []
    write_qrels(folder, "", "test")
    write_qrels(folder, "", "dev")
    assert splits(folder) == ["dev", "test"]
    assert read_qrels(folder, "dev") == {}
    with pytest.raises(InputError, match="no judgements for split 'train'; there are dev, test"):
        read_qrels(folder, "train")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("q1\td1\n", "line 1: 2 columns"),
        ("q1 d1 1\n", "line 1: 1 columns"),
        ("query-id\tcorpus-id\tscore\nq1\td1\tyes\n", r"line 2: field score \(column 3\) is 'yes'"),
        ("q1\td1\t0.5\n", "line 1: field score"),
        ("q1\td1\tnan\n", "line 1: field score"),
        ("q1\td1\tinf\n", "line 1: field score"),
        *(
            (f"q1\td1\t1\nq1\td2\t{value}\n", rf"line 2: field score \(column 3\) is '{value}'; it must be a whole")
            for value in ("5000000000", "2147483648", "1000001", "-1000001", "1e300", "1_0", "١", "²", "0x1", "1 0")
        ),
        (f"q1\td1\t{'9' * 5000}\n", r"line 1: field score \(column 3\) is '9+\.\.\.9+'; it must be a whole"),
        ("query\tdoc\t1_0\n", "line 1: field score"),
        (" \td1\t1\n", "line 1: field query-id is empty"),
        ("q1\t\t1\n", "line 1: field corpus-id is empty"),
        ("q1\td1\t1\nq1\td1\t0\n", "line 2: field score says 0"),
        ("q1\tQ0\t31\t1\nq1\tQ0\t32\t0\n", "line 2: field score"),  # a TREC file is not mistaken for one of these
    ],
)
def test_qrels_errors_name_file_line_and_field(folder, text, words):
    write_qrels(folder, text)
    with pytest.raises(InputError, match=words) as caught:
        read_qrels(folder, "dev")
    assert "dev.tsv" in str(caught.value)


def test_score_column_is_no_id(folder):
    write_qrels(folder, "q1\td1\t1\n")
    with pytest.raises(InputError, match="score_column is 2"):
        read_qrels(folder, "dev", score_column=2)


def test_latest_years_of_the_record_or_its_metadata(folder):
    write_queries(
        folder,
        '{"_id": "a", "text": "", "metadata": {"latest_year": 2015}}\n{"_id": "b", "text": "", "latest_year": "2009"}\n'
        '{"_id": "c", "text": "", "metadata": null}\n{"_id": "d 1", "text": "", "latest_year": 2001.0}',
    )
    assert read_latest_years(folder) == {"a": 2015, "b": 2009, "d%201": 2001}


@pytest.mark.parametrize(
    "year",
    ["true", '"soon"', "2015.5", "[]", "1e300", "1e999", "NaN", "-Infinity", "10000", "-10000", '"2_015"', '"٢٠١٥"',
     "9" * 4000, "[" * 900 + "]" * 900],
)  # fmt: skip
def test_a_year_that_is_none_is_refused(folder, year):
    write_queries(folder, f'{{"_id": "a", "text": "", "latest_year": {year}}}')
    with pytest.raises(InputError, match=r"line 1: (field latest_year of query a is|nested too deeply)"):
        read_latest_years(folder)


def test_excluded_ids_by_query(tmp_path):
    path = tmp_path / "excluded.tsv"
    path.write_bytes(b"query-id\tcorpus-id\r\nq 1\ta#1\r\n\r\nq 1\tb\nq2\ta#1\tmore\n")
    assert read_excluded(path) == {"q%201": {"a#1", "b"}, "q2": {"a#1"}}


@pytest.mark.parametrize(("line", "words"), [("q1 a", "line 2: one column"), ("q1\t ", "line 2: an id is empty")])
def test_a_bad_line_of_excluded_ids_is_refused(tmp_path, line, words):
    path = tmp_path / "excluded.tsv"
    path.write_text(f"q0\ta\n{line}\n")
    with pytest.raises(InputError, match=words):
        read_excluded(path)


def test_a_missing_file_of_excluded_ids_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none\.tsv is no file"):
        read_excluded(tmp_path / "none.tsv")


def test_groups_by_a_field(folder):
    write_queries(
        folder,
        '{"_id": "a", "text": "", "metadata": {"kind": "x"}}\n{"_id": "b", "text": "", "kind": 3}\n'
        '{"_id": "c", "text": ""}',
    )
    assert read_groups(folder, "kind") == {"a": "x", "b": "3"}
    write_queries(folder, '{"_id": "a", "text": "", "kind": ["x"]}')
    with pytest.raises(InputError, match="line 1: field kind is a list"):
        read_groups(folder, "kind")


IDS = ["query1", "topic-12", "qid_3", "query-1", "q_id9", "q1d"]


@pytest.mark.parametrize("first", IDS)
def test_a_query_called_like_a_column_is_no_header(folder, first):
    write_qrels(folder, f"{first}\td1\t1\n{first}\tdoc\t0\nother\td1\t1\n")
    assert read_qrels(folder, "dev") == {first: {"d1": 1, "doc": 0}, "other": {"d1": 1}}
    (folder / "excluded.tsv").write_text(f"{first}\tdoc\n{first}\td1\n")
    assert read_excluded(folder / "excluded.tsv") == {first: {"doc", "d1"}}


@pytest.mark.parametrize("score", ["1", "-1", "1.0", "0"])
def test_a_line_with_a_number_as_score_is_no_header(folder, score):
    write_qrels(folder, f"query-id\tcorpus-id\t{score}\n")
    assert read_qrels(folder, "dev") == {"query-id": {"corpus-id": int(float(score))}}
    (folder / "excluded.tsv").write_text("query\td1\n")
    assert read_excluded(folder / "excluded.tsv") == {"query": {"d1"}}


@pytest.mark.parametrize(
    "header", ["query-id\tcorpus-id\tscore", "Query ID\tDoc_ID\tRelevance", "qid\tdocid\trel", "topic\tdocument\tlabel"]
)
def test_common_headers_are_skipped(folder, header):
    write_qrels(folder, f"{header}\nq1\td1\t1\n")
    assert read_qrels(folder, "dev") == {"q1": {"d1": 1}}
    (folder / "excluded.tsv").write_text(f"{header}\nq1\td1\n")
    assert read_excluded(folder / "excluded.tsv") == {"q1": {"d1"}}


def test_judgements_up_to_a_million_and_whole_floats(folder):
    write_qrels(folder, "q\ta\t1000000\nq\tb\t-1e6\nq\tc\t 2. \nq\td\t+3\nq\te\t1e1\n")
    assert read_qrels(folder, "dev") == {"q": {"a": 1_000_000, "b": -1_000_000, "c": 2, "d": 3, "e": 10}}


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_is_no_file_is_named(folder, make):
    make(folder / "queries.jsonl")
    make(folder / "qrels" / "dev.tsv")
    make(folder / "excluded.tsv")
    for read in (read_queries, read_latest_years, lambda path: read_groups(path, "kind")):
        with pytest.raises(InputError, match=r"queries\.jsonl is no file"):
            read(folder)
    with pytest.raises(InputError, match=r"dev\.tsv is no file"):
        read_qrels(folder, "dev")
    with pytest.raises(InputError, match=r"excluded\.tsv is no file"):
        read_excluded(folder / "excluded.tsv")
