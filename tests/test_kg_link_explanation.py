"""Why names are one and what is nearly the same, on tables made by hand and against networkx."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import networkx as nx
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kg.link_explanation import DEFINED, Join, NearMiss, explain_joins, kept_apart, near_misses, unheeded
from kg.names import name_key
from kg.overrules import Overrules, Said

Row = tuple[int, int, str, str, float, str]


def graph(aliases: Sequence[Sequence[str]], links: Sequence[Row], same_as: Sequence[tuple[int, int]] = ()) -> Any:
    """What is looked at of a graph: concept i has the names ``aliases[i]``, the first its label."""
    columns = ("left", "right", "left_name", "right_name", "probability", "evidence")
    dense = torch.zeros(len(aliases), len(aliases))
    for i, j in same_as:
        dense[i, j] = dense[j, i] = 0.5
    concepts = {
        "concept_id": [f"id{number}" for number in range(len(aliases))],
        "label": [own[0] for own in aliases],
        "aliases": aliases,
        "keys": [sorted(map(name_key, own)) for own in aliases],
    }
    said = {"same": [], "different": [["bleu", "rouge"], ["apple", "bleu score"]]}
    return SimpleNamespace(
        concepts=pa.table(concepts),
        links=pa.table(dict(zip(columns, map(list, zip(*links, strict=True)), strict=True)))
        if links
        else pa.table({name: pa.array([], kind) for name, kind in zip(columns, KINDS, strict=True)}),
        same_as=dense.to_sparse_csr(),
        manifest={"configuration": {"merge": {"overrules": said, "linked": 0.75}}},
    )


KINDS = (pa.int32(), pa.int32(), pa.string(), pa.string(), pa.float32(), pa.string())


def test_each_name_is_told_with_the_pair_that_ties_it_in() -> None:
    found = graph(
        [["BLEU", "BLEU score", "Bleu scores", "BLEU metric"], ["ROUGE"]],
        [
            (0, 0, "BLEU", "BLEU score", 0.8, "type words"),
            (0, 0, "BLEU", "BLEU metric", 0.3, "type words"),
            (0, 0, "BLEU metric", "BLEU score", 0.9, "embedding"),
            (0, 1, "BLEU", "ROUGE", 0.95, "spelling"),
        ],
    )
    assert explain_joins(found, 0) == [
        Join(("BLEU",)),
        Join(("BLEU score", "Bleu scores"), "BLEU", 0.8, "type words"),
        Join(("BLEU metric",), "BLEU score", 0.9, "embedding"),
    ]
    assert explain_joins(found, 1) == [Join(("ROUGE",))]


def test_an_acronym_without_a_name_of_its_own_is_what_papers_define_it_to_be() -> None:
    one = graph([["CAPM", "asset pricing model", "pricing models"]], [
        (0, 0, "asset pricing model", "pricing models", 0.7, "one name within the other"),
    ])  # fmt: skip
    assert explain_joins(one, 0) == [
        Join(("asset pricing model",)),
        Join(("pricing models",), "asset pricing model", 0.7, "one name within the other"),
        Join(("CAPM",), evidence=DEFINED),
    ]
    # A name that its papers write as the acronym alone is no alias, yet ties the others.
    meant = graph([["BLEU score", "CAPM"]], [(0, 0, "BLEU score", "bilingual score", 0.6, "embedding")])
    assert explain_joins(meant, 0) == [
        Join(("BLEU score",)),
        Join(("bilingual score",), "BLEU score", 0.6, "embedding"),
        Join(("CAPM",), evidence=DEFINED),
    ]


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.integers(2, 10)), max_size=20))
def test_the_pairs_are_a_maximum_spanning_tree(rows: list[tuple[int, int, int]]) -> None:
    names = [f"name {letter}" for letter in "abcdefgh"]
    pairs = {(min(i, j), max(i, j)): tenths / 10 for i, j, tenths in rows if i != j}
    found = explain_joins(graph([names], [(0, 0, names[i], names[j], p, "x") for (i, j), p in pairs.items()]), 0)
    assert sorted(join.spellings[0] for join in found) == names
    reference = nx.Graph()
    reference.add_weighted_edges_from((names[i], names[j], p) for (i, j), p in pairs.items())
    root = found[0].spellings[0]
    reference.add_node(root)
    assert root == min(name for name in names if not pairs or (name in reference and reference.degree(name)))
    part = reference.subgraph(nx.node_connected_component(reference, root))
    best = nx.maximum_spanning_tree(part)
    tied = [join for join in found if join.probability is not None]
    assert {root, *(join.spellings[0] for join in tied)} == set(part)
    assert sum(join.probability or 0 for join in tied) == pytest.approx(best.size(weight="weight"))
    seen = {root}
    for join in tied:
        assert join.other in seen
        assert part[join.other][join.spellings[0]]["weight"] == pytest.approx(join.probability)
        seen.add(join.spellings[0])


def test_near_misses_are_the_likeliest_pair_of_each_other_concept_uncertain_links_first() -> None:
    found = graph(
        [["BLEU", "BLEU score"], ["ROUGE", "ROUGE score"], ["apple"], ["pear"]],
        [
            (0, 0, "BLEU", "BLEU score", 0.9, "type words"),
            (0, 1, "BLEU", "ROUGE", 0.2, "embedding"),
            (1, 0, "ROUGE score", "BLEU score", 0.3, "spelling"),
            (2, 0, "apple", "BLEU", 0.4, "initials"),
            (2, 3, "apple", "pear", 0.75, "embedding"),
        ],
        same_as=[(0, 1), (2, 3)],
    )
    assert near_misses(found, 0) == [
        NearMiss(
            "BLEU score", "ROUGE score", "ROUGE", "id1", 0.3, "spelling", pairs=2, uncertain=True, told_apart=False
        ),
        NearMiss("BLEU", "apple", "apple", "id2", 0.4, "initials", pairs=1, uncertain=False, told_apart=False),
    ]
    assert [(miss.concept, miss.told_apart) for miss in near_misses(found, 2)] == [("pear", True), ("BLEU", False)]
    assert kept_apart(found, 0) == ["apple", "rouge"]
    assert kept_apart(found, 2) == ["bleu score"]
    assert kept_apart(found, 3) == near_misses(graph([["a"]], []), 0) == []


def test_verdicts_on_names_that_are_not_there_or_are_acronyms_are_told() -> None:
    concepts = graph([["CAPM", "asset pricing model"], ["beta"], ["gamma ray", "ray"]], []).concepts
    said = [
        Said("same", "CAPM", "Beta"), Said("different", "capm", "asset-pricing model"),
        Said("same", "Rays", "gamma rays"), Said("different", "beta", "gamma"), Said("same", "beta", "Big Ben"),
    ]  # fmt: skip
    unknown, told = unheeded(Overrules.of(said), concepts)
    assert unknown == ["big ben", "gamma"]
    assert [sentence.partition(": ")[0] for sentence in told] == [
        "'beta' and 'capm' are not one, though said to be the same",
        "'asset pricing model' and 'capm' are not apart, though said to be different",
    ]
    assert unheeded(Overrules(), concepts) == ([], [])


def test_verdicts_that_go_through_a_name_that_is_not_there_or_name_one_thing_are_told_too() -> None:
    concepts = graph(
        [["CRF", "conditional random field"], ["CRF", "case report form"], ["form"], ["sheet"]], []
    ).concepts
    said = [Said("same", "form", "paper"), Said("same", "paper", "sheet"), Said("same", "CRF", "crf")]
    unknown, told = unheeded(Overrules.of(said), concepts)
    assert unknown == ["paper"]
    assert [sentence.partition(":")[0] for sentence in told] == [
        "'crf' is not one, though said to be", "'form' and 'sheet' are not one, though said to be the same",
    ]  # fmt: skip
    # Of two concepts that are called CRF one is what is said.
    assert unheeded(Overrules.of([Said("same", "CRF", "case report form")]), concepts) == ([], [])
