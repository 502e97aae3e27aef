from __future__ import annotations

import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.analysis.evaluations import mean_of_rows
from greenroom.analysis.latency import quantile_estimate
from greenroom.store import Usage
from tests.evaluation.figured import measured, shares, summary


def test_scores_errors_and_what_has_no_score_are_counted_apart() -> None:
    figures = measured(
        [
            summary(0, 1.0),
            summary(1, 0.5),
            summary(2, None),
            summary(3, None, broken=True),
            summary(4, error="down"),
        ],
        planned=7,
    )
    a = figures.evaluators[0]
    assert a.mean.value == 0.75, "neither an error nor an unscored result is a 0"
    assert (a.scored, a.unscored, a.broken) == (2, 1, 1)
    assert (a.judged, a.passed.value) == (2, 1.0)
    assert (figures.with_result, figures.errors, figures.missing) == (4, 1, 2)
    assert figures.common_errors == {"down": 1}


def test_without_results_there_are_no_figures() -> None:
    figures = measured([], planned=3)
    assert math.isnan(figures.evaluators[0].mean.value)
    assert math.isnan(figures.named()["latency_p95"].value)
    assert math.isnan(figures.named()["latency_mean"].value)
    assert (figures.missing, figures.cost) == (3, 0)


def test_an_evaluator_without_verdicts_has_no_share() -> None:
    figures = measured([summary(0, 0.2), summary(1, 0.9)])
    bare = measured([summary(0, None)])
    assert figures.evaluators[0].passed.value == 0.5
    assert math.isnan(bare.evaluators[0].passed.value)


def test_repeats_of_a_row_do_not_count_as_further_rows() -> None:
    once = [summary(row, float(row < 7)) for row in range(10)]
    often = [summary(row, float(row < 7), repeat=n) for row in range(10) for n in range(8)]
    few, many = measured(once).evaluators[0].mean, measured(often).evaluators[0].mean
    assert many.value == few.value
    assert (many.low, many.high) == pytest.approx((few.low, few.high), abs=0.02)
    rows = [summary(row, float(row < 56)) for row in range(80)]
    assert measured(rows).evaluators[0].mean.low > many.low + 0.1


def test_money_is_kept_by_purse_and_what_is_not_told_is_said() -> None:
    spent = {"agent": Usage(calls=1, prompt_tokens=5, completion_tokens=2, cost=0.25)}
    figures = measured(
        [summary(0, 1.0, cost=0.5), summary(1, 1.0, cost=None), summary(2, error="x", cost=None)],
        wasted=[spent, {"judge": Usage(calls=2, cost=0.1)}],
    )
    agent = figures.purses["agent"]
    assert (agent.calls, agent.tokens, agent.cost, agent.unpriced) == (4, 7, 0.75, 1)
    assert figures.purses["judge"].cost == 0.1
    assert figures.known_cost == pytest.approx(0.85)
    assert figures.cost is None
    known = measured([summary(0, 1.0, cost=0.5), summary(1, error="x", cost=None)])
    assert known.cost == 0.5, "a call without an answer has no cost that could be missing"


def test_rows_of_unequal_size_have_the_spread_that_resampling_finds() -> None:
    draw = random.Random(5)
    rows = [[draw.random() for _ in range(draw.randint(1, 4))] for _ in range(200)]
    found = mean_of_rows(dict(enumerate(rows)))
    means: list[float] = []
    for _ in range(2000):
        drawn = draw.choices(rows, k=len(rows))
        means.append(sum(map(sum, drawn)) / sum(map(len, drawn)))
    reach = 1.96 * statistics.stdev(means)
    assert found.high - found.low == pytest.approx(2 * reach, rel=0.15)


@pytest.mark.parametrize(("rows", "repeats"), [(20, 1), (115, 1), (30, 4)])
@pytest.mark.parametrize("share", [0.5, 0.95])
def test_the_interval_of_a_percentile_holds_the_truth(
    rows: int, repeats: int, share: float
) -> None:
    # Each row has a pace of its own; the truth is that of very many rows.
    draw = random.Random(7)

    def seconds(count: int) -> list[float]:
        paces = [draw.lognormvariate(0, 1) for _ in range(count)]
        return sorted(pace * draw.uniform(0.9, 1.1) for pace in paces for _ in range(repeats))

    many = seconds(200_000 // repeats)
    truth = many[int(share * len(many))]
    held = 0
    for _ in range(300):
        found = quantile_estimate(seconds(rows), share, rows=rows, confidence=0.95)
        assert found.low <= found.value <= found.high
        held += found.low <= truth <= found.high
    assert held >= 0.93 * 300


def test_too_few_rows_tell_nothing_of_the_slowest() -> None:
    found = quantile_estimate([1.0, 2.0, 3.0], 0.99, rows=3, confidence=0.95)
    assert (found.value, found.high) == (3.0, math.inf)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=60), st.sampled_from([0.5, 0.9, 0.99]))
def test_a_percentile_is_one_of_the_values(values: list[float], share: float) -> None:
    found = quantile_estimate(sorted(values), share, rows=len(values), confidence=0.95)
    assert found.value in values
    assert sum(value <= found.value for value in values) >= share * len(values)
    assert found.low <= found.value <= found.high


@given(st.integers(0, 40), st.integers(0, 40))
def test_the_mean_of_shares_is_the_share(right: int, wrong: int) -> None:
    mean = measured(shares(right, wrong)).evaluators[0].mean
    if right + wrong == 0:
        assert math.isnan(mean.value)
    else:
        assert mean.value == pytest.approx(right / (right + wrong))
        assert mean.low <= mean.value <= mean.high
