"""What diffusion is measured against: other libraries, and a reference in float64.

All answer one query: a personalization, float64 [n], that sums to 1, to scores, float64 [n].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy import sparse
from scipy.special import gammainc

Answer = Callable[[np.ndarray], np.ndarray]
EXACT = 1e-13
"""Tolerance of the reference."""


def series(matrix: sparse.csr_matrix, operator: str, parameter: float, tolerance: float) -> Answer:
    """The power series of an operator on M, float64, until what is left of it is within the tolerance: for
    ``ppr`` M = A D^-1 and alpha, for ``katz`` A / bound and the damping, for ``heat_kernel`` D^-1/2 A D^-1/2 and the
    time."""

    def answer(p: np.ndarray) -> np.ndarray:
        term, total = p, np.zeros_like(p)
        for step, coefficient in enumerate(_coefficients(operator, parameter)):
            total += coefficient * term
            if _left(operator, parameter, step, coefficient) <= tolerance:
                break
            term = matrix @ term
        return total

    return answer


def _coefficients(operator: str, parameter: float) -> Iterator[float]:
    shrinks = {"ppr": 1.0 - parameter, "katz": parameter}
    value = {"ppr": parameter, "katz": 1.0, "heat_kernel": float(np.exp(-parameter))}[operator]
    step = 0
    while True:
        yield value
        step += 1
        value *= shrinks[operator] if operator in shrinks else parameter / step


def _left(operator: str, parameter: float, step: int, coefficient: float) -> float:
    """Sum of the coefficients that follow."""
    if operator == "heat_kernel":
        return float(gammainc(step + 1.0, parameter))  # P(Poisson(t) > step)
    shrinks = 1.0 - parameter if operator == "ppr" else parameter
    return coefficient * shrinks / (1.0 - shrinks)


def transition(adjacency: sparse.csr_matrix, operator: str, bound: float = 1.0) -> sparse.csr_matrix:
    """M of ``series``, float64."""
    exact = adjacency.astype(np.float64)
    if operator == "katz":
        return (exact / bound).tocsr()
    degrees = np.asarray(exact.sum(axis=1)).ravel()
    inverse = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)
    if operator == "ppr":
        return (exact @ sparse.diags(inverse)).tocsr()
    root = sparse.diags(np.sqrt(inverse))
    return (root @ exact @ root).tocsr()


def igraph_pagerank(adjacency: sparse.csr_matrix, alpha: float) -> Answer:
    """igraph's PRPACK; its graph is made once."""
    import igraph

    upper = sparse.triu(adjacency, format="coo")
    graph = igraph.Graph(n=adjacency.shape[0], edges=np.stack([upper.row, upper.col], axis=1).tolist())
    graph.es["weight"] = upper.data.astype(np.float64)

    def answer(p: np.ndarray) -> np.ndarray:
        return np.array(
            graph.personalized_pagerank(damping=1.0 - alpha, reset=p.tolist(), weights="weight", directed=False)
        )

    return answer


def scikit_network_pagerank(adjacency: sparse.csr_matrix, alpha: float) -> Answer:
    """scikit-network's diffusion by iteration."""
    from sknetwork.ranking import PageRank

    solver = PageRank(damping_factor=1.0 - alpha, solver="diteration", n_iter=100, tol=1e-8)

    def answer(p: np.ndarray) -> np.ndarray:
        return np.asarray(solver.fit_predict(adjacency, p))

    return answer
