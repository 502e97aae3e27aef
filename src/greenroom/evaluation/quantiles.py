"""Quantiles with intervals: how long most calls take, and how sure that is.

The interval is between two of the values themselves, counted off so that a binomial chance holds:
it takes nothing for granted of how the values are distributed. Values of one row resemble each
other, so it counts rows; several values of a row only make it wider than it had to be.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from math import ceil, inf

from greenroom.analysis.distributions import beta_quantile
from greenroom.analysis.figures import Estimate
from greenroom.analysis.intervals import NOTHING


def quantile_estimate(
    values: Sequence[float], share: float, *, rows: int, confidence: float
) -> Estimate:
    """The value that this share of all values does not exceed; the values are sorted, and not < 0.

    Where there are too few rows to tell, the interval begins at 0 or has no end.
    """
    if not values or rows < 1:
        return NOTHING
    below, above = _ranks(rows, share, (1 - confidence) / 2)
    each = len(values) / rows
    low = values[int((below - 1) * each)] if below >= 1 else 0.0
    high = values[ceil(above * each) - 1] if above <= rows else inf
    value = values[ceil(share * len(values)) - 1]
    return Estimate(value=value, low=min(low, value), high=max(high, value), method="exact")


def _ranks(rows: int, share: float, tail: float) -> tuple[int, int]:
    """Between which of so many sorted values the quantile lies, but for a tail on either side.

    The first is 0, or the second more than there are, where no value will do.
    """
    # The chance that at least k of n values do not exceed the quantile falls with k; k being too
    # many, or not, is told by the quantile of the beta distribution that belongs to it.
    numbers = range(1, rows + 1)
    above_low = bisect_left(
        numbers, True, key=lambda k: beta_quantile(k, rows - k + 1, 1 - tail) > share
    )
    at_high = bisect_left(
        numbers, True, key=lambda k: beta_quantile(k, rows - k + 1, tail) >= share
    )
    return above_low, at_high + 1
