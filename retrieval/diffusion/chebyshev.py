"""Chebyshev series of the functions that diffuse, and what an error is left where they are cut.

M is similar to the symmetric D^-1/2 A D^-1/2, so its eigenvalues are real and lie in [-1, 1], and for a function f
that is smooth there f(M) = sum_k c_k T_k(M), with T_k+1(M) = 2 M T_k(M) - T_k-1(M) (Trefethen 2013, chapters 3 and 8;
Hammond, Vandergheynst and Gribonval 2011 for graphs). It takes about the root of the number of products that a power
series takes. |x|_w = sum_i w_i |x_i| is the norm in which M does not expand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import ive

from retrieval.kernels.protocols import Mix

Array = np.ndarray
_NEGLIGIBLE = 1e-60
"""Relative size of coefficients that are not kept."""


class Expansion(Protocol):
    """A function of M, cut somewhere. Errors are those of a column p, in |.|_w."""

    @property
    def coefficients(self) -> Array:
        """c_0, c_1, ...: float64, as many as can matter."""

    @property
    def at_once(self) -> tuple[float, float]:
        """(a, e): a p instead of a series, with an error <= e |p|_w."""

    @property
    def mixes(self) -> tuple[Mix, Mix]:
        """What ``error`` needs measured of T_k p and T_k-1 p, as in ``Norms``."""

    def error(self, k: int, norms: Array, cap: Array) -> Array:
        """Bound [B] on the error of c_0 T_0 p + ... + c_k T_k p, from ``norms`` [2, B] and bounds ``cap`` [B] on
        |T_j p|_w for every j."""


@dataclass(frozen=True)
class Resolvent:
    """(I - b M)^-1 with b = 1 - ``gap``, 0 <= b < 1.

    c_k = 2 rho^k / s, halved for k = 0, with s = sqrt(1 - b^2) and rho = (1 - s) / b. Since x T_k = (T_k+1 + T_k-1) / 2
    and c_k = b (c_k-1 + c_k+1) / 2, the series cut after c_j T_j leaves the residual

        r = p - (I - b M) y_j = b/2 (c_j T_j+1 - c_j+1 T_j) p = b/2 c_j (T_j+1 - rho T_j) p

    (with c_0 as if not halved). One more term makes y_k, k = j + 1, whose error is (I - b M)^-1 r - c_k T_k p
    = (r - c_k T_k p) + b M (I - b M)^-1 r, and |M (I - b M)^-1 r|_w <= |r|_w / gap: both norms are of T_k p and T_j p,
    which are at hand.
    """

    gap: float
    limit: int

    @property
    def _b(self) -> float:
        return 1.0 - self.gap

    @property
    def _s(self) -> float:
        return math.sqrt(self.gap * (2.0 - self.gap))

    @property
    def _rho(self) -> float:
        return self._b / (1.0 + self._s)

    @property
    def coefficients(self) -> Array:
        """As in ``Expansion``."""
        if self._rho == 0.0:
            return np.ones(1)
        shrinks = math.log1p(-self.gap) - math.log1p(self._s)
        length = min(self.limit, math.ceil(math.log(_NEGLIGIBLE) / shrinks)) + 1
        powers = 2.0 / self._s * self._rho ** np.arange(length, dtype=np.float64)
        powers[0] /= 2.0
        return powers

    @property
    def at_once(self) -> tuple[float, float]:
        """As in ``Expansion``."""
        return 1.0, self._b / self.gap

    @property
    def mixes(self) -> tuple[Mix, Mix]:
        """T_k - rho T_j, and what of (r - c_k T_k p) is not c_j."""
        half = self._b / 2.0
        return (1.0, self._rho), (half - self._rho, half * self._rho)

    def error(self, k: int, norms: Array, cap: Array) -> Array:
        """As in ``Expansion``; ``cap`` is not needed."""
        before = 2.0 / self._s * self._rho ** (k - 1)
        bound: Array = before * (self._b**2 / (2.0 * self.gap) * norms[0] + norms[1])
        return bound


@dataclass(frozen=True)
class Exponential:
    """exp(-t (I - M)): c_k = 2 exp(-t) I_k(t), halved for k = 0, I_k the modified Bessel functions.

    What is cut off is at most the sum over j > k of c_j |T_j p|_w; and |T_j p|_w <= 2 |T_j-1 p|_w + |T_j-2 p|_w, but
    never more than ``cap``.
    """

    time: float
    limit: int

    @property
    def coefficients(self) -> Array:
        """As in ``Expansion``."""
        length = min(self.limit + 1, 40 + 2 * math.ceil(self.time))
        values: Array = 2.0 * ive(np.arange(length + 1, dtype=np.float64), self.time)
        values[0] /= 2.0
        return values[: max(1, np.count_nonzero(values > _NEGLIGIBLE))]

    @property
    def at_once(self) -> tuple[float, float]:
        """exp(-t) p, the first term of the power series."""
        return math.exp(-self.time), -math.expm1(-self.time)

    @property
    def mixes(self) -> tuple[Mix, Mix]:
        """T_k, T_k-1."""
        return (1.0, 0.0), (0.0, 1.0)

    def error(self, k: int, norms: Array, cap: Array) -> Array:
        """As in ``Expansion``."""
        rest = Exponential(self.time, 2**30).coefficients[k + 1 :]
        last, before = np.minimum(norms[0], cap), np.minimum(norms[1], cap)
        left = np.zeros_like(cap)
        for coefficient in rest:
            last, before = np.minimum(2.0 * last + before, cap), last
            left += coefficient * last
        return left
