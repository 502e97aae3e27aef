"""Percentiles with intervals: how long most calls take, and how sure that is.

The interval lies between two of the values themselves, counted off so that a binomial chance holds:
nothing is assumed about how the values are distributed. Values of one task or row resemble each
other, so tasks and rows are counted; several values of one make the interval wider than needed.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from math import ceil, inf
from typing import TypeAlias

from greenroom.analysis.distributions import beta_quantile
from greenroom.analysis.figures import NOTHING, Estimate, Latency

Spans: TypeAlias = "dict[str, dict[int, array[float]]]"
"""Seconds by what took so long, then by task or row."""


def add_seconds(spans: Spans, name: str, unit: int, seconds: Iterable[float]) -> None:
    """Enter how long something of a task or a row took."""
    spans.setdefault(name, {}).setdefault(unit, array("d")).extend(seconds)


def add_model_seconds(spans: Spans, unit: int, known: Mapping[str, Iterable[float]]) -> None:
    """Enter the model calls of a task or a row, under `model.PURSE`."""
    for purse, seconds in known.items():
        add_seconds(spans, f"model.{purse}", unit, seconds)


def latencies(spans: Spans, confidence: float) -> dict[str, Latency]:
    """The percentiles of seconds by what took so long; what never occurred is left out."""
    found: dict[str, Latency] = {}
    for name, by_unit in spans.items():
        values = sorted(chain.from_iterable(by_unit.values()))
        rows = sum(map(bool, by_unit.values()))
        if values:
            shares = {f"p{share}": share / 100 for share in (50, 90, 95, 99)}
            found[name] = Latency(
                n=len(values),
                mean=sum(values) / len(values),
                **{
                    key: quantile_estimate(values, share, rows=rows, confidence=confidence)
                    for key, share in shares.items()
                },
            )
    return found


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
    high = values[min(ceil(above * each), len(values)) - 1] if above <= rows else inf
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
