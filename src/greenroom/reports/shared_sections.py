"""Sections that runs and evaluations have alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from greenroom.analysis.figures import Latency
from greenroom.analysis.usage import total_usage
from greenroom.reports.sections import AnySection, Cell, Column, Row, Table
from greenroom.reports.texts import known, plural
from greenroom.store.records import Usage

PURSES = {"agent": "Agent", "user": "Simulated user", "judge": "Judge"}
SPANS = {"turn": "Turn", "call": "Call of the workflow", "episode": "Episode"}


def costs_table(
    spent: Mapping[str, Usage], wasted: Mapping[str, Usage], attempts: int
) -> Iterator[AnySection]:
    """Tokens and money by purse, billed and from the cache, and what attempts wasted."""
    cached = any(usage.cached_calls for usage in [*spent.values(), *wasted.values()])
    rows = [Row(cells=_cost_cells(_purse(p), usage, cached)) for p, usage in spent.items()]
    if wasted:
        label = f"Wasted on {plural(attempts, 'attempt')}"
        rows.append(Row(cells=_cost_cells(label, total_usage(wasted.values()), cached)))
    if len(rows) > 1:
        whole = total_usage([*spent.values(), *wasted.values()])
        rows.append(Row(cells=_cost_cells("In all", whole, cached), strong=True))
    if rows:
        yield Table(
            id="costs",
            title="Costs",
            columns=[
                Column(label="Paid for"),
                Column(label="Calls", format="count"),
                Column(label="Tokens in", format="count"),
                Column(label="Tokens out", format="count"),
                Column(label="Billed", format="money"),
                *(
                    [
                        Column(label="Calls cached", format="count"),
                        Column(label="Cached worth", format="money"),
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


def _purse(name: str) -> str:
    return PURSES.get(name, name)


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
                Column(label="Of"),
                Column(label="Number", format="count"),
                Column(label="p50", format="seconds"),
                Column(label="p95", format="seconds"),
                Column(label="Interval of p95", format="seconds", interval=True, wide=True),
                Column(label="p99", format="seconds"),
                Column(label="Mean", format="seconds", wide=True),
            ],
            rows=[Row(cells=_latency_cells(name, span)) for name, span in spans.items()],
            detail=True,
        )


def _latency_cells(name: str, span: Latency) -> list[Cell]:
    kind, _, purse = name.partition(".")
    label = f"Model call: {_purse(purse).lower()}" if kind == "model" else SPANS.get(name, name)
    low, high = known(span.p95.low), known(span.p95.high)
    interval: Cell = None if low is None or high is None else [low, high]
    p50, p95, p99 = (known(one.value) for one in (span.p50, span.p95, span.p99))
    return [label, span.n, p50, p95, interval, p99, known(span.mean)]
