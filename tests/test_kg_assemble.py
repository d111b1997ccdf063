"""The assembled graph against brute force: weights, directions, evidence, labels, ids."""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kg.assemble import Assembled, assemble, edge_weights, word_count
from kg.cooccurrence import Relations
from kg.keyphrase import KeyphraseExtractor
from kg.mentions import MentionTable, encode_extraction
from kg.merge import MergeConfig
from kg.papers import Paper, sorted_papers
from kg.records import Document, Extraction, Mention, Section, Triple
from kg.sectioning import SectioningConfig
from tests.conftest import HashEncoder, paper


class Asserting:
    """An extractor double: sections say what it finds, as ``subject -label-> object`` sentences."""

    name = "asserting"
    fingerprint = "asserting-1"
    cooccurrence = False

    def __init__(self, found: dict[str, Extraction]) -> None:
        self.found = found

    def extract(self, section: Section) -> Extraction:
        return self.found[section.section_id]

    def select(self, mentions: MentionTable) -> np.ndarray:
        return np.ones(len(mentions.section), dtype=bool)


def assembled(documents: list[Document], extractor: Asserting | KeyphraseExtractor) -> Assembled:
    papers = sorted_papers(Paper.of(document, SectioningConfig()) for document in documents)
    blobs = [encode_extraction(extractor.extract(s)) for p in papers for s in p.sections]
    return assemble(papers, blobs, extractor, HashEncoder().encode_documents, MergeConfig())


def said(*triples: Triple, mentions: tuple[str, ...] | None = None, text: str = "x" * 40, **more: object) -> Extraction:
    """An extraction whose mentions are the triples' ends unless given, each sentence ten characters long."""
    names = mentions if mentions is not None else tuple(sorted({e for t in triples for e in (t.subject, t.object)}))
    found = tuple(Mention(n, "term", 1, (0,), 1) for n in names)
    return Extraction(found, triples, sentences=tuple((10 * i, 10 * i + 9) for i in range(4)), **more)  # type: ignore[arg-type]


def graph_of(*extractions: Extraction) -> Assembled:
    """One paper of one section per extraction."""
    documents = [paper(f"p{i:02d}", "x" * 40) for i in range(len(extractions))]
    return assembled(documents, Asserting({f"p{i:02d}#0": e for i, e in enumerate(extractions)}))


def labels(graph: Assembled) -> list[str]:
    return graph.tables["concepts"]["label"].to_pylist()


def relations(graph: Assembled) -> list[tuple[int, str, str, str]]:
    named = labels(graph)
    return [
        (row["section"], named[row["subject"]], row["label"], named[row["object"]])
        for row in graph.tables["relations"].to_pylist()
    ]


def dense(graph: Assembled, name: str, columns: int) -> np.ndarray:
    t = {part: graph.tensors[f"{name}_{part}"].numpy() for part in ("rows", "columns", "values")}
    matrix = np.zeros((len(t["rows"]) - 1, columns), dtype=np.float32)
    for row, (start, end) in enumerate(zip(t["rows"][:-1], t["rows"][1:], strict=True)):
        own = t["columns"][start:end]
        assert own.tolist() == sorted(set(own.tolist()))
        matrix[row, own] = t["values"][start:end]
    return matrix


def weight(graph: Assembled, u: str, v: str) -> float:
    named = labels(graph)
    return float(dense(graph, "adjacency", len(named))[named.index(u), named.index(v)])


# --- asserted relations -----------------------------------------------------------------------------------------

TERMS = ["asset", "bond", "credit", "debt"]
TRIPLES = st.builds(
    Triple,
    st.sampled_from([*TERMS, "nowhere"]),
    st.sampled_from(["raises", "lowers"]),
    st.sampled_from([*TERMS, "nowhere"]),
    st.integers(-1, 3),
)


@settings(max_examples=60)
@given(st.lists(st.lists(TRIPLES, max_size=5), min_size=1, max_size=4))
def test_a_weight_is_the_log_of_one_plus_the_sections_that_assert_it(sections: list[list[Triple]]) -> None:
    graph = graph_of(*(said(*triples, mentions=tuple(TERMS)) for triples in sections))
    named = labels(graph)
    assert sorted(named) == TERMS
    kept = [
        (number, t)
        for number, triples in enumerate(sections)
        for t in triples
        if t.subject != t.object and "nowhere" not in (t.subject, t.object)
    ]
    supporting: dict[frozenset[str], set[int]] = defaultdict(set)
    for number, t in kept:
        supporting[frozenset((t.subject, t.object))].add(number)
    adjacency = dense(graph, "adjacency", len(named))
    for i, u in enumerate(named):
        for j, v in enumerate(named):
            expected = math.log(1 + len(supporting[frozenset((u, v))])) if i != j else 0.0
            assert adjacency[i, j] == np.float32(expected)
    assert Counter(relations(graph)) == Counter((n, t.subject, t.relation, t.object) for n, t in kept)
    assert graph.counts["edges"] == sum(1 for s in supporting.values() if s)
    rows = graph.tables["relations"].to_pylist()
    spans = Counter((row["section"], row["start"], row["end"]) for row in rows)
    assert spans == Counter(
        (n, 10 * t.sentence, 10 * t.sentence + 9) if t.sentence >= 0 else (n, -1, -1) for n, t in kept
    )


def test_directions_and_labels_of_one_pair_stay_beside_each_other() -> None:
    graph = graph_of(
        said(
            Triple("asset", "raises", "bond", 0),
            Triple("bond", "lowers", "asset", 1),
            Triple("asset", "funds", "bond", 1),
        )
    )
    assert sorted(relations(graph)) == [
        (0, "asset", "funds", "bond"),
        (0, "asset", "raises", "bond"),
        (0, "bond", "lowers", "asset"),
    ]
    assert weight(graph, "asset", "bond") == pytest.approx(math.log(2))


def test_ends_of_a_relation_may_be_spelled_otherwise_or_be_acronyms() -> None:
    capm = "capital asset pricing model"
    graph = graph_of(
        said(
            Triple("CAPM", "prices", "Stock-returns", 0),
            mentions=("CAPM", "stock returns"),
            definitions=(("CAPM", capm),),
        ),
        said(Triple(capm, "prices", "stock return", 0), mentions=(capm, "stock return")),
        said(Triple("CAPM", "prices", "stock returns", 0), mentions=("CAPM", "stock returns")),
    )
    assert len(labels(graph)) == 2
    assert [row[0] for row in relations(graph)] == [0, 1, 2]
    assert graph.tensors["adjacency_values"].tolist() == pytest.approx([math.log(4)] * 2)


def test_a_relation_needs_both_ends_in_its_own_section() -> None:
    graph = graph_of(
        said(Triple("asset", "raises", "bond", 0), mentions=("asset",)),
        said(mentions=("bond",)),
    )
    assert relations(graph) == []
    assert graph.counts["edges"] == 0


@settings(max_examples=100)
@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 4), st.sampled_from([0.25, 0.5, 1.0])).filter(
            lambda r: r[1] != r[2]
        ),
        max_size=25,
    )
)
def test_edges_sum_the_strongest_assertion_of_each_section(rows: list[tuple[int, int, int, float]]) -> None:
    columns = np.asarray(rows, dtype=np.float64).reshape(-1, 4).T
    section, subject, object_ = columns[:3].astype(np.int64)
    zero = np.zeros(len(section), dtype=np.int64)
    matrix = edge_weights(Relations(section, subject, object_, zero, zero, columns[3], ("r",)), 5)
    strongest: dict[tuple[int, int, int], float] = {}
    for s, u, v, w in rows:
        key = (s, min(u, v), max(u, v))
        strongest[key] = max(w, strongest.get(key, 0.0))
    expected = np.zeros((5, 5))
    for (_, u, v), w in strongest.items():
        expected[u, v] += w
        expected[v, u] += w
    assert np.array_equal(matrix.toarray(), np.log1p(expected).astype(np.float32))
    assert matrix.has_sorted_indices
    assert not matrix.diagonal().any()


# --- concepts ---------------------------------------------------------------------------------------------------


VARIANTS = ("behavioural portfolio choice model", "behavioral portfolio choice model")


def test_types_keep_concepts_apart() -> None:
    both = Extraction(
        (Mention("Ford", "company", 1, (0,), 1), Mention("Ford", "person", 2, (0,), 2)), sentences=((0, 9),)
    )
    table = graph_of(both).tables["concepts"].to_pylist()
    assert sorted((row["label"], row["type"], row["n_mentions"]) for row in table) == [
        ("Ford", "company", 1),
        ("Ford", "person", 2),
    ]
    assert len({row["concept_id"] for row in table}) == 2


def test_the_label_is_the_most_frequent_surface_and_ties_go_by_code_point() -> None:
    def counted(**counts: int) -> Extraction:
        names = {"upper": "Supply Chain", "lower": "supply chain", "hyphen": "supply-chain"}
        found = tuple(Mention(names[k], "term", n, (0,), n) for k, n in counts.items())
        return Extraction(found, sentences=((0, 9),))

    graph = graph_of(counted(upper=2, lower=1), counted(lower=1, hyphen=1), counted(hyphen=2))
    (row,) = graph.tables["concepts"].to_pylist()
    assert row["aliases"] == ["supply-chain", "Supply Chain", "supply chain"]
    assert row["label"] == "supply-chain"
    assert (row["n_mentions"], row["n_sections"]) == (7, 3)
    assert graph.tensors["incidence_values"].tolist() == [3.0, 2.0, 2.0]
    tied = graph_of(counted(upper=1, lower=1, hyphen=1))
    assert labels(tied) == ["Supply Chain"]


def test_the_id_is_the_hash_of_type_and_least_key() -> None:
    variants = said(mentions=(VARIANTS[0], VARIANTS[1] + "s"))
    (row,) = graph_of(variants).tables["concepts"].to_pylist()
    assert row["concept_id"] == hashlib.sha256(b"term\0behavioralportfoliochoicemodel").hexdigest()[:16]
    assert row["form"] == VARIANTS[1]
    other = graph_of(said(mentions=("asset",)), variants, said(mentions=(VARIANTS[0] + "s",)))
    assert row["concept_id"] in other.tables["concepts"]["concept_id"].to_pylist()


def test_the_vector_of_a_concept_is_the_mean_of_its_names() -> None:
    graph = graph_of(said(mentions=VARIANTS))
    rows = HashEncoder().encode_documents(VARIANTS)
    assert torch.allclose(graph.tensors["concept_x"], torch.nn.functional.normalize(rows.mean(0, keepdim=True), dim=1))


def test_names_without_a_visible_character_make_no_concept() -> None:
    graph = graph_of(said(mentions=(" ", "\u200b", "asset")), said(mentions=("",)))
    assert labels(graph) == ["asset"]
    assert len(graph_of(said(mentions=("",))).tables["concepts"]) == 0


# --- links between names ----------------------------------------------------------------------------------------


CHAIN = "supply chain", "supply chain management"


def test_an_uncertain_pair_of_names_is_an_edge_and_no_join() -> None:
    graph = graph_of(said(mentions=CHAIN), said(mentions=CHAIN))
    (row,) = graph.tables["links"].to_pylist()
    named = labels(graph)
    assert sorted(named) == sorted((row["left_name"], row["right_name"])) == sorted(CHAIN)
    assert (named[row["left"]], named[row["right"]]) == (row["left_name"], row["right_name"])
    assert row["evidence"] == "one name within the other"
    same_as = dense(graph, "same_as", 2)
    assert same_as.tolist() == [[0.0, row["probability"]], [row["probability"], 0.0]]
    assert MergeConfig().same_as <= row["probability"] < MergeConfig().join


def test_joined_names_are_a_link_of_one_concept_and_no_edge() -> None:
    graph = graph_of(said(mentions=VARIANTS))
    (row,) = graph.tables["links"].to_pylist()
    assert (row["left"], row["right"]) == (0, 0)
    assert {row["left_name"], row["right_name"]} == set(VARIANTS)
    assert row["probability"] >= MergeConfig().join
    assert graph.tensors["same_as_values"].tolist() == []


def test_names_of_two_types_have_no_link() -> None:
    both = Extraction((Mention("Ford", "company", 1, (0,), 1), Mention("Ford", "person", 2, (0,), 2)))
    assert graph_of(both).tables["links"].num_rows == 0


def test_no_names_have_no_links() -> None:
    graph = graph_of(said(mentions=()))
    assert graph.tables["links"].num_rows == 0
    assert graph.tensors["same_as_rows"].tolist() == [0]


@settings(max_examples=15)
@given(st.permutations(range(6)))
def test_links_are_those_of_the_set_of_papers(order: list[int]) -> None:
    mentions = [(*VARIANTS,), CHAIN, ("BLEU", "BLEU score"), ("GPT-2", "GPT-3"), ("Москва", "Moskva"), ("BLEU scores",)]

    def links(papers: list[tuple[str, ...]]) -> list[tuple[object, ...]]:
        graph = graph_of(*(said(mentions=own) for own in papers))
        ids = graph.tables["concepts"]["concept_id"].to_pylist()
        return sorted(
            (
                *sorted([(r["left_name"], ids[r["left"]]), (r["right_name"], ids[r["right"]])]),
                r["probability"],
                r["evidence"],
            )
            for r in graph.tables["links"].to_pylist()
        )

    assert links([mentions[i] for i in order]) == links(mentions)


CRF = {
    "field": ("CRF", "conditional random field"),
    "form": ("CRF", "case report form"),
}


def test_an_acronym_of_two_senses_is_two_concepts_and_a_third_where_nothing_decides() -> None:
    graph = graph_of(
        said(mentions=("CRF", CRF["field"][1]), definitions=(CRF["field"],)),
        said(mentions=("CRF", CRF["form"][1]), definitions=(CRF["form"],)),
        said(mentions=("CRF",)),
    )
    found = dense(graph, "incidence", len(labels(graph))) > 0
    assert found.shape == (3, 3)
    assert found.sum(axis=0).tolist() == found.sum(axis=1).tolist() == [1, 1, 1]


def test_an_acronym_explained_by_nearly_all_papers_is_its_expansion_everywhere() -> None:
    graph = graph_of(
        *(said(mentions=("CRF", CRF["field"][1]), definitions=(CRF["field"],)) for _ in range(4)),
        said(mentions=("CRF", CRF["form"][1]), definitions=(CRF["form"],)),
        said(mentions=("CRF",)),
    )
    found = dense(graph, "incidence", len(labels(graph)))
    assert len(labels(graph)) == 2
    assert [int(row.argmax()) for row in found[:4]] == [int(found[5].argmax())] * 4
    assert found[4].argmax() != found[5].argmax()


# --- no papers, and words ---------------------------------------------------------------------------------------


def test_no_papers_and_papers_without_text_assemble() -> None:
    for documents in ([], [paper("a", "")], [paper("a", "", "Title"), paper("b", " ")]):
        graph = assembled(documents, KeyphraseExtractor())
        assert graph.counts["documents"] == len(documents)
        assert graph.tensors["adjacency_rows"].tolist() == [0] * (graph.counts["concepts"] + 1)
        assert graph.tensors["section_x"].shape == (graph.counts["sections"], HashEncoder.dimension)
        assert graph.tensors["concept_x"].shape == (graph.counts["concepts"], HashEncoder.dimension)


def test_words_of_every_script_count() -> None:
    assert word_count("a" * 60) == 10.0
    assert word_count("量子" * 30) > 5
    assert word_count("") == 0
