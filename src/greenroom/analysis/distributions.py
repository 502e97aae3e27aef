"""The few distributions that intervals and tests need, typed.

They come from scipy.special, which is imported at the first call: scipy.stats takes a second to
import, and nobody who only asks for help should wait for either.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any


def student_quantile(degrees: float, share: float) -> float:
    """The quantile of Student's t with these degrees of freedom."""
    return float(_special().stdtrit(degrees, share))


def beta_quantile(a: float, b: float, share: float) -> float:
    """The quantile of the beta distribution."""
    return float(_special().betaincinv(a, b, share))


def half_binomial_cdf(successes: int, trials: int) -> float:
    """The chance of at most so many heads in so many tosses of a fair coin."""
    return float(_special().bdtr(successes, trials, 0.5))


def noncentral_student_cdf(degrees: float, shift: float, value: float) -> float:
    """The chance that a Student's t around a shift, as under a true difference, is at most this."""
    return float(_special().nctdtr(degrees, shift, value))


@cache
def _special() -> Any:
    return import_module("scipy.special")
