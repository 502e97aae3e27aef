"""The few distributions that intervals and tests need, exact to about twelve digits.

All of them come from the regularised incomplete beta function: a continued fraction times the
density at the point. Large parameters are the usual case (one per task, row or trial), so the
density is written as a deviation from its peak: logarithms of gamma functions would cancel there.
"""

from __future__ import annotations

from functools import lru_cache
from math import erfc, exp, inf, lgamma, log, log1p, pi, sqrt

_SMALLEST = 1e-300
_CLOSE = 1e-16
_MOST_TERMS = 1_000_000
_FEW_DEGREES = 30
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)
_STIRLING_FROM = 16
"""From here on the series is exact to the last digit."""


@lru_cache(maxsize=1024)
def student_quantile(degrees: float, share: float) -> float:
    """The quantile of Student's t with these degrees of freedom."""
    if share < 0.5:
        return -student_quantile(degrees, 1 - share)
    # Of the two variables, the one that is not close to 1 keeps all its digits.
    if degrees < _FEW_DEGREES:
        rest = beta_quantile(degrees / 2, 0.5, 2 * (1 - share))
        return sqrt(degrees * (1 - rest) / rest) if rest else inf
    part = beta_quantile(0.5, degrees / 2, 2 * share - 1)
    return sqrt(degrees * part / (1 - part)) if part < 1 else inf


@lru_cache(maxsize=1024)
def beta_quantile(a: float, b: float, share: float) -> float:
    """The quantile of the beta distribution."""
    if share <= 0 or share >= 1:
        return 0.0 if share <= 0 else 1.0
    low, high = 0.0, 1.0
    x = a / (a + b)
    for _ in range(200):
        miss = incomplete_beta(a, b, x) - share
        low, high = (x, high) if miss < 0 else (low, x)
        density = _power(a, b, x, 1 - x) / (x * (1 - x))
        step = miss / density if density else inf
        # Halley's step, which also bends with the curve; no more than doubled or halved by it.
        bend = step * ((a - 1) / x - (b - 1) / (1 - x)) / 2
        guess = x - step / max(0.5, min(2.0, 1 - bend))
        if not low < guess < high:
            guess = (low + high) / 2
        if abs(guess - x) <= _CLOSE * x or guess in (low, high):
            return guess
        x = guess
    return x


def half_binomial_cdf(successes: int, trials: int) -> float:
    """The chance of at most so many heads in so many tosses of a fair coin."""
    if successes >= trials:
        return 1.0
    return incomplete_beta(trials - successes, successes + 1, 0.5) if successes >= 0 else 0.0


def noncentral_student_cdf(degrees: float, shift: float, value: float) -> float:
    """The chance that a Student's t around a shift, as under a true difference, is at most this."""
    if value < 0:
        return 1 - noncentral_student_cdf(degrees, -shift, -value)
    # Two Poisson mixtures of incomplete beta functions, each of which follows from the one before.
    x, b = value * value / (degrees + value * value), degrees / 2
    half = shift * shift / 2
    even = exp(-half) / 2
    odd = shift * exp(-half) / sqrt(2 * pi)
    even_beta, odd_beta = incomplete_beta(0.5, b, x), incomplete_beta(1.0, b, x)
    even_term, odd_term = _power(0.5, b, x, 1 - x) / 0.5, _power(1.0, b, x, 1 - x)
    total = erfc(shift / sqrt(2)) / 2
    weight = 0.0
    for j in range(_MOST_TERMS):
        total += even * even_beta + odd * odd_beta
        weight += 2 * even
        if j > half and (1 - weight) * odd_beta < _CLOSE:
            break
        even *= half / (j + 1)
        odd *= half / (j + 1.5)
        even_beta -= even_term
        odd_beta -= odd_term
        even_term *= x * (j + 0.5 + b) / (j + 1.5)
        odd_term *= x * (j + 1 + b) / (j + 2)
    return min(1.0, max(0.0, total))


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function: the chance that a beta variable is at most x."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _power(b, a, 1 - x, x) * _fraction(b, a, 1 - x) / b
    return _power(a, b, x, 1 - x) * _fraction(a, b, x) / a


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, from its head on."""
    upper, lower = 1.0, 1 - (a + b) * x / (a + 1)
    lower = 1 / (lower or _SMALLEST)
    value = lower
    for m in range(1, _MOST_TERMS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            lower = 1 / ((1 + term * lower) or _SMALLEST)
            upper = (1 + term / upper) or _SMALLEST
            change = upper * lower
            value *= change
        if abs(change - 1) < _CLOSE * 4:
            break
    return value


def _power(a: float, b: float, x: float, y: float) -> float:
    """x^a y^b / B(a, b), where y is 1 - x: whichever is small is given with all its digits."""
    if x <= 0 or y <= 0:
        return 0.0
    n = a + b
    peak, rest = a / n, b / n
    off = x - peak if x < y else rest - y
    deviance = a * _log_ratio(x, peak, off) + b * _log_ratio(y, rest, -off)
    scale = _stirling_error(n) - _stirling_error(a) - _stirling_error(b)
    return sqrt(a * rest / (2 * pi)) * exp(deviance + scale)


def _log_ratio(value: float, base: float, difference: float) -> float:
    near = abs(difference) < base / 2
    return log1p(difference / base) if near else log(value / base)


@lru_cache(maxsize=1024)
def _stirling_error(z: float) -> float:
    """By how much the logarithm of gamma exceeds Stirling's formula."""
    if z < _STIRLING_FROM:
        return lgamma(z) - ((z - 0.5) * log(z) - z + 0.5 * log(2 * pi))
    square, total = 1 / (z * z), 0.0
    for coefficient in reversed(_STIRLING):
        total = total * square + coefficient
    return total / z
