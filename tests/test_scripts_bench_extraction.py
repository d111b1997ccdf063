"""The measures of the comparison of extractors, against values by hand, and the sections it draws."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kg.records import Section
from scripts.bench_extraction import CUTS, evaluate, half, main, near, sample
from scripts.labelled_sections import Labelled


def labelled(paper: str, number: int = 0, words: int = 50, salient: tuple[str, ...] = ("loss aversion",)) -> Labelled:
    section = Section(f"{paper}#{number}", paper, "", "word " * words)
    return Labelled(section, tuple(frozenset({name}) for name in salient), frozenset(salient) | {"risk"})


def terms(*names: str) -> list[frozenset[str]]:
    return [frozenset({name}) for name in names]


def test_recall_and_precision_by_hand() -> None:
    sections = [labelled("a", 0, salient=("loss aversion", "data set")), labelled("a", 1), labelled("b")]
    found = [
        terms("x", "dataset", "risk", "prospect loss aversion", "y", "loss aversion"),
        terms("risk", "z"),
        [frozenset({"la", "loss aversion"})],
    ]
    values = evaluate(sections, found)
    assert values["R@5"] == {"a": pytest.approx((1 / 2 + 0) / 2), "b": 1.0}
    assert values["R@10"] == {"a": pytest.approx((1 + 0) / 2), "b": 1.0}
    assert values["N@5"] == {"a": pytest.approx((1 + 0) / 2), "b": 1.0}
    assert values["P@5"] == {"a": pytest.approx((2 / 5 + 1 / 5) / 2), "b": pytest.approx(1 / 5)}
    assert set(values) == {f"{letter}@{k}" for letter in "RNP" for k in CUTS}


def test_what_stands_below_the_cut_is_not_found() -> None:
    values = evaluate([labelled("a")], [terms(*(f"n{i}" for i in range(max(CUTS))), "loss aversion")])
    assert values[f"R@{max(CUTS)}"] == values[f"N@{max(CUTS)}"] == {"a": 0.0}


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("loss aversion", "loss aversion", True),
        ("loss aversion", "strong loss aversion", True),
        ("aversion", "strong loss aversion", False),  # less than half
        ("aversion", "loss aversion", True),
        ("loss aversion", "loss of aversion", False),
        ("net", "network", False),
    ],
)
def test_near_names_hold_one_another(a: str, b: str, expected: bool) -> None:
    assert near(a, b) is near(b, a) is expected


def test_halves_share_no_paper_and_hold_what_can_be_measured() -> None:
    papers = [labelled(f"p{i}", n) for i in range(21) for n in range(2)]
    papers += [labelled("short", words=10), labelled("bare", salient=())]
    first, second = half(papers, "choose"), half(papers, "report")
    ids = [{one.section.doc_id for one in part} for part in (first, second)]
    assert not ids[0] & ids[1]
    assert ids[0] | ids[1] == {f"p{i}" for i in range(21)}
    assert len(first) + len(second) == 42
    assert half(papers[::-1], "choose") == first[::-1]


def test_a_sample_keeps_some_of_every_paper_in_order() -> None:
    papers = [labelled(f"p{i}", n) for i in range(3) for n in range(5)]
    drawn = sample(papers, 2)
    assert drawn == sample(papers, 2)
    assert [one.section.doc_id for one in drawn] == ["p0", "p0", "p1", "p1", "p2", "p2"]
    assert sample(papers, None) == papers


def scirex(folder: Path, papers: int) -> None:
    """Papers that name one entity in sentences of their own."""
    body = "the loss aversion of people is strong , and people know it . ".split() * 5
    for number in range(papers):
        words = ["section", ":", "Results", *body]
        spans = [[at, at + 2] for at in range(len(words)) if words[at] == "loss"]
        paper = {
            "words": words, "sections": [[0, len(words)]], "sentences": [[0, 3], [3, len(words)]],
            "doc_id": f"p{number}", "ner": [[*span, "Task"] for span in spans], "coref": {"Loss_aversion": spans},
        }  # fmt: skip
        (folder / f"p{number}.json").write_text(json.dumps(paper), encoding="utf-8")


def test_the_command_prints_every_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "scirex").mkdir()
    scirex(tmp_path / "scirex", 4)
    arguments = ["bench_extraction.py", "--data", str(tmp_path), "--methods", "ours", "alone", "--sections", "1"]
    monkeypatch.setattr("sys.argv", arguments)
    assert main() == 0
    shown = capsys.readouterr().out
    assert "2 sections of 2 papers" in shown
    assert "| ours | 1.000 | 1.000 |" in shown
    assert "ours against alone, adjusted p:" in shown
    assert "recall of salient entities 1.000" in shown
    assert shown.count("| alone |") == 4


def test_missing_data_end_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["bench_extraction.py", "--data", str(tmp_path)])
    with pytest.raises(SystemExit, match="SciREX"):
        main()
