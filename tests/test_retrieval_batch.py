from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kg.errors import InputError
from retrieval.batch import BatchConfig, Share, missing, read_progress, run_batches
from retrieval.queries import Query
from retrieval.ranking import Ranking

QUERIES = [Query(f"q{n}", f"Question {n}?") for n in range(7)]
CONFIG = BatchConfig(top_n=3, size=2)
SETTINGS = {"method": "fake", "alpha": 0.5, "names": ("a", "b")}


class FakeRetriever:
    """Rankings that depend on the text alone, and a memory of what was asked."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def retrieve(self, queries: Sequence[Query], top_n: int, unit: str) -> dict[str, Ranking]:
        self.batches.append([query.query_id for query in queries])
        return {query.query_id: self.ranking(query, top_n) for query in queries}

    @staticmethod
    def ranking(query: Query, top_n: int) -> Ranking:
        number = zlib.crc32(query.text.encode())
        return Ranking(
            tuple(f"d{(number + n) % 97}" for n in range(top_n)), tuple(number / 7 - n for n in range(top_n))
        )


def ask(folder: Path, queries: Sequence[Query] = QUERIES, settings: Any = SETTINGS, **more: Any) -> FakeRetriever:
    retriever = FakeRetriever()
    run_batches(lambda: retriever, queries, folder, settings, CONFIG, **more)  # type: ignore[arg-type, return-value]
    return retriever


def expected(queries: Sequence[Query] = QUERIES) -> dict[str, Ranking]:
    return {query.query_id: FakeRetriever.ranking(query, CONFIG.top_n) for query in queries}


def test_all_are_asked_in_batches_after_one_question_that_does_not_count(tmp_path: Path) -> None:
    retriever = ask(tmp_path)
    assert retriever.batches == [["warm-up"], ["q0", "q1"], ["q2", "q3"], ["q4", "q5"], ["q6"]]
    progress = read_progress(tmp_path, SETTINGS)
    assert progress.run == expected()
    assert [size for size, _ in progress.batches] == [2, 2, 2, 1]
    assert all(seconds >= 0 for _, seconds in progress.batches)
    assert len(progress.preparations) == 1


def test_what_is_done_is_not_asked_again(tmp_path: Path) -> None:
    ask(tmp_path)
    before = (tmp_path / "0.jsonl").read_bytes()
    assert ask(tmp_path).batches == []
    assert (tmp_path / "0.jsonl").read_bytes() == before


def test_a_run_killed_at_any_byte_ends_the_same(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    ask(whole)
    data = (whole / "0.jsonl").read_bytes()
    lines = data.splitlines(keepends=True)
    ends = [sum(map(len, lines[:n])) for n in range(len(lines) + 1)]
    cuts = sorted({cut for end in ends for cut in (end - 1, end, end + 1, end + 40) if 0 <= cut <= len(data)})
    for cut in cuts:
        folder = tmp_path / str(cut)
        folder.mkdir()
        (folder / "0.jsonl").write_bytes(data[:cut])
        done = max(0, sum(end <= cut for end in ends) - 3)  # whole lines less configuration and preparation
        asked = [query for batch in ask(folder).batches[1:] for query in batch]
        assert asked == [query.query_id for query in QUERIES[2 * done :]]
        assert read_progress(folder, SETTINGS).run == expected()
        assert sum(size for size, _ in read_progress(folder, SETTINGS).batches) == len(QUERIES)


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    def interrupting(items: Iterable[Any], total: int, label: str) -> Iterator[Any]:
        for number, item in enumerate(items):
            if number == 2:
                raise KeyboardInterrupt
            yield item

    with pytest.raises(KeyboardInterrupt):
        ask(tmp_path, track=interrupting)
    assert [query.query_id for query in missing(tmp_path, QUERIES, SETTINGS)] == ["q4", "q5", "q6"]
    assert ask(tmp_path).batches == [["warm-up"], ["q4", "q5"], ["q6"]]
    assert read_progress(tmp_path, SETTINGS).run == expected()


@pytest.mark.parametrize("count", [1, 2, 3, 9])
def test_processes_share_the_batches(tmp_path: Path, count: int) -> None:
    asked = [ask(tmp_path, share=Share(index, count)).batches[1:] for index in range(count)]
    assert sorted(query for own in asked for batch in own for query in batch) == [q.query_id for q in QUERIES]
    assert max(map(len, asked)) - min(map(len, asked)) <= 1
    assert read_progress(tmp_path, SETTINGS).run == expected()


def test_another_number_of_processes_goes_on(tmp_path: Path) -> None:
    ask(tmp_path, share=Share(1, 3))
    assert ask(tmp_path).batches == [["warm-up"], ["q0", "q1"], ["q4", "q5"], ["q6"]]
    assert read_progress(tmp_path, SETTINGS).run == expected()


def test_more_queries_are_added_to_what_is_done(tmp_path: Path) -> None:
    ask(tmp_path, QUERIES[:3])
    assert ask(tmp_path).batches == [["warm-up"], ["q3"], ["q4", "q5"], ["q6"]]
    assert read_progress(tmp_path, SETTINGS).run == expected()


@pytest.mark.parametrize("change", [{"alpha": 0.25}, {"names": ("a",)}, {"new": 1}])
def test_another_configuration_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    ask(tmp_path, QUERIES[:2])
    before = (tmp_path / "0.jsonl").read_bytes()
    with pytest.raises(InputError, match=f"holds results with {next(iter(change))} .*--overwrite"):
        ask(tmp_path, settings=SETTINGS | change)
    assert (tmp_path / "0.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    "change",
    [
        {"text": "Else?"},
        {"latest_year": 2000},
        {"excluded": frozenset({"d1"})},
        {"candidates": frozenset({"d1"})},
        {"candidates": frozenset()},
    ],
)
def test_a_query_that_has_changed_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    ask(tmp_path)
    with pytest.raises(InputError, match="query q1 with another text, year, exclusions or candidates"):
        ask(tmp_path, [QUERIES[0], replace(QUERIES[1], **change)])


def test_results_are_of_the_candidates_asked_in_whatever_order(tmp_path: Path) -> None:
    names = [f"d{n}" for n in range(40)]
    ask(tmp_path, [replace(QUERIES[0], candidates=frozenset(names)), *QUERIES[1:]])
    again = [replace(QUERIES[0], candidates=frozenset(reversed(names))), *QUERIES[1:]]
    assert missing(tmp_path, again, SETTINGS) == []
    for candidates in (None, frozenset(), frozenset(names[1:])):
        with pytest.raises(InputError, match="query q0 with another"):
            missing(tmp_path, [replace(QUERIES[0], candidates=candidates)], SETTINGS)


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        (Query("q1", "Question 1?"), '["Question 1?",null,[]]'),
        (Query("q1", "Question 1?", 2000, frozenset({"d2", "d1"})), '["Question 1?",2000,["d1","d2"]]'),
    ],
)
def test_results_made_before_there_were_candidates_are_valid(tmp_path: Path, query: Query, asked: str) -> None:
    done = {"id": "q1", "asked": hashlib.sha256(asked.encode()).hexdigest(), "ids": ["d3"], "scores": [1.0]}
    lines = [{"configuration": SETTINGS}, {"seconds": 0.1, "queries": [done]}]
    (tmp_path / "0.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert ask(tmp_path, [query]).batches == []
    assert read_progress(tmp_path, SETTINGS).run == {"q1": Ranking(("d3",), (1.0,))}


def test_a_line_that_the_machine_lost_is_asked_again(tmp_path: Path) -> None:
    ask(tmp_path)
    lines = (tmp_path / "0.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "0.jsonl").write_bytes(b"".join([*lines[:3], b"\0" * 20 + b"\n"]))
    assert ask(tmp_path).batches[1:] == [["q2", "q3"], ["q4", "q5"], ["q6"]]
    assert read_progress(tmp_path, SETTINGS).run == expected()
    assert all(json.loads(line) for line in (tmp_path / "0.jsonl").read_text().splitlines())


@pytest.mark.parametrize("numbers", [(0, 1), (1, 0)])
def test_sizes_below_one_are_refused(numbers: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="must be 1 or more"):
        BatchConfig(numbers[0], "document", numbers[1])


ANSWER = {"id": "q0", "asked": "x", "ids": ["d1"], "scores": [1.0]}


@pytest.mark.parametrize("first", ["{}", "[]", "3", "null", '"x"', '{"configuration": 3}', "[" * 100_000])
def test_a_file_that_begins_otherwise_is_named(tmp_path: Path, first: str) -> None:
    (tmp_path / "0.jsonl").write_text(first + "\n")
    for read in (lambda: read_progress(tmp_path, SETTINGS), lambda: ask(tmp_path)):
        with pytest.raises(InputError, match=r"0\.jsonl, line 1, is no result of a run; .*--overwrite"):
            read()
    assert (tmp_path / "0.jsonl").read_text() == first + "\n"


@pytest.mark.parametrize(
    "line",
    [
        *("{}", "[]", "7", "null", '"x"', '{"queries": []}', '{"seconds": 1.0}', "[" * 100_000),
        *(json.dumps({"preparation": value}) for value in ("1", None, True, [])),
        *(json.dumps({"seconds": value, "queries": []}) for value in ("1", None, float("nan"), 10**400)),
        *(json.dumps({"seconds": 1.0, "queries": value}) for value in (None, {"a": 1}, [3], [[]], "q")),
        *(
            json.dumps({"seconds": 1.0, "queries": [ANSWER | {key: value}]})
            for key, value in [
                ("id", 3), ("id", None), ("asked", None), ("ids", "d1"), ("ids", [1]), ("ids", ["d1", "d2"]),
                ("scores", ["1"]), ("scores", [None]), ("scores", [True]), ("scores", [float("inf")]), ("scores", 1.0),
            ]
        ),
        *(
            json.dumps({"seconds": 1.0, "queries": [{k: v for k, v in ANSWER.items() if k != key}]})
            for key in ANSWER
        ),
    ],
)  # fmt: skip
def test_a_line_that_is_no_result_is_named(tmp_path: Path, line: str) -> None:
    ask(tmp_path)
    path = tmp_path / "0.jsonl"
    path.write_text(path.read_text() + line + "\n")
    before = path.read_bytes()
    for read in (lambda: read_progress(tmp_path, SETTINGS), lambda: ask(tmp_path)):
        with pytest.raises(InputError, match=r"0\.jsonl, line 7, is no result of a run; .*--overwrite"):
            read()
    assert path.read_bytes() == before
