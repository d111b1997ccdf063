"""Communities of the concept graph: groups of concepts linked more among themselves than chance explains.

They maximise the modularity of the weighted graph (Newman 2004),

    Q = sum over communities c of  W_cc / 2m - r (K_c / 2m)^2,

with 2m the weight of all edges counted at both ends, W_cc that within c, K_c that at c's concepts, r the resolution.
The search is core groups graph clustering (Ovelgönne & Geyer-Schulz 2012): Louvain runs (Blondel et al. 2008) on
shuffled concepts, what all of them put together is contracted, and a last run joins the contracted groups. It comes
near Leiden (Traag, Waltman & van Eck 2019), clearly above one Louvain run. scikit-network's own Leiden draws from the
C library's generator, which no seed of ours reaches, so its result is no function of the graph.

As in Leiden every community is connected: the parts of one that is not are taken for communities of their own, which
raises Q, as they share no edge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from kg.lateral import LateralGraph


@dataclass(frozen=True)
class CommunityConfig:
    """A higher ``resolution`` gives more and smaller communities; ``runs`` Louvain runs are compared.

    ``tolerance`` is the gain of modularity below which a run ends.
    """

    resolution: float = 1.0
    runs: int = 4
    tolerance: float = 1e-4
    seed: int = 2008


@dataclass(frozen=True)
class Communities:
    """``of`` int64 [concepts]: the community of each concept, -1 for one without edges.

    Communities are numbered by size, the largest first, ties by the least concept id. ``sizes`` int64 [communities]
    counts concepts. ``weights`` float64 [communities, communities], sparse and symmetric: the sum of the edge weights
    between two communities, and on the diagonal twice that within one, so that rows sum to the weight at its concepts.
    ``modularity`` is Q at resolution 1, in [-1/2, 1); 0 for a graph without edges.
    """

    of: np.ndarray
    sizes: np.ndarray
    weights: sparse.csr_matrix
    modularity: float

    @property
    def n_isolated(self) -> int:
        """Concepts without edges, which are in no community."""
        return int((self.of < 0).sum())

    def __len__(self) -> int:
        return len(self.sizes)


def find_communities(graph: LateralGraph, config: CommunityConfig = CommunityConfig()) -> Communities:
    """Communities of a graph's concepts: the same for the same rows, on any machine and number of threads."""
    return partition(concept_weights(graph), graph.concepts["concept_id"].to_pylist(), config)


def concept_weights(graph: LateralGraph) -> sparse.csr_matrix:
    """The diffusion graph for scipy, float64 [concepts, concepts]."""
    adjacency = graph.adjacency.cpu()
    parts = (adjacency.values(), adjacency.col_indices(), adjacency.crow_indices())
    values, columns, rows = (part.numpy() for part in parts)
    return sparse.csr_matrix((values.astype(np.float64), columns, rows), shape=tuple(adjacency.shape))


def partition(
    weights: sparse.csr_matrix, concept_ids: Sequence[str], config: CommunityConfig = CommunityConfig()
) -> Communities:
    """Communities of any graph; ``weights`` float64 [n, n] symmetric, positive, without diagonal, with sorted rows."""
    linked = np.flatnonzero(np.diff(weights.indptr))
    of = np.full(weights.shape[0], -1, dtype=np.int64)
    if len(linked):
        own = weights[linked][:, linked]
        of[linked] = _numbered(_connected(own, _ensemble(own, config)), [concept_ids[i] for i in linked.tolist()])
    sizes = np.bincount(of[linked], minlength=0)
    between = contract(weights, of, len(sizes))
    return Communities(of, sizes, between, _modularity(between))


def contract(weights: sparse.csr_matrix, of: np.ndarray, n_groups: int) -> sparse.csr_matrix:
    """Sums of ``weights`` between groups, float64 [groups, groups]; ``of`` is -1 for what is in none."""
    rows = np.flatnonzero(of >= 0)
    member = sparse.csr_matrix((np.ones(len(rows)), (rows, of[rows])), shape=(len(of), n_groups))
    summed = (member.T @ weights @ member).tocsr()
    summed.sort_indices()
    return summed


def _ensemble(weights: sparse.csr_matrix, config: CommunityConfig) -> np.ndarray:
    """Groups of all nodes, int64 [n]: the runs' agreement, contracted and joined."""
    runs = [_louvain(weights, config, config.seed + run) for run in range(config.runs)]
    cores = _connected(weights, np.unique(np.stack(runs), axis=1, return_inverse=True)[1].ravel())
    return _louvain(contract(weights, cores, int(cores.max()) + 1), config, config.seed)[cores]


def _louvain(weights: sparse.csr_matrix, config: CommunityConfig, seed: int) -> np.ndarray:
    from sknetwork.clustering import Louvain

    louvain = Louvain(
        resolution=config.resolution, tol_optimization=config.tolerance, tol_aggregation=config.tolerance,
        shuffle_nodes=True, random_state=seed, return_probs=False, return_aggregate=False,
    )  # fmt: skip
    return np.asarray(louvain.fit_predict(weights), dtype=np.int64)


def _connected(weights: sparse.csr_matrix, of: np.ndarray) -> np.ndarray:
    """The connected parts of every group, int64 [n]."""
    edges = weights.tocoo()
    inside = of[edges.row] == of[edges.col]
    kept = sparse.csr_matrix((edges.data[inside], (edges.row[inside], edges.col[inside])), shape=weights.shape)
    return np.asarray(connected_components(kept, directed=False)[1], dtype=np.int64)


def _numbered(of: np.ndarray, concept_ids: Sequence[str]) -> np.ndarray:
    """Groups renumbered by size, ties by the least id."""
    sizes = np.bincount(of)
    by_id = np.asarray(sorted(range(len(of)), key=concept_ids.__getitem__), dtype=np.int64)
    first = np.empty(len(sizes), dtype=np.int64)
    first[of[by_id[::-1]]] = np.arange(len(of))[::-1]  # the last assignment stands: the place of the least id
    place = np.empty(len(sizes), dtype=np.int64)
    place[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return place[of]


def _modularity(between: sparse.csr_matrix) -> float:
    strength = np.asarray(between.sum(axis=1)).ravel()
    total = strength.sum()
    return float((between.diagonal() / total - (strength / total) ** 2).sum()) if total else 0.0
