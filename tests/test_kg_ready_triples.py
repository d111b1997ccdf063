"""Looking up what is ready for a section: which passage, which evidence, which counts; and graphs built from it."""

from __future__ import annotations

import dataclasses
import json
import random
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg.build import Tools, add_documents, build_graph, open_graph, remove_documents
from kg.errors import GraphError
from kg.openie import OpenIE, Passage, words_of
from kg.ready_triples import ReadyTriples
from kg.records import Document, Extraction, Section
from tests.conftest import HashEncoder, paper
from tests.test_kg_openie import doc, read
from tests.test_kg_purity import assert_same

ROME = doc(
    "Rome\nRome lies in Italy. The Tiber crosses it.", ["Rome", "lies in", "Italy"], ["Tiber", "crosses", "Rome"]
)
OSLO = doc("Oslo\nOslo is the capital of Norway.", ["Oslo", "capital of", "Norway"], entities=["Oslo fjord"])
BERN = doc("Bern\nBern is on the Aare.", ["Bern", "is on", "Aare"])
PAPERS = [
    paper("r", "Rome lies in Italy. The Tiber crosses it.", "Rome"),
    paper("o", "Oslo is the capital of Norway.", "Oslo"),
    paper("b", "Bern is on the Aare.", "Bern"),
]


def section(text: str, lead: str = "", heading: str = "") -> Section:
    return Section("d#0", "d", heading, text, lead)


def ready(text: str, *rows: tuple[str, str, str], names: tuple[str, ...] = ()) -> ReadyTriples:
    ends = {end for s, _, o in rows for end in (s, o)}
    passage = Passage(tuple(sorted({*names, *ends})), tuple(sorted(rows)))
    return ReadyTriples(OpenIE({words_of(text): passage}, {}))


def evidence(text: str, subject: str, object_: str, lead: str = "") -> str:
    """The words that are kept as evidence of a relation."""
    where = section(text, lead)
    found = ready(where.full_text(), (subject, "r", object_)).extract(where)
    number = found.triples[0].sentence
    start, end = found.sentences[number] if number >= 0 else (0, 0)
    return text[start:end]


def graph_tools(extractor: ReadyTriples) -> Tools:
    return Tools(extractor, HashEncoder())


def edges(directory: Path) -> set[tuple[str, str, str]]:
    graph = open_graph(directory)
    labels = graph.concepts["label"].to_pylist()
    return {(labels[r["subject"]], r["label"], labels[r["object"]]) for r in graph.relations.to_pylist()}


# Which passage is a section's


@pytest.mark.parametrize(
    ("where", "names"),
    [
        (section("Its text.", "Title"), ("whole",)),
        (section("Its\n text. ", "Title"), ("whole",)),
        (section("Its text.", "Title", "Introduction"), ("whole",)),
        (section("Title Its text."), ("whole",)),
        (section("Its text.", "Other"), ("other",)),
        (section("Its text.", "A third"), ("other", "whole")),
        (section("Its text."), ("other", "whole")),
        (section("its text.", "Title"), ()),
        (section("Its text. More.", "Title"), ()),
    ],
)
def test_a_section_has_the_passage_with_its_words(tmp_path: Path, where: Section, names: tuple[str, ...]) -> None:
    passages = [
        doc("Title\nIts text.", title="Title", text="Its text.", entities=["whole"]),
        doc("Other\nIts text.", title="Other", text="Its text.", entities=["other"]),
    ]
    extractor = ReadyTriples(read(tmp_path, *passages))
    assert tuple(mention.name for mention in extractor.extract(where).mentions) == names
    assert extractor.is_ready(where) == bool(names)


def test_what_is_not_ready_has_sentences_and_nothing_else(tmp_path: Path) -> None:
    extractor = ReadyTriples(read(tmp_path, ROME, doc("Nothing was found here.")))
    for text in ("Unknown words. Twice.", "Nothing was found here."):
        assert not extractor.is_ready(section(text))
        found = extractor.extract(section(text))
        assert found == Extraction(sentences=found.sentences)
        assert found.sentences[0][0] == 0


def test_passages_that_no_section_uses_are_named(tmp_path: Path) -> None:
    extractor = ReadyTriples(read(tmp_path, ROME, OSLO, doc("long " * 100, ["a", "r", "b"])))
    unused = extractor.unused([section("Oslo is the capital of Norway.", "Oslo")])
    assert unused == ["Rome Rome lies in Italy. The Tiber crosses it.", ("long " * 100)[:60] + "…"]


# Evidence and counts


@pytest.mark.parametrize(
    ("text", "ends", "words"),
    [
        ("Here is Rome. Rome lies in Italy. Italy has Rome.", ("Rome", "Italy"), "Rome lies in Italy."),
        ("No name. ROME, in Italy's west.", ("rome", "Italy"), "ROME, in Italy's west."),
        ("Rome is old. It is large. It lies in Italy. So it is.", ("Rome", "Italy"),
         "Rome is old. It is large. It lies in Italy."),
        ("Rome was. Then war. Italy won. Then Italy fell. And Rome rose.", ("Rome", "Italy"),
         "Then Italy fell. And Rome rose."),
        ("Romeo lives. Italy is far. He went.", ("Rome", "Italy"), "Romeo lives. Italy is far. He went."),
        ("Not one of the two. Nor here.", ("Rome", "Italy"), "Not one of the two. Nor here."),
        ("新的。罗马在意大利。", ("罗马", "意大利"), "罗马在意大利。"),
        ("Alone in Rome and Italy.", ("Rome", "Italy"), "Alone in Rome and Italy."),
        ("C is old. C++ is newer than C# is.", ("C++", "C#"), "C++ is newer than C# is."),
    ],
)  # fmt: skip
def test_evidence_is_the_least_of_the_text_that_holds_both_names(text: str, ends: tuple[str, str], words: str) -> None:
    assert evidence(text, *ends) == words
    assert evidence(text, *ends[::-1]) == words


def test_the_title_is_evidence_only_where_no_sentence_is() -> None:
    where = section("It is old. It is large.", "Rome in Italy")
    assert ready(where.full_text(), ("Rome", "in", "Italy")).extract(where).triples[0].sentence == -1
    assert evidence("See Rome, Italy. And more.", "Rome", "Italy", lead="Rome in Italy") == "See Rome, Italy."
    assert evidence("It is old. It lies in Italy.", "Rome", "Italy", lead="Rome") == "It is old. It lies in Italy."


def test_mentions_count_what_the_section_holds() -> None:
    where = section("The novel opens. Novels end; Novels sell.", "Novels", "A novel")
    found = ready(where.full_text(), names=("novel", "Novels", "reader", "ten novel")).extract(where)
    assert [(m.name, m.count, m.sentences) for m in found.mentions] == [
        ("Novels", 3, (-1, 0, 1)),
        ("novel", 2, (-1, 0, 1)),
        ("reader", 1, ()),
        ("ten novel", 1, ()),
    ]


def test_spellings_share_the_occurrences_of_their_form() -> None:
    where = section("Person - centered care. Person-centered care and person-centered care.")
    found = ready(where.text, names=("Person-centered care", "person-centered care", "person centered care")).extract(
        where
    )
    assert sum(m.count for m in found.mentions) == 4  # three occurrences, and one for the spelling that has none


def test_a_name_without_a_character_is_nowhere() -> None:
    found = ready("Some text.", names=("", "\u200b")).extract(section("Some text."))
    assert {m.sentences for m in found.mentions} == {()}


NAMES = st.sampled_from(["Rome", "rome", "Romes", "Italy", "Tiber river", "罗马", "∇", "C++", "U.S.", "no such"])
TEXT = st.lists(st.one_of(NAMES, st.sampled_from([".", "。", "\n\n", "lies in", "the", "?"])), min_size=1, max_size=14)


@given(words=TEXT, lead=st.sampled_from(["", "Rome", "Italy ∇"]), rows=st.lists(st.tuples(NAMES, NAMES, NAMES)))
def test_an_extraction_holds_all_that_is_ready(words: list[str], lead: str, rows: list[tuple[str, str, str]]) -> None:
    where = section(" ".join(words), lead)
    extractor = ready(where.full_text(), *rows)
    found = extractor.extract(where)
    assert [(t.subject, t.relation, t.object) for t in found.triples] == sorted(set(rows))
    assert [m.name for m in found.mentions] == sorted({end for s, _, o in rows for end in (s, o)})
    assert all(m.count >= 1 for m in found.mentions)
    for triple in found.triples:
        start, end = (0, 0) if triple.sentence < 0 else found.sentences[triple.sentence]
        assert 0 <= start <= end <= len(where.text)
        assert (start < end) == (triple.sentence >= 0)
    assert extractor.extract(dataclasses.replace(where, section_id="x#7", doc_id="x")) == found


# The fingerprint


@given(seed=st.integers(0, 99))
@settings(max_examples=20)
def test_the_order_of_the_file_does_not_matter(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    rng, folder = random.Random(seed), tmp_path_factory.mktemp("order")
    docs = json.loads(json.dumps([ROME, OSLO, BERN, ROME, doc("Bad.", ["a"], 3)]))
    before = ReadyTriples(read(folder, *docs)).fingerprint
    rng.shuffle(docs)
    for one in docs:
        rng.shuffle(one["extracted_triples"])
    assert ReadyTriples(read(folder, *docs)).fingerprint == before


def test_another_row_is_another_fingerprint(tmp_path: Path) -> None:
    other = doc(ROME["passage"], ["Rome", "lay in", "Italy"])
    bare = doc(OSLO["passage"], *OSLO["extracted_triples"])
    text = {**ROME, "text": "Rome lies in Italy. The Tiber crosses it."}
    files = [[ROME], [ROME, OSLO], [ROME, other], [ROME, bare], [other], [text]]
    assert len({ReadyTriples(read(tmp_path, *docs)).fingerprint for docs in files}) == len(files)


# Graphs


@pytest.fixture
def extractor(tmp_path: Path) -> ReadyTriples:
    return ReadyTriples(read(tmp_path, ROME, OSLO, BERN))


def test_a_graph_has_the_triples_and_no_others(extractor: ReadyTriples, tmp_path: Path) -> None:
    report = build_graph(tmp_path / "g", PAPERS, graph_tools(extractor))
    assert edges(tmp_path / "g") == {
        ("Rome", "lies in", "Italy"),
        ("Tiber", "crosses", "Rome"),
        ("Oslo", "capital of", "Norway"),
        ("Bern", "is on", "Aare"),
    }
    assert "Oslo fjord" in open_graph(tmp_path / "g").concepts["label"].to_pylist()
    assert (report.without_triples, report.unused_passages) == ([], [])


def test_sections_and_passages_without_each_other_are_reported(extractor: ReadyTriples, tmp_path: Path) -> None:
    stranger = paper("s", "Lima is in Peru.", "Lima")
    report = build_graph(tmp_path / "g", [PAPERS[0], stranger], graph_tools(extractor))
    assert report.without_triples == ["s#0"]
    assert report.unused_passages == ["Bern Bern is on the Aare.", "Oslo Oslo is the capital of Norway."]
    added = add_documents(tmp_path / "g", PAPERS[:2], graph_tools(extractor))
    assert (added.without_triples, added.unused_passages) == ([], ["Bern Bern is on the Aare."])


@given(seed=st.integers(0, 99))
@settings(max_examples=6)
def test_any_way_to_a_set_of_papers_gives_the_same_graph(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    rng, folder = random.Random(seed), tmp_path_factory.mktemp("ways")
    docs, papers = [ROME, OSLO, BERN], [*PAPERS, paper("s", "Lima is in Peru.", "Lima")]
    whole = ReadyTriples(read(folder, *docs))
    build_graph(folder / "whole", papers, graph_tools(whole))
    rng.shuffle(papers)
    cut = rng.randrange(1, 4)
    texts = {p.title for p in papers[:cut]}
    # A file with the rows of the first papers alone, then one with those of all: the last one decides.
    first = ReadyTriples(read(folder, *[d for d in docs if d["passage"].split("\n")[0] in texts] or [doc("Else.")]))
    build_graph(folder / "way", papers[:cut], graph_tools(first))
    add_documents(folder / "way", papers[cut:], graph_tools(whole))
    assert_same(folder / "way", folder / "whole")
    gone = [p.doc_id for p in rng.sample(papers, 2)]
    remove_documents(folder / "way", gone, graph_tools(whole))
    build_graph(folder / "left", [p for p in papers if p.doc_id not in gone], graph_tools(whole))
    assert_same(folder / "way", folder / "left")


@pytest.mark.parametrize(
    "docs",
    [
        pytest.param([OSLO, BERN], id="rows lost"),
        pytest.param([OSLO, BERN, doc(ROME["passage"], ["Rome", "lay in", "Italy"])], id="rows changed"),
        pytest.param([OSLO, BERN, ROME, doc(ROME["passage"], ["Rome", "has", "Tiber"])], id="rows added"),
    ],
)
def test_a_file_with_other_rows_for_papers_that_are_there_is_refused(
    extractor: ReadyTriples, tmp_path: Path, docs: list[dict]
) -> None:
    build_graph(tmp_path / "g", PAPERS[:1], graph_tools(extractor))
    before = (tmp_path / "g" / "CURRENT").read_bytes()
    other = ReadyTriples(read(tmp_path, *docs))
    with pytest.raises(GraphError, match=r"other triples for 1 of its sections, r#0 first; .*--overwrite"):
        add_documents(tmp_path / "g", PAPERS[1:], graph_tools(other))
    assert (tmp_path / "g" / "CURRENT").read_bytes() == before


def test_a_longer_file_is_refused_where_nothing_tells_what_the_graph_was_built_from(
    extractor: ReadyTriples, tmp_path: Path
) -> None:
    build_graph(tmp_path / "g", PAPERS[:2], graph_tools(extractor))
    shutil.rmtree(tmp_path / "g" / "cache")
    longer = ReadyTriples(read(tmp_path, ROME, OSLO, BERN, doc("More.", ["a", "r", "b"])))
    (tmp_path / "g" / "cache").mkdir()
    with pytest.raises(GraphError, match="other triples for 2 of its sections"):
        add_documents(tmp_path / "g", PAPERS[2:], graph_tools(longer))
    assert add_documents(tmp_path / "g", PAPERS[2:], graph_tools(extractor)).added == ["b"]


def test_graphs_of_found_and_of_ready_triples_do_not_mix(extractor: ReadyTriples, tools: Tools, tmp_path: Path) -> None:
    build_graph(tmp_path / "ready", PAPERS[:1], graph_tools(extractor))
    build_graph(tmp_path / "found", PAPERS[:1], tools)
    with pytest.raises(GraphError, match=r"was built with extractor openie \(.*, not keyphrase"):
        add_documents(tmp_path / "ready", PAPERS[1:], tools)
    with pytest.raises(GraphError, match=r"was built with extractor keyphrase \(.*, not openie"):
        add_documents(tmp_path / "found", PAPERS[1:], graph_tools(extractor))


def test_papers_are_removed_without_the_file(extractor: ReadyTriples, tools: Tools, tmp_path: Path) -> None:
    build_graph(tmp_path / "g", PAPERS, graph_tools(extractor))
    build_graph(tmp_path / "left", PAPERS[:2], graph_tools(extractor))
    assert remove_documents(tmp_path / "g", ["b"], tools).removed == ["b"]
    assert_same(tmp_path / "g", tmp_path / "left")
    shutil.rmtree(tmp_path / "g" / "cache")
    with pytest.raises(GraphError, match=r"no longer holds the triples of .*#0; .*--triples FILE --overwrite"):
        remove_documents(tmp_path / "g", ["o"], tools)
    assert remove_documents(tmp_path / "g", ["o"], graph_tools(extractor)).removed == ["o"]


def test_a_huge_passage_takes_no_more_than_a_moment() -> None:
    rows = [(f"name {n}", "r", f"name {n + 1}") for n in range(2000)]
    text = " ".join(f"Here is name {n}." for n in range(2000))
    found = ready(text, *rows).extract(section(text))
    assert len(found.triples) == 2000
    assert {m.name for m in found.mentions if not m.sentences} == {"name 2000"}


def test_each_musique_passage_is_one_section_with_its_triples(data: Path) -> None:
    from kg.openie import read_openie
    from kg.papers import Paper
    from kg.sectioning import SectioningConfig

    extractor = ReadyTriples(read_openie(data / "musique" / "openie_gpt-3.5-turbo.json"))
    corpus = json.loads((data / "musique" / "musique_train_corpus.json").read_text(encoding="utf-8"))
    documents: list[Document] = [paper(str(n), row["text"], row["title"]) for n, row in enumerate(corpus)]
    sections = [s for document in documents for s in Paper.of(document, SectioningConfig()).sections]
    assert len(sections) == len(corpus) == 1890
    assert all(map(extractor.is_ready, sections))
    assert extractor.unused(sections) == []
