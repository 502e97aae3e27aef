"""The parts of the HTML report that stand above and beside the tables."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, cast

from greenroom.reports import run_words, texts
from greenroom.reports.html_charts import interval_bar, pass_chart, turn_chart
from greenroom.reports.html_markup import Markup, join, tag
from greenroom.reports.plain import plain
from greenroom.reports.rows import (
    LEADERBOARD_KS,
    Figure,
    agent_facts,
    agent_tallies,
    all_trials,
    leaderboard,
    other_figures,
    outcome_counts,
    pass_figures,
    success_rate,
    what_differs,
)
from greenroom.store.outcomes import OUTCOMES, outcome_info

if TYPE_CHECKING:
    from greenroom.analysis.figures import TaskFigures
    from greenroom.reports.report import RunData as Report

_SECRET = re.compile(r"api_?key|secret|password|authorization|(^|_)token$", re.IGNORECASE)


def unbroken(text: str) -> str:
    """Text in which a number stays on one line with its unit."""
    return text.replace(" %", "\u00a0%")


def facts(report: Report) -> Markup:
    """Who played what, when, on which data."""
    run = report.run
    rows = [
        ("Agent", run_words.agent_label(report)),
        ("Environment", f"{run.env}, split {run.task_split}"),
        ("Pack", run_words.pack_label(report)),
        ("Played", tag("time", texts.date_text(run.created_at), datetime=_iso(report))),
        ("Greenroom", run.greenroom_version),
        *((f"{label[:1].upper()}{label[1:]}", value) for label, value in agent_facts(report)),
    ]
    if run.status != "complete":
        rows.append(("Status", run.status))
    return tag(
        "dl",
        [tag("div", tag("dt", label), tag("dd", value)) for label, value in rows],
        class_="facts",
        data_testid="facts",
    )


def headline(report: Report) -> Markup:
    """The result in a sentence, and what has to be known to read it rightly."""
    note = run_words.interval_note(report)
    said = run_words.notes(report)
    return join(
        tag("p", unbroken(run_words.headline(report)), class_="headline", data_testid="headline"),
        tag("p", unbroken(note), class_="quiet", data_testid="interval-note") if note else None,
        tag("ul", [tag("li", unbroken(one)) for one in said], class_="notes", data_testid="notes")
        if said
        else None,
    )


def cards(report: Report) -> Markup:
    """The key figures: pass^1 to pass^4 large, the others smaller."""
    estimates = report.metrics.main.pass_hat_k
    what = run_words.without_result(report.metrics)
    large = [
        _card(figure, what, interval_bar(estimates[figure.k]))
        for figure in pass_figures(report)
        if figure.k in estimates and figure.k in LEADERBOARD_KS
    ]
    small = [_card(figure, what) for figure in other_figures(report)]
    return join(
        tag("div", large, class_="cards large", style=f"--columns: {len(large)}")
        if large
        else None,
        tag("div", small, class_="cards small", style=f"--columns: {_columns(len(small))}"),
    )


def _columns(count: int) -> int:
    """So many that no row is left with a single card, as far as that can be."""
    return count if count <= 5 else 3 if count in (6, 9) else 4


def _card(figure: Figure, what: str, bar: Markup | None = None) -> Markup:
    label = figure.label.split("^")
    shown = join(label[0], tag("sup", label[1])) if len(label) == 2 else figure.label
    other = figure.as_failures
    return tag(
        "div",
        tag("h3", shown),
        tag("p", unbroken(figure.value), class_="figure"),
        bar,
        tag("p", unbroken(figure.interval), class_="interval") if figure.interval else None,
        tag("p", unbroken(figure.meaning), class_="meaning"),
        tag("p", f"{unbroken(other)} if {what} count as failures", class_="meaning")
        if other
        else None,
        class_="card",
        data_testid=f"figure-{figure.key}",
        data_figure=figure.key,
    )


def agent_counts(report: Report) -> Markup:
    """What the agent counted beyond the usual; nothing for agents that count nothing."""
    counted = agent_tallies(report)
    if not counted:
        return join()
    rows = [
        tag(
            "tr",
            tag("th", title, scope="row"),
            tag("td", label),
            tag("td", amount, class_="number"),
        )
        for title, label, amount in counted
    ]
    return tag(
        "section",
        tag("h2", "What the agent counted"),
        tag("div", tag("table", tag("tbody", rows), data_testid="agent-counts"), class_="scroll"),
        aria_label="What the agent counted",
    )


def charts(report: Report) -> Markup:
    """pass^k and the turn curve, side by side where there is room."""
    nothing = tag("p", "There is nothing to draw yet.", class_="quiet")
    entries = [
        (
            "How reliably",
            "The share of tasks that are solved every time in so many tries.",
            pass_chart(report.metrics),
        ),
        (
            "How soon",
            "A turn runs from a message of the user to the agent's reply.",
            turn_chart(report.metrics.turn_curve),
        ),
    ]
    return tag(
        "div",
        [
            tag("figure", tag("h3", title), tag("p", words, class_="quiet"), chart or nothing)
            for title, words, chart in entries
        ],
        class_="charts",
    )


def outcome_grid(report: Report) -> Markup:
    """Tasks x trials: a column of cells per task, each leading to its conversation."""
    counts = outcome_counts(report)
    legend = tag(
        "ul",
        [_legend_entry(outcome, count) for outcome, count in counts],
        class_="outcome-legend",
        data_testid="outcome-legend",
    )
    trials = all_trials(report)
    columns = [_column(task, trials) for task in report.metrics.tasks]
    if not columns or not trials:
        return tag("p", "No task has been played yet.", class_="quiet")
    order = tag(
        "div",
        tag("span", "Order", class_="quiet"),
        tag("button", "by number", type="button", data_order="task", aria_pressed="true"),
        tag("button", "least solved first", type="button", data_order="rate", aria_pressed="false"),
        class_="choices",
        role="group",
        aria_label="Order of the tasks",
    )
    lowest, highest = trials[0], trials[-1]
    span = f"trial {lowest}" if lowest == highest else f"trials {lowest} to {highest}, downwards"
    return join(
        tag(
            "p",
            f"Each column is a task with its {span}. Choose a cell to read what was said; "
            "the arrow keys move from cell to cell.",
            class_="quiet",
        ),
        tag("div", legend, order, class_="grid-head"),
        tag(
            "div",
            columns,
            class_="grid",
            id="outcome-grid",
            data_testid="outcome-grid",
            role="group",
            aria_label=f"Outcomes of {len(columns)} tasks in {len(trials)} trials",
        ),
    )


def _legend_entry(outcome: str, count: int) -> Markup:
    words = outcome_info(outcome)
    return tag(
        "li",
        tag("span", words.symbol, class_=f"cell {_outcome_class(outcome)}", aria_hidden="true"),
        tag("span", words.label),
        tag("b", f"{count:,}"),
        title=words.meaning,
        data_outcome=outcome,
        data_count=count,
    )


def _column(task: TaskFigures, trials: list[int]) -> Markup:
    cells = [outcome_cell(task, trial) for trial in trials]
    rate = success_rate(task)
    return tag(
        "div",
        cells,
        tag("span", str(task.task_index), class_="number", aria_hidden="true"),
        class_="column",
        data_task=task.task_index,
        data_rate="" if rate != rate else f"{rate:.4f}",
    )


def outcome_cell(task: TaskFigures, trial: int) -> Markup:
    """A trial's outcome as a symbol that leads to its conversation."""
    outcome = task.outcomes.get(trial)
    words = outcome_info(outcome or "missing")
    label = f"Task {task.task_index}, trial {trial}: {words.label.lower()}"
    if outcome is None:
        return tag("span", words.symbol, class_="cell missing", title=label, aria_label=label)
    return tag(
        "a",
        words.symbol,
        class_=f"cell {_outcome_class(outcome)}",
        href=f"#task-{task.task_index}-trial-{trial}",
        title=label,
        aria_label=label,
    )


def _outcome_class(outcome: str) -> str:
    return outcome if outcome in OUTCOMES else "unknown"


def leaderboard_table(report: Report) -> Markup:
    """Strategy | Pass^1 | ... | Pass^4, with published rows where they may stand beside it."""
    rows = leaderboard(report)
    head = tag(
        "tr",
        tag("th", "Strategy", scope="col"),
        [tag("th", "Pass", tag("sup", str(k)), scope="col") for k in LEADERBOARD_KS],
    )
    body = [
        tag(
            "tr",
            tag(
                "th",
                row.strategy,
                tag("span", "this run", class_="source") if row.own else None,
                scope="row",
            ),
            [tag("td", texts.decimal(value)) for value in row.values],
            class_="own" if row.own else None,
            data_strategy=row.strategy,
        )
        for row in rows
    ]
    table = tag(
        "table",
        tag("thead", head),
        tag("tbody", body),
        class_="leaderboard",
        id="leaderboard-table",
    )
    return join(tag("div", table, class_="scroll", data_testid="leaderboard"), _differences(report))


def _differences(report: Report) -> Markup | None:
    if not report.published:
        return None
    sources = ", ".join(dict.fromkeys(row.source for row in report.published))
    items = [
        tag("li", f"{names[0].upper()}{names[1:]}: {'; '.join(differs)}.")
        for names, differs in what_differs(report)
    ]
    return tag(
        "div",
        tag("p", f"All other rows were published: {sources}."),
        join(tag("p", "What differs from this run:"), tag("ul", items)) if items else None,
        class_="quiet",
        data_testid="what-differs",
    )


def setup(report: Report) -> Markup:
    """The configuration and the policy, folded: what it takes to do the same again."""
    run = report.run
    config = json.dumps(plain(_without_secrets(run.config)), indent=2, ensure_ascii=False)
    pack = json.dumps(plain(run.pack), indent=2, ensure_ascii=False)
    folded = [("Configuration", config), ("Pack", pack), ("Policy of the agent", run.policy)]
    return join(
        *(
            tag("details", tag("summary", title), tag("pre", text))
            for title, text in folded
            if text.strip()
        )
    )


def _without_secrets(value: Any) -> Any:
    """A configuration without what may be a key, wherever in it that stands."""
    if isinstance(value, dict):
        entries = cast("dict[str, Any]", value)
        return {
            key: "(hidden)" if item and _SECRET.search(str(key)) else _without_secrets(item)
            for key, item in entries.items()
        }
    if isinstance(value, list):
        return [_without_secrets(item) for item in cast("list[Any]", value)]
    return value


def _iso(report: Report) -> str:
    return report.run.created_at.isoformat()
