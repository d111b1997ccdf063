"""Co-occurrence against its definition, counted by hand and by loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kg.cooccurrence import LABEL, Relations, cooccurrences

Occurrence = tuple[int, int, int]
"""(section, sentence, concept)."""


def relate(occurrences: list[Occurrence], n_sections: int) -> Relations:
    section, sentence, concept = np.asarray(occurrences, dtype=np.int64).reshape(-1, 3).T
    return cooccurrences(section, sentence, concept, n_sections)


def rows(relations: Relations) -> list[tuple[int, int, int, int]]:
    return list(
        zip(
            *(c.tolist() for c in (relations.section, relations.subject, relations.object, relations.sentence)),
            strict=True,
        )
    )


def by_loops(occurrences: list[Occurrence], n: int) -> dict[tuple[int, int, int], tuple[int, float]]:
    """(section, low, high) -> (first sentence, npmi), for pairs above chance."""
    found = set(occurrences)
    concepts = {c for _, _, c in found}
    holding = {c: {s for s, _, other in found if other == c} for c in concepts}
    first: dict[tuple[int, int, int], int] = {}
    for section, sentence, u in found:
        for v in concepts:
            if u < v and (section, sentence, v) in found:
                first[section, u, v] = min(sentence, first.get((section, u, v), sentence))
    relations = {}
    for (section, u, v), sentence in first.items():
        together = len({s for s, a, b in first if (a, b) == (u, v)})
        if together == n:
            npmi = 1.0
        else:
            npmi = math.log(together * n / (len(holding[u]) * len(holding[v]))) / -math.log(together / n)
        if npmi > 1e-12:
            relations[section, u, v] = (sentence, npmi)
    return relations


@settings(max_examples=200)
@given(
    st.integers(1, 5).flatmap(
        lambda n: st.tuples(
            st.lists(st.tuples(st.integers(0, n - 1), st.integers(-1, 3), st.integers(0, 5)), max_size=30),
            st.just(n),
        )
    )
)
@example(([], 0))
def test_equals_the_definition(case: tuple[list[Occurrence], int]) -> None:
    occurrences, n = case
    relations = relate(occurrences, n)
    expected = by_loops(occurrences, n)
    assert rows(relations) == [(*key, expected[key][0]) for key in sorted(expected)]
    assert relations.weight == pytest.approx([expected[key][1] for key in sorted(expected)], abs=1e-12)
    assert ((relations.weight > 0) & (relations.weight <= 1)).all()
    assert relations.labels == (LABEL,)
    assert not relations.label.any()
    again = relate(occurrences[::-1], n)
    assert rows(again) == rows(relations)
    assert np.array_equal(again.weight, relations.weight)


def test_four_sections_by_hand() -> None:
    # Concept 0 in sections 0, 1, 2; concept 1 in 0, 1; concept 2 in 2, 3. 0 and 1 share a sentence in 0 and in 1; 0 and
    # 2 share one in 2. So npmi(0, 1) = ln(2 * 4 / (3 * 2)) / ln(4 / 2) = ln(4/3) / ln 2 = .41504, and
    # npmi(0, 2) = ln(1 * 4 / (3 * 2)) / ln 4 < 0: less than by chance, no relation.
    occurrences = [(0, 1, 0), (0, 1, 1), (0, 0, 0), (1, -1, 1), (1, -1, 0), (2, 0, 0), (2, 0, 2), (3, 0, 2)]
    relations = relate(occurrences, 4)
    assert rows(relations) == [(0, 0, 1, 1), (1, 0, 1, -1)]
    assert relations.weight == pytest.approx([0.4150374992788438] * 2)


def test_sharing_a_section_but_no_sentence_is_no_relation() -> None:
    assert rows(relate([(0, 0, 0), (0, 1, 1)], 3)) == []


def test_what_is_always_together_weighs_one() -> None:
    always = relate([(0, 0, 0), (0, 0, 1), (1, 2, 0), (1, 2, 1)], 2)
    assert always.weight.tolist() == [1.0, 1.0]
    only_here = relate([(0, 0, 0), (0, 0, 1)], 5)
    assert only_here.weight == pytest.approx([1.0])


def test_independence_is_no_relation() -> None:
    # n_uv N = n_u n_v: exactly what chance explains.
    assert rows(relate([(0, 0, 0), (0, 0, 1), (1, 0, 0), (2, 0, 1)], 4)) == []
