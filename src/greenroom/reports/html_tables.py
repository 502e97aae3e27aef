"""The long tables of the HTML report: what went wrong, and task by task."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, cast

from greenroom.reports import texts
from greenroom.reports.html_charts import share_bar
from greenroom.reports.html_markup import Markup, join, tag
from greenroom.reports.html_parts import outcome_cell
from greenroom.reports.plain import plain
from greenroom.reports.rows import all_trials, kind_counts, task_group

if TYPE_CHECKING:
    from greenroom.analysis.figures import Diagnosis, TaskFigures
    from greenroom.reports.report import RunData as Report

SHOWN_AT_FIRST = 20

GROUPS = {
    "always": "always solved",
    "sometimes": "sometimes solved",
    "never": "never solved",
    "none": "without a result",
}


def error_breakdown(report: Report) -> Markup:
    """The kinds of failure as bars, and below them each failure with its evidence."""
    kinds = kind_counts(report)
    if not report.errors.failures or not kinds:
        played = report.metrics.with_result or report.metrics.errors
        words = "No episode failed." if played else "Nothing has been played yet."
        return tag("p", words, class_="quiet", data_testid="no-errors")
    most = max(count for _, count in kinds)
    bars = [_kind_row(kind, count, count / most, report.errors.failures) for kind, count in kinds]
    every = texts.plural(report.errors.failures, "episode")
    return join(
        tag("p", f"{every} without success, by what weighed most in each.", class_="quiet"),
        tag("ul", bars, class_="kinds", id="error-kinds", data_testid="error-kinds"),
        tag("h3", "Each of them"),
        _tools(_kind_choice(report), "error-list"),
        tag(
            "ol",
            [_diagnosis(one) for one in report.errors.diagnoses],
            class_="errors",
            id="error-list",
            data_testid="error-list",
            data_shown=SHOWN_AT_FIRST,
        ),
        _more("error-list"),
    )


def _kind_row(kind: str, count: int, share: float, failures: int) -> Markup:
    label, meaning = texts.kind_words(kind)
    return tag(
        "li",
        tag(
            "div",
            tag("b", label),
            tag("span", meaning, class_="quiet"),
            class_="kind-words",
        ),
        share_bar(share),
        tag(
            "span",
            f"{count:,}",
            tag("span", texts.percent(count / failures).replace(" ", "\u00a0"), class_="quiet"),
            class_="kind-count",
        ),
        data_kind=kind,
        data_count=count,
    )


def _kind_choice(report: Report) -> Markup:
    options = [tag("option", "all kinds", value="")] + [
        tag("option", f"{texts.kind_words(kind)[0]} ({count})", value=kind)
        for kind, count in kind_counts(report)
    ]
    return tag(
        "label",
        "Kind ",
        tag("select", options, data_filter="kind", data_testid="error-kind-filter"),
    )


def _tools(choice: Markup, target: str) -> Markup:
    search = tag(
        "label",
        "Find ",
        tag(
            "input",
            type="search",
            placeholder="text or number",
            data_filter="text",
            data_testid=f"{target}-search",
        ),
    )
    shown = tag("output", class_="quiet", data_testid=f"{target}-count")
    return tag("div", search, choice, shown, class_="tools", data_list=target, role="search")


def _more(target: str) -> Markup:
    return tag(
        "button",
        "Show all",
        type="button",
        class_="more",
        hidden=True,
        data_more=target,
        data_testid=f"{target}-more",
    )


def _diagnosis(one: Diagnosis) -> Markup:
    label, _ = texts.kind_words(one.kind)
    place = f"Task {one.task_index}, trial {one.trial}"
    also = [texts.kind_words(kind)[0].lower() for kind in one.kinds if kind != one.kind]
    return tag(
        "li",
        tag(
            "p",
            tag("a", place, href=f"#task-{one.task_index}-trial-{one.trial}"),
            tag("span", label, class_="badge"),
            tag("span", f"also: {', '.join(also)}", class_="quiet") if also else None,
            class_="error-head",
        ),
        tag("p", one.explanation),
        _evidence(one),
        data_kind=one.kind,
        data_task=one.task_index,
        data_trial=one.trial,
    )


def _evidence(one: Diagnosis) -> Markup | None:
    calls = [("Expected", one.expected), ("Done", one.actual)]
    shown = [
        tag("div", tag("h4", title), _call(action, one.arguments))
        for title, action in calls
        if action is not None
    ]
    lines = [tag("li", tag("code", line)) for line in one.differences]
    if not shown and not lines:
        return None
    return tag(
        "details",
        tag("summary", "Evidence"),
        tag("div", shown, class_="calls") if shown else None,
        join(tag("h4", "Differences in the database"), tag("ul", lines, class_="differences"))
        if lines
        else None,
    )


def _call(action: dict[str, Any], marked: list[str]) -> Markup:
    given = action.get("kwargs")
    kwargs = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    # What differs may lie within an argument, such as items[0].price.
    differing = {re.split(r"[.\[]", path)[0] for path in marked} | set(marked)
    rows = [
        tag(
            "div",
            tag("dt", tag("mark", name) if name in differing else name),
            tag("dd", value if isinstance(value, str) else json.dumps(plain(value))),
        )
        for name, value in kwargs.items()
    ]
    return join(
        tag("code", str(action.get("name", "")), class_="tool"),
        tag("dl", rows, class_="arguments") if rows else None,
    )


def task_table(report: Report) -> Markup:
    """A row per task; sorted and filtered by the page's script."""
    tasks = report.metrics.tasks
    if not tasks:
        return tag("p", "No task has been played yet.", class_="quiet")
    costs = any(task.cost is not None for task in tasks)
    columns = [
        ("task", "Task", ""),
        ("instruction", "What the user wants", ""),
        ("trials", "Trials", ""),
        ("solved", "Solved", "number"),
        ("reward", "Reward", "number wide"),
        ("steps", "Steps", "number wide"),
        ("turns", "Turns", "number wide"),
        *([("cost", "Cost", "number wide")] if costs else []),
    ]
    head = [
        tag(
            "th",
            label
            if key in ("trials", "instruction")
            else tag("button", label, type="button", data_sort=key),
            scope="col",
            class_=f"{key} {style}".strip(),
            aria_sort="ascending" if key == "task" else None,
        )
        for key, label, style in columns
    ]
    trials = all_trials(report)
    rows = [_task_row(task, trials, costs=costs) for task in tasks]
    table = tag(
        "table",
        tag("thead", tag("tr", head)),
        tag("tbody", rows, id="task-rows", data_shown=SHOWN_AT_FIRST),
        class_="tasks",
        data_testid="task-table",
    )
    groups = [tag("option", "all tasks", value="")]
    for group, label in GROUPS.items():
        count = sum(task_group(task) == group for task in tasks)
        if count:
            groups.append(tag("option", f"{label} ({count})", value=group))
    choice = tag(
        "label",
        "Outcome ",
        tag("select", groups, data_filter="group", data_testid="task-outcome-filter"),
    )
    return join(_tools(choice, "task-rows"), tag("div", table, class_="scroll"), _more("task-rows"))


def _task_row(task: TaskFigures, trials: list[int], *, costs: bool) -> Markup:
    solved = f"{task.successes}/{task.trials}" if task.trials else texts.NOTHING
    cells = [
        ("reward", texts.decimal(task.average_reward, 2), task.average_reward),
        ("steps", texts.decimal(task.mean_steps, 1), task.mean_steps),
        ("turns", texts.decimal(task.mean_turns, 1), task.mean_turns),
        *([("cost", texts.show(task.cost, "money"), task.cost)] if costs else []),
    ]
    rate = task.successes / task.trials if task.trials else None
    return tag(
        "tr",
        tag(
            "th",
            tag("a", str(task.task_index), href=_first_episode(task)),
            scope="row",
            data_value=task.task_index,
        ),
        tag("td", tag("div", task.instruction, class_="clamped"), class_="instruction"),
        tag(
            "td", tag("div", [outcome_cell(task, t) for t in trials], class_="row"), class_="trials"
        ),
        tag("td", solved, class_="number", data_value=_sortable(rate)),
        [
            tag("td", shown, class_="number wide", data_value=_sortable(value))
            for _, shown, value in cells
        ],
        data_group=task_group(task),
        data_task=task.task_index,
    )


def _first_episode(task: TaskFigures) -> str | None:
    return f"#task-{task.task_index}-trial-{min(task.outcomes)}" if task.outcomes else None


def _sortable(value: float | None) -> float | None:
    return None if value is None or value != value else value
