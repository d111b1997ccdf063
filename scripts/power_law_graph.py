"""A graph of any size whose degrees follow a power law, with hubs, for measuring: the same for the same arguments."""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee
from torch import Tensor

_STEEPNESS = 2.0 / 3.0
"""The i-th node is an end of an edge in proportion to i^-2/3: degrees follow a power law of exponent 2.5."""


def power_law_graph(nodes: int, edges: int, seed: int = 718) -> sparse.csr_matrix:
    """Symmetric float32 CSR [nodes, nodes] of one component, about ``edges`` edges, in the order that graphs are stored
    in (reverse Cuthill-McKee); weights as in a graph of papers, log(1 + times that the edge was drawn).

    Node i is tied to an earlier one, which makes it one component; the other edges have two ends drawn alike.
    """
    rng = np.random.default_rng(seed)
    later = np.arange(1, nodes)
    tree = np.stack([later, _drawn(rng, later)])
    free = np.full(max(edges - len(later), 0), nodes)
    pairs = np.concatenate([tree, np.stack([_drawn(rng, free), _drawn(rng, free)])], axis=1)
    pairs = rng.permutation(nodes)[pairs[:, pairs[0] != pairs[1]]]
    times = sparse.coo_matrix((np.ones(pairs.shape[1], np.float32), pairs), shape=(nodes, nodes)).tocsr()
    weights = (times + times.T).tocsr()
    weights.data = np.log1p(weights.data)
    order = reverse_cuthill_mckee(weights, symmetric_mode=True)
    weights = weights[order][:, order].tocsr()
    weights.sort_indices()
    return weights


def _drawn(rng: np.random.Generator, below: np.ndarray) -> np.ndarray:
    """A node below each of ``below``, early ones more often."""
    return (below * rng.random(len(below)) ** (1.0 / (1.0 - _STEEPNESS))).astype(np.int64)


def seeds_at_random(nodes: int, batch: int, seed: int = 718, each: int = 12) -> sparse.csc_matrix:
    """Personalization of ``batch`` queries, float32 CSC [nodes, batch]: up to ``each`` nodes with random weights."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, nodes, (batch, each)).ravel()
    columns = np.repeat(np.arange(batch), each)
    values = rng.uniform(0.1, 1.0, batch * each).astype(np.float32)
    return sparse.coo_matrix((values, (rows, columns)), shape=(nodes, batch)).tocsc()


def as_tensor(matrix: sparse.csr_matrix) -> Tensor:
    """The same matrix for PyTorch, CSR float32 with 32-bit indices where they suffice."""
    index = np.int32 if max(matrix.nnz, *matrix.shape) < 2**31 else np.int64
    return torch.sparse_csr_tensor(
        torch.from_numpy(matrix.indptr.astype(index)), torch.from_numpy(matrix.indices.astype(index)),
        torch.from_numpy(matrix.data.astype(np.float32)), size=matrix.shape, check_invariants=False,
    )  # fmt: skip


def as_coo(columns: sparse.csc_matrix) -> Tensor:
    """Sparse columns for PyTorch, coalesced COO."""
    part = columns.tocoo()
    indices = torch.from_numpy(np.stack([part.row, part.col]).astype(np.int64))
    return torch.sparse_coo_tensor(indices, torch.from_numpy(part.data), part.shape, check_invariants=True).coalesce()
