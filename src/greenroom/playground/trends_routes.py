"""The API of trends: the runs of one agent over time."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from greenroom.analysis.figures import Estimate
from greenroom.analysis.intervals import SuccessIntervals
from greenroom.playground.paging import After, Limit, cursor, key_of
from greenroom.playground.runs_routes import RunItem, run_item
from greenroom.playground.shown import ShownChart, shown
from greenroom.playground.state import InPlayground
from greenroom.reports.sections import Chart, Column, Point, Series
from greenroom.reports.task_sets import place_of
from greenroom.reports.texts import known, show, span
from greenroom.store import RunRecord, Standing
from greenroom.store.run_pages import RunPages, Subject, played_by

router = APIRouter()


class TrendPoint(BaseModel):
    """A run of the agent, with its figure."""

    run: RunItem
    tasks: int
    """Tasks with a result."""
    pass_1: float | None
    low: float | None
    high: float | None
    value: str
    interval: str
    played_on: str
    """The task set in words; only figures of one task set can be compared."""


class Trend(BaseModel):
    """The runs of one agent over time."""

    agent: str
    env: str
    items: list[TrendPoint]
    """The newest first."""
    next: str | None = None
    """Goes into `after` to get older runs; null if these are the oldest."""
    chart: ShownChart | None
    """These runs from the oldest to the newest; null with none."""
    subjects: list[Subject]
    """The agents that played, and where."""


@router.get("/trends")
def get_trend(
    playground: InPlayground,
    agent: Annotated[str, Query(description="The agent's strategy; none lists who played.")] = "",
    env: Annotated[str, Query(description="The domain, such as retail.")] = "",
    after: After = None,
    limit: Limit = 30,
) -> Trend:
    """pass^1 of one agent's runs over time, with intervals."""
    pages = RunPages(playground.store.engine)
    key = key_of(after, 2)
    found = (
        playground.store.runs.pages.jobs(
            after=None if key is None else (str(key[0]), str(key[1])),
            limit=limit + 1,
            where=played_by(agent, env),
        )
        if agent
        else []
    )
    shown_here = found[:limit]
    counts = pages.counts([one.job.id for one in shown_here]) if shown_here else {}
    items = [
        _point(one, [(task.trials, task.successes) for task in counts[one.job.id].values()])
        for one in shown_here
    ]
    last = items[-1].run if len(found) > limit else None
    return Trend(
        agent=agent,
        env=env,
        items=items,
        next=None if last is None else cursor(last.created_at, last.id),
        chart=_chart(items),
        subjects=pages.subjects(),
    )


def _point(standing: Standing[RunRecord], counts: list[tuple[int, int]]) -> TrendPoint:
    estimate: Estimate = SuccessIntervals(counts).pass_hat_k(1)
    value, low, high = map(known, (estimate.value, estimate.low, estimate.high))
    return TrendPoint(
        run=run_item(standing),
        tasks=len(counts),
        pass_1=value,
        low=low,
        high=high,
        value=show(value, "percent", 1),
        interval=span(low, high, "percent"),
        played_on=place_of(standing.job),
    )


def _chart(items: list[TrendPoint]) -> ShownChart | None:
    points = [
        Point(x=place, y=one.pass_1, low=one.low, high=one.high, label=one.run.name)
        for place, one in enumerate(reversed(items), 1)
        if one.pass_1 is not None
    ]
    if not points:
        return None
    chart = Chart(
        id="trend",
        title="pass^1 over time",
        style="bars",
        x=Column(label="Run, by creation", format="count"),
        y=Column(label="pass^1", format="percent"),
        series=[Series(name="pass^1", points=points)],
    )
    (drawn,) = shown([chart])
    assert isinstance(drawn, ShownChart)
    return drawn
