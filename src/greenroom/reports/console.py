"""The report on a console: for a terminal of 80 columns and up, and plain when it is piped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

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
    success_rate,
    what_differs,
)

if TYPE_CHECKING:
    from rich.console import Console

    from greenroom.analysis.figures import TaskFigures
    from greenroom.reports.report import RunData as Report

_MOST_TRIALS = 16
WIDE = 100
"""From so many columns on, what figures mean stands beside them."""

_ASCII = str.maketrans({"–": "-", "…": "...", "×": "x", "✓": "+", "·": "."})
_STYLES = {
    "success": "green",
    "failure": "red",
    "max_steps": "yellow",
    "max_time": "yellow",
    "invalid": "magenta",
    "context_window": "yellow",
    "content_filter": "yellow",
    "infrastructure_error": "bold cyan",
    "missing": "dim",
}


def print_report(report: Report, console: Console, *, max_tasks: int = 20) -> None:
    """Print a report: what it is about, tasks, figures, outcomes, failures and the leaderboard."""
    _Printer(report, console).print_all(max_tasks)


@dataclass(frozen=True)
class _Printer:
    report: Report
    console: Console

    def print_all(self, max_tasks: int) -> None:
        self._header()
        self._tasks(max_tasks)
        self._figures()
        self._outcomes()
        self._failures()
        self._agent()
        self._leaderboard()

    def _text(self, text: str, style: str = "") -> Text:
        """Text as the console can show it; never read as markup."""
        line = texts.one_line(text)
        if self.console.options.ascii_only:
            line = line.translate(_ASCII).encode("ascii", "replace").decode()
        return Text(line, style=style)

    def _say(self, text: str, style: str = "") -> None:
        self.console.print(self._text(text, style), highlight=False)

    def _table(self, title: str, headings: Sequence[str], *, left: int = 1) -> Table:
        """A table; the first columns are aligned to the left, the others to the right."""
        table = Table(
            title=self._text(title, "bold"),
            title_justify="left",
            title_style="",
            box=box.SIMPLE_HEAD,
            pad_edge=False,
        )
        for place, heading in enumerate(headings):
            table.add_column(
                self._text(heading),
                justify="left" if place < left else "right",
                no_wrap=place >= left,
            )
        return table

    def _header(self) -> None:
        report, run = self.report, self.report.run
        self._say(run.name, "bold")
        self._say(
            run_words.headline(report), "bold green" if report.metrics.with_result else "bold"
        )
        for note in run_words.notes(report):
            self._say(note, "yellow")
        self._say(f"Agent {run_words.agent_label(report)}; {run.env}, split {run.task_split}")
        self._say(f"Pack {run_words.pack_label(report)}")
        for label, value in agent_facts(report):
            self._say(f"{label[:1].upper()}{label[1:]}: {value}")
        status = "" if run.status == "complete" else f"; {run.status}"
        self._say(
            f"Played {texts.date_text(run.created_at)}; Greenroom {run.greenroom_version}{status}"
        )
        self.console.print()

    def _tasks(self, most: int) -> None:
        tasks = self.report.metrics.tasks
        if not tasks or most < 1:
            return
        title = "Tasks"
        if len(tasks) > most:
            title = "Tasks, the least solved first"
            tasks = sorted(tasks, key=lambda task: (_rate(task), task.task_index))
        table = self._table(
            title, ["Task", "Trials", "What the user wants", "Solved", "Steps"], left=3
        )
        table.columns[1].no_wrap = True
        table.columns[2].no_wrap = True
        table.columns[2].overflow = "crop" if self.console.options.ascii_only else "ellipsis"
        table.columns[2].ratio = 1
        table.expand = True
        trials = all_trials(self.report)
        for task in tasks[:most]:
            table.add_row(
                str(task.task_index),
                self._trials(task, trials),
                self._text(task.instruction),
                self._text(f"{task.successes}/{task.trials}" if task.trials else texts.NOTHING),
                self._text(texts.decimal(task.mean_steps, 1)),
            )
        self.console.print(table)
        if len(tasks) > most:
            self._say(
                f"... and {texts.plural(len(tasks) - most, 'more task', 'more tasks')}.", "dim"
            )
            self.console.print()

    def _trials(self, task: TaskFigures, trials: Sequence[int]) -> Text:
        plain = self.console.options.ascii_only
        shown = Text()
        for trial in trials[:_MOST_TRIALS]:
            outcome = task.outcomes.get(trial, "missing")
            words = texts.outcome_words(outcome)
            mark = words.plain_symbol if plain else words.symbol
            shown.append(mark, style=_STYLES.get(outcome, ""))
        if len(trials) > _MOST_TRIALS:
            shown.append("...")
        return shown

    def _figures(self) -> None:
        report, metrics = self.report, self.report.metrics
        headings = ["Figure", "Value", f"{100 * metrics.confidence:g} % interval"]
        other, wide = run_words.conventions_differ(metrics), self.console.width >= WIDE
        if other:
            headings.append("As failures*")
        table = self._table("Figures", [*headings, *(["Meaning"] if wide else [])])
        if wide:
            table.columns[-1].justify = "left"
            table.columns[-1].no_wrap = False
        for figure in [*pass_figures(report), *other_figures(report)]:
            cells = [figure.label, figure.value, figure.interval or ""]
            cells += [figure.as_failures or ""] * other + [figure.meaning] * wide
            table.add_row(*(self._text(cell) for cell in cells))
        self.console.print(table)
        if other:
            self._say(f"* {run_words.without_result(metrics)} counted as failures", "dim")
        note = run_words.interval_note(report)
        if note:
            self._say(note, "dim")
        self.console.print()

    def _outcomes(self) -> None:
        counts = outcome_counts(self.report)
        total = sum(count for _, count in counts)
        if not total:
            return
        table = self._table("Outcomes", ["", "Outcome", "Episodes", "Share"], left=2)
        for outcome, count in counts:
            words = texts.outcome_words(outcome)
            plain = self.console.options.ascii_only
            table.add_row(
                self._text(words.plain_symbol if plain else words.symbol, _STYLES.get(outcome, "")),
                self._text(words.label),
                f"{count:,}",
                texts.percent(count / total),
            )
        self.console.print(table)

    def _failures(self) -> None:
        kinds, failures = kind_counts(self.report), self.report.errors.failures
        if not kinds:
            return
        wide = self.console.width >= WIDE
        headings = ["Kind", *(["Meaning"] if wide else []), "Episodes", "Share"]
        table = self._table("What went wrong", headings, left=1 + wide)
        for kind, count in kinds:
            label, meaning = texts.kind_words(kind)
            share = texts.percent(count / failures)
            words = [self._text(label), *([self._text(meaning)] if wide else [])]
            table.add_row(*words, f"{count:,}", share)
        self.console.print(table)

    def _agent(self) -> None:
        counted = agent_tallies(self.report)
        if not counted:
            return
        table = self._table("What the agent counted", ["Of", "", "Number"], left=2)
        before = ""
        for title, label, amount in counted:
            shown = title if title != before else ""
            table.add_row(*(self._text(cell) for cell in (shown, label, amount)))
            before = title
        self.console.print(table)

    def _leaderboard(self) -> None:
        headings = ["Strategy", *(f"Pass^{k}" for k in LEADERBOARD_KS)]
        table = self._table("Leaderboard", headings)
        for row in leaderboard(self.report):
            name = (
                f"{row.strategy} (this run)" if row.own and self.report.published else row.strategy
            )
            cells = [name, *map(texts.decimal, row.values)]
            table.add_row(*(self._text(cell) for cell in cells), style="bold" if row.own else "")
        self.console.print(table)
        if not self.report.published:
            return
        sources = ", ".join(dict.fromkeys(row.source for row in self.report.published))
        self._say(f"The other rows were published: {sources}.", "dim")
        differences = what_differs(self.report)
        if differences:
            self._say("What differs from this run:", "dim")
        for names, differs in differences:
            self._say(f"- {names}: {'; '.join(differs)}", "dim")


def _rate(task: TaskFigures) -> float:
    rate = success_rate(task)
    return 2.0 if rate != rate else rate  # tasks without a result come last
