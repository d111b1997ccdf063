"""One spelling, several things: names parted by what surrounds them, in vectors planted for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from kg.assemble import Assembled, assemble
from kg.homonyms import HomonymConfig, Parted, components, is_acronym, part_homonyms
from kg.mentions import MentionTable, encode_extraction, read_mentions
from kg.merge import MergeConfig
from kg.overrules import Overrules, Said
from kg.papers import Paper, sorted_papers
from kg.records import Extraction, Mention
from kg.sectioning import SectioningConfig
from tests.conftest import paper
from tests.test_kg_assemble import Asserting

Direction = Sequence[float]
BIOLOGY, SPEECH, BETWEEN = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.7, 0.7, 0.0)


def table(papers: Sequence[Sequence[str]]) -> MentionTable:
    """Papers of one section; every entry of a paper is a mention, written so."""
    found = [
        Extraction(tuple(Mention(n, "term", names.count(n), (), 1) for n in sorted(set(names)))) for names in papers
    ]
    mentions, _ = read_mentions([encode_extraction(e) for e in found], range(len(papers)), [100.0] * len(papers))
    return mentions


def directions(*rows: Direction) -> Tensor:
    return torch.nn.functional.normalize(torch.tensor(rows, dtype=torch.float32), dim=1)


def senses(parted: Parted, papers: Sequence[str]) -> dict[tuple[str, str], set[str]]:
    """(key, first paper) of each name -> the papers that hold it."""
    mentions = parted.mentions
    held: dict[tuple[str, str], set[str]] = {}
    for section, name in zip(mentions.section, mentions.name, strict=True):
        key = (mentions.names[name][1], parted.first_paper[name])
        held.setdefault(key, set()).add(papers[int(mentions.section_document[section])])
    return held


def test_an_acronym_is_parted_where_no_paper_bridges_its_senses() -> None:
    papers = ["p1", "p2", "p3", "p4"]
    vectors = directions(SPEECH, BIOLOGY, BIOLOGY, SPEECH)
    parted = part_homonyms(table([["PG"], ["PG", "PG"], ["PG", "cell"], ["cell"]]), vectors, papers)
    # Of most mentions (3 of 4) is the sense of p2 and p3: it keeps the plain name. *cell* is a word and stays whole.
    assert senses(parted, papers) == {("pg", ""): {"p2", "p3"}, ("pg", "p1"): {"p1"}, ("cell", ""): {"p3", "p4"}}
    assert parted.mentions.names == [("term", "cell"), ("term", "pg"), ("term", "pg")]
    assert parted.mentions.forms == ["cell", "pg", "pg"]
    assert parted.spellings().tolist() == [0, 1, 1]


def test_a_bridging_paper_holds_a_name_together() -> None:
    papers = ["p1", "p2", "p3"]
    vectors = directions(BIOLOGY, SPEECH, BETWEEN)
    bridged = part_homonyms(table([["PG"], ["PG"], ["PG"]]), vectors, papers)
    assert bridged.first_paper == [""]
    unbridged = part_homonyms(table([["PG"], ["PG"], ["cell"]]), vectors, papers)
    assert senses(unbridged, papers) == {("pg", ""): {"p1"}, ("pg", "p2"): {"p2"}, ("cell", ""): {"p3"}}


@pytest.mark.parametrize(
    ("config", "whole", "parted"),
    [
        (HomonymConfig(scope="none"), (), set()),
        (HomonymConfig(), (), {"pg"}),
        (HomonymConfig(scope="all"), (), {"pg", "cell", "iran"}),
        (HomonymConfig(scope="all"), ("pg", "cell"), {"iran"}),
        (HomonymConfig(bridge=-1.0), (), set()),
        (HomonymConfig(most_papers=2), (), set()),
    ],
)
def test_what_may_be_parted(config: HomonymConfig, whole: tuple[str, ...], parted: set[str]) -> None:
    mentions = table([["PG", "cell", "Iran"], ["PG", "cell", "Iran", "IRAN"], ["PG", "cell", "Iran"]])
    found = part_homonyms(mentions, directions(BIOLOGY, SPEECH, SPEECH), ["p1", "p2", "p3"], config, whole)
    assert {key for (key, first) in senses(found, ["p1", "p2", "p3"]) if first} == parted


@pytest.mark.parametrize(
    ("written", "key", "expected"),
    [("PG", "pg", True), ("U.S.", "us", True), ("DNNs", "dnn", True), ("A/G", "ag", True), ("量子", "量子", False),
     ("P", "p", False), ("ESPNX", "espnx", False), ("Pg", "pg", False), ("GPT-2", "gpt2", False),
     ("PG", "prostaglandin", False), ("policy gradient", "policygradient", False)],
)  # fmt: skip
def test_acronyms_are_two_to_four_capitals(written: str, key: str, expected: bool) -> None:
    assert is_acronym(written, key) is expected


@given(st.lists(st.lists(st.floats(-1, 1), min_size=3, max_size=3), min_size=1, max_size=12), st.floats(-0.5, 0.9))
def test_components_are_those_of_the_graph_of_near_rows(rows: list[list[float]], bridge: float) -> None:
    contexts = np.asarray(rows)
    contexts /= np.maximum(np.linalg.norm(contexts, axis=1, keepdims=True), 1e-12)
    graph = nx.Graph()
    graph.add_nodes_from(range(len(rows)))
    cosines = [
        [round(sum(a * b for a, b in zip(u, v, strict=True)), 6) for v in contexts.tolist()] for u in contexts.tolist()
    ]
    graph.add_edges_from((i, j) for i, own in enumerate(cosines) for j, c in enumerate(own) if c >= bridge and i != j)
    expected = sorted(map(sorted, nx.connected_components(graph)))
    found = components(contexts, bridge)
    assert [np.flatnonzero(found == n).tolist() for n in range(found.max() + 1)] == expected


PAPERS = st.lists(
    st.tuples(st.lists(st.sampled_from(["PG", "NP", "cell"]), min_size=1, max_size=4), st.integers(0, 5)),
    min_size=1,
    max_size=8,
)
COMPASS = directions(*np.random.default_rng(718).normal(size=(6, 3)).tolist())


@given(PAPERS, st.data())
def test_the_senses_of_a_name_depend_on_the_papers_that_hold_it_alone(
    found: list[tuple[list[str], int]], data: st.DataObject
) -> None:
    papers = [f"p{i}" for i in range(len(found))]

    def parted(kept: list[int], key: str) -> dict[tuple[str, str], set[str]]:
        names = [papers[i] for i in kept]
        vectors = COMPASS[[found[i][1] for i in kept]]
        every = senses(part_homonyms(table([found[i][0] for i in kept]), vectors, names), names)
        return {sense: held for sense, held in every.items() if sense[0] == key}

    holding = [i for i, (names, _) in enumerate(found) if "PG" in names]
    others = [i for i in range(len(found)) if i not in holding]
    some = data.draw(st.lists(st.sampled_from(others), unique=True)) if others else []
    assert parted(sorted(holding + some), "pg") == parted(list(range(len(found))), "pg")


def test_a_name_in_very_many_papers_is_left_whole_and_others_are_not() -> None:
    # 10,000 papers squared would be 10^8 cosines; the one other name is compared all the same.
    papers = [f"p{i:05d}" for i in range(10_000)]
    mentions = table([["US", "PG"]] * 2 + [["US"]] * 9_998)
    vectors = directions(BIOLOGY, SPEECH).repeat(5_000, 1)
    parted = part_homonyms(mentions, vectors, papers)
    assert parted.mentions.names == [("term", "pg"), ("term", "pg"), ("term", "us")]
    assert parted.first_paper == ["", "p00001", ""]


def test_an_explanation_is_carried_as_far_as_papers_bridge() -> None:
    defined = Extraction((Mention("PG", "term", 1, (), 1),), definitions=(("PGE", "prostaglandin E"),))
    used = Extraction((Mention("PGE", "term", 1, (), 1),))
    blobs = [encode_extraction(e) for e in (defined, used, used, used)]
    vectors = directions(BIOLOGY, SPEECH, BETWEEN, SPEECH)

    def names(kept: Sequence[int], config: HomonymConfig | None) -> list[str]:
        mentions, _ = read_mentions(
            [blobs[i] for i in kept], range(len(kept)), [1.0] * len(kept), vectors[list(kept)], config
        )
        return [mentions.names[n][1] for n in mentions.name]

    assert names([0, 1], HomonymConfig()) == ["pg", "pge"]
    assert names([0, 1, 3], HomonymConfig()) == ["pg", "pge", "pge"]  # two uses that bridge only each other
    assert names([0, 1, 2], HomonymConfig()) == ["pg", "prostaglandine", "prostaglandine"]
    for everywhere in (None, HomonymConfig(scope="none"), HomonymConfig(most_papers=1)):
        assert names([0, 1], everywhere) == ["pg", "prostaglandine"]


def test_nothing_and_one_paper_are_left_as_they_are() -> None:
    empty = part_homonyms(table([]), torch.zeros(0, 3), [])
    assert (empty.mentions.names, empty.first_paper, empty.spellings().tolist()) == ([], [], [])
    mentions = table([["PG", "cell"]])
    one = part_homonyms(mentions, directions(BIOLOGY), ["p1"])
    assert (one.mentions.names, one.first_paper) == (mentions.names, ["", ""])
    assert one.mentions.name.tolist() == mentions.name.tolist()


# --- in a graph --------------------------------------------------------------------------------------------------

GIVEN = MergeConfig()
FIELDS = {"p1": "speech", "p2": "biology", "p3": "biology", "p4": "speech"}


def graph(doc_ids: Sequence[str] = tuple(FIELDS), config: MergeConfig = GIVEN) -> Assembled:
    """*PG* in papers of two fields, beside a word of each."""
    papers = sorted_papers(Paper.of(paper(i, f"about {FIELDS[i]} in {i}"), SectioningConfig()) for i in doc_ids)
    found = {
        f"{i}#0": Extraction(tuple(Mention(n, "term", 2 if i == "p3" else 1, (0,), 1) for n in ("PG", field)))
        for i, field in FIELDS.items()
    }
    extractor = Asserting({key: replace(e, sentences=((0, 5),)) for key, e in found.items()})
    blobs = [encode_extraction(extractor.extract(s)) for p in papers for s in p.sections]

    def embed(texts: Sequence[str]) -> Tensor:
        return directions(*((0.1, 0.1, 1.0) if t == "pg" else BIOLOGY if "biology" in t else SPEECH for t in texts))

    return assemble(papers, blobs, extractor, embed, config)


def concept_ids(graph: Assembled) -> dict[str, set[str]]:
    """Id -> papers, of the concepts named PG."""
    concepts, documents = graph.tables["concepts"].to_pylist(), graph.tables["documents"]["doc_id"].to_pylist()
    owner = graph.tables["sections"]["document"].to_pylist()
    held: dict[str, set[str]] = {}
    for row in graph.tables["mentions"].to_pylist():
        if (concept := concepts[row["concept"]])["label"] == "PG":
            held.setdefault(concept["concept_id"], set()).add(documents[owner[row["section"]]])
    return held


def test_each_sense_is_a_concept_and_a_link_stands_between_them_at_most() -> None:
    plain = sha256(b"term\0pg").hexdigest()[:16]
    built = graph()
    assert (
        concept_ids(built)
        == {
            plain: {"p2", "p3"},  # three mentions against two
            sha256(b"term\0pg\0p1").hexdigest()[:16]: {"p1", "p4"},
        }
    )
    labels = built.tables["concepts"]["label"].to_pylist()
    links = [r for r in built.tables["links"].to_pylist() if labels[r["left"]] == labels[r["right"]] == "PG"]
    assert all(link["evidence"] == "same name" and link["left"] != link["right"] for link in links)
    assert graph(tuple(reversed(FIELDS))).tables == built.tables
    assert concept_ids(graph(("p2", "p3"))) == {plain: {"p2", "p3"}}


def test_likely_senses_are_linked_and_not_joined() -> None:
    # Even rules, which take one spelling for one thing, do not undo what was parted.
    built = graph(config=MergeConfig(rungs="rules"))
    labels = built.tables["concepts"]["label"].to_pylist()
    links = [r for r in built.tables["links"].to_pylist() if labels[r["left"]] == labels[r["right"]] == "PG"]
    assert [(r["probability"], r["evidence"], r["left"] != r["right"]) for r in links] == [(0.75, "same name", True)]
    assert built.tensors["same_as_values"].tolist() == [0.75, 0.75]


def test_people_may_say_that_a_name_is_one_thing() -> None:
    whole = Overrules.of([Said("same", "PG", "PG")])
    assert whole.same == (("pg", "pg"),)
    assert Overrules.stored({"same": [["pg", "pg"]], "different": []}) == whole
    assert len(concept_ids(graph(config=MergeConfig(overrules=whole)))) == 1
    beside = Overrules.of([Said("same", "PG", "policy gradient")])  # what is the same as another is one thing itself
    assert len(concept_ids(graph(config=MergeConfig(overrules=beside)))) == 1
    assert len(concept_ids(graph(config=MergeConfig(homonyms=HomonymConfig(scope="none"))))) == 1
