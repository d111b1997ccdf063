from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping

import pytest

from retrieval.comparison import Comparison, Difference, assess, compare
from retrieval.ranking import Ranking
from retrieval.tables import (
    mark,
    per_query_csv,
    recall_csv,
    results,
    results_csv,
    results_markdown,
    significance,
    timings_json,
    timings_markdown,
)
from retrieval.timings import Timing


def comparison(n: int, name: str = "tiny") -> Comparison:
    """``bm25`` finds the one relevant document at rank 2, ``ppr`` at rank 1, of each of ``n`` queries."""
    qrels = {f"q{q}": {f"d{q}": 1} for q in range(n)}
    runs = {
        "bm25": {query: Ranking(("other", *judged), (2.0, 1.0)) for query, judged in qrels.items()},
        "ppr": {query: Ranking((*judged, "other"), (2.0, 1.0)) for query, judged in qrels.items()},
    }
    return compare(name, {m: assess(run, qrels, ["RR", "R@2"], depth=2) for m, run in runs.items()}, qrels)


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def table_of(text: str, heading: str) -> Mapping[str, list[str]]:
    """Cells by first column of the first table below a heading, with its header."""
    lines = text[text.index(heading) :].splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("|"))
    table = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        table.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return {cells[0]: cells[1:] for cells in table}


def test_results_have_one_shape() -> None:
    assert results([comparison(3)]) == {
        "tiny": {
            "bm25": {
                "RR": {"mean": 0.5, "low": None, "high": None, "n": 3},
                "R@2": {"mean": 1.0, "low": None, "high": None, "n": 3},
            },
            "ppr": {
                "RR": {"mean": 1.0, "low": None, "high": None, "n": 3},
                "R@2": {"mean": 1.0, "low": None, "high": None, "n": 3},
            },
        }
    }
    assert results([comparison(30)])["tiny"]["bm25"]["RR"] == {"mean": 0.5, "low": 0.5, "high": 0.5, "n": 30}


def test_tests_name_their_baseline() -> None:
    found = significance([comparison(30)])["tiny"]
    assert (found["baseline"], found["n_clusters"]) == ("bm25", 30)
    assert found["measures"]["RR"]["ppr"]["difference"] == 0.5
    assert found["measures"]["RR"]["ppr"]["p_holm"] < 0.001
    assert found["measures"]["R@2"]["ppr"] == {"difference": 0.0, "p": 1.0, "p_holm": 1.0}


def test_csv_tells_what_json_does() -> None:
    table = rows(results_csv([comparison(30)]))
    assert [(row["method"], row["measure"], row["mean"], row["low"]) for row in table] == [
        ("bm25", "RR", "0.5", "0.5"), ("bm25", "R@2", "1.0", "1.0"), ("ppr", "RR", "1.0", "1.0"),
        ("ppr", "R@2", "1.0", "1.0"),
    ]  # fmt: skip
    assert [row["difference"] for row in table] == ["", "", "0.5", "0.0"]
    assert {row["baseline"] for row in table} == {"bm25"}


def test_values_of_each_query() -> None:
    table = rows(per_query_csv([comparison(3)]))
    assert len(table) == 6
    assert table[0] == {"dataset": "tiny", "method": "bm25", "query": "q0", "RR": "0.5", "R@2": "1.0"}


def test_recall_by_rank() -> None:
    table = rows(recall_csv([comparison(3)]))
    assert [(row["method"], row["rank"], row["recall"]) for row in table] == [
        ("bm25", "1", "0.0"), ("bm25", "2", "1.0"), ("ppr", "1", "1.0"), ("ppr", "2", "1.0"),
    ]  # fmt: skip


def test_markdown_marks_what_differs_and_shows_intervals() -> None:
    text = results_markdown([comparison(30), comparison(25, "second")])
    assert table_of(text, "## tiny") == {
        "method": ["RR", "R@2"],
        "---": ["---:", "---:"],
        "bm25": ["0.500 [0.500, 0.500]", "**1.000** [1.000, 1.000]"],
        "ppr": ["**1.000**▲ [1.000, 1.000]", "**1.000** [1.000, 1.000]"],
    }
    assert "30 queries. Mean [95 % bootstrap interval]" in text
    assert "25 queries. Mean" in text
    assert "below bm25: paired randomisation test" in text
    assert "query by query" not in text


def test_few_queries_are_shown_one_by_one_without_intervals() -> None:
    text = results_markdown([comparison(3)])
    assert table_of(text, "## tiny")["bm25"] == ["0.500", "**1.000**"]
    assert table_of(text, "### RR, query by query") == {
        "query": ["bm25", "ppr"], "---": ["---:", "---:"], "q0": ["0.500", "1.000"], "q1": ["0.500", "1.000"],
        "q2": ["0.500", "1.000"],
    }  # fmt: skip
    assert "so there are no intervals" in text
    assert "exact sign-flip test" in text


@pytest.mark.parametrize(("mean", "adjusted", "shown"), [(0.1, 0.05, "▲"), (-0.1, 0.05, "▼"), (0.1, 0.0501, "")])
def test_marks(mean: float, adjusted: float, shown: str) -> None:
    plain = comparison(3)
    made = Comparison(**vars(plain) | {"differences": {"RR": {"ppr": Difference(mean, 0.0, adjusted)}}})
    assert mark(made, "ppr", "RR") == shown
    assert mark(made, "bm25", "RR") == ""


def test_seconds_have_a_row_per_method_and_a_column_per_collection() -> None:
    timings = {
        "a": {"bm25": Timing(0.00123, 0.0004, 9, 0.5, 1), "ppr": Timing(0.25, 0.125, 9, 2.0, 1)},
        "b": {"ppr": Timing(1.0, None, 1, 3.0, 2)},
    }
    text = timings_markdown(timings, 16)
    assert "16 questions at a time" in text
    assert table_of(text, "Seconds per query") == {
        "method": ["a", "b"], "---": ["---:", "---:"], "bm25": ["0.0012 ± 0.0004", ""],
        "ppr": ["0.2500 ± 0.1250", "1.0000"],
    }  # fmt: skip
    assert table_of(text, "Seconds until")["ppr"] == ["2.00", "3.00"]
    assert json.loads(json.dumps(timings_json(timings)))["b"]["ppr"] == {
        "mean": 1.0, "sd": None, "n": 1, "preparation": 3.0, "starts": 2,
    }  # fmt: skip
