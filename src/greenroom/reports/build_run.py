"""The sections of a run's report: a function for each, and the list of them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from greenroom.analysis.figures import (
    ConventionMetrics,
    Diagnosis,
    ErrorBreakdown,
    TaskFigures,
)
from greenroom.analysis.tally import usage_by_purse
from greenroom.analysis.tools import tool_figures
from greenroom.reports import run_words as words
from greenroom.reports.plain import plain, without_secrets
from greenroom.reports.report import RunData, RunReport
from greenroom.reports.sections import (
    AnySection,
    Cell,
    Chart,
    Column,
    Evidence,
    Fact,
    Facts,
    Failure,
    Failures,
    Figure,
    Figures,
    Grid,
    GridItem,
    KindCount,
    Point,
    Row,
    Series,
    Table,
    Text,
)
from greenroom.reports.shared_sections import (
    costs_table,
    estimate_figure,
    interval_cell,
    latency_table,
    outcome_table,
)
from greenroom.reports.texts import (
    KINDS,
    date_text,
    kind_words,
    known,
    money,
    plural,
)
from greenroom.util.raw_json import raw_text

MOST_KS = 8
"""pass^k is shown up to here; `metrics` in the JSON report has them all."""

LEADERBOARD_KS = (1, 2, 3, 4)


def run_report(data: RunData) -> RunReport:
    """The report of a run: its sections from what is known of it."""
    fields = {name: getattr(data, name) for name in RunData.model_fields}
    return RunReport(
        **fields,
        name=data.run.name,
        headline=words.headline(data),
        notes=words.notes(data),
        facts=list(_facts(data)),
        sections=[section for build in SECTIONS for section in build(data)],
    )


def _facts(data: RunData) -> Iterator[Fact]:
    run = data.run
    yield Fact(label="Agent", value=words.agent_label(data))
    yield Fact(label="Environment", value=f"{run.env}, split {run.task_split}")
    yield Fact(label="Pack", value=words.pack_label(data))
    yield Fact(label="Played", value=date_text(run.created_at))
    yield Fact(label="Greenroom", value=run.greenroom_version)
    for label, values in data.agent_facts.items():
        yield Fact(label=f"{label[:1].upper()}{label[1:]}", value=" and ".join(values))
    if run.status != "complete":
        yield Fact(label="Status", value=run.status)


# Figures


def figures(data: RunData) -> Iterator[AnySection]:
    """pass^k and the figures beside it."""
    metrics = data.metrics
    differ = words.conventions_differ(metrics)
    other = metrics.conventions["errors_as_failures"] if differ else None
    note = words.interval_note(data)
    yield Figures(
        id="figures",
        title="Figures",
        figures=[*_pass_figures(data, other), *_other_figures(data, other)],
        confidence=metrics.confidence,
        second=f"{words.without_result(metrics)} counted as failures" if other else "",
        notes=[note] if note else [],
    )


def _pass_figures(data: RunData, other: ConventionMetrics | None) -> Iterator[Figure]:
    metrics = data.metrics
    for k, estimate in sorted(metrics.main.pass_hat_k.items()):
        if k > MOST_KS or not (other or math.isfinite(estimate.value)):
            continue
        meaning = (
            "solved in one try" if k == 1 else f"solved {words.TIMES.get(k, f'{k} times in a row')}"
        )
        partial = words.is_partial(metrics, k)
        if partial:
            meaning += f"; only {metrics.main.pass_tasks[k]:,} of {len(metrics.tasks):,} tasks"
        second = other.pass_hat_k.get(k) if other else None
        yield estimate_figure(
            f"pass^{k}",
            f"pass^{k}",
            estimate,
            meaning,
            n=metrics.main.pass_tasks.get(k),
            partial=partial,
            format="percent",
            second=known(second.value) if second else None,
            prominent=k in LEADERBOARD_KS,
        )


def _other_figures(data: RunData, other: ConventionMetrics | None) -> Iterator[Figure]:
    metrics, main = data.metrics, data.metrics.main
    yield estimate_figure(
        "reward",
        "Average reward",
        main.average_reward,
        "mean over episodes, 0 to 1",
        n=main.tasks,
        second=known(other.average_reward.value) if other else None,
    )
    needs = "" if math.isfinite(main.overall_score.value) else "; needs 4 trials of each task"
    yield estimate_figure(
        "overall",
        "Overall score",
        main.overall_score,
        f"mean of pass^1 to pass^4{needs}",
        n=main.pass_tasks.get(4),
        partial=words.is_partial(metrics, 4),
        second=known(other.overall_score.value) if other else None,
    )
    yield Figure(
        key="episodes",
        label="Episodes",
        value=metrics.with_result,
        format="count",
        meaning=f"with a result, of {metrics.planned:,} planned; {plural(main.tasks, 'task')}",
    )
    yield Figure(
        key="coverage",
        label="Coverage",
        value=known(main.coverage),
        format="percent",
        digits=0,
        meaning="of what was planned counts",
    )
    yield estimate_figure(
        "steps_to_success",
        "Steps to success",
        metrics.steps_to_success,
        "mean over solved episodes",
        digits=1,
        n=sum(1 for task in metrics.tasks if task.successes),
    )
    yield from _money_figures(data)
    turn = metrics.latency.get("turn")
    if turn is not None:
        yield estimate_figure(
            "latency_p95",
            "Turn, p95",
            turn.p95,
            "95 % of the turns take no longer",
            format="seconds",
        )
    if metrics.seconds > 0:
        yield Figure(
            key="time",
            label="Time",
            value=metrics.seconds,
            format="seconds",
            meaning="all episodes together",
        )


def _money_figures(data: RunData) -> Iterator[Figure]:
    metrics, spent = data.metrics, usage_by_purse(one.usage for one in data.episodes)
    if _bought(data):
        average = metrics.average_cost
        meaning = "in all" if average is None else f"in all; {money(average)} per episode"
        if metrics.total_cost is None:
            meaning = "the price of a model is not known"
        yield Figure(
            key="cost",
            label="Cost",
            value=metrics.total_cost,
            format="money",
            unknown="unknown",
            meaning=meaning,
        )
        solved = metrics.outcomes.get("success", 0)
        if metrics.total_cost is not None and solved:
            yield Figure(
                key="cost_per_solved",
                label="Cost per solved",
                value=metrics.total_cost / solved,
                format="money",
                meaning="all that was spent, by solved episodes",
            )
        purses = "; ".join(f"{purse} {count:,}" for purse, count in metrics.tokens.items() if count)
        yield Figure(
            key="tokens",
            label="Tokens",
            value=sum(metrics.tokens.values()),
            format="count",
            meaning=purses,
        )
    answers = sum(usage.cached_calls for usage in spent.values())
    if answers:
        worth = [usage.cached_cost for usage in spent.values() if usage.cached_calls]
        total = None if None in worth else sum(cost for cost in worth if cost is not None)
        saved = "" if total is None else f"; they cost {money(total)} when bought"
        yield Figure(
            key="cached",
            label="From cache",
            value=answers,
            format="count",
            meaning=f"answers not bought again{saved}",
        )
    if data.attempts:
        cost = data.attempts_cost
        extra = "" if cost is None else f"; {money(cost)} on top of the cost"
        yield Figure(
            key="attempts",
            label="Further attempts",
            value=data.attempts,
            format="count",
            meaning=f"broken or interrupted, and played again{extra}",
        )


def reliability(data: RunData) -> Iterator[AnySection]:
    """pass^k as a chart: how fast reliability falls."""
    metrics = data.metrics
    shown = [metrics.main]
    if words.conventions_differ(metrics):
        shown.append(metrics.conventions["errors_as_failures"])
    series = [
        Series(
            name=words.convention_label(metrics, one.convention)
            if len(shown) > 1
            else words.agent_label(data),
            points=[
                Point(x=k, y=e.value, low=known(e.low), high=known(e.high), label=f"pass^{k}")
                for k, e in sorted(one.pass_hat_k.items())
                if math.isfinite(e.value) and k <= MOST_KS
            ],
        )
        for one in shown
    ]
    if series[0].points:
        yield Chart(
            id="reliability",
            title="How reliably",
            style="bars",
            x=Column(label="Tries in a row", format="count"),
            y=Column(label="Tasks solved every time", format="percent"),
            series=series,
            notes=["The share of tasks that are solved every time in so many tries."],
            detail=True,
        )


def turn_curve(data: RunData) -> Iterator[AnySection]:
    """The share of episodes that are solved at, and by, each turn."""
    curve = data.metrics.turn_curve
    if curve:
        yield Chart(
            id="turns",
            title="How soon",
            style="steps",
            x=Column(label="Turn", format="count"),
            y=Column(label="Episodes", format="percent"),
            series=[
                Series(name="solved by", points=[Point(x=p.turn, y=p.solved_by) for p in curve]),
                Series(name="solved at", points=[Point(x=p.turn, y=p.solved_at) for p in curve]),
            ],
            notes=["A turn runs from a message of the user to the agent's reply."],
            detail=True,
        )


# Outcomes, cells, failures


def outcomes(data: RunData) -> Iterator[AnySection]:
    """How often each outcome occurred."""
    counts = dict(data.metrics.outcomes)
    if data.metrics.missing:
        counts["missing"] = data.metrics.missing
    yield from outcome_table(counts, "Episodes")


def cells(data: RunData) -> Iterator[AnySection]:
    """Tasks x trials, and a row of figures for each task."""
    tasks = data.metrics.tasks
    if not tasks:
        return
    played = [trial for task in tasks for trial in task.outcomes]
    trials = range(max([data.run.num_trials - 1, *played], default=-1) + 1)
    costs = any(task.cost is not None for task in tasks)
    turn_of_success, steps_of_success = _successes(data)
    yield Grid(
        id="cells",
        title="Tasks",
        item="task",
        trial="trial",
        trials=[str(trial) for trial in trials],
        columns=[
            Column(label="What the user wants"),
            Column(label="Solved", format="ratio"),
            Column(label="Reward", format="decimal", digits=2, wide=True),
            Column(label="Steps", format="decimal", digits=1),
            Column(label="Turns", format="decimal", digits=1, wide=True),
            Column(label="Steps to success", format="decimal", digits=1, wide=True),
            Column(label="Turn of success", format="decimal", digits=1, wide=True),
            *([Column(label="Cost", format="money", wide=True)] if costs else []),
        ],
        items=[
            GridItem(
                key=task.task_index,
                label=str(task.task_index),
                outcomes=[task.outcomes.get(trial) for trial in trials],
                score=task.successes / task.trials if task.trials else None,
                cells=[
                    *_task_cells(task),
                    steps_of_success.get(task.task_index),
                    turn_of_success.get(task.task_index),
                    *([task.cost] if costs else []),
                ],
            )
            for task in tasks
        ],
    )


def _task_cells(task: TaskFigures) -> list[Cell]:
    return [
        task.instruction,
        [task.successes, task.trials],
        known(task.average_reward),
        known(task.mean_steps),
        known(task.mean_turns),
    ]


def _successes(data: RunData) -> tuple[dict[int, float], dict[int, float]]:
    """The mean turn and the mean number of steps of solved episodes, by task."""
    turns: dict[int, list[int]] = {}
    steps: dict[int, list[int]] = {}
    for episode in data.episodes:
        if episode.outcome == "success":
            turns.setdefault(episode.task_index, []).append(episode.turns)
            steps.setdefault(episode.task_index, []).append(episode.step_count)
    return (
        {task: sum(values) / len(values) for task, values in turns.items()},
        {task: sum(values) / len(values) for task, values in steps.items()},
    )


def failures(data: RunData) -> Iterator[AnySection]:
    """Failures by kind, and each explained."""
    wishes = {task.task_index: task.instruction for task in data.metrics.tasks}
    yield failure_section(data.errors, wishes)


def failure_section(errors: ErrorBreakdown, wishes: Mapping[int, str]) -> Failures:
    """The section from failures that are broken down, and the wish of each task's user."""
    order = list(KINDS)
    counts = sorted(errors.by_kind.items(), key=lambda item: (-item[1], order.index(item[0])))
    return Failures(
        id="failures",
        title="What went wrong",
        kinds=[
            KindCount(kind=kind, label=kind_words(kind)[0], meaning=kind_words(kind)[1], count=n)
            for kind, n in counts
            if n
        ],
        failures=[_failure(one, wishes.get(one.task_index, "")) for one in errors.diagnoses],
        total=errors.failures,
        noun="episode",
    )


def _failure(one: Diagnosis, wish: str) -> Failure:
    calls = (("Expected", one.expected), ("Done", one.actual))
    return Failure(
        item=one.task_index,
        trial=one.trial,
        label=f"Task {one.task_index}, trial {one.trial}",
        kind=one.kind,
        sentence=one.explanation,
        subject=wish,
        evidence=[
            *(Evidence(label=label, text=_call(call)) for label, call in calls if call is not None),
            *(Evidence(label="Differs", text=line) for line in one.differences),
        ],
    )


def _call(action: Mapping[str, Any]) -> str:
    """A call as it is written in code."""
    given: Mapping[str, Any] = action.get("kwargs") or {}
    arguments = ", ".join(f"{name}={raw_text(plain(value))}" for name, value in given.items())
    return f"{action.get('name', '')}({arguments})"


# Slices, costs, latency, tools


def slices(data: RunData) -> Iterator[AnySection]:
    """The figure for each group of tasks that was asked for."""
    for by, found in data.slices.items():
        kinds = by == "kind"
        yield Table(
            id=f"slices-{by}",
            title=f"By {by}" if not kinds else "By kind of failure",
            columns=[
                Column(label="Kind" if kinds else by.capitalize()),
                Column(label="Tasks", format="count"),
                Column(label="Episodes", format="count"),
                Column(label="Share" if kinds else "pass^1", format="percent", digits=1),
                Column(label="Interval", format="percent", interval=True),
            ],
            rows=[
                Row(
                    cells=[
                        kind_words(one.group)[0] if kinds else one.group,
                        one.n,
                        one.cells,
                        known(one.figure.value),
                        interval_cell(one.figure),
                    ]
                )
                for one in found
            ],
            sort=[0, 1, 2, 3],
        )


def costs(data: RunData) -> Iterator[AnySection]:
    """Tokens and money by purse."""
    if _bought(data) or data.attempts_usage:
        spent = usage_by_purse(one.usage for one in data.episodes)
        yield from costs_table(spent, data.attempts_usage, data.attempts)


def latency(data: RunData) -> Iterator[AnySection]:
    """How long turns, episodes and model calls took."""
    yield from latency_table(data.metrics.latency)


def tools(data: RunData) -> Iterator[AnySection]:
    """How often each tool was called, and how often that went wrong."""
    found = tool_figures(data.episodes)
    if found:
        yield Table(
            id="tools",
            title="Tools",
            columns=[
                Column(label="Tool"),
                Column(label="Calls", format="count"),
                Column(label="Episodes", format="count", wide=True),
                Column(label="Refused", format="count"),
                Column(label="Not valid", format="count"),
                Column(label="Error rate", format="percent", digits=1),
            ],
            rows=[
                Row(cells=[t.name, t.calls, t.episodes, t.errors, t.invalid, t.error_rate])
                for t in found
            ],
            sort=[0, 1, 2, 3, 4, 5],
            notes=["An error rate is the share of calls that were refused or not valid."],
            detail=True,
        )


def cost_against_quality(data: RunData) -> Iterator[AnySection]:
    """What tasks cost, against how often they are solved."""
    points = [
        Point(
            x=task.cost / len(task.outcomes),
            y=task.successes / task.trials,
            label=f"task {task.task_index}",
        )
        for task in data.metrics.tasks
        if task.cost is not None and task.trials and task.outcomes
    ]
    if points:
        yield Chart(
            id="cost-quality",
            title="Cost against quality",
            style="scatter",
            x=Column(label="Cost per episode", format="money"),
            y=Column(label="Solved", format="percent"),
            series=[Series(name="tasks", points=points)],
            detail=True,
        )


# Agent, leaderboard, provenance


def agent(data: RunData) -> Iterator[AnySection]:
    """What the agent counted beyond the usual."""
    rows: list[Row] = []
    for title, counts in data.agent_tallies.items():
        for place, (label, count) in enumerate(counts.items()):
            rows.append(Row(cells=["" if place else title, label, _amount(title, count)]))
    if rows:
        yield Table(
            id="agent",
            title="What the agent counted",
            columns=[Column(label="Of"), Column(label=""), Column(label="Number", format="count")],
            rows=rows,
        )


def _amount(title: str, count: float | None) -> Cell:
    if count is None:
        return "unknown"
    return money(count) if title.endswith("cost") else count


def leaderboard(data: RunData) -> Iterator[AnySection]:
    """The run among the published rows that may stand beside it, best first."""
    estimates = data.metrics.main.pass_hat_k
    own = [known(estimates[k].value) if k in estimates else None for k in LEADERBOARD_KS]
    name = words.agent_label(data)
    rows = [Row(cells=[f"{name} (this run)" if data.published else name, *own], strong=True)]
    rows += [
        Row(cells=[row.strategy, *(row.pass_hat_k.get(k) for k in LEADERBOARD_KS)])
        for row in data.published
    ]
    notes: list[str] = []
    if data.published:
        sources = ", ".join(dict.fromkeys(row.source for row in data.published))
        notes = [f"The other rows were published: {sources}.", *_what_differs(data)]
    yield Table(
        id="leaderboard",
        title="Leaderboard",
        columns=[
            Column(label="Strategy"),
            *(Column(label=f"Pass^{k}", format="decimal") for k in LEADERBOARD_KS),
        ],
        rows=sorted(rows, key=lambda row: -_number(row.cells[1])),
        notes=notes,
    )


def _number(cell: Cell) -> float:
    return float(cell) if isinstance(cell, (int, float)) else -1.0


def _what_differs(data: RunData) -> Iterator[str]:
    """What differs between the run and published rows: what is true of all of them comes first."""
    rows = data.published
    common = [one for one in rows[0].differs if all(one in row.differs for row in rows)]
    rest = [(row.strategy, [one for one in row.differs if one not in common]) for row in rows]
    entries = [("all published rows", common), *rest]
    if any(differs for _, differs in entries):
        yield "What differs from this run:"
    for names, differs in entries:
        if differs:
            yield f"- {names}: {'; '.join(differs)}"


def provenance(data: RunData) -> Iterator[AnySection]:
    """What it takes to do the same again."""
    run = data.run
    facts = [
        ("Name", run.name),
        ("Id", run.id),
        ("Status", run.status),
        ("Tasks", f"{len(run.task_indices):,} of {run.env}, split {run.task_split}"),
        ("Trials", str(run.num_trials)),
        ("Seed", str(run.config.get("seed", "unknown"))),
        ("Judge", str(run.config.get("judge_model") or "none")),
        *((f"Pack {key}", str(value)) for key, value in run.pack.items()),
    ]
    yield Facts(
        id="provenance",
        title="Provenance",
        facts=[Fact(label=label, value=value) for label, value in facts],
        detail=True,
    )
    config = json.dumps(plain(without_secrets(run.config)), indent=2, ensure_ascii=False)
    yield Text(id="configuration", title="Configuration", text=config, detail=True)
    if run.policy.strip():
        yield Text(id="policy", title="Policy of the agent", text=run.policy, detail=True)


def _bought(data: RunData) -> bool:
    """Whether anything was bought: tokens were used, or money was counted."""
    return any(
        usage.calls or usage.prompt_tokens or usage.completion_tokens or usage.cost is not None
        for episode in data.episodes
        for usage in episode.usage.values()
    )


SECTIONS: tuple[Callable[[RunData], Iterable[AnySection]], ...] = (
    figures,
    reliability,
    outcomes,
    cells,
    failures,
    slices,
    costs,
    latency,
    tools,
    cost_against_quality,
    turn_curve,
    agent,
    leaderboard,
    provenance,
)
"""The sections in the order in which they are read."""
