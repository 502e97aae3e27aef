"""pass^k: the chance that k independent trials of a task all succeed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb, nan


def pass_hat_k(trials: Mapping[int, Sequence[bool]], k: int) -> float:
    """The estimate C(c, k) / C(n, k) for a task with c successes in n trials, averaged over tasks.

    Each task is judged by the trials that it has: a missing trial is not a failure. Tasks with
    fewer than k trials cannot be judged and are left out; with none left, the answer is NaN.

    >>> pass_hat_k({0: [True, True], 1: [True, False]}, 1)
    0.75
    >>> pass_hat_k({0: [True, True], 1: [True, False]}, 2)
    0.5
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    judged = [comb(sum(row), k) / comb(len(row), k) for row in trials.values() if len(row) >= k]
    return sum(judged) / len(judged) if judged else nan


def pass_hat_ks(trials: Mapping[int, Sequence[bool]]) -> dict[int, float]:
    """pass^1 up to pass^n, n being the number of trials that every task has."""
    fewest = min((len(row) for row in trials.values()), default=0)
    return {k: pass_hat_k(trials, k) for k in range(1, fewest + 1)}
