"""`scripts/hipporag_folder.py`: ids, judgements, what is malformed or absent, and that the folder can be used."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import scripts.cli
import scripts.evaluate_retrieval
import scripts.tools
from kg.errors import InputError
from kg.ingest import read_all
from kg.openie import read_openie
from kg.papers import Paper
from kg.ready_triples import ReadyTriples
from kg.records import encode_id
from kg.sectioning import SectioningConfig
from retrieval.beir import read_groups, read_qrels, read_queries
from scripts.hipporag_folder import convert, main, passage_ids
from tests.conftest import HashEncoder
from tests.test_kg_openie import doc, openie_file

TEXTS = {
    "Rome": "Rome lies in Italy.",
    "Oslo": "Oslo is in Norway.",
    "100% Wolf": "A film of 2020.",
    "Publix": "A chain of shops.",
}
CORPUS = [{"title": title, "text": text} for title, text in TEXTS.items()]
CORPUS.append({"title": "Publix", "text": "Its founder was George Jenkins."})


def paragraph(title: str, text: str, supports: object = True, name: str = "paragraph_text") -> dict[str, Any]:
    return {"idx": 0, "title": title, name: text, "is_supporting": supports}


def question(query_id: object = "2hop__1", *paragraphs: object, **more: object) -> dict[str, Any]:
    own = list(paragraphs) or [paragraph("Rome", TEXTS["Rome"]), paragraph("Oslo", TEXTS["Oslo"], False)]
    return {"id": query_id, "question": "Where is Rome?", "answer": "Italy", "paragraphs": own} | more


def set_in(folder: Path, questions: object, corpus: object = CORPUS) -> list[str]:
    for name, value in (("questions.json", questions), ("corpus.json", corpus)):
        (folder / name).write_text(json.dumps(value), encoding="utf-8")
    return [str(folder / "questions.json"), str(folder / "corpus.json"), "--out", str(folder / "out")]


def test_passages_questions_and_judgements_are_those_of_the_set(tmp_path: Path) -> None:
    founder = paragraph("Publix", "Its founder  was\nGeorge Jenkins.", name="text")
    questions = [question(), question("4hop3__2", founder, founder, answer=["x", 1]), question("plain", founder)]
    assert main(set_in(tmp_path, questions)) == 0
    folder = tmp_path / "out"
    documents, report = read_all([folder])
    assert [(d.title, d.parts[0].text) for d in documents] == [(row["title"], row["text"]) for row in CORPUS]
    assert (report.rejected, report.duplicates, report.skipped) == ([], [], [])
    ids = [d.doc_id for d in documents]
    assert ids[:3] == ["Rome", "Oslo", "100_Wolf"]
    assert all(len(name) == len("Publix-") + 8 and name.startswith("Publix-") for name in ids[3:])
    assert read_qrels(folder, "dev") == {"2hop__1": {"Rome": 1}, "4hop3__2": {ids[4]: 1}, "plain": {ids[4]: 1}}
    assert read_queries(folder) == dict.fromkeys(("2hop__1", "4hop3__2", "plain"), "Where is Rome?")
    assert read_groups(folder, "hops") == {"2hop__1": "2", "4hop3__2": "4"}
    metadata = [json.loads(line)["metadata"] for line in (folder / "queries.jsonl").read_text().splitlines()]
    assert metadata == [{"answer": "Italy", "hops": 2}, {"answer": ["x", 1], "hops": 4}, {"answer": "Italy"}]


titles = st.text(st.sampled_from("aB %_-#/é\u0301\u2028\n"), max_size=4)


@given(st.lists(st.tuples(titles, st.sampled_from(["one", "two", "three"])), max_size=8, unique=True), st.randoms())
def test_ids_differ_and_stay_what_they_are(passages: list[tuple[str, str]], chance: random.Random) -> None:
    ids = passage_ids(passages)
    assert len(set(ids)) == len(passages)
    assert [encode_id(name) for name in ids] == ids
    assert all(name and not any(ch.isspace() for ch in name) for name in ids)
    order = list(range(len(passages)))
    chance.shuffle(order)
    assert passage_ids([passages[n] for n in order]) == [ids[n] for n in order]


def test_a_supporting_paragraph_that_the_corpus_lacks_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other_text = paragraph("Rome", "Rome is old.")
    questions = [question("q1", other_text, paragraph("Oslo", TEXTS["Oslo"])), question("q2", other_text)]
    assert main(set_in(tmp_path, questions)) == 1
    told = capsys.readouterr().err
    assert "2 supporting and not in the corpus, so no judgement holds them: 'Rome' of question q1; 'Rome' of" in told
    assert "1 questions have no supporting passage, so they are in queries.jsonl alone." in told
    assert read_qrels(tmp_path / "out", "dev") == {"q1": {"Oslo": 1}}
    assert list(read_queries(tmp_path / "out")) == ["q1", "q2"]


FAULTS: list[tuple[Any, Any, str]] = [
    ("no object", None, "question 2 is no object"),
    (question(None), None, "question 2 has no id"),
    (question(True), None, "question 2 has no id"),
    (question("2hop__1"), None, "question 2 repeats the id 2hop__1"),
    (question("q", question=" "), None, "question 2 (q) has no text"),
    (question("q", paragraphs={}), None, "question 2 (q) has no list of paragraphs"),
    (question("q", "Rome"), None, "paragraph 1 of question q does not say whether it is_supporting"),
    (question("q", paragraph("Rome", "x", "yes")), None, "paragraph 1 of question q does not say whether it is"),
    (question("q", {"title": "Rome", "is_supporting": True}), None, "paragraph 1 of question q has no text"),
    (question("q", {"text": "Rome", "is_supporting": True}), None, "paragraph 1 of question q has no title"),
    (None, 7, "passage 6 is no object"),
    (None, {"title": "Lima"}, "passage 6 has no text"),
    (None, {"title": "Lima", "text": " "}, "passage 6 has no text"),
    (None, {"title": 5, "text": "Lima."}, "passage 6 has no title"),
]


@pytest.mark.parametrize(("asked", "passage", "words"), FAULTS, ids=range(len(FAULTS)))
def test_a_malformed_row_is_named_and_the_others_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], asked: Any, passage: Any, words: str
) -> None:
    questions = [question(), *([] if asked is None else [asked])]
    assert main(set_in(tmp_path, questions, [*CORPUS, *([] if passage is None else [passage])])) == 1
    told = capsys.readouterr().err
    assert f"1 malformed and left out: {words}" in told
    assert read_qrels(tmp_path / "out", "dev")["2hop__1"] == {"Rome": 1}
    assert len(read_all([tmp_path / "out"])[0]) == len(CORPUS)


def test_many_malformed_rows_are_counted_and_the_first_are_named(tmp_path: Path, capsys: Any) -> None:
    assert main(set_in(tmp_path, [question(), *range(30)])) == 1
    told = capsys.readouterr().err
    assert told.startswith("30 malformed and left out: question 2 is no object; question 3")
    assert told.rstrip().endswith("question 21 is no object; and 10 more.")


def test_a_passage_given_twice_stands_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(set_in(tmp_path, [question()], [*CORPUS, {"title": "Rome ", "text": "Rome  lies in Italy."}])) == 0
    assert "1 given twice and written once: passage 6 (Rome )." in capsys.readouterr().err
    assert [d.doc_id for d in read_all([tmp_path / "out"])[0]][:2] == ["Rome", "Oslo"]


@pytest.mark.parametrize(
    ("questions", "corpus", "words"),
    [
        ({"a": 1}, CORPUS, "questions.json holds no list; give the questions of HippoRAG"),
        ([question()], {"Rome": ["x"]}, "corpus.json holds no list; give the corpus of HippoRAG"),
        ([], CORPUS, "There is no question that could be used; the list is empty"),
        ([question(None)], CORPUS, "There is no question that could be used; question 1 has no id"),
        ([question()], [1], "There is no passage that could be used; passage 1 is no object"),
        ([question("q", paragraph("Lima", "x"))], CORPUS, "No question has a supporting paragraph in the corpus"),
    ],
)
def test_what_is_no_set_is_refused_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], questions: Any, corpus: Any, words: str
) -> None:
    assert main(set_in(tmp_path, questions, corpus)) == 2
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "is not JSON (Expecting property name"),
        (b"[\xff]", "is no UTF-8 text (byte 1)"),
        (b"[" * 100_000, "is nested too deeply or holds a number of thousands of digits"),
        (b"[" + b"9" * 5000 + b"]", "is nested too deeply or holds a number of thousands of digits"),
        (None, "cannot be read (No such file or directory)"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None, words: str
) -> None:
    arguments = set_in(tmp_path, [question()])
    (tmp_path / "questions.json").unlink() if content is None else (tmp_path / "questions.json").write_bytes(content)
    assert main(arguments) == 2
    assert f"questions.json {words}" in capsys.readouterr().err


def test_only_a_folder_that_holds_the_same_is_written_again(tmp_path: Path, capsys: Any) -> None:
    arguments = set_in(tmp_path, [question()])
    out = tmp_path / "out"
    out.mkdir()
    assert main(arguments) == 0
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    (out / "queries.jsonl").unlink()  # as if a kill had left the others
    (out / ".corpus.jsonl.0123abcd.tmp").write_text("half")
    assert main(arguments) == 0
    assert main(arguments) == 0
    assert {path: path.read_bytes() for path in before} == before
    (out / "qrels" / "test.tsv").write_text("")
    assert main(arguments) == 2
    assert "out holds qrels/test.tsv, which this set does not have so; choose a new folder" in capsys.readouterr().err
    (out / "qrels" / "test.tsv").unlink()
    assert main(set_in(tmp_path, [question("another")])) == 2
    assert "which this set does not have so" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in before} == before


def test_two_passages_with_one_id_are_refused() -> None:
    [_, taken] = passage_ids([("Rome", "a"), ("Rome", "b")])
    with pytest.raises(InputError, match=f"Two passages would have the id '{taken}'"):
        convert([], [{"title": title, "text": text} for title, text in (("Rome", "a"), ("Rome", "b"), (taken, "c"))])


def test_the_folder_is_built_with_its_triples_and_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(scripts.tools, "load_encoder", lambda given, manifest=None: HashEncoder())
    assert main(set_in(tmp_path, [question()])) == 0
    folder, graph = str(tmp_path / "out"), str(tmp_path / "graph")
    rows = [doc(f"{row['title']}\n{row['text']}", [row["title"], "is", row["text"]]) for row in CORPUS]
    assert scripts.cli.main(["build", graph, folder, "--triples", str(openie_file(tmp_path, rows))]) == 0
    assert "5 documents, 5 sections" in " ".join(capsys.readouterr().out.split())
    measured = [folder, "--graph", graph, "--out", str(tmp_path / "r"), "--methods", "bm25", "ppr", "--measures", "R@1"]
    assert scripts.evaluate_retrieval.main(measured) == 0
    results = json.loads((tmp_path / "r" / "results.json").read_text())
    assert {method: own["R@1"]["mean"] for method, own in results["out"].items()} == {"bm25": 1.0, "ppr": 1.0}


@pytest.mark.data
def test_musique_becomes_a_folder_in_which_every_question_has_its_passages(data: Path, tmp_path: Path) -> None:
    source = data / "musique"
    files = [str(source / name) for name in ("musique_train.json", "musique_train_corpus.json")]
    assert main([*files, "--out", str(tmp_path / "musique")]) == 0
    documents, report = read_all([tmp_path / "musique"])
    assert (len(documents), report.rejected, report.duplicates) == (1890, [], [])
    passage = {d.doc_id: (d.title, d.parts[0].text) for d in documents}
    corpus = json.loads(Path(files[1]).read_text(encoding="utf-8"))
    assert len(passage) == 1890
    assert sum(name == title.replace(" ", "_") for name, (title, _) in passage.items()) == 1890 - 211
    qrels, queries = read_qrels(tmp_path / "musique", "dev"), read_queries(tmp_path / "musique")
    asked = json.loads(Path(files[0]).read_text(encoding="utf-8"))
    assert queries == {row["id"]: row["question"] for row in asked}
    assert len(queries) == 100
    given = {(row["title"], row["text"]) for row in corpus}
    for row in asked:
        relevant = {passage[name] for name in qrels[row["id"]]}
        assert relevant <= given
        assert relevant == {(p["title"], p["paragraph_text"]) for p in row["paragraphs"] if p["is_supporting"]}
    assert sum(map(len, qrels.values())) == 237
    assert {query: int(query[0]) for query in queries} == {
        query: int(hops) for query, hops in read_groups(tmp_path / "musique", "hops").items()
    }
    extractor = ReadyTriples(read_openie(source / "openie_gpt-3.5-turbo.json"))
    sections = [s for document in documents for s in Paper.of(document, SectioningConfig()).sections]
    assert len(sections) == 1890
    assert all(map(extractor.is_ready, sections))
    assert extractor.unused(sections) == []


@pytest.mark.parametrize("digits", ["9" * 5000, "123", "²", "٤", ""])
def test_hops_are_of_two_digits_at_most(tmp_path: Path, digits: str) -> None:
    assert main(set_in(tmp_path, [question(f"{digits}hop__1"), question("12hop__1")])) == 0
    assert read_groups(tmp_path / "out", "hops") == {"12hop__1": "12"}
    assert list(read_queries(tmp_path / "out")) == [f"{digits}hop__1", "12hop__1"]
