"""The charts of the HTML report: SVG with real axes, each with its values in words beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from greenroom.reports.html_markup import Markup, join, tag
from greenroom.reports.run_words import convention_label, conventions_differ
from greenroom.reports.texts import NOTHING, interval, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from greenroom.analysis.figures import ConventionMetrics, Estimate, RunMetrics, TurnPoint

WIDTH, HEIGHT = 440, 264
LEFT, RIGHT, TOP, BOTTOM = 46, 14, 22, 44
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
MOST_TICKS = 12


@dataclass(frozen=True)
class Scale:
    """Where things stand in a chart: places along x, shares along y."""

    places: int

    @property
    def band(self) -> float:
        """The width that each place has."""
        return (WIDTH - LEFT - RIGHT) / max(1, self.places)

    def x(self, place: int) -> float:
        """The middle of a place, counted from 0."""
        return LEFT + (place + 0.5) * self.band

    def y(self, share: float) -> float:
        """The height of a share from 0 to 1."""
        return TOP + (1 - min(1.0, max(0.0, share))) * (HEIGHT - TOP - BOTTOM)


def pass_chart(metrics: RunMetrics) -> Markup | None:
    """pass^k with its intervals, under both conventions if they differ; None without figures."""
    main = metrics.main
    if not any(math.isfinite(estimate.value) for estimate in main.pass_hat_k.values()):
        return None
    series = [main]
    if conventions_differ(metrics):
        series.append(metrics.conventions["errors_as_failures"])
    ks = sorted({k for one in series for k in one.pass_hat_k})
    scale = Scale(len(ks))
    marks = [_series(one, ks, scale, index, len(series)) for index, one in enumerate(series)]
    labels = [convention_label(metrics, one.convention) for one in series]
    said = "; ".join(
        f"{label}: {_said(one, ks)}" for label, one in zip(labels, series, strict=True)
    )
    drawing = _chart(
        "pass-chart",
        "pass^k: the share of tasks solved k times in a row",
        said,
        _y_axis(scale),
        _x_axis(scale, [_power(k) for k in ks], "tries in a row that all have to succeed"),
        marks,
    )
    legend = _legend([(f"line-{index}", label) for index, label in enumerate(labels)])
    rows = [[f"pass^{k}", *(_figure(one.pass_hat_k.get(k)) for one in series)] for k in ks]
    values = values_table(
        ["", *(label.capitalize() for label in labels)]
        if len(series) > 1
        else ["", "Share of tasks"],
        rows,
    )
    return join(drawing, legend if len(series) > 1 else None, values)


def turn_chart(points: Sequence[TurnPoint]) -> Markup | None:
    """The turn curve: solved at a turn as bars, solved by it as a line; None without points."""
    if not points:
        return None
    scale = Scale(len(points))
    width = min(34.0, scale.band * 0.62)
    bars = [
        tag(
            "rect",
            tag("title", f"Turn {point.turn}: {percent(point.solved_at, 1)} solved at it"),
            x=_n(scale.x(place) - width / 2),
            y=_n(scale.y(point.solved_at)),
            width=_n(width),
            height=_n(scale.y(0) - scale.y(point.solved_at)),
            rx=1.5,
            class_="bar",
            data_turn=point.turn,
            data_solved_at=point.solved_at,
        )
        for place, point in enumerate(points)
    ]
    curve = tag("path", d=_stairs(points, scale), class_="curve")
    dots = [
        tag(
            "circle",
            tag("title", f"Turn {point.turn}: {percent(point.solved_by, 1)} solved by it"),
            cx=_n(scale.x(place)),
            cy=_n(scale.y(point.solved_by)),
            r=3 if len(points) <= 30 else 1.5,
            class_="dot",
            data_turn=point.turn,
            data_solved_by=point.solved_by,
        )
        for place, point in enumerate(points)
    ]
    last = points[-1]
    label = tag(
        "text",
        percent(last.solved_by),
        x=_n(scale.x(len(points) - 1)),
        y=_n(scale.y(last.solved_by) - 8),
        class_="value",
        text_anchor="middle" if len(points) < MOST_TICKS else "end",
    )
    drawing = _chart(
        "turn-chart",
        "Turn curve: the share of episodes solved at, and by, each turn",
        "; ".join(
            f"turn {p.turn}: {percent(p.solved_at, 1)} at it, {percent(p.solved_by, 1)} by it"
            for p in points
        ),
        _y_axis(scale),
        _x_axis(scale, [str(point.turn) for point in points], "turn"),
        bars,
        curve,
        dots,
        label,
    )
    legend = _legend([("curve", "solved by this turn"), ("bar", "solved at this turn")])
    rows = [
        (str(point.turn), percent(point.solved_at, 1), percent(point.solved_by, 1))
        for point in points
    ]
    return join(drawing, legend, values_table(("Turn", "Solved at it", "Solved by it"), rows))


def share_bar(share: float, **attributes: str | int | float) -> Markup:
    """A bar that fills its place to a share; what it says stands in words beside it."""
    filled = tag("rect", width=_n(100 * share), height=1, class_="filled")
    return tag(
        "svg",
        tag("rect", width=100, height=1, class_="empty"),
        filled,
        class_="share-bar",
        viewBox="0 0 100 1",
        preserveAspectRatio="none",
        aria_hidden="true",
        **attributes,
    )


def interval_bar(estimate: Estimate) -> Markup | None:
    """A figure on the line from 0 to 1 with its interval; None where there is no figure."""
    if not math.isfinite(estimate.value):
        return None
    known = math.isfinite(estimate.low) and math.isfinite(estimate.high)
    low, high = (estimate.low, estimate.high) if known else (estimate.value, estimate.value)
    return tag(
        "svg",
        tag("rect", x=0, y=4, width=100, height=2, class_="empty"),
        tag("rect", x=_n(100 * low), y=2, width=_n(100 * (high - low)), height=6, class_="range"),
        tag(
            "rect",
            x=_n(min(99.0, max(0.0, 100 * estimate.value - 0.5))),
            y=0,
            width=1,
            height=10,
            class_="point",
        ),
        class_="interval-bar",
        viewBox="0 0 100 10",
        preserveAspectRatio="none",
        aria_hidden="true",
    )


def values_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    """A chart's values as a folded table: the same for those who do not see the chart."""
    head = tag("tr", [tag("th", heading, scope="col") for heading in headings])
    body = [
        tag("tr", tag("th", row[0], scope="row"), [tag("td", cell) for cell in row[1:]])
        for row in rows
    ]
    table = tag("table", tag("thead", head), tag("tbody", body), class_="values")
    return tag("details", tag("summary", "Values"), tag("div", table, class_="scroll"))


def _series(
    metrics: ConventionMetrics, ks: Sequence[int], scale: Scale, index: int, count: int
) -> Markup:
    aside = 0.0 if count == 1 else (index - 0.5) * min(22.0, scale.band * 0.3)
    points: list[tuple[float, float]] = []
    marks: list[Markup | None] = []
    for place, k in enumerate(ks):
        estimate = metrics.pass_hat_k.get(k)
        if estimate is None or not math.isfinite(estimate.value):
            continue
        x, y = scale.x(place) + aside, scale.y(estimate.value)
        points.append((x, y))
        marks.append(_whisker(estimate, x, scale))
        marks.append(_point(metrics.convention, k, estimate, x, y))
        if count == 1 or index == 0:
            marks.append(_value_label(estimate, x, scale, beside=count == 1))
    line = tag("polyline", points=" ".join(f"{_n(x)},{_n(y)}" for x, y in points), class_="line")
    return tag("g", line, marks, class_=f"series line-{index}")


def _point(convention: str, k: int, estimate: Estimate, x: float, y: float) -> Markup:
    data: dict[str, str | int | float] = {
        "data_convention": convention,
        "data_k": k,
        "data_value": estimate.value,
    }
    shown = percent(estimate.value, 1)
    known = interval(estimate, as_percent=True)
    title = tag("title", f"pass^{k}: {shown}" + (f" ({known})" if known else ""))
    if known:
        data |= {"data_low": estimate.low, "data_high": estimate.high}
    if convention == "errors_excluded":
        return tag("circle", title, cx=_n(x), cy=_n(y), r=4.5, class_="point", **data)
    side = 8
    return tag(
        "rect",
        title,
        x=_n(x - side / 2),
        y=_n(y - side / 2),
        width=side,
        height=side,
        class_="point",
        **data,
    )


def _whisker(estimate: Estimate, x: float, scale: Scale) -> Markup | None:
    if not (math.isfinite(estimate.low) and math.isfinite(estimate.high)):
        return None
    low, high = scale.y(estimate.low), scale.y(estimate.high)
    cap = 5
    return tag(
        "path",
        d=f"M{_n(x)} {_n(high)}V{_n(low)}M{_n(x - cap)} {_n(high)}h{2 * cap}"
        f"M{_n(x - cap)} {_n(low)}h{2 * cap}",
        class_="whisker",
    )


def _value_label(estimate: Estimate, x: float, scale: Scale, *, beside: bool) -> Markup:
    shown = percent(estimate.value)
    if beside:
        return tag("text", shown, x=_n(x + 10), y=_n(scale.y(estimate.value) - 7), class_="value")
    top = estimate.high if math.isfinite(estimate.high) else estimate.value
    y = max(12.0, scale.y(top) - 7)
    return tag("text", shown, x=_n(x), y=_n(y), class_="value", text_anchor="middle")


def _y_axis(scale: Scale) -> Markup:
    lines = [
        tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=_n(scale.y(share)), y2=_n(scale.y(share)))
        for share in SHARES
    ]
    labels = [
        tag("text", f"{100 * share:g} %", x=LEFT - 8, y=_n(scale.y(share) + 4), text_anchor="end")
        for share in SHARES
    ]
    return tag("g", lines, labels, class_="axis")


def _x_axis(scale: Scale, labels: Sequence[str], title: str) -> Markup:
    every = math.ceil(len(labels) / MOST_TICKS)
    texts = [
        tag("text", label, x=_n(scale.x(place)), y=HEIGHT - BOTTOM + 17, text_anchor="middle")
        for place, label in enumerate(labels)
        if place % every == 0
    ]
    middle = LEFT + (WIDTH - LEFT - RIGHT) / 2
    caption = tag(
        "text", title, x=_n(middle), y=HEIGHT - 6, text_anchor="middle", class_="axis-title"
    )
    return tag("g", texts, caption, class_="axis")


def _power(k: int) -> Markup:
    return join("pass", tag("tspan", str(k), dy=-5, dx=1, class_="power"))


def _stairs(points: Sequence[TurnPoint], scale: Scale) -> str:
    places = [(scale.x(i), scale.y(point.solved_by)) for i, point in enumerate(points)]
    return "M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in places)


def _chart(name: str, title: str, description: str, *children: Markup | list[Markup]) -> Markup:
    return tag(
        "svg",
        tag("title", title, id=f"{name}-title"),
        tag("desc", description, id=f"{name}-desc"),
        *children,
        class_="chart",
        id=name,
        data_testid=name,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
    )


def _legend(entries: Sequence[tuple[str, str]]) -> Markup:
    items = [tag("li", tag("span", class_=f"key key-{mark}"), words) for mark, words in entries]
    return tag("ul", items, class_="legend")


def _said(metrics: ConventionMetrics, ks: Sequence[int]) -> str:
    return ", ".join(f"pass^{k} {_figure(metrics.pass_hat_k.get(k))}" for k in ks)


def _figure(estimate: Estimate | None) -> str:
    if estimate is None:
        return NOTHING
    known = interval(estimate, as_percent=True)
    return percent(estimate.value, 1) + (f" ({known})" if known else "")


def _n(value: float) -> str:
    """A coordinate, short."""
    return f"{value:.1f}".removesuffix(".0")
