"""The sections of a run's report: a function for each, and the list of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from greenroom.analysis.figures import Diagnosis, ErrorBreakdown, TaskFigures
from greenroom.analysis.tally import usage_by_purse
from greenroom.analysis.tools import tool_figures
from greenroom.reports import run_words as words
from greenroom.reports.plain import plain
from greenroom.reports.report import RunData, RunReport
from greenroom.reports.run_figures import LEADERBOARD_KS, bought, figures, reliability, turn_curve
from greenroom.reports.sections import (
    AnySection,
    Cell,
    Chart,
    Evidence,
    Facts,
    Failure,
    Failures,
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
    col,
    costs_table,
    facts_of,
    interval_cell,
    latency_table,
    outcome_table,
    setup_text,
)
from greenroom.reports.texts import (
    KINDS,
    date_text,
    kind_words,
    known,
    money,
)
from greenroom.util.raw_json import raw_text


def run_report(data: RunData) -> RunReport:
    """The report of a run: its sections from what is known of it."""
    fields = {name: getattr(data, name) for name in RunData.model_fields}
    return RunReport(
        **fields,
        name=data.run.name,
        headline=words.headline(data),
        notes=words.notes(data),
        facts=facts_of(_facts(data)),
        sections=[section for build in SECTIONS for section in build(data)],
    )


def _facts(data: RunData) -> Iterator[tuple[str, str]]:
    run = data.run
    yield "Agent", words.agent_label(data)
    yield "Environment", f"{run.env}, split {run.task_split}"
    yield "Pack", words.pack_label(data)
    yield "Played", date_text(run.created_at)
    yield "Greenroom", run.greenroom_version
    for label, values in data.agent_facts.items():
        yield f"{label[:1].upper()}{label[1:]}", " and ".join(values)
    if run.status != "complete":
        yield "Status", run.status


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
            col("What the user wants"),
            col("Solved", "ratio"),
            col("Reward", "decimal", 2, wide=True),
            col("Steps", "decimal", 1),
            col("Turns", "decimal", 1, wide=True),
            col("Steps to success", "decimal", 1, wide=True),
            col("Turn of success", "decimal", 1, wide=True),
            *([col("Cost", "money", wide=True)] if costs else []),
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
        asks="wants",
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
                col("Kind" if kinds else by.capitalize()),
                col("Tasks", "count"),
                col("Episodes", "count"),
                col("Share" if kinds else "pass^1", "percent", 1),
                col("Interval", "percent", interval=True),
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
    if bought(data) or data.attempts_usage:
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
                col("Tool"),
                col("Calls", "count"),
                col("Episodes", "count", wide=True),
                col("Refused", "count"),
                col("Not valid", "count"),
                col("Error rate", "percent", 1),
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
            x=col("Cost per episode", "money"),
            y=col("Solved", "percent"),
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
            columns=[col("Of"), col(""), col("Number", "count")],
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
            col("Strategy"),
            *(col(f"Pass^{k}", "decimal") for k in LEADERBOARD_KS),
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
        facts=facts_of(facts),
        detail=True,
    )
    yield setup_text(run.config)
    if run.policy.strip():
        yield Text(id="policy", title="Policy of the agent", text=run.policy, detail=True)


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
