"""`scripts/evaluate_retrieval.py` from folders to tables: numbers, resuming, processes, what is refused and said."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import pytrec_eval

import scripts.tools
from kg.build import Tools, open_graph
from kg.lock import writer_lock
from retrieval.experiment import corpus_graph
from retrieval.rerank import CrossEncoderReranker
from scripts.evaluate_retrieval import main
from tests.beir_folder import PAPERS, QRELS, QUERIES, write_beir
from tests.conftest import ROOT, HashEncoder, paper
from tests.test_retrieval_rerank import write_cross_encoder

Run = Callable[..., int]
METHODS = ("bm25", "dense", "ppr", "lkg", "hybrid")
TIMED = {"timings.json", "timings.md", "quality_time.png", "quality_time.svg"}


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(scripts.tools, "load_encoder", lambda given, manifest=None: HashEncoder())
    return lambda *arguments: main([str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_beir(tmp_path_factory.mktemp("beir") / "tiny", q1={"latest_year": 2001})


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory, tools: Tools) -> Path:
    directory = tmp_path_factory.mktemp("graphs") / "graph"
    corpus_graph(directory, [paper(key, text, f"Paper {key}") for key, text in PAPERS.items()], tools)
    return directory


def written(out: Path) -> dict[str, bytes]:
    """Results by name, but for those with seconds."""
    paths = [path for path in (*out.glob("*"), *out.glob("runs/*")) if path.is_file()]
    return {str(path.relative_to(out)): path.read_bytes() for path in paths if path.name not in TIMED}


def test_numbers_are_pytrec_eval_s_of_the_runs_written(run: Run, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run(folder, "--out", out, "--methods", *METHODS) == 0
    results = json.loads((out / "results.json").read_text())
    assert list(results) == ["tiny.dev", "tiny.test"]
    assert all(tuple(own) == METHODS for own in results.values())
    measures = {"R@20": "recall_20", "R@100": "recall_100", "nDCG@10": "ndcg_cut_10", "AP": "map", "RR": "recip_rank"}
    for method in METHODS:
        found: dict[str, dict[str, float]] = {}
        for line in (out / "runs" / f"tiny.{method}.trec").read_text().splitlines():
            query, _, document, _, score, tag = line.split()
            assert tag == method
            found.setdefault(query, {})[document] = float(score)
        for split, qrels in QRELS.items():
            judged = {query: own for query, own in qrels.items() if any(own.values())}
            values = pytrec_eval.RelevanceEvaluator(judged, set(measures.values())).evaluate(found)
            for measure, name in measures.items():
                entry = results[f"tiny.{split}"][method][measure]
                mean = sum(values[query][name] for query in judged if query in values) / len(judged)
                assert entry == {"mean": pytest.approx(mean), "low": None, "high": None, "n": len(judged)}
    assert {path.name for path in out.iterdir()} == {
        "configuration.json", "results.json", "results.md", "results.csv", "per_query.csv", "recall_curves.csv",
        "significance.json", "runs", "state", "graphs", *TIMED,
    }  # fmt: skip


def test_two_runs_give_the_same_bytes(run: Run, folder: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        assert run(folder, "--out", tmp_path / name, "--methods", *METHODS) == 0
    assert written(tmp_path / "a") == written(tmp_path / "b")
    assert "seconds" not in b"".join(written(tmp_path / "a").values()).decode()


def test_a_killed_run_ends_as_one_that_was_not(run: Run, folder: Path, graph: Path, tmp_path: Path) -> None:
    arguments = (folder, "--graph", graph, "--methods", "bm25", "ppr", "--batch_size", 2)
    assert run(*arguments, "--out", tmp_path / "whole") == 0
    whole = written(tmp_path / "whole")
    for share in (0.0, 0.3, 0.6, 0.9):
        out = tmp_path / str(share)
        shutil.copytree(tmp_path / "whole" / "state", out / "state")
        ppr = out / "state" / "tiny" / "ppr" / "0.jsonl"
        os.truncate(ppr, int(share * ppr.stat().st_size))
        assert run(*arguments, "--out", out) == 0
        assert written(out) == whole


def test_a_graph_is_built_once(run: Run, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for _ in range(2):
        assert run(folder, "--out", out, "--methods", "lkg") == 0
    assert [path.name for path in (out / "graphs" / "tiny" / "generations").iterdir()] == ["0001"]


def test_measures_and_more_methods_and_queries_use_what_is_done(
    run: Run, folder: Path, graph: Path, tmp_path: Path
) -> None:
    arguments = (folder, "--graph", graph, "--out", tmp_path, "--split", "dev")
    assert run(*arguments, "--methods", "bm25", "--limit", 2) == 0
    before = (tmp_path / "state" / "tiny" / "bm25" / "0.jsonl").read_bytes()
    assert run(*arguments, "--methods", "bm25", "dense", "--measures", "P@1", "WSS@95") == 0
    after = (tmp_path / "state" / "tiny" / "bm25" / "0.jsonl").read_bytes()
    assert after.startswith(before)
    results = json.loads((tmp_path / "results.json").read_text())["tiny"]
    assert {(method, measure, own["n"]) for method in results for measure, own in results[method].items()} == {
        (method, measure, 5) for method in ("bm25", "dense") for measure in ("P@1", "WSS@95")
    }


def test_other_settings_are_refused_or_start_anew(
    run: Run, folder: Path, graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = (folder, "--graph", graph, "--out", tmp_path, "--methods", "bm25")
    assert run(*arguments) == 0
    before = written(tmp_path)
    capsys.readouterr()
    assert run(*arguments, "--top_n", 5) == 2
    assert "holds results with top_n 1000, not 5; choose another --out, or start anew" in capsys.readouterr().err
    assert written(tmp_path) == before
    assert run(*arguments, "--top_n", 5, "--overwrite") == 0
    ranks = [int(line.split()[3]) for line in (tmp_path / "runs" / "tiny.bm25.trec").read_text().splitlines()]
    assert max(ranks) <= 5


def test_results_of_another_graph_are_refused(
    run: Run, folder: Path, graph: Path, tmp_path: Path, tools: Tools, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = (folder, "--out", tmp_path / "out", "--methods", "bm25", "--graph")
    assert run(*arguments, graph) == 0
    corpus_graph(tmp_path / "g", [paper(key, f"{text} Perhaps.", key) for key, text in PAPERS.items()], tools)
    assert run(*arguments, tmp_path / "g") == 2
    assert "holds results with graph" in capsys.readouterr().err


def test_exclusions_years_columns_and_units(
    run: Run, folder: Path, graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    excluded = tmp_path / "excluded.tsv"
    excluded.write_text("query-id\tcorpus-id\nq2\td3\n")
    out = tmp_path / "out"
    arguments = (folder, "--graph", graph, "--out", out, "--methods", "dense", "--split", "dev")
    assert run(*arguments, "--excluded", excluded, "--years") == 0
    lines = [line.split() for line in (out / "runs" / "tiny.dense.trec").read_text().splitlines()]
    assert {document for query, _, document, *_ in lines if query == "q2"} == PAPERS.keys() - {"d3"}
    told = capsys.readouterr().err
    assert "1 relevant documents are excluded from the rankings" in told
    assert "4 of 5 queries have no latest_year" in told
    assert "later than their query's latest_year" not in told  # no paper has a year
    other = write_beir(tmp_path / "sections")
    (other / "qrels" / "dev.tsv").write_text("q1\td1#0\t0\t1\n")
    sections = (other, "--graph", graph, "--out", tmp_path / "s", "--methods", "dense", "--split", "dev")
    assert run(*sections, "--unit", "section", "--score_column", 4) == 0
    assert json.loads((tmp_path / "s" / "results.json").read_text())["sections"]["dense"]["RR"]["n"] == 1


def test_only_judged_documents_are_ranked(
    run: Run, graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_beir(tmp_path / "tiny")
    judged = {"q1": {"d1": 1, "d3": 0, "d7": 0, "gone": 0}, "q2": {"d8": 0, "d6": 0, "d4": 1, "lost": 1}}
    rows = [f"{query}\t{document}\t{score}\n" for query, own in judged.items() for document, score in own.items()]
    (folder / "qrels" / "dev.tsv").write_text("".join(rows))
    arguments = (
        folder,
        "--graph",
        graph,
        "--methods",
        "dense",
        "hybrid",
        "--split",
        "dev",
        "--measures",
        "RR",
        "WSS@50",
    )
    assert run(*arguments, "--out", tmp_path / "all") == 0
    capsys.readouterr()
    assert run(*arguments, "--out", tmp_path / "own", "--judged_only") == 0
    remark = "tiny: each query ranks only the documents that have a judgement for it, 4 at the least and 4 at the most."
    told = capsys.readouterr().err.splitlines()
    assert remark in told
    assert (
        "tiny: 1 of 5 documents that are judged and not relevant are not in the graph or have no text there; they are "
        "neither ranked nor counted as candidates."
    ) in told
    described = json.loads((tmp_path / "own" / "configuration.json").read_text())["collections"]["tiny"]
    assert remark in described["remarks"]
    found = json.loads((tmp_path / "own" / "results.json").read_text())["tiny"]
    for method in ("dense", "hybrid"):
        ranked = {}
        for name in ("all", "own"):
            lines = [
                line.split() for line in (tmp_path / name / "runs" / f"tiny.{method}.trec").read_text().splitlines()
            ]
            ranked[name] = {query: [line[2] for line in lines if line[0] == query] for query in judged}
        assert ranked["own"] == {query: [d for d in ranked["all"][query] if d in judged[query]] for query in judged}
        first, second = (ranked["own"][query].index(right) + 1 for query, right in (("q1", "d1"), ("q2", "d4")))
        assert found[method]["RR"]["mean"] == pytest.approx((1 / first + 1 / second) / 2)
        # of q1 three are shown; of q2 three, and the lost one is relevant: half of the relevant is found with d4
        saved = [(3 - first) / 3 - 0.5, (4 - second) / 4 - 0.5]
        assert found[method]["WSS@50"]["mean"] == pytest.approx(sum(saved) / 2)
    before = written(tmp_path / "own")
    assert run(*arguments, "--out", tmp_path / "own", "--judged_only") == 0
    assert written(tmp_path / "own") == before
    capsys.readouterr()
    assert run(*arguments, "--out", tmp_path / "own") == 2
    assert "holds results of query q1 with another text, year, exclusions or candidates" in capsys.readouterr().err
    assert run(*arguments, "--out", tmp_path / "all", "--judged_only") == 2
    assert "choose another --out, or start anew with --overwrite" in capsys.readouterr().err


def test_judgements_that_are_all_relevant_are_no_candidates(run: Run, tmp_path: Path, capsys: Any) -> None:
    folder = write_beir(tmp_path / "tiny")
    (folder / "qrels" / "test.tsv").write_text("q6\td3\t1\nq6\td7\t1\n")
    assert run(folder, "--out", tmp_path / "out", "--judged_only") == 2
    told = capsys.readouterr().err
    assert "tiny.test has no judgement of 0 or less" in told
    assert told.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_only_judged_sections_are_ranked(run: Run, graph: Path, tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "tiny")
    (folder / "qrels" / "dev.tsv").write_text("q1\td1#0\t1\nq1\td5#0\t0\nq1\td9#0\t0\n")
    arguments = (folder, "--graph", graph, "--out", tmp_path / "out", "--methods", "dense", "--split", "dev")
    assert run(*arguments, "--unit", "section", "--judged_only") == 0
    lines = (tmp_path / "out" / "runs" / "tiny.dense.trec").read_text().splitlines()
    assert sorted(line.split()[2] for line in lines) == ["d1#0", "d5#0"]


def test_clusters_may_be_those_of_a_field(run: Run, graph: Path, tmp_path: Path) -> None:
    fields = {query: {"topic": "health" if query in {"q1", "q3", "q5"} else "money"} for query in QRELS["dev"]}
    folder = write_beir(tmp_path / "tiny", **fields)
    arguments = (folder, "--graph", graph, "--out", tmp_path / "out", "--methods", "bm25", "--split", "dev")
    assert run(*arguments, "--cluster_by", "topic") == 0
    assert "5 queries in 2 clusters by equal topic." in (tmp_path / "out" / "results.md").read_text()
    assert run(*arguments) == 0
    assert "5 queries in 4 clusters by shared relevant documents." in (tmp_path / "out" / "results.md").read_text()


def test_progress_goes_on_after_ctrl_c(
    run: Run, folder: Path, graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    arguments = (folder, "--graph", graph, "--methods", "bm25", "--batch_size", 1)

    def interrupted(items: Any, total: int, label: str) -> Any:
        yield from list(items)[:2]
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("scripts.evaluate_retrieval.track", interrupted)
        assert run(*arguments, "--out", tmp_path / "a") == 130
    assert "interrupted; what is done is kept, and the same command goes on from there" in capsys.readouterr().err
    assert not (tmp_path / "a" / "results.json").exists()
    assert run(*arguments, "--out", tmp_path / "a") == 0
    assert run(*arguments, "--out", tmp_path / "b") == 0
    assert written(tmp_path / "a") == written(tmp_path / "b")


def test_relevant_papers_of_later_years_are_said_to_be_missed(
    run: Run, tmp_path: Path, tools: Tools, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_beir(tmp_path / "tiny", q1={"latest_year": 2001}, q2={"latest_year": 2001})
    years = {"d1": 2001, "d2": 2002, "d3": 2003, "d5": 2010}
    papers = [paper(key, text, f"Paper {key}", year=years.get(key)) for key, text in PAPERS.items()]
    corpus_graph(tmp_path / "g", papers, tools)
    arguments = (folder, "--graph", tmp_path / "g", "--out", tmp_path / "out", "--methods", "bm25", "--split", "dev")
    assert run(*arguments, "--years") == 0
    remark = "tiny: 2 relevant documents are later than their query's latest_year; they count as missed."
    assert remark in capsys.readouterr().err.splitlines()
    described = json.loads((tmp_path / "out" / "configuration.json").read_text())["collections"]["tiny"]
    assert remark in described["remarks"]


def test_work_saved_is_never_cut_without_a_word(
    run: Run, folder: Path, graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    arguments = (folder, "--graph", graph, "--methods", "dense", "lkg", "--split", "dev", "--measures", "WSS@95", "RR")
    assert run(*arguments, "--out", tmp_path / "cut", "--top_n", 1) == 0
    told = capsys.readouterr().err
    assert (
        "tiny: WSS@95 counts all as read where --top_n 1 ends a ranking before its recall is reached: dense in" in told
    )
    described = json.loads((tmp_path / "cut" / "configuration.json").read_text())["collections"]["tiny"]
    assert described["top_n"] == 1
    assert described["remarks"][-1] in told.splitlines()
    # as if eight papers were more than the default
    monkeypatch.setattr("retrieval.batch.BatchConfig.__init__.__defaults__", (2, "document", 16))
    assert run(*arguments, "--out", tmp_path / "whole") == 0
    assert "counts all as read" not in capsys.readouterr().err
    described = json.loads((tmp_path / "whole" / "configuration.json").read_text())["collections"]["tiny"]
    assert described["top_n"] == 8
    before = written(tmp_path / "whole")
    state = tmp_path / "whole" / "state" / "tiny" / "lkg" / "0.jsonl"
    os.truncate(state, state.stat().st_size - 10)
    assert run(*arguments, "--out", tmp_path / "whole") == 0
    assert written(tmp_path / "whole") == before
    fewer = (*arguments[:-2], "RR")
    assert run(*fewer, "--out", tmp_path / "whole") == 0  # what is done may be longer than what is asked
    assert run(*fewer, "--out", tmp_path / "short") == 0
    described = json.loads((tmp_path / "short" / "configuration.json").read_text())["collections"]["tiny"]
    assert described["top_n"] == 2
    capsys.readouterr()
    assert run(*arguments, "--out", tmp_path / "short") == 2
    assert "holds results with top_n 2, not 8; choose another --out, or start anew" in capsys.readouterr().err


def test_a_gpu_that_is_not_there_is_refused_before_anything_is_done(
    run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert run(folder, "--out", tmp_path / "out", "--device", "cuda") == 2
    told = capsys.readouterr().err
    assert "torch finds no GPU for --device cuda; leave --device out" in told
    assert told.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_finished_results_that_the_tables_leave_out_are_named(
    run: Run, folder: Path, graph: Path, tmp_path: Path, capsys: Any
) -> None:
    other = write_beir(tmp_path / "other")
    out = tmp_path / "out"
    assert run(folder, other, "--graph", graph, graph, "--out", out, "--methods", "bm25", "lkg", "ppr") == 0
    whole = written(out)
    capsys.readouterr()
    assert run(folder, "--graph", graph, "--out", out, "--methods", "bm25") == 0
    assert (
        f"{out} also holds finished results that these tables leave out (other: bm25, lkg, ppr; tiny: lkg, ppr); a "
        "call that names them too shows them at once."
    ) in capsys.readouterr().err.splitlines()
    assert list(json.loads((out / "results.json").read_text())["tiny.dev"]) == ["bm25"]
    assert run(folder, other, "--graph", graph, graph, "--out", out, "--methods", "bm25", "lkg", "ppr") == 0
    assert "also holds" not in capsys.readouterr().err
    assert written(out) == whole


def test_the_terminal_shows_the_overview_and_says_where_the_rest_is(
    run: Run, folder: Path, graph: Path, tmp_path: Path, capsys: Any
) -> None:
    assert run(folder, "--graph", graph, "--out", tmp_path, "--methods", "bm25", "lkg") == 0
    shown = capsys.readouterr()
    for heading in ("## tiny.dev", "### Difference from bm25 (p after Holm)", "Milliseconds per query"):
        assert heading in shown.out
    assert "query by query" not in shown.out
    assert f"values query by query, rankings and the plot are in {tmp_path}." in shown.err
    assert "### RR, query by query" in (tmp_path / "results.md").read_text()


def test_facts_without_facts_are_said_to_be_dense(
    run: Run, folder: Path, graph: Path, tmp_path: Path, capsys: Any
) -> None:
    assert run(folder, "--graph", graph, "--out", tmp_path, "--methods", "dense", "facts") == 0
    assert "tiny: the graph has no asserted relations, so facts ranks as dense does." in capsys.readouterr().err
    results = json.loads((tmp_path / "results.json").read_text())["tiny.dev"]
    assert results["facts"] == results["dense"]


def test_measures_have_one_name_in_all_tables(run: Run, folder: Path, graph: Path, tmp_path: Path) -> None:
    arguments = (folder, "--graph", graph, "--out", tmp_path, "--methods", "bm25", "--split", "dev")
    assert run(*arguments, "--measures", "NDCG@10", "MRR", "WSS@95") == 0
    assert list(json.loads((tmp_path / "results.json").read_text())["tiny"]["bm25"]) == ["nDCG@10", "RR", "WSS@95"]


def test_one_encoder_builds_all_graphs(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[object] = []

    def load(given: str | None, manifest: object = None) -> HashEncoder:
        loaded.append(manifest)
        return HashEncoder()

    monkeypatch.setattr(scripts.tools, "load_encoder", load)
    folders = [str(folder), str(write_beir(tmp_path / "second"))]
    assert main([*folders, "--out", str(tmp_path / "out"), "--methods", "dense"]) == 0
    assert loaded == [None]


def test_help_shows_no_empty_default(run: Run, capsys: Any) -> None:
    assert run("--help") == 0
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "(default: )" not in shown
    assert "qrels/. (required)" in shown


def test_json_is_printed_alone(run: Run, folder: Path, graph: Path, tmp_path: Path, capsys: Any) -> None:
    assert run(folder, "--graph", graph, "--out", tmp_path, "--methods", "bm25", "--json") == 0
    assert json.loads(capsys.readouterr().out) == json.loads((tmp_path / "results.json").read_text())


def test_records_that_cannot_be_read_make_the_exit_code_say_partly(run: Run, tmp_path: Path, capsys: Any) -> None:
    folder = write_beir(tmp_path / "tiny")
    with (folder / "corpus.jsonl").open("a") as file:
        file.write("no json\n")
    assert run(folder, "--out", tmp_path / "out", "--methods", "bm25") == 1
    assert "1 rejected" in capsys.readouterr().err


def test_results_never_go_into_a_graph(run: Run, folder: Path, graph: Path, capsys: Any) -> None:
    assert run(folder, "--graph", graph, "--out", graph / "results", "--methods", "bm25") == 2
    assert "is inside the graph" in capsys.readouterr().err
    assert not (graph / "results").exists()


def test_two_runs_do_not_write_to_one_place(run: Run, folder: Path, graph: Path, tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "state").mkdir()
    with writer_lock(tmp_path / "state"):
        assert run(folder, "--graph", graph, "--out", tmp_path, "--methods", "bm25") == 2
    assert "is writing to" in capsys.readouterr().err
    assert not (tmp_path / "results.json").exists()


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_cross_encoder(tmp_path_factory.mktemp("cross") / "encoder")


def test_the_first_of_a_method_are_read_by_a_cross_encoder(
    run: Run, folder: Path, graph: Path, cross_encoder: Path, tmp_path: Path
) -> None:
    arguments = (folder, "--graph", graph, "--out", tmp_path, "--rerank", cross_encoder, "--rerank_depth", 3)
    assert run(*arguments, "--methods", "dense", "dense+rerank") == 0
    ranked: dict[str, dict[str, list[str]]] = {}
    for method in ("dense", "dense+rerank"):
        for line in (tmp_path / "runs" / f"tiny.{method}.trec").read_text().splitlines():
            query, _, document, _, _, tag = line.split()
            assert tag == method
            ranked.setdefault(method, {}).setdefault(query, []).append(document)
    opened = open_graph(graph)
    row_of = {section_id: row for row, section_id in enumerate(opened.sections["section_id"].to_pylist())}
    reranker = CrossEncoderReranker.load(opened, cross_encoder, 3)
    moved = 0
    for query, plain in ranked["dense"].items():
        rows = [row_of[f"{document}#0"] for document in plain[:3]]
        scores = reranker.scores(QUERIES[query], rows).tolist()
        expected = [plain[n] for n in sorted(range(3), key=lambda n: (-scores[n], rows[n]))]
        assert ranked["dense+rerank"][query] == [*expected, *plain[3:]]
        moved += expected != plain[:3]
    assert moved
    assert list(json.loads((tmp_path / "results.json").read_text())["tiny.dev"]) == ["dense", "dense+rerank"]
    described = json.loads((tmp_path / "configuration.json").read_text())["collections"]["tiny"]["methods"]
    assert described["dense+rerank"]["rerank_depth"] == 3
    assert "rerank_depth" not in described["dense"]


def test_results_of_another_cross_encoder_are_refused(
    run: Run, folder: Path, graph: Path, cross_encoder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = (folder, "--graph", graph, "--out", tmp_path / "out", "--methods", "bm25", "bm25+rerank", "--rerank")
    assert run(*arguments, cross_encoder) == 0
    before = written(tmp_path / "out")
    capsys.readouterr()
    other = write_cross_encoder(tmp_path / "other", seed=719)
    assert run(*arguments, other) == 2
    assert "holds results with reranker" in capsys.readouterr().err
    assert run(*arguments, cross_encoder, "--rerank_depth", 20) == 2
    assert "holds results with rerank_depth 50, not 20" in capsys.readouterr().err
    shutil.copytree(cross_encoder, tmp_path / "moved")
    assert run(*arguments, tmp_path / "moved") == 0
    assert written(tmp_path / "out") == before
    assert run(*arguments, other, "--overwrite") == 0


@pytest.mark.parametrize(
    ("methods", "more", "words"),
    [
        (["bm25+rerank"], [], "The method bm25+rerank needs a cross-encoder; name its folder with --rerank DIR."),
        (["bm25"], ["--rerank", "MODEL"], "but no method reranks; put +rerank after those that shall"),
        (["magic+rerank"], ["--rerank", "MODEL"], "There is no method 'magic'; use one of"),
        (["bm25+rerank"], ["--rerank", "nowhere"], "nowhere holds no model (no config.json)"),
        (["bm25+rerank"], ["--rerank", "MODEL", "--rerank_depth", "0"], "The reranker reads 0 sections"),
    ],
)
def test_what_cannot_be_reranked_is_refused_in_a_sentence(
    run: Run, folder: Path, graph: Path, cross_encoder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    methods: list[str], more: list[str], words: str,
) -> None:  # fmt: skip
    given = [str(cross_encoder) if word == "MODEL" else word for word in more]
    assert run(folder, "--graph", graph, "--out", tmp_path / "out", "--methods", *methods, *given) == 2
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--split", "validation"], "has no judgements for split 'validation'; there are dev, test"),
        (["--methods", "magic"], "There is no method 'magic'"),
        (["--baseline", "katz"], "baseline 'katz' is none of the methods"),
        (["--measures", "quality"], "'quality' is no measure"),
        (["--limit", "0"], "The limit is 0 queries"),
        (["--top_n", "0"], "top_n is 0"),
        (["--graph", "one", "two"], "There are 2 graphs for 1 folders"),
        (["--years", "--split", "test"], "has a latest_year"),
        (["--graph", "nowhere"], "nowhere"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(
    run: Run, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert run(folder, "--out", tmp_path / "out", *arguments) == 2
    told = capsys.readouterr().err
    assert words in told
    assert "Traceback" not in told


def launch(*arguments: object, processes: int = 0) -> subprocess.Popen[bytes]:
    script = [str(ROOT / "scripts" / "evaluate_retrieval.py"), *map(str, arguments)]
    # With --cpu, accelerate starts a single process, unless through MPI.
    launcher = ["-m", "accelerate.commands.launch", "--multi_gpu", f"--num_processes={processes}", "--num_machines=1"]
    launcher += ["--mixed_precision=no", "--dynamo_backend=no", "--main_process_port=0"]
    command = [sys.executable, *(launcher if processes else []), *script]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_two_processes_share_the_queries_and_find_the_same(run: Run, folder: Path, graph: Path, tmp_path: Path) -> None:
    arguments = (folder, "--graph", graph, "--methods", "bm25", "bm25_metasyn", "--batch_size", 1)
    assert run(*arguments, "--out", tmp_path / "one") == 0
    process = launch(*arguments, "--out", tmp_path / "two", processes=2)
    output, errors = process.communicate(timeout=240)
    assert process.returncode == 0, errors.decode()
    assert output.decode().count("## tiny.dev") == 1
    assert written(tmp_path / "two") == written(tmp_path / "one")
    for method in ("bm25", "bm25_metasyn"):
        files = sorted((tmp_path / "two" / "state" / "tiny" / method).glob("*.jsonl"))
        assert [path.name for path in files] == ["0.jsonl", "1.jsonl"]
        assert all(len(path.read_text().splitlines()) == 2 + 3 for path in files)


@pytest.mark.chaos
def test_a_process_that_is_killed_is_followed_by_one_that_ends_the_same(run: Run, graph: Path, tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "many")
    records = [{"_id": f"n{n}", "text": f"Does vitamin D or risk matter {n}?"} for n in range(400)]
    (folder / "queries.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    (folder / "qrels" / "dev.tsv").write_text("".join(f"{r['_id']}\td{n % 8 + 1}\t1\n" for n, r in enumerate(records)))
    arguments = (folder, "--graph", graph, "--methods", "bm25", "--split", "dev", "--batch_size", 1)
    assert run(*arguments, "--out", tmp_path / "whole") == 0
    out = tmp_path / "killed"
    state = out / "state" / "many" / "bm25" / "0.jsonl"
    process = launch(*arguments, "--out", out)
    while process.poll() is None and not (state.exists() and state.stat().st_size > 20_000):
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (out / "results.json").exists()
    assert run(*arguments, "--out", out) == 0
    assert written(out) == written(tmp_path / "whole")


def test_a_folder_without_a_corpus_makes_no_graph_of_its_queries(
    run: Run, folder: Path, graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = tmp_path / "bare"
    shutil.copytree(folder, bare)
    (bare / "corpus.jsonl").unlink()
    assert run(bare, "--out", tmp_path / "out", "--methods", "bm25") == 2
    assert "corpus.jsonl does not exist" in capsys.readouterr().err
    assert not list((tmp_path / "out" / "graphs").glob("*/CURRENT"))
    assert run(bare, "--graph", graph, "--out", tmp_path / "other", "--methods", "bm25") == 0
