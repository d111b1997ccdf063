from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence

import pytest

from retrieval.cells import markdown_table
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


def comparison(n: int, name: str = "tiny", methods: Sequence[str] = ("bm25", "ppr")) -> Comparison:
    """``bm25`` finds the one relevant document at rank 2, ``ppr`` (and ``lkg``) at rank 1, of each of ``n`` queries."""
    qrels = {f"q{q}": {f"d{q}": 1} for q in range(n)}
    runs = {
        "bm25": {query: Ranking(("other", *judged), (2.0, 1.0)) for query, judged in qrels.items()},
        "ppr": {query: Ranking((*judged, "other"), (2.0, 1.0)) for query, judged in qrels.items()},
    }
    runs["lkg"] = runs["ppr"]
    return compare(name, {m: assess(runs[m], qrels, ["RR", "R@2"], depth=2) for m in methods}, qrels)


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
    assert "30 queries. Mean [95 % BCa bootstrap interval]; the highest mean is bold. ▲ above" in text
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
    overview = results_markdown([comparison(3)], by_query=False)
    assert "query by query" not in overview
    assert text.startswith(overview.removesuffix("\n"))


def test_differences_stand_with_their_p_below_the_means() -> None:
    text = results_markdown([comparison(30, methods=("lkg", "bm25", "ppr"))])
    assert table_of(text, "### Difference from bm25 (p after Holm)") == {
        "method": ["RR", "R@2"], "---": ["---:", "---:"], "lkg": ["+0.500 (<0.001)", "+0.000 (1)"],
        "ppr": ["+0.500 (<0.001)", "+0.000 (1)"],
    }  # fmt: skip
    assert table_of(results_markdown([comparison(5)]), "### Difference from bm25")["ppr"][0] == "+0.500 (0.062)"


@pytest.mark.parametrize(
    ("n", "methods", "p"),
    [(5, ("bm25", "ppr"), "0.062"), (6, ("bm25", "ppr", "lkg"), "0.062"), (1, ("bm25", "ppr"), "1")],
)
def test_clusters_too_few_for_any_mark_are_said_to_be(n: int, methods: tuple[str, ...], p: str) -> None:
    text = results_markdown([comparison(n, methods=methods)])
    assert f"Too few clusters to mark anything: p of the exact sign-flip test against bm25 is {p} or more" in text
    assert not {"▲", "▼"} & set(text)


@pytest.mark.parametrize(("n", "methods"), [(6, ("bm25", "ppr")), (7, ("bm25", "ppr", "lkg"))])
def test_one_cluster_more_is_enough(n: int, methods: tuple[str, ...]) -> None:
    text = results_markdown([comparison(n, methods=methods)])
    assert "▲ above, ▼ below bm25: exact sign-flip test, p <= 0.05" in text
    assert "▲" in table_of(text, "## tiny")["ppr"][0]


@pytest.mark.parametrize("n", [3, 30])
def test_one_method_is_compared_with_nothing(n: int) -> None:
    text = results_markdown([comparison(n, methods=("bm25",))])
    assert not [word for word in ("▲", "below", "Too few", "test", "Difference", "**", "bold") if word in text]
    without = results_markdown([comparison(n, methods=("ppr", "lkg"))])
    assert "Nothing is tested, as no method is named as the baseline and none is a text method." in without
    assert not [word for word in ("▲", "Difference") if word in without]


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
    assert table_of(text, "Milliseconds per query") == {
        "method": ["a", "b"], "---": ["---:", "---:"], "bm25": ["1.2 ± 0.40", ""], "ppr": ["250 ± 120", "1,000"],
    }  # fmt: skip
    assert table_of(text, "Seconds until")["ppr"] == ["2.0", "3.0"]
    assert json.loads(json.dumps(timings_json(timings)))["b"]["ppr"] == {
        "mean": 1.0, "sd": None, "n": 1, "preparation": 3.0, "starts": 2,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.0, "0"), (2.04e-7, "0.00020"), (0.0000996, "0.10"), (0.00999, "10"), (0.0104, "10"), (1.26, "1,300")],
)
def test_times_have_two_significant_digits(seconds: float, shown: str) -> None:
    assert table_of(timings_markdown({"a": {"bm25": Timing(seconds, None, 1, 1.0, 1)}}, 1), "Milli")["bm25"] == [shown]


def test_cells_are_text_and_never_markup() -> None:
    assert markdown_table(["query", "a"], [["<b>x|y", "1"]])[2] == r"| \<b>x\|y | 1 |"
