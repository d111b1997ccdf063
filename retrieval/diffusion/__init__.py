"""Diffusion over the concept graph: Personalized PageRank, Katz, heat kernel, batched over queries."""

from retrieval.diffusion.heat import heat_kernel
from retrieval.diffusion.katz import KatzOperator, katz
from retrieval.diffusion.pagerank import long_walk_pagerank, personalized_pagerank
from retrieval.diffusion.series import MAX_ITERATIONS, PANEL_BYTES, Diffusion
from retrieval.diffusion.transition import Normalization, Transition
from retrieval.kernels import TILE

__all__ = [
    "MAX_ITERATIONS",
    "PANEL_BYTES",
    "TILE",
    "Diffusion",
    "KatzOperator",
    "Normalization",
    "Transition",
    "heat_kernel",
    "katz",
    "long_walk_pagerank",
    "personalized_pagerank",
]
