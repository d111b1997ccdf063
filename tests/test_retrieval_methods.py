"""Methods by name: what `hybrid` joins on which graph, and what is refused."""

from __future__ import annotations

import pytest
import torch

from kg.errors import InputError
from kg.lateral import LateralGraph
from retrieval.hybrid import standardised
from retrieval.method_names import METHODS, WITHOUT_ENCODER
from retrieval.methods import HYBRID_WEIGHTS, Methods
from tests.conftest import HashEncoder


def test_hybrid_is_the_weighted_sum_of_its_parts_pagerank_by_its_root(
    sample_graph: LateralGraph, hash_encoder: HashEncoder
) -> None:
    methods = Methods(sample_graph, hash_encoder)
    question = ["Why is there an equity premium?"]
    ppr = methods.scorer("ppr").score(question)
    expected = sum(
        HYBRID_WEIGHTS[name] * standardised(scores)
        for name, scores in (
            ("dense", methods.scorer("dense").score(question)),
            ("bm25_okapi", methods.scorer("bm25_okapi").score(question)),
            ("ppr", torch.where(ppr > 0, ppr.clamp(min=0).sqrt(), -torch.inf)),
        )
    )
    torch.testing.assert_close(methods.scorer("hybrid").score(question), expected)


def test_what_is_no_method_is_refused(sample_graph: LateralGraph, hash_encoder: HashEncoder) -> None:
    with pytest.raises(InputError, match="There is no method 'best'"):
        Methods(sample_graph, hash_encoder).scorer("best")
    for method in METHODS:
        if method not in WITHOUT_ENCODER:
            with pytest.raises(InputError, match="needs an encoder"):
                Methods(sample_graph, None).scorer(method)
