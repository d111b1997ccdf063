"""The comparison of merges by lateral questions: every cell against an assembly by hand, and the fold of each query."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import scripts.tools
from kg.build import open_graph
from kg.merge import MergeConfig
from scripts.bench_lateral import (
    BASELINE,
    EXACT,
    MEASURES,
    METHODS,
    Row,
    assembled,
    compared,
    main,
    tables,
    with_scorer,
)
from scripts.marked_graph import main as mark
from tests.conftest import HashEncoder
from tests.test_scripts_labelled_sections import paper_of, spans_of
from training.name_pairs import fold_of

SAID = {"p": "random forest", "q": "random forests", "r": "Random Forest model", "s": "neural net"}
ENTITIES = ("Random_Forest", "Neural_Net")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A BEIR folder of a section per paper, and a question per entity."""
    made = tmp_path / "sections"
    (made / "qrels").mkdir(parents=True)
    rows = [{"_id": f"{p}#0", "title": f"On {p}", "text": f"We use a {name} here."} for p, name in SAID.items()]
    (made / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    queries = [{"_id": entity, "text": entity.replace("_", " "), "metadata": {"entity": entity}} for entity in ENTITIES]
    (made / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in queries))
    judged = [(ENTITIES[0], "q#0"), (ENTITIES[0], "r#0"), (ENTITIES[1], "s#0")]
    lines = ["query-id\tcorpus-id\tscore", *(f"{query}\t{section}\t1" for query, section in judged)]
    (made / "qrels" / "dev_cross.tsv").write_text("\n".join(lines) + "\n")
    return made


@pytest.fixture
def graph(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(scripts.tools, "load_encoder", lambda *given: HashEncoder())
    papers = tmp_path / "scirex"
    papers.mkdir()
    for doc_id, name in SAID.items():
        paper = paper_of([(f"On {doc_id}", f"We use a {name} here .")]) | {"doc_id": doc_id}
        paper["ner"] = [[*span, "Method"] for span in spans_of(paper["words"], name)]
        (papers / f"{doc_id}.json").write_text(json.dumps(paper))
    path = tmp_path / "graph"
    assert mark([str(papers), str(folder), str(path)]) == 0
    return path


def weights(tmp_path: Path, name: str, says: float) -> Path:
    """A scorer that gives all pairs one probability, about 0 or 1."""
    from kg.pair_features import FEATURES

    path = tmp_path / name
    leaf = {"feature": [-1], "threshold": [0], "left": [0], "right": [0], "value": [0]}
    path.write_text(json.dumps({"features": FEATURES, "trees": [leaf], "start": says, "slope": 1, "intercept": 0}))
    return path


def test_a_graph_is_assembled_from_its_caches_under_another_merge(graph: Path, tmp_path: Path) -> None:
    stored = open_graph(graph)
    counts = {}
    for says in (-20.0, 20.0):
        config = with_scorer(weights(tmp_path, f"{says}.json", says))["joins"]
        counts[says] = assembled(stored, graph, config, HashEncoder()).n_concepts
    exact = assembled(stored, graph, MergeConfig(rungs="rules", join=2.0, same_as=2.0, tolerated=2.0), HashEncoder())
    assert exact.n_concepts == 3  # a plural is one by its key
    assert counts[20.0] <= counts[-20.0] <= exact.n_concepts


def test_each_question_is_answered_by_the_weights_of_its_fold(
    graph: Path, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import scripts.bench_lateral as bench

    asked: list[tuple[int, list[str]]] = []
    inner = bench.asked_of

    def recorded(merged, queries, *rest):  # type: ignore[no-untyped-def]
        asked.append((merged.n_concepts, [query.query_id for query in queries]))
        return inner(merged, queries, *rest)

    monkeypatch.setattr(bench, "asked_of", recorded)
    files = [str(weights(tmp_path, f"w{fold}.json", -20.0)) for fold in range(2)]
    assert main([str(graph), str(folder), "--weights", *files, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["queries"] == 2
    merges = [EXACT, "rules", "joins", "edges", "joins and edges"]
    assert {(row["merge"], row["method"], row["measure"]) for row in found["rows"]} == {
        (merge, method, measure) for merge in merges for method in METHODS for measure in MEASURES
    }
    base = {row["measure"]: row for row in found["rows"] if (row["merge"], row["method"]) == (EXACT, BASELINE)}
    assert all(row["gain"] == 0 for row in base.values())
    assert [queries for _, queries in asked[:2]] == [list(ENTITIES), list(ENTITIES)]
    by_fold = [[entity for entity in ENTITIES if fold_of(entity, 2) == fold] for fold in range(2)]
    assert [queries for _, queries in asked[2:]] == [own for own in by_fold if own for _ in range(3)]


def test_gains_are_paired_and_questions_of_one_entity_are_drawn_together() -> None:
    entities = {f"{entity}{n}": entity for entity in "abcdefghijklmnopqrstuvwx" for n in range(3)}
    base = {query: 0.01 * (ord(query[0]) - ord("a")) for query in entities}
    better = {query: value + (0.1 if query[0] < "m" else 0.3) for query, value in base.items()}
    rows = list(compared({EXACT: {BASELINE: {"R@20": base}}, "joins": {"hybrid": {"R@20": better}}}, entities))
    assert [(row.merge, row.method) for row in rows] == [(EXACT, BASELINE), ("joins", "hybrid")]
    assert rows[1].gain == pytest.approx(0.2)
    # Of 24 entities one half gains .1 and one .3: the mean of 24 draws has a deviation of .1 / sqrt(24) = .0204, where
    # 72 queries drawn one by one would have one of .0118.
    assert (rows[1].gain_low, rows[1].gain_high) == pytest.approx((0.2 - 1.96 * 0.0204, 0.2 + 1.96 * 0.0204), abs=0.01)
    assert rows[1].p == pytest.approx(0, abs=0.001)  # 24 entities, one sign: 2 of 2^24 swaps


def test_tables_hold_every_row() -> None:
    rows = [
        Row(merge, method, measure, 0.5, 0.4, 0.6, 0.1, None, None, 0.01)
        for merge in (EXACT, "joins")
        for method in METHODS
        for measure in MEASURES
    ]
    text = "\n".join(tables(rows))
    assert text.count("0.500") == len(rows)
    assert "(too few)" in text
