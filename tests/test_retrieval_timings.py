from __future__ import annotations

import statistics

import pytest

from retrieval.batch import Progress
from retrieval.timings import timing


def test_seconds_per_query_over_batches_of_unequal_size() -> None:
    found = timing(Progress(batches=[(4, 2.0), (4, 6.0), (2, 5.0)], preparations=[3.0, 1.0, 8.0]))
    queries = [0.5] * 4 + [1.5] * 4 + [2.5] * 2
    assert found.mean == pytest.approx(statistics.mean(queries))
    assert found.sd == pytest.approx(statistics.stdev(queries))
    assert (found.n, found.preparation, found.starts) == (10, 3.0, 3)


def test_one_batch_has_no_deviation() -> None:
    assert timing(Progress(batches=[(4, 2.0)], preparations=[3.0])).sd is None
    assert timing(Progress(batches=[(1, 2.0), (1, 2.0)], preparations=[3.0])).sd == 0.0


def test_few_queries_have_no_deviation() -> None:
    one = timing(Progress(batches=[(1, 2.0)], preparations=[1.0, 2.0]))
    assert (one.mean, one.sd, one.preparation) == (2.0, None, 1.5)
    assert timing(Progress()).n == 0
