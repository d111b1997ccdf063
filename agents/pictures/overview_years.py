"""Periods for a histogram of years: round ones, as few as show the course of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count

import numpy as np

_MOST = 14


@dataclass(frozen=True)
class YearBins:
    """``number`` periods of ``width`` years from ``start`` on; none where no paper is dated."""

    start: int
    width: int
    number: int

    def __len__(self) -> int:
        return self.number

    def labels(self) -> list[str]:
        """ "1990-94", or "1990" where a period is one year."""
        firsts = range(self.start, self.start + self.number * self.width, self.width)
        return [str(first) if self.width == 1 else f"{first}–{first + self.width - 1}" for first in firsts]


def year_bins(years: Sequence[int | None], most: int = _MOST) -> tuple[YearBins, np.ndarray]:
    """At most ``most`` periods of 1, 2, 5, 10, 20, ... years, and each year's period int64 [years], -1 for None."""
    dated = [year for year in years if year is not None]
    if not dated:
        return YearBins(0, 1, 0), np.full(len(years), -1, dtype=np.int64)
    first, last = min(dated), max(dated)
    widths = chain.from_iterable((10**n, 2 * 10**n, 5 * 10**n) for n in count())
    width = next(w for w in widths if last // w - first // w < most)
    bins = YearBins(first // width * width, width, last // width - first // width + 1)
    period = [-1 if year is None else (year - bins.start) // width for year in years]
    return bins, np.asarray(period, dtype=np.int64)
