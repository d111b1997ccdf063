"""The graph is HeteroData itself: what PyG does with one works, and nothing is copied on opening."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
import torch
from torch_geometric.data import HeteroData
from torch_geometric.nn import HeteroConv, SAGEConv

from kg.build import Tools, build_graph, open_graph
from kg.lateral import HAS, IN, MENTIONS, RELATED, SAME_AS, TABLES, LateralGraph
from tests.conftest import paper

MATRICES = ("adjacency", "incidence", "holders", "same_as")


@pytest.fixture
def empty_graph(tools: Tools, tmp_path: Path) -> LateralGraph:
    build_graph(tmp_path / "empty", [], tools)
    return open_graph(tmp_path / "empty")


@pytest.fixture(params=["sample", "empty"])
def graph(request: pytest.FixtureRequest) -> LateralGraph:
    found: LateralGraph = request.getfixturevalue(f"{request.param}_graph")
    return found


def assert_equal(one: LateralGraph, other: LateralGraph) -> None:
    assert isinstance(other, LateralGraph)
    assert other.metadata() == one.metadata()
    for name in TABLES:
        assert getattr(one, name).equals(getattr(other, name))
    for edge_type in (RELATED, MENTIONS, IN, SAME_AS):
        assert torch.equal(one[edge_type].adj_t.to_dense(), other[edge_type].adj_t.to_dense())
    assert torch.equal(one["section"].x, other["section"].x)
    assert torch.equal(one["concept"].x, other["concept"].x)
    assert one.manifest == other.manifest


def test_it_is_valid_hetero_data(graph: LateralGraph) -> None:
    assert isinstance(graph, HeteroData)
    assert graph.validate()
    assert graph.metadata() == (["document", "section", "concept"], [HAS, RELATED, MENTIONS, IN, SAME_AS])
    assert graph.num_nodes == graph.n_documents + graph.n_sections + graph.n_concepts
    assert graph.num_node_features == {"document": 0, "section": 64, "concept": 64}


def test_moving_and_copying_keep_all_of_it(graph: LateralGraph) -> None:
    assert_equal(graph, copy.copy(graph).to("cpu"))
    other = copy.deepcopy(graph)
    assert_equal(graph, other)
    other["section"].x.add_(1.0)
    other.adjacency.values().add_(1.0)
    assert_equal(graph, open_like(graph))
    assert not graph.n_sections or not torch.equal(graph["section"].x, other["section"].x)
    assert not graph.n_edges or not torch.equal(graph.adjacency.values(), other.adjacency.values())


def open_like(graph: LateralGraph) -> LateralGraph:
    """The same graph put together anew from its parts."""
    tensors = {"section_x": graph["section"].x, "concept_x": graph["concept"].x}
    for name in MATRICES:
        matrix = getattr(graph, name)
        tensors[f"{name}_rows"], tensors[f"{name}_columns"] = matrix.crow_indices(), matrix.col_indices()
        tensors[f"{name}_values"] = matrix.values()
    made = LateralGraph.of({name: getattr(graph, name) for name in TABLES}, tensors, graph.manifest)
    assert made["section"].x.data_ptr() == graph["section"].x.data_ptr()  # used as it is
    return made


def test_shapes_and_numbers_agree_with_the_tables(graph: LateralGraph) -> None:
    assert graph.adjacency.shape == (graph.n_concepts, graph.n_concepts)
    assert graph.incidence.shape == (graph.n_sections, graph.n_concepts)
    assert graph.holders.shape == (graph.n_concepts, graph.n_sections)
    assert graph["section"].x.shape[0] == graph.n_sections
    assert graph["concept"].x.shape[0] == graph.n_concepts
    assert graph.same_as.shape == (graph.n_concepts, graph.n_concepts)
    owner, section = graph[HAS].edge_index
    assert section.tolist() == list(range(graph.n_sections))
    assert owner.tolist() == graph.sections["document"].to_pylist()
    counts = graph.manifest["counts"]
    assert (counts["documents"], counts["sections"], counts["concepts"], counts["edges"]) == (
        graph.n_documents, graph.n_sections, graph.n_concepts, graph.n_edges,
    )  # fmt: skip
    assert repr(graph) == (
        f"LateralGraph({graph.n_documents} documents, {graph.n_sections} sections, {graph.n_concepts} concepts, "
        f"{graph.n_edges} edges)"
    )


def test_message_passing_runs_on_its_own_matrices(sample_graph: LateralGraph) -> None:
    torch.manual_seed(0)
    names = (RELATED, MENTIONS, IN)
    layer = HeteroConv({edge_type: SAGEConv((64, 64), 8, aggr="sum") for edge_type in names}, aggr="sum")
    x = {name: sample_graph[name].x for name in ("section", "concept")}
    out = layer(x, {edge_type: sample_graph[edge_type].adj_t for edge_type in names})
    assert {name: tuple(value.shape) for name, value in out.items()} == {
        "section": (sample_graph.n_sections, 8),
        "concept": (sample_graph.n_concepts, 8),
    }
    own = layer.convs[IN]
    expected = own.lin_l(sample_graph.incidence.to_dense() @ x["concept"]) + own.lin_r(x["section"])
    assert torch.allclose(out["section"], expected, atol=1e-4)
    related, mentions = layer.convs[RELATED], layer.convs[MENTIONS]
    expected = (
        related.lin_l(sample_graph.adjacency.to_dense() @ x["concept"])
        + related.lin_r(x["concept"])
        + mentions.lin_l(sample_graph.incidence.to_dense().T @ x["section"])
        + mentions.lin_r(x["concept"])
    )
    assert torch.allclose(out["concept"], expected, atol=1e-3)


def test_tensors_are_mapped_from_the_file(sample_graph: LateralGraph) -> None:
    spans = []
    for line in Path("/proc/self/maps").read_text().splitlines() if Path("/proc/self/maps").exists() else []:
        if line.endswith("tensors.safetensors"):
            start, end = (int(address, 16) for address in line.split()[0].split("-"))
            spans.append((start, end))
    if not spans:
        pytest.skip("no /proc/self/maps that shows mapped files")
    for tensor in (
        sample_graph["section"].x,
        sample_graph["concept"].x,
        sample_graph.adjacency.values(),
        sample_graph.incidence.col_indices(),
    ):
        assert any(start <= tensor.data_ptr() < end for start, end in spans)


def test_the_papers_come_back(sample_graph: LateralGraph) -> None:
    papers = sample_graph.papers()
    assert [p.document.doc_id for p in papers] == sample_graph.documents["doc_id"].to_pylist()
    assert [s.text for p in papers for s in p.sections] == sample_graph.sections["text"].to_pylist()


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_it_moves_to_a_gpu(tools: Tools, tmp_path: Path) -> None:
    build_graph(tmp_path / "graph", [paper("a", "Loss aversion and mental accounting shape portfolio choice.")], tools)
    graph = open_graph(tmp_path / "graph")
    moved = copy.copy(graph).to("cuda")
    assert moved.adjacency.device.type == moved["section"].x.device.type == "cuda"
    assert_equal(graph, moved.to("cpu"))


def test_a_graph_that_was_never_opened_says_so_and_a_copy_keeps_where_its_graph_lies(
    sample_graph: LateralGraph,
) -> None:
    assert open_like(sample_graph).directory is None
    assert copy.deepcopy(sample_graph).directory == sample_graph.directory is not None
