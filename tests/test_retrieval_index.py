from __future__ import annotations

import numpy as np
import pytest
import torch

from kg.errors import InputError
from retrieval.index import ExactIndex


def vectors(seed: int, n: int, d: int = 24) -> torch.Tensor:
    drawn = torch.randn(n, d, generator=torch.Generator().manual_seed(seed))
    return torch.nn.functional.normalize(drawn, dim=1)


@pytest.mark.parametrize("block_rows", [1, 7, 64, 1000])
@pytest.mark.parametrize("k", [1, 10, 300])
def test_equals_a_full_sort_in_float64(block_rows, k):
    embeddings, queries = vectors(0, 257), vectors(1, 5)
    scores, rows = ExactIndex(embeddings, block_rows).search(queries, k)
    exact = (queries.double() @ embeddings.double().T).numpy()
    expected = np.argsort(-exact, axis=1, kind="stable")[:, :k]
    assert rows.tolist() == expected.tolist()
    assert np.allclose(scores.numpy(), np.take_along_axis(exact, expected, axis=1), atol=1e-7)
    assert scores.dtype == torch.float32
    assert rows.dtype == torch.int64


def test_equal_rows_come_in_the_order_of_rows():
    embeddings = vectors(2, 203, 384)
    copies = [0, 1, 17, 100, 199, 201, 202]
    embeddings[copies] = embeddings[50].clone()
    for block_rows in (13, 100, 500):
        scores, rows = ExactIndex(embeddings, block_rows).search(embeddings[50:51], 8)
        assert rows.tolist() == [sorted([*copies, 50])]
        assert len(set(scores[0].tolist())) == 1


def test_a_query_alone_scores_as_in_a_batch():
    embeddings, queries = vectors(3, 500, 384), vectors(4, 33, 384)
    together = ExactIndex(embeddings).search(queries, 20)
    for b in (0, 7, 32):
        alone = ExactIndex(embeddings, block_rows=64).search(queries[b : b + 1], 20)
        assert torch.equal(alone[0][0], together[0][b])
        assert torch.equal(alone[1][0], together[1][b])


def test_empty_index_and_empty_batch():
    for index, queries, shape in (
        (ExactIndex(torch.empty(0, 4)), torch.ones(3, 4), (3, 0)),
        (ExactIndex(torch.ones(5, 4)), torch.empty(0, 4), (0, 2)),
        (ExactIndex(torch.ones(5, 4)), torch.ones(3, 4), (3, 2)),
    ):
        scores, rows = index.search(queries, 2)
        assert scores.shape == rows.shape == shape
    assert ExactIndex(torch.ones(5, 4)).search(torch.ones(1, 4), 0)[0].shape == (1, 0)
    assert len(ExactIndex(torch.empty(0, 4))) == 0


def test_half_precision_embeddings_give_float32_scores():
    embeddings = vectors(5, 60).half()
    scores, rows = ExactIndex(embeddings, 16).search(embeddings[:3].float(), 1)
    assert rows.flatten().tolist() == [0, 1, 2]
    assert scores.dtype == torch.float32
    assert scores.flatten().tolist() == pytest.approx([1.0] * 3, abs=2e-3)


@pytest.mark.parametrize("queries", [torch.ones(2, 5), torch.ones(4), torch.ones(1, 2, 4)])
def test_refuses_queries_of_another_dimension(queries):
    with pytest.raises(InputError, match="vectors of 4 dimensions"):
        ExactIndex(torch.ones(3, 4)).search(queries, 1)


def test_refuses_what_it_cannot_index_or_rank():
    with pytest.raises(InputError, match="matrix"):
        ExactIndex(torch.ones(3))
    with pytest.raises(InputError, match="matrix"):
        ExactIndex(torch.ones(3, 4, dtype=torch.int64))
    with pytest.raises(InputError, match="block_rows"):
        ExactIndex(torch.ones(3, 4), block_rows=0)
    with pytest.raises(InputError, match="k is -1"):
        ExactIndex(torch.ones(3, 4)).search(torch.ones(1, 4), -1)
    with pytest.raises(InputError, match="NaN"):
        ExactIndex(torch.full((3, 4), float("nan"))).search(torch.ones(1, 4), 1)
