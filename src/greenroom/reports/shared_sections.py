"""Sections that runs and evaluations have alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from greenroom.analysis.figures import Estimate, Latency
from greenroom.reports.sections import AnySection, Cell, Column, Figure, Row, Table
from greenroom.reports.texts import known, plural
from greenroom.store.outcomes import OUTCOMES, outcome_info
from greenroom.store.records import Usage

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
                Column(label="Outcome", format="outcome"),
                Column(label="Meaning", wide=True),
                Column(label=noun, format="count"),
                Column(label="Share", format="percent"),
            ],
            rows=[
                Row(cells=[name, outcome_info(name).meaning, counts[name], counts[name] / total])
                for name in order
                if counts[name]
            ],
        )


def estimate_figure(
    key: str, label: str, estimate: Estimate, meaning: str, **more: object
) -> Figure:
    """A figure with its interval."""
    return Figure.model_validate(
        {
            "key": key,
            "label": label,
            "value": known(estimate.value),
            "low": known(estimate.low),
            "high": known(estimate.high),
            "meaning": meaning,
            **more,
        }
    )


def interval_cell(estimate: Estimate) -> Cell:
    """The two ends of an interval; the second is None where it has no end."""
    low, high = known(estimate.low), known(estimate.high)
    return None if low is None else [low, high] if high is not None else [low]
