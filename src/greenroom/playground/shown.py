"""Sections of reports as pages show them: the texts that every form of a report has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from greenroom.reports import sections
from greenroom.reports.html_charts import Drawn, plot
from greenroom.reports.sections import AnySection, Fact, KindCount
from greenroom.reports.texts import cell_text, figure_text, plural, show, tone
from greenroom.store import outcome_info

MOST_ROWS = 200
MOST_POINTS = 300
_LONGEST_TEXT = 60_000


class ShownSection(BaseModel):
    """What all sections have."""

    id: str
    title: str
    notes: list[str]


class ShownFigure(BaseModel):
    """A figure in words."""

    key: str
    label: str
    value: str
    interval: str
    """Both ends of its interval; empty if it has none."""
    second: str
    """The figure under the section's second convention; empty where that makes no difference."""
    meaning: str
    n: int | None
    """How many tasks or rows are behind it."""
    partial: bool
    """It stands on fewer tasks or rows than the result has."""
    prominent: bool
    number: float | None
    low: float | None
    high: float | None


class ShownFigures(ShownSection):
    """Figures of the whole result."""

    type: Literal["figures"] = "figures"
    figures: list[ShownFigure]
    confidence: float
    units: str
    second: str
    """The second convention in words."""


class ShownColumn(BaseModel):
    """A column of a table."""

    label: str
    right: bool
    wide: bool
    """Shown only where there is room for it."""


class ShownMark(BaseModel):
    """The mark of an outcome."""

    symbol: str
    tone: str
    """The name of its colours."""


class ShownRow(BaseModel):
    """A row of a table."""

    cells: list[str]
    strong: bool = False
    mark: ShownMark | None = None
    """Of the outcome that the row is about, if it is about one."""


class ShownTable(ShownSection):
    """Rows of texts under columns."""

    type: Literal["table"] = "table"
    columns: list[ShownColumn]
    rows: list[ShownRow]


class Tick(BaseModel):
    """A place of an axis, with what is written there."""

    at: float
    text: str


class ShownPlot(BaseModel):
    """Where everything of a chart stands."""

    x_ticks: list[Tick]
    y_ticks: list[Tick]
    series: list[Drawn]
    floor: float
    """Where bars stand."""
    bar: float
    """The width of a bar."""
    said: str
    """All values in words."""
    width: int
    height: int
    left: int
    right: int
    bottom: int


class ShownChart(ShownSection):
    """A chart: where its marks stand, and the same values as a table."""

    type: Literal["chart"] = "chart"
    style: Literal["bars", "steps", "scatter"]
    x: str
    y: str
    plot: ShownPlot
    columns: list[ShownColumn]
    rows: list[ShownRow]


class ShownFailures(ShownSection):
    """Failures by kind."""

    type: Literal["failures"] = "failures"
    kinds: list[KindCount]
    total: int
    noun: str


class ShownFacts(ShownSection):
    """Labels with values."""

    type: Literal["facts"] = "facts"
    facts: list[Fact]


class ShownText(ShownSection):
    """A text, such as a policy."""

    type: Literal["text"] = "text"
    text: str


Shown = Annotated[
    ShownFigures | ShownTable | ShownChart | ShownFailures | ShownFacts | ShownText,
    Field(discriminator="type"),
]


def shown(found: Iterable[AnySection], *, without: str = "") -> list[Shown]:
    """Sections as pages show them. Grids, and sections whose id begins with `without`, have a list
    of their own."""
    return [
        section
        for one in found
        if not (without and one.id.startswith(without))
        for section in _shown(one)
    ]


def _shown(section: AnySection) -> Iterator[Shown]:
    head: dict[str, Any] = {"id": section.id, "title": section.title, "notes": section.notes}
    if isinstance(section, sections.Figures):
        kept: dict[str, Any] = {
            "confidence": section.confidence,
            "units": section.units,
            "second": section.second,
        }
        yield ShownFigures(**head, figures=[_figure(one) for one in section.figures], **kept)
    elif isinstance(section, sections.Table):
        rows = [
            ShownRow(
                cells=[cell_text(*pair) for pair in zip(row.cells, section.columns, strict=True)],
                strong=row.strong,
                mark=_mark(row.cells[0]) if section.columns[0].format == "outcome" else None,
            )
            for row in section.rows[:MOST_ROWS]
        ]
        left = len(section.rows) - len(rows)
        head |= {"notes": [*section.notes, *_left_out(left, "row")]}
        yield ShownTable(**head, columns=[_column(one) for one in section.columns], rows=rows)
    elif isinstance(section, sections.Chart):
        yield _chart(section)
    elif isinstance(section, sections.Failures):
        yield ShownFailures(**head, kinds=section.kinds, total=section.total, noun=section.noun)
    elif isinstance(section, sections.Facts):
        yield ShownFacts(**head, facts=section.facts)
    elif isinstance(section, sections.Text):
        left = len(section.text) - _LONGEST_TEXT
        head |= {"notes": [*section.notes, *_left_out(left, "character")]}
        yield ShownText(**head, text=section.text[:_LONGEST_TEXT])


def _mark(outcome: sections.Cell) -> ShownMark:
    name = str(outcome)
    return ShownMark(symbol=outcome_info(name).symbol, tone=tone(name))


def _figure(figure: sections.Figure) -> ShownFigure:
    value, interval, second = figure_text(figure)
    same = ("key", "label", "meaning", "n", "partial", "prominent", "low", "high")
    return ShownFigure(
        value=value,
        interval=interval,
        second=second,
        number=figure.value,
        **{name: getattr(figure, name) for name in same},
    )


def _column(column: sections.Column) -> ShownColumn:
    return ShownColumn(label=column.label, right=column.right, wide=column.wide)


def _chart(chart: sections.Chart) -> ShownChart:
    each = max(1, MOST_POINTS // max(1, len(chart.series)))
    series = [one.model_copy(update={"points": one.points[:each]}) for one in chart.series]
    left = sum(max(0, len(one.points) - each) for one in chart.series)
    drawn = chart.model_copy(update={"series": series})
    names = len(series) > 1
    head = [sections.Column(label="")] if names else []
    rows = [
        [*([one.name] if names else []), *_point_cells(point, chart)]
        for one in series
        for point in one.points
    ]
    interval = sections.Column(label="Interval", format=chart.y.format)
    return ShownChart(
        id=chart.id,
        title=chart.title,
        notes=[*chart.notes, *_left_out(left, "point")],
        style=chart.style,
        x=chart.x.label,
        y=chart.y.label,
        plot=_plot(drawn),
        columns=[_column(one) for one in (*head, chart.x, chart.y, interval)],
        rows=[ShownRow(cells=cells) for cells in rows],
    )


def _plot(chart: sections.Chart) -> ShownPlot:
    found = plot(chart)
    same = ("floor", "bar", "said", "width", "height", "left", "right", "bottom")
    return ShownPlot(
        x_ticks=[Tick(at=at, text=text) for at, text in found.x_ticks],
        y_ticks=[Tick(at=at, text=text) for at, text in found.y_ticks],
        series=list(found.series),
        **{name: getattr(found, name) for name in same},
    )


def _point_cells(point: sections.Point, chart: sections.Chart) -> list[str]:
    digits = 1 if chart.y.format == "percent" else chart.y.digits
    ends: sections.Cell = (
        None if point.low is None or point.high is None else [point.low, point.high]
    )
    interval = chart.y.model_copy(update={"interval": True, "digits": digits})
    place = show(point.x, chart.x.format, chart.x.digits)
    if point.label and chart.style == "scatter":
        place = f"{point.label}: {place}"
    return [
        place if chart.style == "scatter" else point.label or place,
        show(point.y, chart.y.format, digits),
        cell_text(ends, interval),
    ]


def _left_out(left: int, noun: str) -> list[str]:
    if left <= 0:
        return []
    return [f"{plural(left, f'more {noun}')} not on this page: an export has everything."]
