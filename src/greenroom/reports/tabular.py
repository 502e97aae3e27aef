"""Sections as tables, for forms that cannot draw."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from greenroom.reports import sections
from greenroom.reports.sections import columns
from greenroom.reports.texts import figure_text, plural, show


@dataclass(frozen=True)
class Lines:
    """Columns and rows; what is left out is told in a sentence."""

    columns: Sequence[sections.Column]
    rows: Sequence[sections.Row]
    more: str = ""


def table_lines(table: sections.Table, most: int | None = None) -> Lines:
    """The first rows of a table."""
    shown = len(table.rows) if most is None else most
    return Lines(table.columns, table.rows[:shown], _more(len(table.rows) - shown, "row"))


def figure_lines(section: sections.Figures) -> Lines:
    """A row per figure. An exclamation mark is for figures from a part of the tasks or rows."""
    counted = any(figure.n is not None for figure in section.figures)
    head = ["Figure", "Value:decimal", f"{100 * section.confidence:g} % interval:decimal"]
    head += [f"{section.units.capitalize()}:count"] if counted else []
    head += ["As failures*:decimal"] if section.second else []
    rows: list[sections.Row] = []
    for figure in section.figures:
        value, interval, second = figure_text(figure)
        cells: list[sections.Cell] = [figure.label, value, interval]
        if counted:
            n = "" if figure.n is None else show(figure.n, "count")
            cells.append(f"{n} !" if figure.partial and n else n)
        if section.second:
            cells.append(second)
        rows.append(sections.Row(cells=[*cells, figure.meaning]))
    return Lines(columns(*head, "Meaning:text:wide"), rows)


def figure_notes(section: sections.Figures) -> list[str]:
    """What the marks beside figures mean."""
    partial = any(figure.partial and figure.n is not None for figure in section.figures)
    return [
        *([f"! from a part of the {section.units} only"] if partial else []),
        *([f"* {section.second}"] if section.second else []),
    ]


def grid_lines(grid: sections.Grid, items: Sequence[sections.GridItem], most: int) -> Lines:
    """A row per item, with the outcomes of its trials."""
    head = (grid.item.capitalize(), f"{grid.trial.capitalize()}s:outcomes", *grid.columns)
    rows = [
        sections.Row(cells=[item.label, [one or "missing" for one in item.outcomes], *item.cells])
        for item in items[:most]
    ]
    return Lines(columns(*head), rows, _more(len(items) - most, grid.item))


def worst_first(items: Iterable[sections.GridItem]) -> list[sections.GridItem]:
    """The items from worst to best; those without a score come last."""
    return sorted(items, key=lambda one: (2.0 if one.score is None else one.score, one.key))


def chart_lines(chart: sections.Chart, most: int) -> Lines:
    """A row per place along x, or per point of a scatter."""
    if chart.style == "scatter":
        head = columns("", chart.x, chart.y)
        rows = [
            sections.Row(cells=[point.label or one.name, point.x, point.y])
            for one in chart.series
            for point in one.points
        ]
    else:
        form = chart.y.format
        ys = (sections.Column(label=one.name, format=form, digits=1) for one in chart.series)
        head = columns(chart.x, *ys)
        named = {point.x: point.label for one in chart.series for point in one.points}
        found = [{point.x: point.y for point in one.points} for one in chart.series]
        rows = [
            sections.Row(cells=[named[x] or x, *(ys.get(x) for ys in found)]) for x in sorted(named)
        ]
    return Lines(head, rows[:most], _more(len(rows) - most, "row"))


def kind_lines(section: sections.Failures) -> Lines:
    """A row per kind of failure."""
    head = ("Kind", "Meaning:text:wide", f"{section.noun.capitalize()}s:count", "Share:percent")
    rows = [
        sections.Row(cells=[kind.label, kind.meaning, kind.count, kind.count / section.total])
        for kind in section.kinds
    ]
    return Lines(columns(*head), rows)


def _more(hidden: int, noun: str) -> str:
    return f"... and {plural(hidden, f'more {noun}')}" if hidden > 0 else ""
