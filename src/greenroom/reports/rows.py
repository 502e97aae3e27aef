"""The rows of the tables that all formats show: leaderboard, outcomes, kinds of failure, tasks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from greenroom.reports.texts import KINDS, OUTCOMES, agent_label

if TYPE_CHECKING:
    from greenroom.analysis.figures import TaskFigures
    from greenroom.reports.report import Report

LEADERBOARD_KS = (1, 2, 3, 4)


@dataclass(frozen=True)
class LeaderboardRow:
    """A strategy with its pass^1 to pass^4, NaN where there is none."""

    strategy: str
    values: tuple[float, ...]
    own: bool
    """It is the run that is reported on."""
    source: str = ""


def leaderboard(report: Report) -> list[LeaderboardRow]:
    """The run among the published rows that stand beside it, best first."""
    estimates = report.metrics.main.pass_hat_k
    own = tuple(estimates[k].value if k in estimates else math.nan for k in LEADERBOARD_KS)
    rows = [LeaderboardRow(agent_label(report), own, own=True)]
    for row in report.published:
        values = tuple(row.pass_hat_k.get(k, math.nan) for k in LEADERBOARD_KS)
        rows.append(LeaderboardRow(row.strategy, values, own=False, source=row.source))
    return sorted(rows, key=lambda row: -row.values[0] if math.isfinite(row.values[0]) else 1.0)


def what_differs(report: Report) -> list[tuple[str, list[str]]]:
    """What differs between the run and published rows: what is true of all of them comes first.

    Each entry names the rows that it is about, "all published rows" for the first.
    """
    rows = report.published
    common = [
        one for one in (rows[0].differs if rows else []) if all(one in r.differs for r in rows)
    ]
    rest = [(row.strategy, [one for one in row.differs if one not in common]) for row in rows]
    entries = [("all published rows", common), *rest]
    return [(names, differs) for names, differs in entries if differs]


def outcome_counts(report: Report) -> list[tuple[str, int]]:
    """Each outcome that occurred with its count, in a fixed order, the missing ones last."""
    counts = dict(report.metrics.outcomes)
    if report.metrics.missing:
        counts["missing"] = report.metrics.missing
    order = [*(name for name in OUTCOMES if name in counts), *(set(counts) - set(OUTCOMES))]
    return [(name, counts[name]) for name in order if counts[name]]


def kind_counts(report: Report) -> list[tuple[str, int]]:
    """Each kind of failure with its count, the most frequent first."""
    order = list(KINDS)
    counts = [(str(kind), count) for kind, count in report.errors.by_kind.items() if count]
    return sorted(counts, key=lambda item: (-item[1], order.index(item[0])))


def all_trials(report: Report) -> list[int]:
    """The trials that tasks have: those that were planned, and any beyond that were played."""
    played = [trial for task in report.metrics.tasks for trial in task.outcomes]
    return list(range(max([report.run.num_trials - 1, *played], default=-1) + 1))


def task_group(task: TaskFigures) -> str:
    """How a task went as a whole: always, sometimes or never solved, or without a result."""
    if task.trials == 0:
        return "none"
    if task.successes == task.trials:
        return "always"
    return "sometimes" if task.successes else "never"


def success_rate(task: TaskFigures) -> float:
    """The share of a task's trials with a result that were solved; NaN without any."""
    return task.successes / task.trials if task.trials else math.nan


def worst_tasks(report: Report) -> list[TaskFigures]:
    """The tasks that were not always solved, the least solved first."""
    failed = [task for task in report.metrics.tasks if task.successes < task.trials]
    return sorted(failed, key=lambda task: (success_rate(task), -task.trials, task.task_index))
