"""The rows that all formats show: figures, leaderboard, outcomes, kinds of failure, tasks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from greenroom.reports import run_words, texts
from greenroom.reports.run_words import agent_label
from greenroom.reports.texts import KINDS
from greenroom.store.outcomes import OUTCOMES

if TYPE_CHECKING:
    from greenroom.analysis.figures import ConventionMetrics, RunMetrics, TaskFigures
    from greenroom.reports.report import RunData as Report

MOST_KS = 8
"""pass^k is shown up to here; the JSON report has them all."""

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


def bought(report: Report) -> bool:
    """Whether anything was bought: tokens were used, or money was counted."""
    return any(report.metrics.tokens.values()) or any(
        usage.calls or usage.prompt_tokens or usage.completion_tokens or usage.cost is not None
        for episode in report.episodes
        for usage in episode.usage.values()
    )


def agent_facts(report: Report) -> list[tuple[str, str]]:
    """What the agent said of itself."""
    return [(label, " and ".join(values)) for label, values in report.agent_facts.items()]


def agent_tallies(report: Report) -> list[tuple[str, str, str]]:
    """What the agent counted beyond the usual: of what, what, and how much."""
    return [
        (title, label, _amount(title, count))
        for title, counts in report.agent_tallies.items()
        for label, count in counts.items()
    ]


def _amount(title: str, count: float | None) -> str:
    if count is None:
        return "unknown"
    return texts.money(count) if title.endswith("cost") else f"{count:,.0f}"


@dataclass(frozen=True)
class Figure:
    """A figure as a row or a card: what it is called, its value, its range and its meaning."""

    key: str
    label: str
    value: str
    interval: str | None
    meaning: str
    as_failures: str | None = None
    """The same with errors counted as failures, where that differs."""
    k: int | None = None
    """Of pass^k."""


def pass_figures(report: Report) -> list[Figure]:
    """pass^1 to pass^4 and on, as far as there are trials; none before anything was played."""
    metrics = report.metrics
    other = (
        metrics.conventions["errors_as_failures"] if run_words.conventions_differ(metrics) else None
    )
    return [
        Figure(
            key=f"pass_{k}",
            k=k,
            label=f"pass^{k}",
            value=texts.percent(estimate.value, 1),
            interval=texts.interval(estimate, as_percent=True),
            meaning="solved in one try"
            if k == 1
            else f"solved {run_words.TIMES.get(k, f'{k} times in a row')}",
            as_failures=_other_pass(other, k),
        )
        for k, estimate in sorted(metrics.main.pass_hat_k.items())
        if k <= MOST_KS and (other or math.isfinite(estimate.value))
    ]


def _other_pass(other: ConventionMetrics | None, k: int) -> str | None:
    if other is None:
        return None
    estimate = other.pass_hat_k.get(k)
    return texts.percent(estimate.value, 1) if estimate and math.isfinite(estimate.value) else None


def other_figures(report: Report) -> list[Figure]:
    """The figures beside pass^k; cost and tokens only where something was bought."""
    metrics, main = report.metrics, report.metrics.main
    other = (
        metrics.conventions["errors_as_failures"] if run_words.conventions_differ(metrics) else None
    )
    rows = [
        Figure(
            "average_reward",
            "Average reward",
            texts.decimal(main.average_reward.value),
            texts.interval(main.average_reward),
            "mean over episodes, 0 to 1",
            texts.decimal(other.average_reward.value) if other else None,
        ),
        Figure(
            "overall_score",
            "Overall score",
            texts.decimal(main.overall_score.value),
            texts.interval(main.overall_score),
            "mean of pass^1 to pass^4"
            if math.isfinite(main.overall_score.value)
            else "mean of pass^1 to pass^4; needs 4 trials of each task",
            _other_score(other),
        ),
        Figure(
            "episodes",
            "Episodes",
            f"{metrics.with_result:,}",
            None,
            f"with a result, of {metrics.planned:,} planned; {texts.plural(main.tasks, 'task')}",
        ),
        Figure(
            "coverage", "Coverage", texts.percent(main.coverage), None, "of what was planned counts"
        ),
        Figure(
            "steps_to_success",
            "Steps to success",
            texts.decimal(metrics.steps_to_success.value, 1),
            texts.interval(metrics.steps_to_success, digits=1),
            "mean over solved episodes",
        ),
    ]
    if bought(report):
        rows.append(_cost(metrics))
        rows.append(_tokens(metrics))
    rows.extend(figure for figure in (_cached(report), _attempts(report)) if figure)
    if metrics.seconds > 0:
        rows.append(
            Figure("time", "Time", texts.duration(metrics.seconds), None, "all episodes together")
        )
    return rows


def _other_score(other: ConventionMetrics | None) -> str | None:
    known = other is not None and math.isfinite(other.overall_score.value)
    return texts.decimal(other.overall_score.value) if other and known else None


def _cost(metrics: RunMetrics) -> Figure:
    if metrics.total_cost is None:
        return Figure("cost", "Cost", "unknown", None, "the price of a model is not known")
    average = metrics.average_cost
    meaning = "in all" if average is None else f"in all; {texts.money(average)} per episode"
    return Figure("cost", "Cost", texts.money(metrics.total_cost), None, meaning)


def _cached(report: Report) -> Figure | None:
    used = [usage for episode in report.episodes for usage in episode.usage.values()]
    answers = sum(usage.cached_calls for usage in used)
    if not answers:
        return None
    worth = [usage.cached_cost for usage in used if usage.cached_calls]
    known = [cost for cost in worth if cost is not None]
    saved = f"; they cost {texts.money(sum(known))} when bought" if len(known) == len(worth) else ""
    return Figure("cached", "From cache", f"{answers:,}", None, f"answers not bought again{saved}")


def _attempts(report: Report) -> Figure | None:
    if not report.attempts:
        return None
    cost = report.attempts_cost
    meaning = "broken or interrupted, and played again"
    if cost is not None:
        meaning += f"; {texts.money(cost)} on top of the cost"
    return Figure("attempts", "Further attempts", f"{report.attempts:,}", None, meaning)


def _tokens(metrics: RunMetrics) -> Figure:
    purses = "; ".join(f"{texts.one_line(purse)} {n:,}" for purse, n in metrics.tokens.items() if n)
    return Figure("tokens", "Tokens", f"{sum(metrics.tokens.values()):,}", None, purses)
