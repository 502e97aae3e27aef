"""Published results of Tau Bench, to stand beside a run that played the same tasks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from greenroom.analysis.figures import Estimate
from greenroom.reports.report import PublishedRow
from greenroom.store.records import RunRecord

SOURCE = "Tau Bench leaderboard, github.com/sierra-research/tau-bench"
FASTWORKFLOW_SOURCE = "FastWorkflow, github.com/radiantlogicinc/fastworkflow"
OFFICIAL_SPLIT = "test"
OFFICIAL_TASKS = {"retail": 115, "airline": 50}
"""How many tasks the official split of each domain has."""

_USER_MODEL, _USER_STRATEGY = "gpt-4o", "llm"
_TRIALS = 4  # pass^4 cannot be estimated from fewer
_FASTWORKFLOW = "FastWorkflow"
_STRATEGY_NAMES = {
    "TC": "tool-calling",
    "Act": "act",
    "ReAct": "react",
    _FASTWORKFLOW: "fastworkflow",
}


_PUBLISHED: dict[str, tuple[tuple[str, str, tuple[float, ...]], ...]] = {
    "retail": (
        ("TC", "claude-3-5-sonnet-20241022", (0.692, 0.576, 0.509, 0.462)),
        ("TC", "claude-3-5-sonnet-20240620", (0.626, 0.506, 0.435, 0.387)),
        ("TC", "gpt-4o", (0.604, 0.491, 0.430, 0.383)),
    ),
    "airline": (
        ("TC", "claude-3-5-sonnet-20241022", (0.460, 0.326, 0.263, 0.225)),
        ("TC", "gpt-4o", (0.420, 0.273, 0.220, 0.200)),
        ("Act", "gpt-4o", (0.365, 0.217, 0.160, 0.140)),
        ("TC", "claude-3-5-sonnet-20240620", (0.360, 0.224, 0.169, 0.139)),
        ("ReAct", "gpt-4o", (0.325, 0.233, 0.185, 0.160)),
        ("TC", "gpt-4o-mini", (0.225, 0.140, 0.110, 0.100)),
    ),
}
"""The strategy as it is called there, the model, and pass^1 to pass^4."""

FASTWORKFLOW_SOLVED: dict[str, dict[str, int]] = {
    "retail": {
        "claude-opus-4-1": 106,
        "claude-sonnet-4": 105,
        "gpt-oss-20b": 96,
        "mistral-7b": 81,
    },
    "airline": {
        "claude-sonnet-4": 42,
        "claude-opus-4-1": 40,
        "gpt-oss-20b": 39,
        "mistral-7b": 30,
    },
}
"""FastWorkflow's published pass^1 by model, as tasks solved: all are shares of 115 and 50."""


def published_rows(run: RunRecord) -> list[PublishedRow]:
    """The published rows that a run may be compared with, the best first.

    There are none unless it plays every task of Tau Bench's official test split: figures over
    other tasks are no more comparable than those of another benchmark. Nor are there any for an
    agent that knows the answers.
    """
    if knows_the_answers(run) or not _plays_official_split(run):
        return []
    rows = [*_tau_bench_rows(run), *_fastworkflow_rows(run)]
    return sorted(rows, key=lambda row: -row.pass_hat_k[1])


def _tau_bench_rows(run: RunRecord) -> Iterator[PublishedRow]:
    for strategy, model, figures in _PUBLISHED[run.env]:
        yield PublishedRow(
            strategy=f"{strategy} ({model})",
            pass_hat_k=dict(enumerate(figures, start=1)),
            source=SOURCE,
            differs=list(_differences(_STRATEGY_NAMES[strategy], model, run)),
        )


def _fastworkflow_rows(run: RunRecord) -> Iterator[PublishedRow]:
    tasks = OFFICIAL_TASKS[run.env]
    for model, solved in FASTWORKFLOW_SOLVED[run.env].items():
        estimate = one_trial_each(solved, tasks)
        yield PublishedRow(
            strategy=f"{_FASTWORKFLOW} ({model})",
            pass_hat_k={1: estimate.value},
            source=FASTWORKFLOW_SOURCE,
            differs=list(_fastworkflow_differences(model, run)),
            intervals={1: estimate},
            remark=f"{solved} of {tasks} tasks, one trial each",
        )


def one_trial_each(solved: int, tasks: int) -> Estimate:
    """pass^1 of tasks that were played once each, with its interval."""
    from greenroom.analysis.intervals import SuccessIntervals  # numpy, only where it is needed

    return SuccessIntervals([(1, 1)] * solved + [(1, 0)] * (tasks - solved)).pass_hat_k(1)


def knows_the_answers(run: RunRecord) -> bool:
    """Whether the agent, or its model of the model server, knows the ground truth."""
    if run.reads_script:
        return True
    model = str(run.config.get("model") or "").rsplit("/", 1)[-1]
    return re.split("[+-]", model)[0] in ("oracle", "synthetic")


def _plays_official_split(run: RunRecord) -> bool:
    tasks = OFFICIAL_TASKS.get(run.env)
    return (
        tasks is not None
        and run.official_tasks
        and run.task_split == OFFICIAL_SPLIT
        and set(run.task_indices) == set(range(tasks))
    )


def _fastworkflow_differences(model: str, run: RunRecord) -> Iterator[str]:
    own_model = str(run.config.get("model") or "none")
    yield f"user model: not told there, {run.config.get('user_model') or 'none'} here"
    if own_model.rsplit("/", 1)[-1].lower() != model:
        yield f"agent model: {model} there, {own_model} here"
    if run.agent_strategy != _STRATEGY_NAMES[_FASTWORKFLOW]:
        yield f"agent strategy and prompts: FastWorkflow's there, {run.agent_strategy} here"
    if run.num_trials != 1:
        yield f"trials per task: 1 there, {run.num_trials} here"


def _differences(strategy: str, model: str, run: RunRecord) -> Iterator[str]:
    """What is not the same for a published row and the run, in words: there, then here."""
    own_model, user, user_strategy = (
        str(run.config.get(key) or "none") for key in ("model", "user_model", "user_strategy")
    )
    # A provider before the name, as in openai/gpt-4o, makes no other model of it.
    if user.rsplit("/", 1)[-1] != _USER_MODEL:
        yield f"user model: {_USER_MODEL} there, {user} here"
    if user_strategy != _USER_STRATEGY:
        yield f"user strategy: {_USER_STRATEGY} there, {user_strategy} here"
    if own_model.rsplit("/", 1)[-1] != model:
        yield f"agent model: {model} there, {own_model} here"
    if run.agent_strategy != strategy:
        yield f"agent strategy and prompts: Tau Bench's {strategy} there, {run.agent_strategy} here"
    if run.num_trials < _TRIALS:
        yield f"trials per task: at least {_TRIALS} there, {run.num_trials} here"
