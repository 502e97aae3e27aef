"""Where the marks of a chart stand. The template draws them as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from greenroom.reports.sections import Chart, Column, Point, Series
from greenroom.reports.texts import show, span

WIDTH, HEIGHT = 460, 250
LEFT, RIGHT, TOP, BOTTOM = 50, 14, 18, 42
COLOURS = 6
"""So many series have a colour of their own."""
MOST_TICKS = 12
MOST_LABELS = 8
MOST_SAID = 24
_TINY = 1e-9


@dataclass(frozen=True)
class Mark:
    """A point of a series, in the coordinates of the drawing."""

    point: Point
    x: float
    y: float
    low: float | None
    high: float | None
    said: str
    """Its values in words."""
    label: str = ""
    """What is written beside it, where there is room."""


@dataclass(frozen=True)
class Drawn:
    """A series, ready to be drawn."""

    name: str
    colour: int
    marks: Sequence[Mark]
    path: str = ""
    """A line through its marks."""
    area: str = ""
    """The same line, closed along the bottom."""


@dataclass(frozen=True)
class Plot:
    """A chart, ready to be drawn."""

    x_ticks: Sequence[tuple[float, str]]
    y_ticks: Sequence[tuple[float, str]]
    series: Sequence[Drawn]
    floor: float
    """Where bars stand."""
    bar: float
    """The width of a bar."""
    said: str
    """All values in words, for those who do not see the drawing."""
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    bottom: int = HEIGHT - BOTTOM


@dataclass(frozen=True)
class Axis:
    """Values from low to high along a stretch of the drawing."""

    ticks: Sequence[float]
    start: float
    end: float

    def at(self, value: float) -> float:
        """Where a value stands; what lies outside stands at the edge."""
        low, high = self.ticks[0], self.ticks[-1]
        share = (min(high, max(low, value)) - low) / (high - low)
        return round(self.start + share * (self.end - self.start), 1)


def plot(chart: Chart) -> Plot:
    """Where everything stands."""
    points = [point for one in chart.series for point in one.points]
    places = sorted({point.x for point in points})
    y = Axis(_y_ticks(chart, points), HEIGHT - BOTTOM, TOP)
    band = 0.0
    if chart.style == "scatter":
        x = Axis(nice_ticks([0.0, *places]), LEFT, WIDTH - RIGHT)
        at = {place: x.at(place) for place in places}
        x_ticks = [(x.at(value), tick_text(value, chart.x, x.ticks)) for value in x.ticks]
    else:
        band = (WIDTH - LEFT - RIGHT) / max(1, len(places))
        at = {place: LEFT + (number + 0.5) * band for number, place in enumerate(places)}
        names = {point.x: point.label for point in points if point.label}
        ticks = places[:: max(1, math.ceil(len(places) / MOST_TICKS))]
        x_ticks = [
            (round(at[value], 1), names.get(value) or tick_text(value, chart.x, ticks))
            for value in ticks
        ]
    group = min(band * 0.72, 34.0 * len(chart.series))
    bar = group / max(1, len(chart.series))
    series: list[Drawn] = []
    for number, one in enumerate(chart.series):
        aside = (number + 0.5) * bar - group / 2 if chart.style == "bars" else 0.0
        marks = [
            Mark(
                point=point,
                x=round(at[point.x] + aside, 1),
                y=y.at(point.y),
                low=None if point.low is None else y.at(point.low),
                high=None if point.high is None else y.at(point.high),
                said=_said(chart, one, point),
                label=_label(chart, point) if len(points) <= MOST_LABELS else "",
            )
            for point in one.points
        ]
        path, area = _steps(marks, band, y.start) if chart.style == "steps" else ("", "")
        series.append(Drawn(one.name, number % COLOURS, marks, path, area))
    said = [mark.said for one in series for mark in one.marks]
    return Plot(
        x_ticks=x_ticks,
        y_ticks=[(y.at(value), tick_text(value, chart.y, y.ticks)) for value in y.ticks],
        series=series,
        floor=y.at(0.0),
        bar=round(min(bar * 0.86, 34.0), 1),
        said="; ".join(said) if len(said) <= MOST_SAID else "The values are in the table below.",
    )


def nice_ticks(values: Iterable[float], count: int = 5) -> list[float]:
    """Round numbers around all values, about so many of them."""
    found = list(values)
    low, high = min(found, default=0.0), max(found, default=1.0)
    apart = high - low
    if apart < _TINY * max(1.0, abs(high)):
        apart = abs(high) if abs(high) >= _TINY else 1.0
    rough = apart / (count - 1)
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(place * step, 12) for place in range(first, max(last, first + 1) + 1)]


def _y_ticks(chart: Chart, points: Sequence[Point]) -> list[float]:
    values = [value for one in points for value in (one.y, one.low, one.high) if value is not None]
    if chart.y.format == "percent" and all(0 <= value <= 1 for value in values):
        return [0.0, 0.25, 0.5, 0.75, 1.0]
    return nice_ticks([0.0, *values])


def tick_text(value: float, column: Column, ticks: Sequence[float]) -> str:
    """A value on an axis, with only as many decimals as the axis needs."""
    if column.format == "money":
        step = min((after - before for before, after in pairwise(ticks)), default=1.0)
        digits = 0 if step >= 1 else min(6, max(2, -math.floor(math.log10(step))))
        return f"${value:,.{digits}f}"
    if column.format in ("percent", "seconds"):
        return show(value, column.format)
    return f"{value:g}"


def _said(chart: Chart, series: Series, point: Point) -> str:
    x, y = chart.x, chart.y
    value = show(point.y, y.format, 1 if y.format == "percent" else y.digits)
    known = span(point.low, point.high, y.format, y.digits)
    place = point.label or f"{x.label} {show(point.x, x.format, x.digits)}"
    if chart.style == "scatter":
        place = f"{place}: {x.label} {show(point.x, x.format, x.digits)}, {y.label}"
    else:
        place = f"{series.name}, {place}" if len(chart.series) > 1 else place
    return f"{place}: {value}" + (f" ({known})" if known else "")


def _label(chart: Chart, point: Point) -> str:
    return point.label if chart.style == "scatter" else show(point.y, chart.y.format)


def _steps(marks: Sequence[Mark], band: float, floor: float) -> tuple[str, str]:
    """A line that holds each value over its whole band."""
    if not marks:
        return "", ""
    path = f"M{marks[0].x - band / 2:.1f} {marks[0].y}"
    for mark in marks:
        path += f"V{mark.y}H{mark.x + band / 2:.1f}"
    return path, f"{path}V{floor}H{marks[0].x - band / 2:.1f}Z"
