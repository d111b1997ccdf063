"""The Lateral Knowledge Graph (BizSage 3.1): one graph of the concepts of all papers, as PyG ``HeteroData``.

Node types ``document``, ``section`` and ``concept``; adjacencies are torch sparse CSR tensors in PyG's ``adj_t`` layout
(destination x source), so that message passing and diffusion use the same memory, and ``graph.to("cuda")`` moves all
of it. What is not a tensor (texts, names, evidence) stays in Arrow tables, memory-mapped when read from disk.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor
from torch_geometric.data import HeteroData

from kg.papers import Paper, read_papers

RELATED = ("concept", "related", "concept")
MENTIONS = ("section", "mentions", "concept")
IN = ("concept", "in", "section")
SAME_AS = ("concept", "same_as", "concept")
HAS = ("document", "has", "section")
TABLES = ("documents", "sections", "concepts", "relations", "mentions", "links")


class LateralGraph(HeteroData):
    """HeteroData with the tables beside it. Rows of a table and nodes of its type have the same numbers.

    - ``graph["concept"].x`` float32 [concepts, d], ``graph["section"].x`` float32 [sections, d]: unit vectors
    - ``graph[RELATED].adj_t`` [concepts, concepts]: symmetric, no diagonal, w(u, v) = log(1 + n(u, v))
    - ``graph[MENTIONS].adj_t`` [concepts, sections] and ``graph[IN].adj_t`` [sections, concepts]: times mentioned
    - ``graph[SAME_AS].adj_t`` [concepts, concepts]: symmetric, no diagonal, the probability that two concepts are one
    - ``graph.documents``, ``.sections``, ``.concepts``, ``.relations``, ``.mentions``, ``.links``: Arrow tables
    - ``graph.manifest``: configuration and fingerprints it was built with
    - ``graph.directory``: where it was opened from, or None
    """

    @classmethod
    def of(
        cls, tables: Mapping[str, pa.Table], tensors: Mapping[str, Tensor], manifest: Mapping[str, Any]
    ) -> LateralGraph:
        """Put a graph together from what is stored; tensors are used as they are, without a copy."""
        graph = cls()
        for name in TABLES:
            setattr(graph, name, tables[name])
        graph.manifest = dict(manifest)
        n_documents, n_sections, n_concepts = (tables[name].num_rows for name in TABLES[:3])
        graph["document"].num_nodes = n_documents
        graph["section"].num_nodes = n_sections
        graph["section"].x = tensors["section_x"]
        graph["concept"].num_nodes = n_concepts
        graph["concept"].x = tensors["concept_x"]
        owner = torch.from_numpy(tables["sections"]["document"].to_numpy().astype(np.int64))
        graph[HAS].edge_index = torch.stack([owner, torch.arange(n_sections)])
        graph[RELATED].adj_t = _csr(tensors, "adjacency", (n_concepts, n_concepts))
        graph[MENTIONS].adj_t = _csr(tensors, "holders", (n_concepts, n_sections))
        graph[IN].adj_t = _csr(tensors, "incidence", (n_sections, n_concepts))
        graph[SAME_AS].adj_t = _csr(tensors, "same_as", (n_concepts, n_concepts))
        return graph

    def __repr__(self) -> str:
        return (
            f"LateralGraph({self.n_documents} documents, {self.n_sections} sections, {self.n_concepts} concepts, "
            f"{self.n_edges} edges)"
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> LateralGraph:
        """Clones the tensors, since torch does not deep-copy sparse CSR ones; tables never change and are shared."""
        cloned: LateralGraph = self.clone()
        return cloned

    @property
    def directory(self) -> str | None:
        """Where the graph was opened from; None for one that was not."""
        return getattr(self._global_store, "directory", None)

    @directory.setter
    def directory(self, value: str | None) -> None:
        self._global_store["directory"] = value

    @property
    def n_concepts(self) -> int:
        """Nodes of the diffusion graph."""
        return int(self.concepts.num_rows)

    @property
    def n_sections(self) -> int:
        """Units of retrieval."""
        return int(self.sections.num_rows)

    @property
    def n_documents(self) -> int:
        """Papers, those without text included."""
        return int(self.documents.num_rows)

    @property
    def n_edges(self) -> int:
        """Undirected edges between concepts."""
        return int(self[RELATED].adj_t.values().numel()) // 2

    @property
    def adjacency(self) -> Tensor:
        """Diffusion graph, sparse CSR float32 [concepts, concepts]."""
        adjacency: Tensor = self[RELATED].adj_t
        return adjacency

    @property
    def same_as(self) -> Tensor:
        """Probability that two concepts are one where it is uncertain, sparse CSR float32 [concepts, concepts]."""
        same_as: Tensor = self[SAME_AS].adj_t
        return same_as

    @property
    def incidence(self) -> Tensor:
        """Mentions, sparse CSR float32 [sections, concepts]."""
        incidence: Tensor = self[IN].adj_t
        return incidence

    @property
    def holders(self) -> Tensor:
        """Mentions by concept, sparse CSR float32 [concepts, sections]."""
        holders: Tensor = self[MENTIONS].adj_t
        return holders

    def papers(self) -> list[Paper]:
        """The papers as records, enough to assemble the graph again."""
        return read_papers(self.documents, self.sections)


def _csr(tensors: Mapping[str, Tensor], name: str, size: tuple[int, int]) -> Tensor:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(
            tensors[f"{name}_rows"], tensors[f"{name}_columns"], tensors[f"{name}_values"], size, check_invariants=False
        )
