"""Every method scores where its graph lies: on CUDA where there is one, and on a pretended CUDA everywhere."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from kg.build import Tools, build_graph, open_graph
from kg.lateral import LateralGraph
from kg.openie import read_openie
from kg.ready_triples import ReadyTriples
from kg.records import Document, Part
from retrieval.devices import device_of
from retrieval.hybrid import HybridScorer
from retrieval.method_names import METHODS
from retrieval.methods import Methods, MethodsConfig
from retrieval.queries import Query
from retrieval.sections import GraphConfig
from retrieval.seeds import SeedConfig
from tests.conftest import HashEncoder
from tests.test_kg_openie import doc, openie_file

CPU, CUDA = torch.device("cpu"), torch.device("cuda")
QUERIES = [
    Query("a", "Which river crosses the capital of Italy?"),
    Query("b", "What does the Tiber feed?", latest_year=1990, excluded=frozenset({"p1", "p3#0"})),
    Query("c", "xyzzy"),
]
FACTS = [
    ("Rome", "is the capital of", "Italy"), ("Tiber", "crosses", "Rome"), ("Italy", "lies in", "Europe"),
    ("Po", "crosses", "Turin"), ("Turin", "lies in", "Italy"), ("Alps", "feed", "Po"), ("Oslo", "is in", "Norway"),
]  # fmt: skip
SETTINGS = {
    "default": MethodsConfig(),
    "all seeds": MethodsConfig(GraphConfig(hub_exponent=0.3, seeds=SeedConfig(near=0.5, sections=3))),
}


class PretendedCuda(TorchFunctionMode):
    """Tensors stay in this machine's memory, but each has a place, the CPU or CUDA, and what CUDA refuses is refused.

    A tensor comes to a place by a ``device`` argument, ``.to`` or ``.cpu``, and results lie where their inputs do.
    """

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        given = dict(kwargs or {})
        name = func.__name__
        if func == Tensor.device.__get__:
            return place(args[0])
        if name in {"numpy", "__array__"} and place(args[0]) == CUDA:
            raise TypeError("can't convert cuda device type tensor to numpy")
        if name in {"to", "cpu"}:
            return self._moved(func, args, given)
        if name == "copy_" or (name == "__setitem__" and not any(isinstance(x, Tensor) for x in tree_leaves(args[1]))):
            return func(*args, **given)  # copies from one place to the other
        device = given.pop("device", None)
        where = _common(name, args, given) if device is None else torch.device(device)
        result = func(*args, **given)
        if isinstance(result, Iterator):  # as a loop over a tensor makes
            result = iter([_put(part, where) for part in result])
        for leaf in tree_leaves(result):
            _put(leaf, where)
        return result

    @staticmethod
    def _moved(func: Callable[..., Any], args: Sequence[Any], given: dict[str, Any]) -> Any:
        where = CPU if func.__name__ == "cpu" else place(args[0])
        kept = []
        for value in args[1:]:
            if isinstance(value, Tensor):
                where = place(value)
            elif isinstance(value, str | torch.device):
                where, value = torch.device(value), CPU
            kept.append(value)
        if given.get("device") is not None:
            where = torch.device(given.pop("device"))
        result = func(args[0], *kept, **given)
        if where != place(args[0]) and result is args[0]:
            result = result.clone()
        return _put(result, where)


def place(tensor: Tensor) -> torch.device:
    return getattr(tensor, "pretended", CPU)


def _put(value: Any, where: torch.device) -> Any:
    if isinstance(value, Tensor):
        value.pretended = where  # type: ignore[attr-defined]
    return value


def _common(name: str, args: Sequence[Any], given: Mapping[str, Any]) -> torch.device:
    """Where all tensors of a call lie; a number may come from the CPU, and so may the rows that index a tensor."""
    if name in {"__getitem__", "__setitem__"} and place(args[0]) == CUDA:
        args = [args[0], *args[2:]]
    places = {place(x) for x in tree_leaves([args, given]) if isinstance(x, Tensor) and (x.dim() or place(x) == CUDA)}
    if len(places) > 1:
        raise RuntimeError(f"Expected all tensors to be on the same device, but {name} got tensors on cuda and cpu")
    return places.pop() if places else CPU


Snippet = Callable[[Tensor, Tensor], Any]
REFUSED: dict[str, Snippet] = {
    "sum": lambda here, there: there + here,
    "sum in place": lambda here, there: there.add_(here),
    "fusion": lambda here, there: torch.where(there > 0, there, here),
    "product": lambda here, there: torch.ones(2, 3, device=there.device) @ here,
    "mask": lambda here, there: there.masked_fill(here > 0, 0.0),
    "scatter": lambda here, there: there.scatter_reduce(0, torch.arange(3), there, "amax"),
    "stack": lambda here, there: torch.stack([row * 2 for row in (here, there)]),
    "sum of a loop": lambda here, there: [a + b for a, b in zip(there, here[:, None], strict=True)],
    "number there": lambda here, there: here + there.sum(),
    "rows there": lambda here, there: here[there.argsort()],
    "values here": lambda here, there: there.__setitem__(torch.arange(3), here),
    "numpy": lambda here, there: np.asarray(there),
}
ALLOWED: dict[str, Snippet] = {
    "number here": lambda here, there: there * here.sum(),
    "rows here": lambda here, there: there[here.argsort()],
    "slice from here": lambda here, there: there.__setitem__(slice(0, 2), here[:2]),
    "moved": lambda here, there: there + here.to(there),
    "moved by name": lambda here, there: there.cpu() + here,
    "made there": lambda here, there: there + there.new_zeros(3) + torch.zeros(3, device=there.device),
    "list": lambda here, there: here + torch.tensor(there.tolist()),
}


def outcome(snippet: Snippet, here: Tensor, there: Tensor) -> str:
    try:
        snippet(here, there)
    except (RuntimeError, TypeError, IndexError):
        return "refused"
    return "allowed"


@pytest.mark.parametrize("snippet", REFUSED | ALLOWED)
def test_the_pretended_device_refuses_what_mixes(snippet: str) -> None:
    with PretendedCuda():
        here = torch.tensor([1.0, 2.0, 3.0])
        there = here.to("cuda")
        assert (here.device, there.device) == (CPU, CUDA)
        assert outcome((REFUSED | ALLOWED)[snippet], here, there) == ("refused" if snippet in REFUSED else "allowed")


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("snippet", REFUSED | ALLOWED)
def test_a_real_device_refuses_the_same(snippet: str) -> None:
    here = torch.tensor([1.0, 2.0, 3.0])
    found = outcome((REFUSED | ALLOWED)[snippet], here, here.to("cuda"))
    assert found == ("refused" if snippet in REFUSED else "allowed")


@pytest.fixture(scope="module", params=["facts", "co-occurrence"])
def graph(request: pytest.FixtureRequest, tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> LateralGraph:
    """Two sections a paper, a paper a fact; with the facts, or with concepts that occur together."""
    folder = tmp_path_factory.mktemp("devices")
    texts = [f"{subject} {relation} {object_}." for subject, relation, object_ in FACTS]
    papers = [
        Document(f"p{n}", subject, (Part("A", text), Part("B", f"More on {text}")), year=1980 + 5 * n)
        for n, ((subject, _, _), text) in enumerate(zip(FACTS, texts, strict=True))
    ]
    if request.param == "facts":
        docs = [doc(text, list(fact), text=text) for text, fact in zip(texts, FACTS, strict=True)]
        tools = dataclasses.replace(tools, extractor=ReadyTriples(read_openie(openie_file(folder, docs))))
    build_graph(folder / "g", papers, tools)
    return open_graph(folder / "g")


def scores_of(graph: LateralGraph, method: str, settings: str) -> tuple[Tensor, list[tuple[float, ...]]]:
    """Scores of the queries on the graph's device, and those of the papers ranked by them."""
    methods = Methods(graph, HashEncoder(), SETTINGS[settings])
    plain = methods.scorer(method).score([query.text for query in QUERIES])
    retriever = methods.retriever(method)
    scores = torch.cat([plain, retriever.scores(QUERIES)])
    assert plain.device == scores.device == device_of(graph)
    run = retriever.retrieve(QUERIES, 5, "document")
    return scores, [ranking.scores for ranking in run.values()]


def assert_near(here: tuple[Tensor, list[tuple[float, ...]]], there: tuple[Tensor, list[tuple[float, ...]]]) -> None:
    assert here[0].isfinite().any()
    torch.testing.assert_close(there[0].cpu(), here[0], rtol=1e-3, atol=1e-4)
    for one, other in zip(here[1], there[1], strict=True):
        assert other == pytest.approx(one, rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("method", METHODS)
def test_no_method_mixes_devices(method: str, settings: str, graph: LateralGraph) -> None:
    here = scores_of(graph, method, settings)
    with PretendedCuda():
        there = scores_of(graph.clone().to("cuda"), method, settings)
        assert there[0].device == CUDA
        there = there[0].cpu(), there[1]
    assert_near(here, there)
    assert device_of(graph) == CPU


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("method", METHODS)
def test_a_gpu_gives_the_scores_of_the_cpu(method: str, settings: str, graph: LateralGraph) -> None:
    moved = graph.clone().to("cuda")
    assert device_of(moved).type == "cuda"
    assert_near(scores_of(graph, method, settings), scores_of(moved, method, settings))


def by_ranks(graph: LateralGraph) -> Tensor:
    methods = Methods(graph, HashEncoder())
    parts = {name: methods.scorer(name) for name in ("bm25", "dense")}
    return HybridScorer(parts, {"bm25": 1.0, "dense": 1.0}, "rank").score([query.text for query in QUERIES])


def test_fusion_by_ranks_does_not_mix_devices(graph: LateralGraph) -> None:
    with PretendedCuda():
        there = by_ranks(graph.clone().to("cuda"))
        assert there.device == CUDA
        there = there.cpu()
    assert torch.equal(there, by_ranks(graph))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_fusion_by_ranks_is_the_same_on_a_gpu(graph: LateralGraph) -> None:
    there = by_ranks(graph.clone().to("cuda"))
    assert there.is_cuda
    torch.testing.assert_close(there.cpu(), by_ranks(graph))
