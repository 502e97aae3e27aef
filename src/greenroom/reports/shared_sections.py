"""Sections that runs and evaluations have alike."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from greenroom.analysis.figures import Estimate, Latency
from greenroom.reports.plain import plain, without_secrets
from greenroom.reports.sections import (
    AnySection,
    Cell,
    Column,
    Fact,
    Figure,
    Format,
    Point,
    Row,
    Table,
    Text,
)
from greenroom.reports.texts import known, plural
from greenroom.store.outcomes import OUTCOMES, outcome_info
from greenroom.store.records import Usage


def col(
    label: str,
    form: Format = "text",
    digits: int | None = None,
    *,
    interval: bool = False,
    wide: bool = False,
) -> Column:
    """A column of a table."""
    return Column(label=label, format=form, digits=digits, interval=interval, wide=wide)


def fig(
    key: str,
    label: str,
    value: Estimate | float | None,
    meaning: str,
    form: Format = "decimal",
    digits: int | None = None,
    *,
    n: int | None = None,
    partial: bool = False,
    second: Estimate | None = None,
    unknown: str = "",
    prominent: bool = False,
) -> Figure:
    """A figure: an estimate with its interval, or a plain number."""
    low, high = (value.low, value.high) if isinstance(value, Estimate) else (None, None)
    return Figure(
        key=key,
        label=label,
        value=known(value.value if isinstance(value, Estimate) else value),
        low=known(low),
        high=known(high),
        n=n,
        partial=partial,
        format=form,
        digits=digits,
        meaning=meaning,
        second=known(second.value) if second else None,
        unknown=unknown,
        prominent=prominent,
    )


def estimate_points(estimates: Mapping[int, Estimate], most: int) -> list[Point]:
    """pass^k as points of a chart, up to the most that are shown."""
    return [
        Point(x=k, y=one.value, low=known(one.low), high=known(one.high), label=f"pass^{k}")
        for k, one in sorted(estimates.items())
        if known(one.value) is not None and k <= most
    ]


def facts_of(pairs: Iterable[tuple[str, str]]) -> list[Fact]:
    """Labels with values."""
    return [Fact(label=label, value=value) for label, value in pairs]


def setup_text(config: Any) -> Text:
    """A configuration as it was given, without what may be a secret."""
    text = json.dumps(plain(without_secrets(config)), indent=2, ensure_ascii=False)
    return Text(id="configuration", title="Configuration", text=text, detail=True)


PURSES = {"agent": "Agent", "user": "Simulated user", "judge": "Judge"}
SPANS = {"turn": "Turn", "call": "Call of the workflow", "episode": "Episode"}


def costs_table(
    spent: Mapping[str, Usage],
    wasted: Mapping[str, Usage],
    attempts: int,
    *,
    agent: str = "Agent",
) -> Iterator[AnySection]:
    """Tokens and money by purse, billed and from the cache, and what attempts wasted."""
    cached = any(usage.cached_calls for usage in [*spent.values(), *wasted.values()])
    names = PURSES | {"agent": agent}
    rows = [
        Row(cells=_cost_cells(names.get(purse, purse), usage, cached))
        for purse, usage in spent.items()
    ]
    if wasted:
        label = f"Wasted on {plural(attempts, 'attempt')}"
        rows.append(Row(cells=_cost_cells(label, Usage.total(wasted.values()), cached)))
    if len(rows) > 1:
        whole = Usage.total([*spent.values(), *wasted.values()])
        rows.append(Row(cells=_cost_cells("In all", whole, cached), strong=True))
    if rows:
        yield Table(
            id="costs",
            title="Costs",
            columns=[
                col("Paid for"),
                col("Calls", "count"),
                col("Tokens in", "count"),
                col("Tokens out", "count"),
                col("Billed", "money"),
                *(
                    [
                        col("Calls cached", "count"),
                        col("Cached worth", "money"),
                    ]
                    if cached
                    else []
                ),
            ],
            rows=rows,
            notes=["A cost is unknown where the price of a model is."]
            if any(row.cells[4] == "unknown" for row in rows)
            else [],
        )


def _cost_cells(label: str, usage: Usage, cached: bool) -> list[Cell]:
    used = usage.calls or usage.prompt_tokens or usage.completion_tokens
    cost: Cell = "unknown" if usage.cost is None and used else usage.cost
    worth: list[Cell] = [usage.cached_calls, usage.cached_cost] if cached else []
    return [label, usage.calls, usage.prompt_tokens, usage.completion_tokens, cost, *worth]


def latency_table(spans: Mapping[str, Latency]) -> Iterator[AnySection]:
    """Percentiles of how long turns, calls and model calls took."""
    if spans:
        yield Table(
            id="latency",
            title="Latency",
            columns=[
                col("Of"),
                col("Number", "count"),
                col("p50", "seconds"),
                col("p95", "seconds"),
                col("Interval of p95", "seconds", interval=True, wide=True),
                col("p99", "seconds"),
                col("Mean", "seconds", wide=True),
            ],
            rows=[Row(cells=_latency_cells(name, span)) for name, span in spans.items()],
            detail=True,
        )


def _latency_cells(name: str, span: Latency) -> list[Cell]:
    kind, _, purse = name.partition(".")
    label = (
        f"Model call: {PURSES.get(purse, purse).lower()}"
        if kind == "model"
        else SPANS.get(name, name)
    )
    p50, p95, p99 = (known(one.value) for one in (span.p50, span.p95, span.p99))
    return [label, span.n, p50, p95, interval_cell(span.p95), p99, known(span.mean)]


def outcome_table(counts: Mapping[str, int], noun: str) -> Iterator[AnySection]:
    """How often each outcome occurred, in a fixed order."""
    order = [*(name for name in OUTCOMES if name in counts), *(set(counts) - set(OUTCOMES))]
    total = sum(counts.values())
    if total:
        yield Table(
            id="outcomes",
            title="Outcomes",
            columns=[
                col("Outcome", "outcome"),
                col("Meaning", wide=True),
                col(noun, "count"),
                col("Share", "percent"),
            ],
            rows=[
                Row(cells=[name, outcome_info(name).meaning, counts[name], counts[name] / total])
                for name in order
                if counts[name]
            ],
        )


def interval_cell(estimate: Estimate) -> Cell:
    """The two ends of an interval; the second is None where it has no end."""
    low, high = known(estimate.low), known(estimate.high)
    return None if low is None else [low, high] if high is not None else [low]
