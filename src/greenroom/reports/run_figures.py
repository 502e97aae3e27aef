"""The figures of a run, and their charts."""

from __future__ import annotations

import math
from collections.abc import Iterator

from greenroom.analysis.figures import ConventionMetrics
from greenroom.analysis.tally import usage_by_purse
from greenroom.reports import run_words as words
from greenroom.reports.report import RunData
from greenroom.reports.sections import AnySection, Figure, Figures, Point
from greenroom.reports.shared_sections import chart, cost_figure, estimate_points, fig
from greenroom.reports.texts import money, plural
from greenroom.store.records import Usage

MOST_KS = 8
"""pass^k is shown up to here; `metrics` in the JSON report has them all."""

LEADERBOARD_KS = (1, 2, 3, 4)


def figures(data: RunData) -> Iterator[AnySection]:
    """pass^k and the figures beside it."""
    metrics = data.metrics
    differ = words.conventions_differ(metrics)
    other = metrics.conventions["errors_as_failures"] if differ else None
    note = words.interval_note(data)
    yield Figures(
        id="figures",
        title="Figures",
        figures=[
            *_pass_figures(data, other),
            *_other_figures(data, other),
            *_money_figures(data),
            *_time_figures(data),
        ],
        confidence=metrics.confidence,
        second=f"{words.without_result(metrics)} counted as failures" if other else "",
        notes=[note] if note else [],
    )


def _pass_figures(data: RunData, other: ConventionMetrics | None) -> Iterator[Figure]:
    metrics = data.metrics
    for k, estimate in sorted(metrics.main.pass_hat_k.items()):
        if k > MOST_KS or not (other or math.isfinite(estimate.value)):
            continue
        partial = words.is_partial(metrics, k)
        often = "in one try" if k == 1 else words.TIMES.get(k, f"{k} times in a row")
        tasks = metrics.main.pass_tasks.get(k)
        only = f"; only {tasks:,} of {plural(len(metrics.tasks), 'task')}" if partial else ""
        name, meaning = f"pass^{k}", f"solved {often}{only}"
        of = {"n": tasks, "partial": partial, "prominent": k in LEADERBOARD_KS}
        second = other.pass_hat_k.get(k) if other else None
        yield fig(name, name, estimate, meaning, "percent", second=second, **of)


def _other_figures(data: RunData, other: ConventionMetrics | None) -> Iterator[Figure]:
    metrics, main = data.metrics, data.metrics.main
    meaning, second = "mean over episodes, 0 to 1", other.average_reward if other else None
    reward = main.average_reward
    yield fig("reward", "Average reward", reward, meaning, n=main.tasks, second=second)
    needs = "" if math.isfinite(main.overall_score.value) else "; needs 4 trials of each task"
    yield fig(
        "overall",
        "Overall score",
        main.overall_score,
        f"mean of pass^1 to pass^4{needs}",
        n=main.pass_tasks.get(4),
        partial=words.is_partial(metrics, 4),
        second=other.overall_score if other else None,
    )
    planned = f"with a result, of {metrics.planned:,} planned; {plural(main.tasks, 'task')}"
    yield fig("episodes", "Episodes", metrics.with_result, planned, "count")
    yield fig("coverage", "Coverage", main.coverage, "of what was planned counts", "percent", 0)
    steps, meaning = metrics.steps_to_success, "mean over solved episodes"
    solved = sum(task.successes > 0 for task in metrics.tasks)
    yield fig("steps_to_success", "Steps to success", steps, meaning, digits=1, n=solved)


def _money_figures(data: RunData) -> Iterator[Figure]:
    metrics = data.metrics
    used = Usage.total(data.used.values())
    purses = usage_by_purse([data.used, data.attempts_usage])
    if bought(data) or not metrics.costs_are_told:
        average = metrics.average_cost
        each = "" if average is None else f"{money(average)} per episode"
        usages = [*(one.usage for one in data.counted), data.attempts_usage]
        cost = cost_figure(usages, data.run.config, each, untold=not metrics.costs_are_told)
        yield cost
        solved = metrics.outcomes.get("success", 0)
        if cost.value is not None and solved:
            meaning = "all that was spent, by solved episodes"
            yield fig("cost_per_solved", "Cost per solved", cost.value / solved, meaning, "money")
    if bought(data):
        tokens = {purse: one.tokens for purse, one in purses.items() if one.tokens}
        by_purse = "; ".join(f"{purse} {count:,}" for purse, count in tokens.items())
        yield fig("tokens", "Tokens", sum(tokens.values()), by_purse, "count")
    if used.cached_calls:
        worth = used.cached_cost
        saved = "" if worth is None else f"; they cost {money(worth)} when bought"
        meaning = f"answers not bought again{saved}"
        yield fig("cached", "From cache", used.cached_calls, meaning, "count")
    if data.attempts:
        spent = data.attempts_cost
        extra = "" if spent is None else f"; {money(spent)} of the cost"
        meaning = f"broken or interrupted, and played again{extra}"
        yield fig("attempts", "Further attempts", data.attempts, meaning, "count")


def _time_figures(data: RunData) -> Iterator[Figure]:
    turn, seconds = data.metrics.latency.get("turn"), data.metrics.seconds
    if turn is not None:
        meaning = "95 % of the turns take no longer"
        yield fig("latency_p95", "Turn, p95", turn.p95, meaning, "seconds")
    if seconds > 0:
        yield fig("time", "Time", seconds, "all episodes together", "seconds")


def bought(data: RunData) -> bool:
    """Whether anything was bought: tokens were used, or money was counted."""
    return any(
        usage.calls or usage.prompt_tokens or usage.completion_tokens or usage.cost is not None
        for purses in [*(episode.usage for episode in data.counted), data.attempts_usage]
        for usage in purses.values()
    )


def reliability(data: RunData) -> Iterator[AnySection]:
    """pass^k as a chart: how fast reliability falls."""
    metrics = data.metrics
    shown = [(words.agent_label(data), metrics.main)]
    if words.conventions_differ(metrics):
        both = (metrics.main, metrics.conventions["errors_as_failures"])
        shown = [(words.convention_label(metrics, one.convention), one) for one in both]
    ks = range(1, MOST_KS + 1)
    series = {
        name: estimate_points((k, f"pass^{k}", one.pass_hat_k.get(k)) for k in ks)
        for name, one in shown
    }
    note = "The share of tasks that are solved every time in so many tries."
    axes = ("Tries in a row:count", "Tasks solved every time:percent")
    if any(metrics.main.pass_tasks.values()):
        yield from chart("reliability", "How reliably", "bars", axes, series, note)


def turn_curve(data: RunData) -> Iterator[AnySection]:
    """The share of episodes that are solved at, and by, each turn."""
    curve = data.metrics.turn_curve
    series = {
        "solved by": [Point(x=p.turn, y=p.solved_by) for p in curve],
        "solved at": [Point(x=p.turn, y=p.solved_at) for p in curve],
    }
    note = "A turn runs from a message of the user to the agent's reply."
    yield from chart("turns", "How soon", "steps", ("Turn:count", "Episodes:percent"), series, note)
