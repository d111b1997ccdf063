"""`scripts/explain_retrieval.py` from runs and a folder to tables: cells by hand, what is said, what is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import scripts.tools
from kg.build import Tools, open_graph
from retrieval.overlap import rank_biased_overlap
from retrieval.ranking import Ranking
from retrieval.trec import write_run
from scripts import evaluate_retrieval, explain_retrieval
from scripts.explain_retrieval import main
from tests.beir_folder import QRELS, QUERIES, write_beir
from tests.conftest import HashEncoder

Explain = Callable[..., int]
DENSE = {"q1": "158", "q2": "374", "q3": "561", "q4": "732", "q5": "128", "q6": "371"}
BM25 = {"q1": "128", "q2": "437", "q3": "516", "q4": "372", "q5": "812", "q6": "713"}
"""Numbers of papers, best first."""


def write(out: Path, name: str, rankings: dict[str, str]) -> None:
    made = {
        query: Ranking(tuple(f"d{n}" for n in numbers), tuple(range(len(numbers), 0, -1)))
        for query, numbers in rankings.items()
    }
    (out / "runs").mkdir(parents=True, exist_ok=True)
    write_run(made, out / "runs" / f"{name}.trec", "tag")


@pytest.fixture
def explain() -> Explain:
    return lambda *arguments: main([str(argument) for argument in arguments])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    topics = {query: {"topic": "health" if query in {"q1", "q3", "q5"} else "money"} for query in QRELS["dev"]}
    return write_beir(tmp_path / "tiny", **topics)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    directory = tmp_path / "out"
    write(directory, "tiny.dense", DENSE)
    write(directory, "tiny.bm25", BM25)
    write(directory, "tiny.more.dense", DENSE)  # of a folder called tiny.more
    return directory


def table(text: str, heading: str) -> list[list[str]]:
    """Cells of the first table below a heading, its two first lines left out."""
    lines = iter(text[text.index(heading) :].splitlines())
    rows: list[list[str]] = []
    for line in lines:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split(" | ")])
        elif rows:
            break
    return rows[2:]


def test_tables_by_hand(explain: Explain, out: Path, folder: Path, capsys: Any) -> None:
    assert explain(out, folder, "--split", "dev", "--measure", "RR", "--depth", 2) == 0
    told = capsys.readouterr()
    assert told.err == ""
    assert told.out.startswith("## tiny\n\n5 queries in 4 clusters by shared relevant documents.")
    overlap = sum(rank_biased_overlap(BM25[query], DENSE[query]) for query in QRELS["dev"]) / 5
    assert table(told.out, "### Order beside dense") == [
        ["bm25", f"{overlap:.3f}", "0.600", "2 of 6 (33.3 %)", "3 of 7 (42.9 %)"]
    ]
    assert table(told.out, "### RR by number of relevant documents") == [
        ["1", "bm25", "1", "1", "1.000", "0.500", "-0.500", "1", "1"],
        ["2", "bm25", "4", "3", "0.875", "1.000", "+0.125", "1", "1"],
    ]
    assert "| relevant | compared | queries | clusters | dense | method | difference | p | p (Holm) |" in told.out
    assert table(told.out, "### Unrelated documents among the first 2") == [
        # d5 for q1, d7 for q2, d3 for q4; and d1 for q5, with q1's "vitamin"
        ["dense", "all", "0.80", "", "25.0 %", "0.0 %", "75.0 %"],
        ["dense", "judged not relevant", "0.20", "25.0 %", "0.0 %", "0.0 %", "100.0 %"],
        ["dense", "relevant to another query of the cluster", "0.20", "25.0 %", "100.0 %", "0.0 %", "0.0 %"],
        ["dense", "relevant to another query", "0.40", "50.0 %", "0.0 %", "0.0 %", "100.0 %"],
        # d1 for q3, d3 for q4; and d1 for q5
        ["bm25", "all", "0.60", "", "33.3 %", "0.0 %", "66.7 %"],
        ["bm25", "judged not relevant", "0.00", "0.0 %", "", "", ""],
        ["bm25", "relevant to another query of the cluster", "0.20", "33.3 %", "100.0 %", "0.0 %", "0.0 %"],
        ["bm25", "relevant to another query", "0.40", "66.7 %", "0.0 %", "0.0 %", "100.0 %"],
    ]


def test_json_tells_what_the_tables_do(explain: Explain, out: Path, folder: Path, capsys: Any) -> None:
    assert explain(out, folder, "--measure", "RR", "--depth", 2, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["tiny.dev", "tiny.test"]
    dev = found["tiny.dev"]
    assert (dev["reference"], dev["measure"], dev["depth"], dev["n_queries"]) == ("dense", "RR", 2, 5)
    assert dev["order"]["bm25"]["shared"] == {
        "mean": pytest.approx(0.6), "low": None, "high": None, "n": 5, "n_clusters": 4,
    }  # fmt: skip
    assert dev["order"]["bm25"]["lost"] == 2
    assert dev["gain"]["2"]["bm25"]["difference"]["mean"] == 0.125
    assert dev["unrelated"]["dense"]["per_query"]["mean"] == 0.8
    assert dev["unrelated"]["dense"]["counts"]["judged not relevant"]["no word"] == 1


def test_marks_and_intervals_where_queries_are_many(explain: Explain, tmp_path: Path, capsys: Any) -> None:
    folder = write_beir(tmp_path / "many")
    records = [{"_id": f"n{n}", "text": f"Does vitamin D matter {n}?"} for n in range(24)]
    (folder / "queries.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    (folder / "qrels" / "dev.tsv").write_text("".join(f"{r['_id']}\trelevant{n}\t1\n" for n, r in enumerate(records)))
    other = {record["_id"]: Ranking(("d1", f"relevant{n}"), (2.0, 1.0)) for n, record in enumerate(records)}
    best = {record["_id"]: Ranking((f"relevant{n}", "d1"), (2.0, 1.0)) for n, record in enumerate(records)}
    (tmp_path / "out" / "runs").mkdir(parents=True)
    for name, made in (("dense", other), ("best", best), ("same", other)):
        write_run(made, tmp_path / "out" / "runs" / f"many.{name}.trec", name)
    assert explain(tmp_path / "out", folder, "--split", "dev", "--measure", "RR") == 0
    told = capsys.readouterr()
    assert table(told.out, "### Order")[0][3:] == ["0 of 24", "0 of 24"]
    best_row, same_row = table(told.out, "### RR by")
    assert best_row[7:] == ["0.0001", "0.0002"]
    assert best_row[:7] == ["1", "best", "24", "24", "0.500", "1.000", "+0.500▲ [+0.500, +0.500]"]
    assert same_row[6:] == ["+0.000 [+0.000, +0.000]", "1", "1"]
    assert "many: 24 documents that dense ranks are not in the corpus" in told.err
    assert "many: 24 of 24 rankings of best hold fewer than 20 documents" in told.err


def test_documents_that_the_corpus_lacks_have_a_column(explain: Explain, out: Path, folder: Path, capsys: Any) -> None:
    write(out, "tiny.odd", {**DENSE, "q1": "915"})
    assert explain(out, folder, "--split", "dev", "--depth", 2, "--methods", "odd") == 0
    told = capsys.readouterr()
    assert told.err == "tiny: 1 documents that odd ranks are not in the corpus; which words they hold is not known.\n"
    rows = table(told.out, "### Unrelated")
    assert {row[0] for row in rows} == {"dense", "odd"}
    assert ["odd", "not judged", "0.20", "25.0 %", "0.0 %", "0.0 %", "0.0 %", "100.0 %"] in rows
    assert "| rarest word | other word | no word | not in the corpus |" in told.out


def test_the_reference_alone_has_its_unrelated_documents(
    explain: Explain, out: Path, folder: Path, capsys: Any
) -> None:
    assert explain(out, folder, "--split", "dev", "--depth", 2, "--methods", "bm25", "--reference", "bm25") == 0
    told = capsys.readouterr().out
    assert "### Order" not in told
    assert [row[0] for row in table(told, "### Unrelated")] == ["bm25"] * 3


def test_columns_fields_and_exclusions(explain: Explain, out: Path, folder: Path, tmp_path: Path, capsys: Any) -> None:
    (folder / "qrels" / "dev.tsv").write_text("q1\td1\t0\t1\nq3\td5\t0\t1\n")
    excluded = tmp_path / "excluded.tsv"
    excluded.write_text("q1\td3\n")
    arguments = (out, folder, "--split", "dev", "--score_column", 4, "--cluster_by", "topic", "--depth", 3)
    assert explain(*arguments, "--excluded", excluded) == 0
    assert "2 queries in 1 clusters by equal topic." in capsys.readouterr().out
    excluded.write_text("q1\td8\n")
    assert explain(*arguments, "--excluded", excluded) == 2
    assert "tiny.dense.trec ranks d8 for query q1, which excludes it" in capsys.readouterr().err


def test_runs_of_judged_documents_alone(explain: Explain, out: Path, folder: Path, tmp_path: Path, capsys: Any) -> None:
    arguments = (out, folder, "--split", "dev", "--measure", "RR", "--depth", 2)
    assert explain(*arguments, "--judged_only") == 2
    told = capsys.readouterr()
    assert told.err.endswith(
        "tiny.dense.trec ranks d8 for query q1, which has no judgement of it; leave --judged_only out, or name the "
        "--split that the run was made with.\n"
    )
    assert (told.err.count("\n"), told.out) == (1, "")
    judged = {"q1": "512", "q2": "43", "q3": "56", "q4": "7", "q5": "28"}
    write(out, "tiny.dense", judged)
    assert explain(*arguments, "--judged_only") == 2  # the other method's run
    assert "tiny.bm25.trec ranks d8 for query q1" in capsys.readouterr().err
    write(out, "tiny.bm25", {**judged, "q1": "125"})
    assert explain(*arguments, "--judged_only") == 0
    told = capsys.readouterr()
    assert (
        "each query ranks only the documents that have a judgement for it, 1 at the least and 3 at the most" in told.err
    )
    rows = table(told.out, "### Unrelated documents among the first 2")
    assert [row[:3] for row in rows if row[1] in {"all", "judged not relevant"}] == [
        ["dense", "all", "0.20"],
        ["dense", "judged not relevant", "0.20"],
        ["bm25", "all", "0.00"],
        ["bm25", "judged not relevant", "0.00"],
    ]


def test_judgements_that_are_all_relevant_are_no_candidates(
    explain: Explain, out: Path, folder: Path, capsys: Any
) -> None:
    (folder / "qrels" / "test.tsv").write_text("q6\td3\t1\nq6\td7\t1\n")
    assert explain(out, folder, "--judged_only") == 2
    told = capsys.readouterr()
    assert "tiny.test has no judgement of 0 or less" in told.err
    assert (told.err.count("\n"), told.out) == (1, "")


Evaluate = Callable[..., Path]


@pytest.fixture
def evaluate(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, tools: Tools) -> Evaluate:
    """OUT of an experiment with these arguments."""
    monkeypatch.setattr(scripts.tools, "load_encoder", lambda given, manifest=None: HashEncoder())
    made = tmp_path / "made"

    def ask(*arguments: object, methods: tuple[str, ...] = ("dense", "bm25")) -> Path:
        given = [folder, "--out", made, "--methods", *methods, *arguments]
        assert evaluate_retrieval.main([str(argument) for argument in given]) == 0
        capsys.readouterr()
        return made

    return ask


def test_what_an_experiment_wrote_is_read(explain: Explain, folder: Path, evaluate: Evaluate, capsys: Any) -> None:
    made = evaluate(methods=("dense", "bm25", "ppr"))
    results = json.loads((made / "results.json").read_text())
    assert explain(made, folder, "--depth", 3, "--json") == 0
    told = capsys.readouterr()
    assert "asked" not in told.err
    found = json.loads(told.out)
    for name in ("tiny.dev", "tiny.test"):
        assert list(found[name]["order"]) == ["bm25", "ppr"]
        for method in found[name]["order"]:
            gains = [own[method] for own in found[name]["gain"].values()]
            n = sum(gain["difference"]["n"] for gain in gains)
            mean = sum(gain["method"] * gain["difference"]["n"] for gain in gains) / n
            assert mean == pytest.approx(results[name][method]["nDCG@10"]["mean"])


def test_the_example_of_the_docstring_is_a_command(
    explain: Explain, folder: Path, evaluate: Evaluate, capsys: Any
) -> None:
    [line] = [line.split() for line in str(explain_retrieval.__doc__).splitlines() if "python scripts/" in line]
    given: dict[str, object] = {"OUT": evaluate(), "FOLDER": folder}
    assert line[:2] == ["python", "scripts/explain_retrieval.py"]
    assert explain(*(given.get(word, word) for word in line[2:])) == 0
    assert "### Order beside dense" in capsys.readouterr().out


def test_every_option_has_a_sentence_of_help(explain: Explain, capsys: Any) -> None:
    assert explain("--help") == 0
    told = " ".join(capsys.readouterr().out.replace("│", " ").split())
    for name in explain_retrieval.Arguments.__dataclass_fields__:
        option = {"out": "OUT", "folder": "FOLDER"}.get(name, f"--{name}")
        after = told.split(f" {option} ", 2)[-1]
        assert len(after.split(" --")[0].split("(default")[0].split()) > 4, option


def test_runs_of_the_first_queries_are_explained_with_the_same_limit(
    explain: Explain, folder: Path, evaluate: Evaluate, capsys: Any
) -> None:
    made = evaluate("--split", "dev", "--limit", 3)
    arguments = (made, folder, "--split", "dev", "--depth", 2)
    assert explain(*arguments) == 2
    told = capsys.readouterr()
    assert "ranks nothing for 2 of 5 judged queries, q4 first" in told.err
    assert told.err.endswith("or name the --split and --limit that were asked.\n")
    assert explain(*arguments, "--limit", 3, "--json") == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["tiny"]["n_queries"] == 3
    assert told.err.count("the first 3 of 5 queries are asked") == 1
    assert explain(*arguments, "--limit", 0) == 2
    assert "The limit is 0 queries" in capsys.readouterr().err
    evaluate("--split", "dev")  # and back: the state knows more queries than the runs hold
    evaluate("--split", "dev", "--limit", 3)
    assert explain(*arguments) == 2
    assert "ranks nothing for 2 of 5 judged queries, q4 first" in capsys.readouterr().err


def test_a_query_for_which_nothing_was_found_counts_as_asked(
    explain: Explain, folder: Path, evaluate: Evaluate, capsys: Any
) -> None:
    with (folder / "queries.jsonl").open("a") as file:
        file.write('{"_id": "q7", "text": "zxqv"}\n')  # a word that no paper has
    with (folder / "qrels" / "dev.tsv").open("a") as file:
        file.write("q7\td4\t1\n")
    made = evaluate("--split", "dev")
    assert "q7" not in (made / "runs" / "tiny.bm25.trec").read_text()
    arguments = (made, folder, "--split", "dev", "--depth", 2, "--measure", "RR", "--json")
    assert explain(*arguments) == 0
    found = json.loads(capsys.readouterr().out)["tiny"]
    assert found["n_queries"] == 6
    values = json.loads((made / "results.json").read_text())["tiny"]["bm25"]["RR"]
    one, several = found["gain"]["1"]["bm25"], found["gain"]["2"]["bm25"]
    assert (one["difference"]["n"], several["difference"]["n"], values["n"]) == (2, 4, 6)
    assert 2 * one["method"] + 4 * several["method"] == pytest.approx(6 * values["mean"])
    shutil.rmtree(made / "state")
    assert explain(*arguments) == 2
    assert "tiny.bm25.trec ranks nothing for 1 of 6 judged queries, q7 first" in capsys.readouterr().err


def test_queries_asked_otherwise_are_told(
    explain: Explain, folder: Path, tmp_path: Path, evaluate: Evaluate, capsys: Any
) -> None:
    made = evaluate("--split", "dev", "--judged_only")
    arguments = (made, folder, "--split", "dev", "--depth", 2)
    assert explain(*arguments) == 0
    sentence = "tiny: other queries were asked for dense, bm25 than these"
    told = capsys.readouterr().err
    assert sentence in told
    assert "say so here" in told
    assert explain(*arguments, "--judged_only") == 0
    told = capsys.readouterr().err
    assert sentence not in told
    assert "say so here" not in told
    shutil.rmtree(made / "state")
    assert explain(*arguments) == 0
    assert capsys.readouterr().err.startswith(
        "tiny: every run ranks judged documents only, though the corpus has others; if the runs were made with "
        "--judged_only, say so here.\n"
    )
    shutil.rmtree(made)
    excluded = tmp_path / "excluded.tsv"
    excluded.write_text("q1\td3\n")
    evaluate("--split", "dev", "--excluded", excluded)
    assert explain(*arguments) == 0
    assert sentence in capsys.readouterr().err
    assert explain(*arguments, "--excluded", excluded) == 0
    assert sentence not in capsys.readouterr().err
    (made / "state" / "tiny" / "bm25" / "1.jsonl").write_text('{"configuration": 1}\n')
    assert explain(*arguments) == 2
    assert "is no result of a run" in capsys.readouterr().err


def test_years_make_no_difference(explain: Explain, tmp_path: Path, evaluate: Evaluate, capsys: Any) -> None:
    records = [{"_id": key, "text": text, "latest_year": 2001} for key, text in QUERIES.items()]
    folder = tmp_path / "tiny"
    (folder / "queries.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    made = evaluate("--years")
    assert explain(made, folder, "--depth", 2) == 0
    assert "asked" not in capsys.readouterr().err


def test_runs_over_sections_are_refused(explain: Explain, folder: Path, evaluate: Evaluate, capsys: Any) -> None:
    sections = open_graph(evaluate() / "graphs" / "tiny").sections["section_id"].to_pylist()
    rows = (f"q{n}\t{sections[n]}\t1\n" for n in range(1, 6))
    (folder / "qrels" / "dev.tsv").write_text("".join(rows))
    shutil.rmtree(folder.parent / "made" / "state")
    made = evaluate("--split", "dev", "--unit", "section")
    for kept in (True, False):
        if not kept:
            shutil.rmtree(made / "state")  # configuration.json still tells
        assert explain(made, folder, "--split", "dev") == 2
        told = capsys.readouterr()
        assert "tiny.dense.trec ranks sections, and only runs over documents are explained" in told.err
        assert (told.err.count("\n"), told.out) == (1, "")
    (made / "configuration.json").write_text("[]")
    assert explain(made, folder, "--split", "dev") == 2
    assert "configuration.json is not what scripts/evaluate_retrieval.py writes" in capsys.readouterr().err


def test_a_record_that_cannot_be_read_makes_the_exit_code_say_partly(
    explain: Explain, out: Path, folder: Path, capsys: Any
) -> None:
    with (folder / "corpus.jsonl").open("a") as file:
        file.write("no json\n")
    assert explain(out, folder, "--depth", 2) == 1
    assert "1 rejected" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--methods", "magic"], "no run of the method 'magic' for tiny; there are those of bm25, dense."),
        (["--reference", "lkg"], "no run of the reference 'lkg' for tiny; there are those of bm25, dense."),
        (["--depth", "0"], "The depth is 0"),
        (["--measure", "WSS@95"], "WSS@95 needs the graph"),
        (["--split", "validation"], "has no judgements for split 'validation'; there are dev, test"),
        (["--cluster_by", "colour"], "has a field colour"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(
    explain: Explain, out: Path, folder: Path, capsys: Any, arguments: list[str], words: str
) -> None:
    assert explain(out, folder, *arguments) == 2
    told = capsys.readouterr()
    assert words in told.err
    assert told.err.count("\n") == 1
    assert told.out == ""


def test_runs_that_are_missing_are_named(
    explain: Explain, out: Path, folder: Path, tmp_path: Path, capsys: Any
) -> None:
    write(out, "tiny.bm25", {query: numbers for query, numbers in BM25.items() if query != "q6"})
    assert explain(out, folder) == 2
    assert "tiny.bm25.trec ranks nothing for 1 of 6 judged queries, q6 first" in capsys.readouterr().err
    assert explain(out, folder, "--split", "dev", "--depth", 2) == 0
    capsys.readouterr()
    other = write_beir(tmp_path / "other")
    assert explain(out, other) == 2
    assert "There is no run of other in" in capsys.readouterr().err
    (folder / "corpus.jsonl").unlink()
    assert explain(out, folder) == 2
    assert "corpus.jsonl does not exist" in capsys.readouterr().err
