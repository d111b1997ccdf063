"""A file for PyTorch Geometric: one plain ``HeteroData``, which loads where evigraph is not installed.

    data = torch.load(path, weights_only=False)

``weights_only=True``, torch's default, refuses it, for torch_geometric declares ``HeteroData`` safe, but not its
storages. Under ``torch.serialization.safe_globals([BaseStorage, NodeStorage, EdgeStorage])``, the three from
``torch_geometric.data.storage``, it works too; no other class is in the file.

- ``data["document"]``, lists: ``doc_id``, ``title``, ``authors``, ``year`` (None where unknown), ``venue``, ``doi``,
  ``field``, ``details`` (JSON)
- ``data["section"]``: ``x`` float32 [sections, d] unit vectors; lists ``section_id``, ``heading``, ``text``
- ``data["concept"]``: ``x`` float32 [concepts, d] unit vectors; lists ``concept_id``, ``label``, ``type``, ``aliases``;
  ``n_sections``, ``n_mentions`` int64 [concepts]
- ``data["document", "has", "section"]``: ``edge_index`` int64 [2, sections]
- ``data["section", "mentions", "concept"]``: ``edge_index``, ``edge_weight`` float32 (number of mentions)
- ``data["concept", "related", "concept"]``: ``edge_index`` with both directions of each edge, ``edge_weight`` float32
- ``data["concept", "asserted", "concept"]``, an entry per relation: ``edge_index``, ``edge_weight`` float32,
  ``section`` int64 (row); lists ``label``, ``evidence``
- ``data["concept", "same_as", "concept"]``: ``edge_index`` with both directions of each link, ``edge_attr`` float32
  [2 links, 1], the probability that the two are one; list ``evidence``, its kind

The same graph and versions of torch and torch_geometric give the same bytes.
"""

from __future__ import annotations

from itertools import chain
from typing import IO

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import HeteroData

from kg.export import content
from kg.lateral import HAS, RELATED, SAME_AS, LateralGraph

MENTIONS = ("section", "mentions", "concept")
ASSERTED = ("concept", "asserted", "concept")


def write_pyg(graph: LateralGraph, file: IO[bytes]) -> None:
    """Write the graph to ``file`` with ``torch.save``."""
    try:
        torch.save(to_hetero_data(graph), file)
    except RuntimeError as error:
        # What stopped the writing, such as a full disk or an interrupt, hides behind torch's attempt to end the file.
        if error.__context__ is not None:
            raise error.__context__ from None
        raise


def to_hetero_data(graph: LateralGraph) -> HeteroData:
    """The graph as plain ``HeteroData`` on the CPU, in COO, with texts and names as lists."""
    data = HeteroData()
    for node, table, columns in (
        ("document", graph.documents, content.DOCUMENT_COLUMNS[:-1]),
        ("section", graph.sections, content.SECTION_COLUMNS),
        ("concept", graph.concepts, content.CONCEPT_COLUMNS[:-2]),
    ):
        data[node].num_nodes = table.num_rows
        for name in columns:
            data[node][name] = table[name].to_pylist()
    data["section"].x = _whole(graph["section"].x)
    data["concept"].x = _whole(graph["concept"].x)
    for name in content.CONCEPT_COLUMNS[-2:]:
        data["concept"][name] = torch.from_numpy(graph.concepts[name].to_numpy().astype(np.int64))
    data[HAS].edge_index = _whole(graph[HAS].edge_index)
    section, concept, count = content.mentions(graph)
    data[MENTIONS].edge_index = _pairs(section, concept)
    data[MENTIONS].edge_weight = torch.from_numpy(count.astype(np.float32))
    u, v, weight = content.related(graph)
    data[RELATED].edge_index = _pairs(np.concatenate([u, v]), np.concatenate([v, u]))
    data[RELATED].edge_weight = torch.from_numpy(np.concatenate([weight, weight]))
    _add_asserted(data, graph)
    u, v, probability, kinds = content.same_as(graph)
    data[SAME_AS].edge_index = _pairs(np.concatenate([u, v]), np.concatenate([v, u]))
    data[SAME_AS].edge_attr = torch.from_numpy(np.concatenate([probability, probability])[:, None])
    data[SAME_AS].evidence = kinds.tolist() * 2
    return data


def _add_asserted(data: HeteroData, graph: LateralGraph) -> None:
    batches = list(content.asserted(graph))
    subject, object_, section = (
        graph.relations[name].to_numpy().astype(np.int64) for name in ("subject", "object", "section")
    )
    data[ASSERTED].edge_index = _pairs(subject, object_)
    data[ASSERTED].edge_weight = torch.from_numpy(graph.relations["weight"].to_numpy().astype(np.float32))
    data[ASSERTED].section = torch.from_numpy(section)
    data[ASSERTED].label = list(chain.from_iterable(batch.label for batch in batches))
    data[ASSERTED].evidence = list(chain.from_iterable(batch.evidence for batch in batches))


def _pairs(source: np.ndarray, target: np.ndarray) -> Tensor:
    return torch.from_numpy(np.stack([source, target]).astype(np.int64))


def _whole(tensor: Tensor) -> Tensor:
    """A copy of its own: a view would be saved with all that its storage holds besides."""
    return tensor.detach().cpu().clone()
