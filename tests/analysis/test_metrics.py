from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.analysis.comparison import ComparedRun, compare_runs
from greenroom.analysis.figures import RunMetrics
from greenroom.analysis.metrics import measure_run
from greenroom.analysis.tally import EpisodeLike, cost_of, pass_hat_k
from greenroom.store.records import EpisodeRecord, EpisodeSummary, Usage
from greenroom.store.trajectory_records import ActionRecord, StepRecord, TaskRecord
from tests.analysis.counted import Counted, played

RUNS = st.lists(st.text("sfe-", min_size=4, max_size=4), max_size=6)


def measure(rows: list[str], *, over: bool = True) -> RunMetrics:
    return measure_run(
        played(rows),
        task_indices=range(len(rows)),
        num_trials=4,
        over=over,
    )


@given(RUNS)
def test_every_planned_episode_is_accounted_for(rows: list[str]) -> None:
    metrics = measure(rows)
    letters = Counter("".join(rows))
    assert metrics.planned == 4 * len(rows)
    assert (metrics.errors, metrics.missing) == (letters["e"], letters["-"])
    assert metrics.with_result == letters["s"] + letters["f"]
    assert sum(metrics.outcomes.values()) + metrics.missing == metrics.planned
    assert sum(task.successes for task in metrics.tasks) == letters["s"]
    for task, row in zip(metrics.tasks, rows, strict=True):
        assert (task.errors, task.missing) == (row.count("e"), row.count("-"))


@given(RUNS)
def test_both_conventions(rows: list[str]) -> None:
    metrics = measure(rows)
    with_result = {
        task: [letter == "s" for letter in row if letter in "sf"] for task, row in enumerate(rows)
    }
    everything = {task: [letter == "s" for letter in row] for task, row in enumerate(rows)}
    assert metrics.main is metrics.conventions["errors_excluded"]
    for figures, trials in (
        (metrics.main, with_result),
        (metrics.conventions["errors_as_failures"], everything),
    ):
        episodes = sum(map(len, trials.values()))
        assert figures.episodes == episodes
        assert figures.tasks == sum(map(bool, trials.values()))
        if rows:
            assert figures.coverage == pytest.approx(episodes / (4 * len(rows)))
        most = max(map(len, trials.values()), default=0)
        assert list(figures.pass_hat_k) == list(range(1, max(1, most) + 1))
        for k, estimate in figures.pass_hat_k.items():
            expected = pytest.approx(pass_hat_k(trials, k), nan_ok=True)
            assert estimate.value == expected
        rewards = [float(solved) for row in trials.values() for solved in row]
        mean = sum(rewards) / len(rewards) if rewards else float("nan")
        assert figures.average_reward.value == pytest.approx(mean, nan_ok=True)


@given(RUNS)
def test_the_overall_score_is_the_mean_of_the_first_four(rows: list[str]) -> None:
    for figures in measure(rows).conventions.values():
        if 4 in figures.pass_hat_k:
            mean = sum(estimate.value for estimate in figures.pass_hat_k.values()) / 4
            assert figures.overall_score.value == pytest.approx(mean)
        else:
            assert isnan(figures.overall_score.value)


@pytest.mark.parametrize("rows", [[], ["----"], ["eeee"], ["e-", "-e"]])
def test_no_results_have_no_value(rows: list[str]) -> None:
    metrics = measure(rows)
    main = metrics.main
    for estimate in (main.pass_hat_k[1], main.average_reward, main.overall_score):
        assert all(map(isnan, (estimate.value, estimate.low, estimate.high)))
        assert estimate.method == "none"
    assert metrics.steps_to_success.method == "none"
    assert isnan(metrics.mean_steps)
    assert metrics.turn_curve == []
    assert metrics.total_cost is None


def test_duplicates_count_once_and_the_first_wins() -> None:
    episodes = [*played(["sf"]), *played(["fs"]), *played(["ss"])]
    metrics = measure_run(episodes, task_indices=[0], num_trials=2)
    assert metrics.duplicates == 4
    assert metrics.main.pass_hat_k[1].value == 0.5
    assert metrics.outcomes == {"success": 1, "failure": 1}


def test_while_a_run_goes_on_what_is_missing_is_no_failure() -> None:
    metrics = measure(["se--"], over=False)
    figures = metrics.conventions["errors_as_failures"]
    assert (figures.episodes, figures.coverage, figures.pass_hat_k[1].value) == (2, 0.5, 0.5)
    assert metrics.main.coverage == 0.25


def test_what_was_played_beyond_the_plan_counts() -> None:
    metrics = measure_run(played({0: "ss", 7: "f"}), task_indices=[0], num_trials=1)
    assert (metrics.planned, metrics.missing, metrics.with_result) == (3, 0, 3)
    assert [task.task_index for task in metrics.tasks] == [0, 7]
    assert metrics.main.coverage == 1.0


def test_trials_may_be_numbered_from_anywhere() -> None:
    episodes = [replace(episode, trial=episode.trial + 1) for episode in played(["ss"])]
    metrics = measure_run(episodes, task_indices=[0], num_trials=2)
    assert (metrics.planned, metrics.missing) == (2, 0)
    assert metrics.conventions["errors_as_failures"].pass_hat_k[2].value == 1.0


def test_a_reward_beside_an_infrastructure_error_is_no_result() -> None:
    episodes = [Counted(outcome="infrastructure_error", reward=0.0)]
    metrics = measure_run(episodes, task_indices=[0], num_trials=1)
    assert (metrics.errors, metrics.with_result) == (1, 0)
    assert isnan(metrics.main.average_reward.value)


def test_the_turn_curve() -> None:
    episodes = [
        Counted(trial=0, turns=1),
        Counted(trial=1, turns=3),
        Counted(trial=2, turns=4, reward=0.0, outcome="failure"),
        Counted(trial=3, turns=9, reward=None, outcome="infrastructure_error"),
    ]
    curve = measure_run(episodes, task_indices=[0], num_trials=4).turn_curve
    third = pytest.approx(1 / 3)
    assert [(p.turn, p.solved_at, p.solved_by) for p in curve] == [
        (1, third, third),
        (2, 0, third),
        (3, third, pytest.approx(2 / 3)),
        (4, 0, pytest.approx(2 / 3)),
    ]


def test_an_episode_solved_before_any_turn_is_on_the_curve() -> None:
    curve = measure_run([Counted(turns=0)], task_indices=[0], num_trials=1).turn_curve
    assert [(point.turn, point.solved_by) for point in curve] == [(0, 1.0)]


def test_steps_and_time() -> None:
    episodes = [
        Counted(0, 0, step_count=4, seconds=2.0),
        Counted(1, 0, step_count=6),
        Counted(2, 0, "max_steps", 0.0, step_count=30),
    ]
    metrics = measure_run(episodes, task_indices=[0, 1, 2], num_trials=1)
    steps = metrics.steps_to_success
    assert steps.value == 5.0
    assert 0 < steps.low < 5 < steps.high
    assert metrics.mean_steps == pytest.approx(40 / 3)
    assert metrics.seconds == 4.0


def priced(*costs: float | None, task: int = 0) -> Counted:
    purses = {purse: Usage(calls=1, prompt_tokens=5, completion_tokens=2, cost=cost)
              for purse, cost in zip(("agent", "user"), costs, strict=False)}  # fmt: skip
    return Counted(task, usage=purses)


@pytest.mark.parametrize(
    ("episodes", "total"),
    [
        ([Counted()], None),
        ([priced(0.5, 0.25), priced(0.25, task=1)], 1.0),
        ([priced(0.5, None), priced(0.25, task=1)], None),
        ([priced(0.0)], 0.0),
        # An episode that bought nothing, and a purse that was not used, leave nothing unknown.
        ([priced(0.5), Counted(1, usage={"user": Usage()})], 0.5),
    ],
)
def test_an_unknown_price_is_never_nothing(episodes: list[Counted], total: float | None) -> None:
    metrics = measure_run(episodes, task_indices=[], num_trials=1)
    assert metrics.total_cost == total
    assert metrics.average_cost == (None if total is None else total / len(episodes))
    assert cost_of(episodes) == total


def test_the_cost_of_an_agent_that_does_not_tell_it_is_unknown() -> None:
    episodes = [Counted(usage={"user": Usage(calls=1, cost=0.5)}, step_count=2)]
    untold = measure_run(episodes, task_indices=[0], num_trials=1)
    assert (untold.total_cost, untold.average_cost, untold.tasks[0].cost) == (None, None, None)
    scripted = measure_run(episodes, task_indices=[0], num_trials=1, asks_no_model=True)
    assert (scripted.total_cost, scripted.tasks[0].cost) == (0.5, 0.5)
    silent, told = (
        ComparedRun(name, episodes, [0], 1, asks_no_model=free)
        for name, free in (("silent", False), ("told", True))
    )
    compared = compare_runs([silent, told])
    assert [side.average_cost for side in compared.runs] == [None, 0.5]
    assert compared.comparisons[0].cost_difference is None


def test_the_cost_of_an_agent_that_tells_it_in_some_episodes_alone_is_unknown() -> None:
    silent = Counted(1, usage={}, step_count=2)
    told = Counted(usage={"agent": Usage(calls=1, cost=0.5)}, step_count=2)
    for episodes, total in (([told, silent], None), ([told], 0.5)):
        metrics = measure_run(episodes, task_indices=[0], num_trials=1, tells_itself=True)
        assert (metrics.total_cost, metrics.costs_are_told) == (total, total is not None)
    # A model that the run counts is not asked in every episode by every agent.
    counted = measure_run([told, silent], task_indices=[0], num_trials=1)
    assert counted.total_cost == 0.5


def test_tokens_by_purse() -> None:
    metrics = measure_run([priced(0.5, None), priced(0.1, task=1)], task_indices=[], num_trials=1)
    assert metrics.tokens == {"agent": 14, "user": 7}


def test_records_and_their_summaries_give_the_same_figures() -> None:
    step = StepRecord(action=ActionRecord(name="x"), observation="", source="x", turn=1)
    record = EpisodeRecord(
        task_index=4,
        trial=0,
        outcome="success",
        reward=1.0,
        task=TaskRecord(instruction="Cancel it."),
        steps=[step, step.model_copy(update={"turn": 2})],
        started_at=datetime(2025, 1, 1, tzinfo=UTC),
        seconds=2.5,
        usage={"agent": Usage(calls=1, cost=0.5)},
    )
    summary = EpisodeSummary(4, 0, "success", 1.0, 2, 2, 2.5, 0.5, record.usage)

    def task_of(episode: EpisodeLike) -> dict[str, object]:
        return measure_run([episode], task_indices=[4], num_trials=1).tasks[0].model_dump()

    assert task_of(record) == task_of(summary) | {"instruction": "Cancel it."}
    assert (task_of(record)["mean_steps"], task_of(record)["mean_turns"]) == (2, 2)


def test_figures_do_not_depend_on_chance() -> None:
    rows = ["ssff", "ssss", "sfff", "ssfs"]
    assert measure(rows) == measure(rows)
    assert "NaN" not in measure(["e"]).model_dump_json()
