"""A report on a console: for a terminal of 80 columns and up, and plain when it is piped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text as RichText

from greenroom.messages import text_of
from greenroom.reports import sections, tabular, texts
from greenroom.reports.evaluation_words import cell_name, value_text
from greenroom.reports.report import EvaluatedRow
from greenroom.store import EvaluationRecord
from greenroom.store.outcomes import outcome_info
from greenroom.util.characters import writable

WIDE = 100
"""From so many columns on, there is room for wide columns and for what figures mean."""

VERY_WIDE = 150
"""The same for the wide columns of a grid, which needs room for what its items are about."""

_MOST_TRIALS = 16
_MOST_POINTS = 20
_MOST_EVIDENCE = 3
_LONGEST = 160
_INDENT = 4
_NARROWEST = 12
_GAP = 3
_VERDICTS = {True: "passed", False: "not passed", None: "no verdict"}
_ALL = 10**9
_ASCII = str.maketrans({"–": "-", "…": "...", "×": "x", "✓": "+", "·": "."})


def print_report(
    report: sections.Report,
    console: Console,
    *,
    everything: bool = False,
    max_items: int | None = None,
    max_failures: int | None = None,
) -> None:
    """Print a report: the result first, then its sections.

    Details and long lists are cut unless `everything` is asked for.
    """
    printer = Printer(console, everything, max_items, max_failures)
    printer.header(report)
    for section in report.sections:
        if everything or not section.detail:
            printer.section(section)
    hidden = [section.title.lower() for section in report.sections if section.detail]
    if hidden and not everything:
        printer.say(f"More with --all: {', '.join(hidden)}.", "dim")


@dataclass(frozen=True)
class Printer:
    """Prints sections."""

    console: Console
    everything: bool = False
    max_items: int | None = None
    max_failures: int | None = None
    more: str = "--all"
    """The option that shows what is left out."""

    def text(self, text: str, style: str = "") -> RichText:
        """Text as the console can show it; never read as markup."""
        line = texts.one_line(text)
        if self.console.options.ascii_only:
            line = line.translate(_ASCII).encode("ascii", "replace").decode()
        return RichText(line, style=style)

    def say(self, text: str, style: str = "", *, indent: int = 0) -> None:
        """Print a line of text."""
        shown = self.text(text, style)
        shown.pad_left(indent)
        self.console.print(shown, highlight=False)

    def header(self, report: sections.Report) -> None:
        """What it is about, the result, and what has to be known to read it."""
        if report.named:
            self.say(report.name, "bold")
        self.say(report.headline, "bold green" if report.holds and not report.notes else "bold")
        for note in report.notes:
            self.say(note, "yellow")
        for gate in report.gates:
            style = "yellow" if gate.inconclusive else "green" if gate.passed else "bold red"
            self.say(f"Gate {gate}", style)
        for fact in report.facts:
            self.say(f"{fact.label}: {fact.value}")
        self.console.print()

    def section(self, section: sections.AnySection) -> None:
        """Print one section and its notes."""
        notes = list(section.notes)
        match section:
            case sections.Figures():
                self._table(section.title, tabular.figure_lines(section))
                notes = [*tabular.figure_notes(section), *notes]
            case sections.Table():
                most = None if self.everything else section.shown
                self._table(section.title, tabular.table_lines(section, most))
            case sections.Grid():
                self._grid(section)
            case sections.Chart():
                most = _ALL if self.everything else _MOST_POINTS
                self._table(section.title, tabular.chart_lines(section, most))
            case sections.Failures():
                self._failures(section)
            case _:
                self._plain(section)
        for note in notes:
            self.say(note, "dim")
        if notes or isinstance(section, (sections.Facts, sections.Text)):
            self.console.print()

    def _plain(self, section: sections.Facts | sections.Text) -> None:
        self.say(section.title, "bold")
        if isinstance(section, sections.Facts):
            for fact in section.facts:
                self.say(f"{fact.label}: {fact.value}", indent=2)
        else:
            for line in section.text.splitlines():
                self.say(line, indent=2 + len(line) - len(line.lstrip()))

    def _table(self, title: str, lines: tabular.Lines, stretched: int | None = None) -> None:
        """A table. The stretched column gets the room that is left, and its texts are cut."""
        wide = self.console.width >= (WIDE if stretched is None else VERY_WIDE)
        places = self._that_fit(lines, wide=wide)
        table = RichTable(
            title=self.text(title, "bold"),
            title_justify="left",
            title_style="",
            box=box.SIMPLE_HEAD,
            pad_edge=False,
        )
        for place in places:
            column = lines.columns[place]
            table.add_column(
                self.text(column.label),
                justify="right" if column.right else "left",
                no_wrap=column.right or column.format == "outcomes" or place == stretched,
                overflow="crop" if self.console.options.ascii_only else "ellipsis",
                ratio=1 if place == stretched else None,
                min_width=None if column.right else min(len(column.label), _NARROWEST),
            )
        table.expand = stretched is not None
        for row in lines.rows:
            cells = (self._cell(row.cells[place], lines.columns[place]) for place in places)
            table.add_row(*cells, style="bold" if row.strong else "")
        self.console.print(table)
        if lines.more:
            self.say(f"{lines.more}: {self.more} shows them.", "dim")
            self.console.print()

    def _that_fit(self, lines: tabular.Lines, *, wide: bool) -> list[int]:
        """The columns with room for their figures: the last wide ones are left out first."""

        def needed(place: int) -> int:
            column = lines.columns[place]
            cells = (self._cell(row.cells[place], column) for row in lines.rows)
            longest = max([len(column.label), *map(len, cells)])
            return (longest if column.right else min(longest, _NARROWEST)) + _GAP

        places = [place for place, one in enumerate(lines.columns) if wide or not one.wide]
        total = sum(map(needed, places))
        for place in reversed(places.copy()):
            if total > self.console.width and lines.columns[place].wide:
                places.remove(place)
                total -= needed(place)
        return places

    def _cell(self, cell: sections.Cell, column: sections.Column) -> RichText:
        if column.format == "outcome" and isinstance(cell, str):
            return self._mark(cell).append(" ").append_text(self.text(outcome_info(cell).label))
        if column.format == "outcomes" and isinstance(cell, list):
            shown = RichText()
            for outcome in cell[:_MOST_TRIALS]:
                shown.append_text(self._mark(str(outcome)))
            return shown.append("..." if len(cell) > _MOST_TRIALS else "")
        return self.text(texts.cell_text(cell, column))

    def _mark(self, outcome: str) -> RichText:
        info = outcome_info(outcome)
        plain = self.console.options.ascii_only
        mark = RichText()
        return mark.append(info.plain_symbol if plain else info.symbol, style=info.style)

    def _grid(self, grid: sections.Grid) -> None:
        most = _ALL if self.everything else grid.shown
        most = most if self.max_items is None else self.max_items
        if most < 1:
            return
        items, title = grid.items, grid.title
        if len(items) > most:
            items, title = tabular.worst_first(items), f"{grid.title}, the least solved first"
        # The first cell says what an item is about; it stands after the item and its outcomes.
        self._table(title, tabular.grid_lines(grid, items, most), stretched=2)

    def _failures(self, section: sections.Failures) -> None:
        shown = section.shown if self.max_failures is None else self.max_failures
        if not section.total or shown == 0:
            return
        self._table(section.title, tabular.kind_lines(section))
        labels = {kind.kind: kind.label for kind in section.kinds}
        shown = _ALL if self.everything else shown
        for failure in section.failures[:shown]:
            self._failure(failure, labels.get(failure.kind, failure.kind), section.asks)
        hidden = section.total - min(shown, len(section.failures))
        if hidden:
            more = texts.plural(hidden, f"more {section.noun}")
            self.say(f"... and {more}: {self.more} shows them.", "dim")
        self.console.print()

    def _failure(self, failure: sections.FailedCell, label: str, asks: str) -> None:
        self.say(f"{failure.label}, {label}: {texts.one_line(failure.sentence, _LONGEST)}")
        evidence = [(one.label.lower(), one.text) for one in failure.evidence[:_MOST_EVIDENCE]]
        for name, text in [(asks, failure.subject), *evidence]:
            if text:
                line = texts.one_line(f"{name} {text}", self.console.width - _INDENT)
                self.say(line, "dim", indent=_INDENT)


# One result of an evaluation in full


def print_result(evaluation: EvaluationRecord, result: EvaluatedRow, console: Console) -> None:
    """Print what went in, what came out, and what was compared with what."""
    title = cell_name(result.row, result.repeat, evaluation.repeats)
    _say(console, f"{evaluation.name}, {title}", "bold")
    for name, value in result.inputs.items():
        _block(console, name, value_text(value))
    if result.conversation is not None:
        _say(console, "Conversation", "bold")
        for message in result.conversation:
            _block(console, str(message.get("role")), _words(message), indent=4)
    if result.has_result:
        _block(console, "Output", value_text(result.outputs))
    else:
        _block(console, "Error", result.error or "")
    for alias, score in result.scores.items():
        number = "no score" if score.score is None else f"{score.score:g}"
        _say(console, f"{alias}: {number}, {_VERDICTS[score.passed]}", "bold")
        _block(console, "compared", value_text(score.compared), indent=4)
        _block(console, "against", value_text(score.against), indent=4)
        if score.reason:
            _block(console, "reason", score.reason, indent=4)
    _say(console, f"{result.seconds:.3f} s, {texts.plural(result.attempts, 'attempt')}", "dim")


def _words(message: Mapping[str, Any]) -> str:
    calls = message.get("tool_calls")
    words = text_of(message.get("content"))
    return f"{words} [calls {value_text(calls)}]".strip() if calls else words


def _block(console: Console, name: str, text: str, *, indent: int = 0) -> None:
    """A name with a text of any number of lines, never read as markup."""
    lines = text.splitlines() or [""]
    _say(console, f"{name}: {lines[0]}", indent=indent)
    for line in lines[1:]:
        _say(console, line, indent=indent + 4)


def _say(console: Console, text: str, style: str = "", *, indent: int = 0) -> None:
    line = " " * indent + texts.one_line(text)
    console.print(RichText(writable(line), style), soft_wrap=True)
