from __future__ import annotations

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


@pytest.mark.parametrize("year", ["true", '"soon"', "2015.5", "[]"])
def test_a_year_that_is_none_is_refused(folder, year):
    write_queries(folder, f'{{"_id": "a", "text": "", "latest_year": {year}}}')
    with pytest.raises(InputError, match="line 1: field latest_year"):
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
