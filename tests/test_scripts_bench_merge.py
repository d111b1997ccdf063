"""The benchmark of entity resolution: boards as they are read, rungs as they are scored, the report in both forms."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
import torch

from kg.errors import InputError
from kg.merge import MergeConfig, Names
from kg.names import name_form
from scripts import bench_merge, merge_boards
from scripts.bench_merge import RUNGS, choose, encode, group, main
from scripts.merge_boards import Mention, read_concepts, read_mentions, read_scirex_mentions, split_concepts
from tests.conftest import HashEncoder
from tests.test_scripts_labelled_sections import paper_of, spans_of

HEAD = "mention,name,type,context,cluster"
ROWS = """\
m1,Neural Net,method,A Neural Net learns.,net,plural
m2,neural nets,,"Two neural nets, both deep.",net,plural
m3,NN,method,,net,short
m4,NN,place,NN is a town.,town,short
m5,Neural Net,method,,other,plural
"""


@dataclass
class Merge:
    """``kg.merge.merge_names`` that joins by the first letter, and keeps what it was asked."""

    asked: list[tuple[Names, str]]

    def __call__(self, names: Names, config: MergeConfig) -> Any:
        self.asked.append((names, config.rungs))
        first = [surface[0].lower() for surface in names.surfaces]
        return type("Merged", (), {"group": np.array([first.index(letter) for letter in first])})


@pytest.fixture
def merge(monkeypatch: pytest.MonkeyPatch) -> Merge:
    stand_in = Merge([])
    monkeypatch.setattr(bench_merge, "merge_names", stand_in)
    monkeypatch.setattr(bench_merge, "load_encoder", lambda given: HashEncoder())
    return stand_in


def table(path: Path, rows: str, head: str = HEAD, encoding: str = "utf-8") -> Path:
    path.write_bytes(f"{head}\n{rows}".encode(encoding))
    return path


@pytest.fixture
def board(tmp_path: Path) -> Path:
    return table(tmp_path / "board.csv", ROWS, f"{HEAD},kind")


def report(*arguments: object, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert main([*map(str, arguments), "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def names_of(*mentions: tuple[str, str]) -> Names:
    return encode([Mention(str(n), name, kind, "", "") for n, (name, kind) in enumerate(mentions)], HashEncoder())


def test_columns_stand_in_any_order_and_others_are_allowed(tmp_path: Path) -> None:
    rows = '7,thing,"of, two\nlines",A-1,a,\n8,thing,,A-2,b,\n'
    path = table(tmp_path / "b.csv", rows, "year,cluster,context,mention,name,type", "utf-8-sig")
    assert read_mentions(path).mentions == (
        Mention("A-1", "a", "", "of, two\nlines", "thing"), Mention("A-2", "b", "", "", "thing")
    )  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("m1,a,,,c\nm2, ,,,c\n", "line 3: name is empty"),
        ("m1,\u200b,,,c\n", "line 2: name is empty"),
        (",a,,,c\n", "line 2: mention is empty"),
        ('m1,a,,"two\nlines",c\nm2,a,,,\n', "line 4: cluster is empty"),
        ("m1,a,,,c\nm2,b,,,c\nm1,c,,,c\n", "line 4: mention 'm1' stands in line 2 too"),
        ("m1,a,,of, two,c\n", "line 2: 6 fields under 5 columns"),
        ("m1,a,,,c\nm2,b\n", "line 3: 2 fields under 5 columns"),
        ('m1,"a"b,,,c\n', "line 2: no row of CSV"),
        ('m1,a,,"never closed,c\n', "line 2: no row of CSV"),
        ("", "holds no mention, only a head"),
    ],
)
def test_a_row_that_is_not_whole_is_named(tmp_path: Path, rows: str, words: str) -> None:
    path = table(tmp_path / "b.csv", rows)
    with pytest.raises(InputError) as caught:
        read_mentions(path)
    assert str(path) in str(caught.value)
    assert words in str(caught.value)


@pytest.mark.parametrize("column", HEAD.split(","))
def test_a_missing_column_is_named(tmp_path: Path, column: str) -> None:
    path = table(tmp_path / "b.csv", "m1,a,b,c\n", ",".join(c for c in HEAD.split(",") if c != column))
    with pytest.raises(InputError, match=f"b.csv, line 1: the column {column} is missing"):
        read_mentions(path)


def test_a_column_that_stands_twice_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 1: the column name stands there twice"):
        read_mentions(table(tmp_path / "b.csv", "m1,a,,,c,a\n", f"{HEAD},name"))


@pytest.mark.parametrize(
    ("encoding", "words"),
    [("latin-1", "line 3: context is not UTF-8"), ("utf-16", "line 1: the head is not UTF-8")],
)
def test_another_encoding_is_said(tmp_path: Path, encoding: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_mentions(table(tmp_path / "b.csv", "m1,a,,,c\nm2,a,,née,c\n", encoding=encoding))


def test_what_is_no_file_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in (tmp_path, tmp_path / "absent.csv"):
        assert main(["--mentions", str(path)]) == 2
        told = capsys.readouterr().err
        assert told.startswith(f"bench_merge.py: {path} ")
        assert told.count("\n") == 1


def test_equal_keys_are_one_but_for_known_types() -> None:
    names = names_of(
        ("Nets", ""), ("net", "method"), ("Net", "method"), ("net", "place"), ("ROC", ""), ("roc", "curve")
    )
    assert group("exact", names) == [0, 1, 2, 1, 3, 4]
    assert group("keys", names) == [0, 1, 1, 2, 3, 3]  # which of the two nets the first is, nobody knows


def test_the_merge_sees_every_mention_as_a_unit(board: Path, merge: Merge, capsys: pytest.CaptureFixture[str]) -> None:
    report("--mentions", board, capsys=capsys)
    assert [rungs for _, rungs in merge.asked[1::2]] == [
        "rules",
        "embeddings",
        "scorer",
        "scorer",
    ]  # each twice, for its time
    names, _ = merge.asked[0]
    assert names.surfaces == ["Neural Net", "neural nets", "NN", "NN", "Neural Net"]
    assert names.types == ["method", "", "method", "place", "method"]
    contexts = ["A Neural Net learns.", "Two neural nets, both deep.", "NN is a town."]
    encoder = HashEncoder()
    assert torch.equal(names.vectors, encoder.encode_documents([name_form(s) for s in names.surfaces]))
    assert names.contexts is not None
    assert torch.equal(names.contexts[[0, 1, 3]], encoder.encode_documents(contexts))
    assert not names.contexts[[2, 4]].any()


def test_the_report_holds_every_measure_of_every_rung(
    board: Path, merge: Merge, capsys: pytest.CaptureFixture[str]
) -> None:
    found = report("--mentions", board, capsys=capsys)
    (own,) = found["boards"]
    assert (found["encoder"], own["board"], own["mentions"], own["clusters"]) == ("hash", "board.csv", 5, 3)
    assert list(own["rungs"]) == list(RUNGS)
    exact, last = own["rungs"]["exact"], own["rungs"]["scorer"]
    # exact: {m1 m5} {m2} {m3 m4}, gold {m1 m2 m3} {m4} {m5}; none of the 2 pairs joined is right, 7 pairs are apart.
    assert exact["pairwise"] == {"precision": 0.0, "recall": 0.0, "f1": 0.0}
    assert (exact["false_merge_rate"], exact["groups"], exact["gain"]) == (2 / 7, 3, None)
    # scorer: all in one; 3 of 10 pairs are right, and it holds three things.
    assert last["pairwise"]["precision"] == pytest.approx(0.3)
    assert (last["pairwise"]["recall"], last["false_merge_rate"]) == (1.0, 1.0)
    assert (last["chains"], last["chained_mentions"]) == (1, 5)
    assert last["bcubed"]["precision"] == pytest.approx((9 + 1 + 1) / 25)
    assert last["ceafe"]["f1"] == pytest.approx(2 * (6 / 8) / 4)
    assert last["intervals"]["pairwise"]["mean"] == pytest.approx(last["pairwise"]["f1"])
    assert last["gain"]["bcubed"]["mean"] == 0.0  # the rungs of the stand-in are all the same
    assert last["seconds"] >= 0
    assert own["predicted"] == {f"m{n}": 0 for n in range(1, 6)}


def test_kinds_are_scored_within_themselves(board: Path, merge: Merge, capsys: pytest.CaptureFixture[str]) -> None:
    (own,) = report("--mentions", board, capsys=capsys)["boards"]
    assert {kind: one["mentions"] for kind, one in own["kinds"].items()} == {"plural": 3, "short": 2}
    assert own["kinds"]["short"]["rungs"]["exact"]["false_merge_rate"] == 1.0
    assert own["kinds"]["plural"]["rungs"]["exact"]["false_merge_rate"] == 0.5  # m1 and m5 of {m1 m5} {m2 m5}


def test_several_boards_are_told_in_tables(
    board: Path, tmp_path: Path, merge: Merge, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = table(tmp_path / "plain.csv", "".join(f"m{n},word{n // 2},,,c{n // 2}\n" for n in range(60)))
    assert main(["--mentions", str(board), str(plain)]) == 0
    first, second = capsys.readouterr().out.split("## ")[1:]
    assert first.startswith("board.csv: 5 mentions of 3 things")
    assert "| plural |" in first
    assert "Within each kind" not in second
    (row,) = [line for line in second.splitlines() if line.startswith("| exact | 1.000 ")]
    assert row.count("1.000 [1.000, 1.000]") == 2
    assert row.count("|") == len(second.splitlines()[2].split("|")) - 1


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "scirex"
    folder.mkdir()
    bodies = {"p": "We use a SVM and an SVM ; SVMs are a Net", "q": "SVM beats nets on Iris"}
    for doc_id, body in bodies.items():
        paper = paper_of([(f"On {doc_id}", body)]) | {"doc_id": doc_id}
        spans = {name: spans_of(paper["words"], name) for name in ("SVM", "SVMs", "Net", "nets", "Iris")}
        paper["coref"] = {"S-V_M": spans["SVM"] + spans["SVMs"], "svm": spans["Net"], "nets": spans["nets"], "A": [],
                          "iris": spans["Iris"], "Flowers": spans["Iris"]}  # fmt: skip
        paper["ner"] = [[*span, "Method"] for name in ("SVM", "SVMs", "Net", "nets") for span in spans[name]]
        (folder / f"{doc_id}.json").write_text(json.dumps(paper))
    return folder


def test_a_name_is_one_mention_of_its_paper(papers: Path) -> None:
    board = read_scirex_mentions(papers)
    first, second = "We use a SVM and an SVM; SVMs are a Net", "SVM beats nets on Iris"
    assert board.mentions == (
        Mention("p/SVM", "SVM", "Method", first, "svm"), Mention("p/SVMs", "SVMs", "Method", first, "svm"),
        Mention("p/Net", "Net", "Method", first, "svm"), Mention("q/SVM", "SVM", "Method", second, "svm"),
        Mention("q/nets", "nets", "Method", second, "nets"),
    )  # fmt: skip
    assert board.left_out == 1  # Iris, linked to two things


def test_papers_without_links_are_no_board(papers: Path) -> None:
    for path in papers.glob("*.json"):
        path.write_text(json.dumps(json.loads(path.read_text()) | {"coref": {}}))
    with pytest.raises(InputError, match="no paper links a name"):
        read_scirex_mentions(papers)


@pytest.fixture
def lists(tmp_path: Path) -> Path:
    folder = tmp_path / "lists"
    folder.mkdir()
    letters = "abcdefgh"
    rows = [(f"{letter}x concept", f"{letter}y {end}") for letter in letters for end in ("one", "two")]
    for name, own in (
        ("A_Concept.xlsx", rows),
        ("B_Concept.xlsx", [("ax concept", "az")]),
        ("other.xlsx", [("q", "r")]),
    ):
        workbook = openpyxl.Workbook()
        for row in [("concept", "variant"), *own]:
            workbook.active.append(row)  # type: ignore[union-attr]
        workbook.save(folder / name)
    return folder


def test_lists_of_concepts_are_read_together(lists: Path) -> None:
    concepts = read_concepts(lists)
    assert len(concepts) == 8
    assert concepts["ax concept"] == {"ay one", "ay two", "az"}
    with pytest.raises(InputError, match="holds no list of concepts"):
        read_concepts(lists.parent)


def test_negatives_are_of_different_concepts_of_one_half(lists: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge_boards, "RANDOM_NEGATIVES", 200)
    concepts = read_concepts(lists)
    names = sorted({name for concept, variants in concepts.items() for name in (concept, *variants)})
    cosines = np.eye(len(names))
    for one, other in (("ax concept", "ay one"), ("ax concept", "bx concept")):
        cosines[names.index(one), names.index(other)] = 0.9
    halves = split_concepts(concepts, cosines, names, 1)
    own = [{name for pair in half.variants for name in pair} for half in halves]
    assert not own[0] & own[1]
    assert own[0] | own[1] == set(names)
    for half, inside in zip(halves, own, strict=True):
        assert len(half.random) == 200
        assert len(half.hard) == len(inside)
        for a, b in [*half.random, *half.word, *half.hard]:
            assert {a, b} <= inside
            assert a[0] != b[0]  # the letter is the concept
        assert all(set(a.split()) & set(b.split()) for a, b in half.word)
        assert len(half.word) == 3 * 6  # four concepts in each half: pairs of "concept", of "one" and of "two"


def test_variants_go_through_the_same_rungs(
    lists: Path, merge: Merge, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(merge_boards, "RANDOM_NEGATIVES", 200)
    found = report("--variants", lists, capsys=capsys)
    assert found["boards"] == []
    rungs = found["variants"]["rungs"]
    assert list(rungs)[: len(RUNGS)] == list(RUNGS)
    assert [rungs["exact"][kind] for kind in ("variants", "random", "word", "hard")] == [0, 0, 0, 0]
    assert [rungs["scorer"][kind] for kind in ("variants", "random", "word", "hard")] == [1, 0, 0, 0]
    assert sum(name.startswith("cosine >= ") for name in rungs) == 3
    assert main(["--variants", str(lists)]) == 0
    assert "| scorer | 1.000 | 0.0000 | 0.0000 | 0.0000 |" in capsys.readouterr().out


def test_a_threshold_joins_at_most_the_allowed_share() -> None:
    negatives = np.random.default_rng(3).random(4000).tolist()
    least = choose(negatives)
    assert sum(value >= least for value in negatives) == 20
    assert sum(value >= least - 2e-6 for value in negatives) == 21


def test_without_a_board_those_of_the_data_are_taken(
    papers: Path, lists: Path, merge: Merge, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(merge_boards, "RANDOM_NEGATIVES", 200)
    monkeypatch.setenv("EVIGRAPH_DATA", str(papers.parent))
    lists.rename(papers.parent / "itext2kg_er")
    found = report(capsys=capsys)
    assert [board["board"] for board in found["boards"]] == ["SciREX"]
    assert found["boards"][0]["left_out"] == 1
    assert found["variants"]["concepts"] == 8


def test_the_merge_of_the_project_joins_a_plural() -> None:
    names = names_of(("supply chain", ""), ("Supply-Chains", ""), ("quantum state", ""))
    for rung in RUNGS[1:]:
        assert group(rung, names) == [0, 0, 1]


@pytest.mark.data
def test_the_names_of_scirex(data: Path) -> None:
    board = read_scirex_mentions(data / "scirex")
    assert len({mention.mention for mention in board.mentions}) == len(board.mentions)
    assert len(board.mentions) + board.left_out == 3594
    assert all(mention.context for mention in board.mentions)
