"""Exact nearest neighbours by inner product."""

from __future__ import annotations

import torch
from torch import Tensor

from kg.errors import InputError
from retrieval.ranking import top_k

_SPARE = 16
"""Candidates kept beyond k, so that a rounding error of the matrix product at place k costs no result."""


class ExactIndex:
    """Inner-product search over embeddings [n, d], in blocks of rows, on the device that holds them.

    The matrix product finds the candidates; their scores are then computed again in float64, row by row. So a
    query's scores do not depend on the queries beside it or on the block size, and equal rows score equal.
    """

    def __init__(self, embeddings: Tensor, block_rows: int = 262144) -> None:
        """Keep ``embeddings`` [n, d] (not copied; n may be 0); ``block_rows`` x B scores are held at a time.

        Raises:
            InputError: embeddings that are no floating-point matrix, or ``block_rows`` < 1.
        """
        if embeddings.dim() != 2 or not embeddings.is_floating_point():
            raise InputError(
                f"Embeddings have shape {tuple(embeddings.shape)} and type {embeddings.dtype}; "
                "they must be a floating-point matrix, [n, d]."
            )
        if block_rows < 1:
            raise InputError(f"block_rows is {block_rows}; it must be 1 or more.")
        self.embeddings = embeddings
        self.block_rows = block_rows

    def __len__(self) -> int:
        return len(self.embeddings)

    @torch.no_grad()
    def search(self, queries: Tensor, k: int) -> tuple[Tensor, Tensor]:
        """The k rows with the largest inner product with each query; ties by the smaller row.

        Args:
            queries: floating point [B, d], moved to the embeddings' device.
            k: how many; more than n gives all n.

        Returns:
            float32 scores and int64 rows, [B, min(k, n)] each.

        Raises:
            InputError: queries of another dimension, a negative k, or a NaN in the vectors.
        """
        n, dimension = self.embeddings.shape
        if queries.dim() != 2 or queries.shape[1] != dimension:
            raise InputError(
                f"Queries have shape {tuple(queries.shape)} but this index holds vectors of {dimension} dimensions; "
                "encode them with the encoder that made the index."
            )
        if k < 0:
            raise InputError(f"k is {k}; ask for 0 or more results.")
        queries = queries.to(self.embeddings)
        k = min(k, n)
        best, rows = self._candidates(queries, min(k + _SPARE, n))
        for b in range(len(queries) if k else 0):
            products = self.embeddings[rows[b]].double() * queries[b].double()
            best[b] = products.sum(dim=1).float()
        best, order = best.sort(dim=1, descending=True, stable=True)
        return best[:, :k], rows.gather(1, order)[:, :k]

    def _candidates(self, queries: Tensor, k: int) -> tuple[Tensor, Tensor]:
        """Best k rows by the matrix product, float32 [B, k] and int64 [B, k] ascending by row."""
        best = queries.new_empty((len(queries), 0))
        rows = torch.empty((len(queries), 0), dtype=torch.int64, device=queries.device)
        for start in range(0, len(self.embeddings) if k else 0, self.block_rows):
            values, found = top_k(queries @ self.embeddings[start : start + self.block_rows].T, k)
            # Equal scores stand by row in both parts, and the new part's rows are larger: places decide ties rightly.
            best, places = top_k(torch.cat((best, values), dim=1), k)
            rows = torch.cat((rows, found + start), dim=1).gather(1, places)
        rows, order = rows.sort(dim=1)
        return best.gather(1, order).float(), rows
