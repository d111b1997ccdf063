"""Diffusion over the concept graph: Personalized PageRank, Katz, heat kernel, batched over queries."""

from retrieval.diffusion.heat import heat_kernel
from retrieval.diffusion.katz import KatzOperator, katz
from retrieval.diffusion.pagerank import personalized_pagerank
from retrieval.diffusion.series import MAX_ITERATIONS, TILE, Diffusion
from retrieval.diffusion.transition import Normalization, Transition

__all__ = [
    "MAX_ITERATIONS",
    "TILE",
    "Diffusion",
    "KatzOperator",
    "Normalization",
    "Transition",
    "heat_kernel",
    "katz",
    "personalized_pagerank",
]
