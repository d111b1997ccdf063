"""Labelled sections hold the text that a graph would, and each name in the sections that name it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kg.errors import InputError
from scripts.labelled_sections import join_words, read_scirex, read_trials, scirex_sections


def paper_of(sections: list[tuple[str, str]]) -> dict[str, Any]:
    """A paper in the layout of SciREX from (heading sentence, body) pairs of tokens parted by spaces."""
    words: list[str] = []
    spans, sentences = [], []
    for heading, body in sections:
        start = len(words)
        for sentence in (heading, body):
            first = len(words)
            words += sentence.split()
            sentences.append([first, len(words)])
        spans.append([start, len(words)])
    return {"words": words, "sections": spans, "sentences": sentences, "ner": [], "coref": {}, "doc_id": "p"}


def spans_of(words: list[str], name: str) -> list[list[int]]:
    tokens = name.split()
    return [[at, at + len(tokens)] for at in range(len(words)) if words[at : at + len(tokens)] == tokens]


def test_tokens_become_running_text() -> None:
    words = "A bottom - up model ( BUM ) , the authors ’s own [ reference ] [ 3 ] , works - if slowly .".split()
    text, places = join_words(words, 0, len(words))
    assert text == "A bottom-up model (BUM), the authors’s own [3], works-if slowly."
    for number, (start, end) in places.items():
        assert text[start:end] == words[number]
    assert [words[n] for n in range(len(words)) if n not in places] == ["[", "reference", "]"]


@pytest.mark.parametrize("citations", ["[ reference , reference ]", "[ reference ][ reference ]"])
def test_placeholders_of_citations_are_no_words(citations: str) -> None:
    words = f"As shown {citations} before".split()
    assert "reference" not in join_words(words, 0, len(words))[0]
    assert join_words("a reference model".split(), 0, 3)[0] == "a reference model"


def test_names_belong_to_the_sections_that_hold_them() -> None:
    paper = paper_of(
        [
            ("document : On GANs", "Generative nets are old ."),
            ("section : Image Nets", "A net of nets ."),
            ("bibliography : References", "Old nets ."),
            ("section : Methods", ""),
        ]
    )
    paper["coref"] = {"GAN": spans_of(paper["words"], "GANs") + spans_of(paper["words"], "Generative nets"), "No": []}
    paper["ner"] = [[*span, "Method"] for span in spans_of(paper["words"], "Image Nets")]
    first, second = scirex_sections(paper)
    assert first.section.full_text() == "On GANs\nGenerative nets are old."
    assert (first.section.lead, second.section.heading) == ("On GANs", "Image Nets")
    assert first.salient == (frozenset({"gan", "generative net"}),)
    assert first.mentions == {"gan", "generative net"}
    assert (second.salient, second.mentions) == ((), {"image net"})


def test_a_long_section_is_divided_and_loses_no_name() -> None:
    sentence = "The word comes often in it . "
    paper = paper_of([("section : Long", sentence * 150 + "Last Name ends . " + sentence * 150)])
    paper["coref"] = {"Last_Name": spans_of(paper["words"], "Last Name")}
    sections = scirex_sections(paper)
    assert len(sections) >= 2
    assert len({one.section.section_id for one in sections}) == len(sections)
    assert [one.salient for one in sections if one.salient] == [(frozenset({"last name"}),)]
    (holding,) = [one for one in sections if one.salient]
    assert "Last Name" in holding.section.text


def test_trials_are_labelled_by_what_their_questions_name(tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    corpus = [
        {"_id": "1", "title": "On Aspirin", "text": "Placebos were given."},
        {"_id": "2", "title": "", "text": ""},
    ]
    parts = {"intervention": "aspirin", "comparison": "Placebo", "outcome": "death", "label": None}
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)), encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": "", "metadata": parts}), encoding="utf-8")
    (tmp_path / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\nq\t1\t1\n", encoding="utf-8")
    (only,) = read_trials(tmp_path, "dev")
    assert only.salient == (frozenset({"aspirin"}), frozenset({"placebo"}))
    assert only.mentions == {"aspirin", "placebo"}


def test_folders_without_the_data_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="SciREX"):
        read_scirex(tmp_path)
    with pytest.raises(InputError, match="trials"):
        read_trials(tmp_path, "dev")


def test_a_folder_is_read_in_order(tmp_path: Path) -> None:
    for name in ("b", "a"):
        paper = paper_of([("section : One", f"Text of {name} .")]) | {"doc_id": name}
        (tmp_path / f"{name}.json").write_text(json.dumps(paper), encoding="utf-8")
    assert [one.section.section_id for one in read_scirex(tmp_path)] == ["a#0", "b#0"]


@pytest.mark.parametrize(
    ("field", "value"),
    [("coref", {"a": [[0, 99]]}), ("coref", None), ("sentences", [[0]]), ("sentences", {}), ("ner", [[0, 1]])],
)
def test_a_paper_that_is_not_whole_is_named(tmp_path: Path, field: str, value: object) -> None:
    paper = paper_of([("section : One", "Text .")]) | {field: value}
    (tmp_path / "a.json").write_text(json.dumps(paper), encoding="utf-8")
    with pytest.raises(InputError, match=rf"a\.json: field {field} "):
        read_scirex(tmp_path)
