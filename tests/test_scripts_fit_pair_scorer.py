"""The command that fits the scorer of pairs: what it reads, what it leaves out, what it writes."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

import kg.merge
import scripts.tools
import training.boosting
import training.name_pairs
from kg.errors import InputError
from kg.merge import MergeConfig, Names
from kg.pair_features import FEATURES
from kg.pair_scorer import load_scorer
from scripts.fit_pair_scorer import REPORTED, calibration_error, main
from scripts.marked_names import read_marked_names
from tests.conftest import HashEncoder
from tests.test_scripts_labelled_sections import paper_of, spans_of
from training.boosting import BoostingConfig, Pairs, fit
from training.name_pairs import fold_of

WORDS = "amber basalt cobalt dolomite epidote feldspar garnet halite ilmenite jade kyanite lapis".split()


def board(path: Path, ending: str, other: str) -> Path:
    """Of each word two spellings of one thing, and a name of another thing."""
    rows = ["mention,name,type,context,cluster"]
    for number, word in enumerate(WORDS):
        own = (f"{word} {ending}", f"{word} {ending}s", f"{word} {other}")
        rows += [f"{number}{n},{name},,The {name} is here.,{word}{n // 2}" for n, name in enumerate(own)]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def boards(tmp_path: Path) -> list[str]:
    words = {"crystal": "dust", "quarry": "mine shaft"}
    return [str(board(tmp_path / f"{ending}.csv", ending, other)) for ending, other in words.items()]


@pytest.fixture
def scirex(tmp_path: Path) -> Path:
    folder = tmp_path / "scirex"
    folder.mkdir()
    body = {"p": "Alpha nets and alpha nets and gamma nets and blue rocks", "q": "An Alpha Net and a grey rock"}
    linked = {"p": {"A_Net": "alpha nets", "G-Net": "gamma nets"}, "q": {"Other": "Alpha Net"}}
    for doc_id, text in body.items():
        paper = paper_of([(f"On {doc_id}", text)]) | {"doc_id": doc_id}
        names = ("Alpha nets", "alpha nets", "gamma nets", "Alpha Net", "blue rocks", "grey rock")
        paper["ner"] = [[*span, "Method"] for name in names for span in spans_of(paper["words"], name)]
        paper["coref"] = {name: spans_of(paper["words"], form) for name, form in linked[doc_id].items()}
        (folder / f"{doc_id}.json").write_text(json.dumps(paper))
    return folder


@pytest.fixture
def sections(tmp_path: Path) -> Path:
    folder = tmp_path / "sections"
    folder.mkdir()
    texts = {"p": "Alpha nets and alpha nets and gamma nets and blue rocks", "q": "An Alpha Net and a grey rock"}
    rows = [{"_id": f"{doc_id}#0", "title": f"On {doc_id}", "text": text} for doc_id, text in texts.items()]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


@pytest.fixture(autouse=True)
def fitted(monkeypatch: pytest.MonkeyPatch) -> list[Pairs]:
    """What was fitted on, call by call; with few trees and the encoder of the tests."""
    seen: list[Pairs] = []
    small = partial(fit, config=BoostingConfig(trees=8, leaf=4))

    def stand_in(pairs: Pairs) -> Any:
        seen.append(pairs)
        return small(pairs)

    for module in (training.boosting, training.name_pairs):
        monkeypatch.setattr(module, "fit", stand_in)
    monkeypatch.setattr(scripts.tools, "load_encoder", lambda given: HashEncoder())
    return seen


def test_weights_are_written_with_what_they_rest_on(
    boards: list[str],
    scirex: Path,
    sections: Path,
    tmp_path: Path,
    fitted: list[Pairs],
    capsys: pytest.CaptureFixture[str],
) -> None:
    corpus = ["--scirex", str(scirex), "--folder", str(sections), "--cache", str(tmp_path / "cache.sqlite")]
    one, two = tmp_path / "one.json", tmp_path / "made" / "two.json"
    for path in (one, two):
        assert main(["--boards", *boards, *corpus, "--folds", "3", "--out", str(path)]) == 0
    assert one.read_bytes() == two.read_bytes()
    record = json.loads(one.read_text())
    assert record["features"] == list(FEATURES)
    assert record["command"] == (
        "python scripts/fit_pair_scorer.py --boards crystal.csv quarry.csv --scirex scirex --folder sections --folds 3"
    )
    crystal, _, found = record["data"]
    # 12 pairs of two spellings, once with their contexts and once without.
    known = fitted[-1].features[: crystal["pairs"], FEATURES.index("context_known")]
    assert known.tolist() == [1.0] * (len(known) // 2) + [0.0] * (len(known) // 2)
    assert (crystal["name"], crystal["licence"], crystal["positives"]) == ("crystal.csv", "not stated", 24)
    # alpha nets speak of A_Net twice and of Other once; gamma nets, of G-Net, are another.
    assert (found["name"], found["licence"], found["positives"]) == ("SciREX", "Apache-2.0", 0)
    assert found["pairs"] >= 1
    assert load_scorer(str(one)).probabilities(np.zeros((1, len(FEATURES)))).shape == (1,)
    rows = capsys.readouterr().out.splitlines()
    assert [row.split(" | ")[0] for row in rows[2:4]] == ["| crystal.csv", "| quarry.csv"]


def test_a_row_is_of_a_scorer_that_has_not_seen_the_board(
    boards: list[str], tmp_path: Path, fitted: list[Pairs], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--boards", *boards, "--folds", "2", "--out", str(tmp_path / "all.json")]) == 0
    *_, without_first, without_second, everything = fitted
    assert len(without_first) + len(without_second) == len(everything)
    first = capsys.readouterr().out.splitlines()[2]
    # Two boards, each fitted on what the other row left out: the second board alone gives the first row's trees.
    assert main(["--boards", boards[1], "--folds", "2", "--out", str(tmp_path / "second.json")]) == 0
    assert np.array_equal(fitted[-1].features, without_first.features)
    shown = [float(cell) for cell in first.strip("| ").split(" | ")[1:]]
    assert shown[0] > 0.9
    assert 0 < shown[5] <= 1


def test_f1_is_that_of_the_merge(
    boards: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[tuple[int, float]] = []

    def by_first_word(names: Names, config: MergeConfig) -> Any:
        asked.append((len(names.surfaces), load_scorer(config.scorer).slope))
        first = [surface.split()[0] for surface in names.surfaces]
        return SimpleNamespace(group=np.array([first.index(word) for word in first]))

    monkeypatch.setattr(kg.merge, "merge_names", by_first_word)
    assert main(["--boards", *boards, "--folds", "2", "--out", str(tmp_path / "w.json")]) == 0
    # Of each word's three names two are one: 12 of 36 pairs are right, and none is missed.
    assert all(row.endswith("| 0.333 | 1.000 | 0.500 |") for row in capsys.readouterr().out.splitlines()[2:4])
    assert [n for n, _ in asked] == [36, 36]
    assert asked[0][1] != asked[1][1]  # each row by weights of its own


@pytest.mark.parametrize("fold", [0, 2])
def test_the_entities_of_a_fold_can_be_left_out(
    boards: list[str], tmp_path: Path, fitted: list[Pairs], capsys: pytest.CaptureFixture[str], fold: int
) -> None:
    out = tmp_path / "w.json"
    assert main(["--boards", *boards, "--folds", "3", "--without", str(fold), "--out", str(out)]) == 0
    seen = {fold_of(entity, 3) for pairs in fitted for own in pairs.entities for entity in own}
    assert seen == {0, 1, 2} - {fold}
    record = json.loads(out.read_text())
    assert record["command"].endswith(f"--without {fold} --folds 3")
    assert sum(source["pairs"] for source in record["data"]) == len(fitted[-1])
    assert capsys.readouterr().out == ""


def test_names_carry_the_entities_that_their_uses_speak_of(scirex: Path, sections: Path) -> None:
    encoder = HashEncoder()
    names, shares = read_marked_names(scirex, sections, encoder.encode_documents)
    of = dict(zip(names.surfaces, shares, strict=True))
    # In p "alpha nets" is linked once, its capital spelling at the beginning is not; in q the singular is.
    assert of["Alpha Net"] == {"anet": 0.5, "other": 0.5}
    assert of["gamma nets"] == {"gnet": 1.0}
    assert of["blue rocks"] == of["grey rock"] == {}
    assert set(names.types) == {""}
    texts = [f"On {d}\n{t}" for d, t in (("p", "Alpha nets and alpha nets and gamma nets and blue rocks"),
                                         ("q", "An Alpha Net and a grey rock"))]  # fmt: skip
    p, q = encoder.encode_documents(texts)
    both = torch.nn.functional.normalize(p + q, dim=0)
    expected = {"Alpha Net": both, "gamma nets": p, "blue rocks": p, "grey rock": q}
    assert names.contexts is not None
    for surface, context in zip(names.surfaces, names.contexts, strict=True):
        assert torch.allclose(context, expected[surface], atol=1e-6)


@pytest.mark.parametrize(
    ("corpus", "words"),
    [
        ('{"_id": "other#0", "title": "", "text": "Alpha nets."}\n', "holds no name that a paper in .* links"),
        ('{"_id": "p#0", "title": "", "text": "Alpha nets."}\n{"_id": 3\n', "can be read only in part"),
    ],
)
def test_a_folder_that_does_not_fit_is_said(scirex: Path, sections: Path, corpus: str, words: str) -> None:
    (sections / "corpus.jsonl").write_text(corpus)
    with pytest.raises(InputError, match=words):
        read_marked_names(scirex, sections, HashEncoder().encode_documents)


def test_calibration_is_measured_by_bin() -> None:
    # .0 to .1: mean .05, half are one; .9 to 1: mean .975, all are; half of the pairs each.
    error = calibration_error(np.array([0.0, 1.0, 1.0, 1.0]), np.array([0.02, 0.08, 0.95, 1.0]))
    assert error == pytest.approx((0.45 + 0.025) / 2)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--boards", str(REPORTED / "held_out.csv")], "is reported on, so nothing is fitted on it"),
        (["--without", "5"], "--without is 5; the folds are 0 to 4"),
        (["--without", "-1"], "--without is -1; the folds are 0 to 4"),
        (["--folds", "1"], "--folds is 1; there must be 2 or more"),
        (["--folds", "2", "--without", "0"], "--folds is 2; there must be 3 or more"),
        (["--scirex", "x"], "--scirex, --folder and --cache go together"),
        (["--scirex", "x", "--folder", "y"], "--scirex, --folder and --cache go together"),
    ],
)
def test_what_cannot_be_is_refused_before_any_work(
    tmp_path: Path, fitted: list[Pairs], capsys: pytest.CaptureFixture[str], flags: list[str], words: str
) -> None:
    assert main([*flags, "--out", str(tmp_path / "w.json")]) == 2
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1
    assert not fitted
    assert list(tmp_path.iterdir()) == []


def test_weights_go_to_a_json_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--out", str(tmp_path / "weights.txt")]) == 2
    assert "name a file ending in .json" in capsys.readouterr().err
