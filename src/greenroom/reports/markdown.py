"""The report as Markdown: for a pull request or a wiki."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from greenroom.reports import run_words, texts
from greenroom.reports.rows import (
    LEADERBOARD_KS,
    agent_facts,
    agent_tallies,
    all_trials,
    kind_counts,
    leaderboard,
    other_figures,
    outcome_counts,
    pass_figures,
    what_differs,
    worst_tasks,
)

if TYPE_CHECKING:
    from greenroom.analysis.figures import Diagnosis, TaskFigures
    from greenroom.reports.report import RunData as Report

WORST = 10
MOST_TASKS = 120
MOST_FAILURES = 60
_SPECIAL = re.compile(r"([\\`*_{}\[\]#|~!$])")
_MENTION = re.compile(r"(?<!\w)@(?=\w)")
_LIST_START = re.compile(r"^(\d+(?=[.)](?:\s|$))|(?=[-+=]))")
_RIGHT = "---:"


def render_markdown(report: Report) -> str:
    """The report with its headline first and its details folded."""
    parts = [
        f"# {escape(report.run.name)}",
        f"**{escape(run_words.headline(report))}**",
        *(f"> {escape(note)}" for note in run_words.notes(report)),
        _about(report),
        "## Figures",
        _figures(report),
        escape(run_words.interval_note(report)),
        "## Leaderboard",
        _leaderboard(report),
        "## Outcomes",
        _outcomes(report),
        "## What went wrong",
        _kinds(report),
        *_agent(report),
        *_worst(report),
        *_folded(f"All {texts.plural(len(report.metrics.tasks), 'task')}", _all_tasks(report)),
        *_folded(
            f"All {texts.plural(report.errors.failures, 'episode')} without success",
            _failures(report),
        ),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def escape(text: str, limit: int | None = None) -> str:
    """Text from data as one line of Markdown that means nothing but itself."""
    line = texts.one_line(text, limit)
    line = _SPECIAL.sub(r"\\\1", line).replace("://", "\\://")
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = _LIST_START.sub(r"\1\\", line)
    # Nobody is to be called by name because a task mentions them.
    return _MENTION.sub("@\u200b", line)


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """A table; the first columns are aligned to the left, the others to the right."""
    rules = ["---" if place < left else _RIGHT for place in range(len(headings))]
    lines = [headings, rules, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _about(report: Report) -> str:
    run = report.run
    facts = [
        ("Agent", run_words.agent_label(report)),
        ("Environment", f"{run.env}, split {run.task_split}"),
        ("Pack", run_words.pack_label(report)),
        ("Played", texts.date_text(run.created_at)),
        ("Greenroom", run.greenroom_version),
        *((f"{label[:1].upper()}{label[1:]}", value) for label, value in agent_facts(report)),
    ]
    if run.status != "complete":
        facts.append(("Status", run.status))
    return "\n".join(f"- {label}: {escape(value)}" for label, value in facts)


def _figures(report: Report) -> str:
    figures = [*pass_figures(report), *other_figures(report)]
    level = f"{100 * report.metrics.confidence:g} % interval"
    headings = ["Figure", "Meaning", "Value", level]
    other = run_words.conventions_differ(report.metrics)
    if other:
        headings.append(f"If {run_words.without_result(report.metrics)} count as failures")
    rows: list[list[str]] = []
    for figure in figures:
        row = [figure.label, figure.meaning, figure.value, figure.interval or ""]
        rows.append([escape(cell) for cell in (*row, *([figure.as_failures or ""] * other))])
    return _table(headings, rows, left=2)


def _agent(report: Report) -> list[str]:
    counted = [[escape(cell) for cell in row] for row in agent_tallies(report)]
    return ["## What the agent counted", _table(["Of", "", "Number"], counted, left=2)] * bool(
        counted
    )


def _leaderboard(report: Report) -> str:
    rows: list[list[str]] = []
    for row in leaderboard(report):
        cells = [escape(row.strategy), *map(texts.decimal, row.values)]
        rows.append([f"**{cell}**" for cell in cells] if row.own else cells)
    table = _table(["Strategy", *(f"Pass^{k}" for k in LEADERBOARD_KS)], rows)
    if not report.published:
        return table
    sources = ", ".join(dict.fromkeys(row.source for row in report.published))
    said = [f"The row in bold is this run; the others were published: {escape(sources)}."]
    differences = [
        f"- {escape(names)}: {escape('; '.join(differs))}"
        for names, differs in what_differs(report)
    ]
    if differences:
        said += ["What differs from this run:", "\n".join(differences)]
    return "\n\n".join([table, *said])


def _outcomes(report: Report) -> str:
    counts = outcome_counts(report)
    total = sum(count for _, count in counts)
    rows = [
        (escape(words.label), escape(words.meaning), f"{count:,}", texts.percent(count / total))
        for outcome, count in counts
        for words in [texts.outcome_words(outcome)]
    ]
    return _table(["Outcome", "Meaning", "Episodes", "Share"], rows, left=2)


def _kinds(report: Report) -> str:
    kinds = kind_counts(report)
    if not kinds:
        return "No episode failed." if report.metrics.with_result else "Nothing has failed yet."
    rows = [
        (*map(escape, texts.kind_words(kind)), f"{count:,}", texts.percent(count / failures))
        for kind, count in kinds
        for failures in [report.errors.failures]
    ]
    return _table(["Kind", "Meaning", "Episodes", "Share"], rows, left=2)


def _worst(report: Report) -> list[str]:
    worst = worst_tasks(report)
    if not worst:
        return []
    said = f"The {WORST} least solved of {len(worst)} tasks that were not always solved:"
    return [
        "## Hardest tasks",
        said if len(worst) > WORST else "Every task that was not always solved:",
        _tasks(report, worst[:WORST]),
    ]


def _tasks(report: Report, tasks: Sequence[TaskFigures]) -> str:
    trials = all_trials(report)
    rows = [
        (
            str(task.task_index),
            " ".join(texts.outcome_words(task.outcomes.get(t, "missing")).symbol for t in trials),
            escape(task.instruction, 90),
            f"{task.successes}/{task.trials}" if task.trials else texts.NOTHING,
            texts.decimal(task.mean_steps, 1),
        )
        for task in tasks
    ]
    return _table(["Task", "Trials", "What the user wants", "Solved", "Steps"], rows, left=3)


def _all_tasks(report: Report) -> str:
    tasks = report.metrics.tasks
    marks = ", ".join(f"{words.symbol} {words.label.lower()}" for words in texts.OUTCOMES.values())
    parts = [_tasks(report, tasks[:MOST_TASKS]), f"Trials: {marks}."]
    if len(tasks) > MOST_TASKS:
        parts.append(f"{len(tasks) - MOST_TASKS} more tasks are not listed here.")
    return "\n\n".join(parts) if tasks else ""


def _failures(report: Report) -> str:
    diagnoses = report.errors.diagnoses
    lines = [_failure(one) for one in diagnoses[:MOST_FAILURES]]
    if len(diagnoses) > MOST_FAILURES:
        lines.append(f"- {len(diagnoses) - MOST_FAILURES} more are not listed here.")
    return "\n".join(lines)


def _failure(one: Diagnosis) -> str:
    label, _ = texts.kind_words(one.kind)
    place = f"Task {one.task_index}, trial {one.trial}"
    return f"- {place}: **{escape(label)}.** {escape(one.explanation, 300)}"


def _folded(title: str, body: str) -> list[str]:
    return ["<details>", f"<summary>{escape(title)}</summary>", body, "</details>"] if body else []
