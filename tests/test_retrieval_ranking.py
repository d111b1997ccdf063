from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kg.errors import InputError
from retrieval.ranking import Ranking, top_k


def by_full_sort(scores, k):
    return sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:k]


@settings(max_examples=200, deadline=None)
@given(
    rows=st.integers(1, 12).flatmap(
        lambda n: st.lists(
            st.lists(
                st.sampled_from([-1.0, -0.0, 0.0, 0.5, 0.5, 2.0, float("inf"), float("-inf")]), min_size=n, max_size=n
            ),
            min_size=1,
            max_size=4,
        )
    ),
    k=st.integers(0, 15),
)
def test_equals_a_full_sort_with_ties_by_index(rows, k):
    values, indices = top_k(torch.tensor(rows), k)
    expected = [by_full_sort(row, k) for row in rows]
    assert indices.tolist() == expected
    assert values.tolist() == [[row[i] for i in best] for row, best in zip(rows, expected, strict=True)]
    flat_values, flat_indices = top_k(torch.tensor(rows[0]), k)
    assert flat_indices.tolist() == expected[0]
    assert flat_values.tolist() == values[0].tolist()


def test_a_million_scores_with_many_ties():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 50, 1_000_000).astype(np.float32)
    values, indices = top_k(torch.from_numpy(scores), 30_000)
    expected = np.argsort(-scores, kind="stable")[:30_000]
    assert np.array_equal(indices.numpy(), expected)
    assert np.array_equal(values.numpy(), scores[expected])
    assert top_k(torch.zeros(1_000_000), 3)[1].tolist() == [0, 1, 2]


def test_empty_inputs():
    for scores, shape in ((torch.empty(0), (0,)), (torch.empty(0, 5), (0, 3)), (torch.empty(2, 0), (2, 0))):
        values, indices = top_k(scores, 3)
        assert values.shape == indices.shape == shape
        assert indices.dtype == torch.int64


@pytest.mark.parametrize(
    ("scores", "k", "words"),
    [
        (torch.tensor([1.0, float("nan")]), 1, "NaN"),
        (torch.tensor([[1.0], [float("nan")]]), 0, "NaN"),
        (torch.ones(3), -1, "k is -1"),
        (torch.ones(1, 1, 1), 1, "shape"),
        (torch.tensor(1.0), 1, "shape"),
    ],
)
def test_refuses(scores, k, words):
    with pytest.raises(InputError, match=words):
        top_k(scores, k)


def test_ranking_pairs_ids_with_scores():
    assert len(Ranking(("a", "b"), (2.0, 1.0))) == 2
    with pytest.raises(ValueError, match="2 ids but 1 scores"):
        Ranking(("a", "b"), (2.0,))
