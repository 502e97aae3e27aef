"""The sections of a run's report: a function for each, and the list of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from greenroom.analysis.figures import Diagnosis, ErrorBreakdown
from greenroom.analysis.tally import EpisodeLike
from greenroom.reports import run_words as words
from greenroom.reports import sections
from greenroom.reports import shared_sections as shared
from greenroom.reports.judge_checks import short_words
from greenroom.reports.report import RunData, RunReport
from greenroom.reports.run_figures import (
    LEADERBOARD_KS,
    bought,
    figures,
    reliability,
    turn_curve,
)
from greenroom.reports.sections import AnySection, columns
from greenroom.reports.texts import (
    KINDS,
    date_text,
    kind_words,
    known,
    percent,
    plural,
    wish,
)
from greenroom.reports.user_audit import audit_sections
from greenroom.reports.users import user_facts
from greenroom.util.raw_json import plain, raw_text


def run_report(data: RunData) -> RunReport:
    """The report of a run: its sections from what is known of it."""
    return RunReport(
        **shared.report_fields(RunData, data, SECTIONS),
        name=data.run.name,
        headline=words.headline(data),
        notes=words.notes(data),
        facts=shared.facts_of(_facts(data)),
    )


def _facts(data: RunData) -> Iterator[tuple[str, str]]:
    run = data.run
    yield "Agent", words.agent_label(data)
    yield from user_facts(run.config)
    without = f", without {plural(len(run.excluded), 'task')}" if run.excluded else ""
    yield "Environment", f"{run.env}, split {run.task_split}{without}"
    yield "Pack", words.pack_label(data)
    if (point := run.rewound_to) is not None:
        place = f"task {point.task_index}, trial {point.trial}, turn {point.turn}"
        yield "Goes on from", f"{point.run_name}, {place}, after {point.steps} steps"
    yield "Played", date_text(run.created_at)
    yield "Greenroom", run.greenroom_version
    for label, values in data.agent_facts.items():
        yield f"{label[:1].upper()}{label[1:]}", " and ".join(values)
    if run.status != "complete":
        yield "Status", run.status


def judge(data: RunData) -> Iterator[AnySection]:
    """The reward without the judge and with it, and what is not judged."""
    found = data.judged
    if found is None:
        return
    mark = "" if not found.judge else f" ({short_words(found.check)})"
    rows: list[list[sections.Cell]] = [
        ["Reward without the judge", found.reward_without_judge],
        [f"Reward with the judge's verdicts{mark}", found.reward],
    ]
    if found.unjudged:
        rows.append(["Reward if all that is not judged were rejected", found.reward_if_rejected])
    yield shared.table(
        "judge", "Judge", ("", "Mean:decimal.3"), rows, notes=list(words.judge_notes(found))
    )


# Outcomes, cells, failures


def outcomes(data: RunData) -> Iterator[AnySection]:
    """How often each outcome occurred."""
    counts = dict(data.metrics.outcomes)
    if data.metrics.missing:
        counts["missing"] = data.metrics.missing
    yield from shared.outcome_table(counts, "Episodes")


def cells(data: RunData) -> Iterator[AnySection]:
    """Tasks x trials, and a row of figures for each task."""
    tasks = data.metrics.tasks
    if not tasks:
        return
    played = [trial for task in tasks for trial in task.outcomes]
    trials = range(max([data.run.num_trials - 1, *played], default=-1) + 1)
    costs = any(task.cost is not None for task in tasks)
    solved: dict[int, list[EpisodeLike]] = {}
    for episode in data.counted:
        if episode.outcome == "success":
            solved.setdefault(episode.task_index, []).append(episode)
    yield sections.Grid(
        id="cells",
        title="Tasks",
        item="task",
        trial="trial",
        trials=[str(trial) for trial in trials],
        columns=columns(
            "What the user wants",
            "Solved:ratio",
            "Reward:decimal.2:wide",
            "Steps:decimal.1",
            "Turns:decimal.1:wide",
            "Steps to success:decimal.1:wide",
            "Turn of success:decimal.1:wide",
            *(["Cost:money:wide"] if costs else []),
        ),
        items=[
            sections.GridItem(
                key=task.task_index,
                label=str(task.task_index),
                outcomes=[task.outcomes.get(trial) for trial in trials],
                score=task.successes / task.trials if task.trials else None,
                cells=[
                    wish(task.instruction),
                    [task.successes, task.trials],
                    *map(known, (task.average_reward, task.mean_steps, task.mean_turns)),
                    *_successes(solved.get(task.task_index, [])),
                    *([task.cost] if costs else []),
                ],
            )
            for task in tasks
        ],
    )


def _successes(solved: Sequence[EpisodeLike]) -> list[sections.Cell]:
    """The mean number of steps, and the mean turn, of solved episodes."""
    if not solved:
        return [None, None]
    return [fmean(one.step_count for one in solved), fmean(one.turns for one in solved)]


def failures(data: RunData) -> Iterator[AnySection]:
    """Failures by kind, and each explained."""
    instructions = {task.task_index: task.instruction for task in data.metrics.tasks}
    yield failure_section(data.errors, instructions)


def failure_section(errors: ErrorBreakdown, instructions: Mapping[int, str]) -> sections.Failures:
    """The section from failures that are broken down, and the instruction of each task's user."""
    order = list(KINDS)
    counts = sorted(errors.by_kind.items(), key=lambda item: (-item[1], order.index(item[0])))
    return sections.Failures(
        id="failures",
        title="What went wrong",
        kinds=shared.kind_counts(counts, kind_words),
        failures=[
            _failure(one, wish(instructions.get(one.task_index, ""))) for one in errors.diagnoses
        ],
        total=errors.failures,
        noun="episode",
        asks="wants",
    )


def _failure(one: Diagnosis, wanted: str) -> sections.FailedCell:
    calls = (("Expected", one.expected), ("Done", one.actual))
    return sections.FailedCell(
        item=one.task_index,
        trial=one.trial,
        label=f"Task {one.task_index}, trial {one.trial}",
        kind=one.kind,
        sentence=one.explanation,
        subject=wanted,
        evidence=[
            *(
                sections.Evidence(label=label, text=_call(call))
                for label, call in calls
                if call is not None
            ),
            *(sections.Evidence(label="Differs", text=line) for line in one.differences),
        ],
    )


def _call(action: Mapping[str, Any]) -> str:
    """A call as it is written in code."""
    given: Mapping[str, Any] = action.get("kwargs") or {}
    arguments = ", ".join(f"{name}={raw_text(plain(value))}" for name, value in given.items())
    return f"{action.get('name', '')}({arguments})"


def user_audit(data: RunData) -> Iterator[AnySection]:
    """What the simulated users did wrong, where that was asked for."""
    yield from audit_sections(data.user_audit)


# Slices, costs, latency, tools


def slices(data: RunData) -> Iterator[AnySection]:
    """The figure for each group of tasks that was asked for."""
    for by, found in data.slices.items():
        kinds = by == "kind"
        label, share = ("Kind", "Share") if kinds else (by.capitalize(), "pass^1")
        counts = ("Tasks:count", "Episodes:count")
        yield shared.table(
            f"slices-{by}",
            "By kind of failure" if kinds else f"By {by}",
            (label, *counts, f"{share}:percent.1", "Interval:percent:interval"),
            (
                [
                    kind_words(one.group)[0] if kinds else one.group,
                    one.n,
                    one.cells,
                    *shared.estimate_cells(one.figure),
                ]
                for one in found
            ),
            sort=4,
        )


def costs(data: RunData) -> Iterator[AnySection]:
    """Tokens and money by purse."""
    if bought(data):
        untold = not data.metrics.costs_are_told
        yield from shared.costs_table(data.used, data.attempts_usage, data.attempts, untold=untold)


def latency(data: RunData) -> Iterator[AnySection]:
    """How long turns, episodes and model calls took."""
    yield from shared.latency_table(data.metrics.latency)


def tools(data: RunData) -> Iterator[AnySection]:
    """How often each tool was called, and how often that went wrong."""
    found = data.tools
    head = ("Tool", "Calls:count", "Episodes:count:wide", "Refused:count", "Not valid:count")
    rows = ([t.name, t.calls, t.episodes, t.errors, t.invalid, t.error_rate] for t in found)
    note = "An error rate is the share of calls that were refused or not valid."
    if found:
        head = (*head, "Error rate:percent.1")
        yield shared.table("tools", "Tools", head, rows, sort=6, notes=[note], detail=True)


def cost_against_quality(data: RunData) -> Iterator[AnySection]:
    """What tasks cost, against how often they are solved."""
    points = [
        sections.Point(
            x=task.cost / len(task.outcomes),
            y=task.successes / task.trials,
            label=f"task {task.task_index}",
        )
        for task in data.metrics.tasks
        if task.cost is not None and task.trials and task.outcomes
    ]
    axes = ("Cost per episode:money", "Solved:percent")
    yield from shared.chart(
        "cost-quality", "Cost against quality", "scatter", axes, {"tasks": points}
    )


# Agent, user, leaderboard, provenance


def agent(data: RunData) -> Iterator[AnySection]:
    """What the agent counted beyond the usual."""
    yield from shared.tallies_table("agent", "What the agent counted", data.agent_tallies)


def user(data: RunData) -> Iterator[AnySection]:
    """What the simulated users counted."""
    yield from shared.users_tallies(data.user_tallies)


def leaderboard(data: RunData) -> Iterator[AnySection]:
    """The run among the published rows that may stand beside it, best first."""
    estimates = data.metrics.main.pass_hat_k
    own = [known(estimates[k].value) if k in estimates else None for k in LEADERBOARD_KS]
    name = words.agent_label(data)
    rows = [
        sections.Row(cells=[f"{name} (this run)" if data.published else name, *own], strong=True)
    ]
    rows += [
        sections.Row(cells=[row.strategy, *(row.pass_hat_k.get(k) for k in LEADERBOARD_KS)])
        for row in data.published
    ]
    notes: list[str] = []
    if data.published:
        sources = ", ".join(dict.fromkeys(row.source for row in data.published))
        notes = [f"The other rows were published: {sources}."]
        measured = [
            f"{row.strategy} {row.remark} ({percent(found.low)} to {percent(found.high)})"
            for row in data.published
            for found in row.intervals.values()
        ]
        if measured:
            notes.append(f"Intervals, where the counts are known: {'; '.join(measured)}.")
        notes += _what_differs(data)
    head = ("Strategy", *(f"Pass^{k}:decimal" for k in LEADERBOARD_KS))
    best = sorted(rows, key=lambda row: -_number(row.cells[1]))
    yield shared.table("leaderboard", "Leaderboard", head, best, notes=notes)


def _number(cell: sections.Cell) -> float:
    return float(cell) if isinstance(cell, (int, float)) else -1.0


def _what_differs(data: RunData) -> Iterator[str]:
    """What differs between the run and published rows: what is true of a whole source first."""
    entries: list[tuple[str, list[str]]] = []
    for source in dict.fromkeys(row.source for row in data.published):
        rows = [row for row in data.published if row.source == source]
        common = [one for one in rows[0].differs if all(one in row.differs for row in rows)]
        entries.append((f"all rows of {source.split(',')[0]}", common))
        entries += [
            (row.strategy, [one for one in row.differs if one not in common]) for row in rows
        ]
    if any(differs for _, differs in entries):
        yield "What differs from this run:"
    for names, differs in entries:
        if differs:
            yield f"- {names}: {'; '.join(differs)}"


def provenance(data: RunData) -> Iterator[AnySection]:
    """What it takes to do the same again."""
    run = data.run
    yield shared.provenance(
        run,
        ("Tasks", f"{len(run.task_indices):,} of {run.env}, split {run.task_split}"),
        *([("Excluded tasks", str(len(run.excluded)))] if run.excluded else []),
        ("Trials", str(run.num_trials)),
        pack=run.pack,
    )
    yield shared.setup_text(run.config)
    if run.policy.strip():
        yield sections.Text(id="policy", title="Policy of the agent", text=run.policy, detail=True)


def excluded(data: RunData) -> Iterator[AnySection]:
    """The tasks that are left out, and why."""
    found = data.run.excluded
    if not found:
        return
    rows: list[list[sections.Cell]] = [
        [
            str(one.task_index),
            one.task_id or "",
            ", ".join(one.why) or "named by hand",
            one.source or "by hand",
        ]
        for one in found
    ]
    head = ("Task", "Id", "Why", "Named by")
    yield shared.table("excluded", "Excluded tasks", head, rows, detail=True)


SECTIONS: tuple[shared.Builder[RunData], ...] = (
    figures,
    excluded,
    judge,
    reliability,
    outcomes,
    cells,
    failures,
    user_audit,
    slices,
    costs,
    latency,
    tools,
    cost_against_quality,
    turn_curve,
    agent,
    user,
    leaderboard,
    provenance,
)
"""The sections in the order in which they are read."""
