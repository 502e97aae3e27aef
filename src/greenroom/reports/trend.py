"""Nightly runs: which tasks of the last one changed against those before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from sqlalchemy import ColumnElement

from greenroom.analysis.changes import (
    FALSE_ALARMS,
    NIGHTS,
    Night,
    TaskChange,
    find_changes,
    nights_to_find,
)
from greenroom.analysis.figures import Immutable
from greenroom.errors import InputError, UnknownName
from greenroom.reports.task_sets import how_they_differ, place_of
from greenroom.store import RunRecord, Store
from greenroom.store.run_pages import RunPages, named_after, played_by

_PAGE = 50
_SAME = ("model", "user_strategy", "user_model", "user_persona")


class NightlyRun(Immutable, frozen=True):
    """A run of the trend."""

    name: str
    created_at: datetime
    tasks: int
    """Tasks with a result."""
    trials: int
    successes: int
    pass_1: float | None
    """The mean over tasks."""


class Trend(Immutable, frozen=True):
    """The last run of a series beside those before, and the tasks that changed."""

    agent: str
    played_on: str
    runs: list[NightlyRun]
    """The oldest first; the last one is the one that is asked about."""
    other_tasks: list[str]
    """Runs of the series that were left out: they were played on other tasks."""
    changes: list[TaskChange]
    instructions: dict[int, str]
    """What the users of the tasks that changed want."""
    nights_to_find: int | None
    """So many nights it takes to find one task that was always solved and never is any more."""
    false_alarms: float = FALSE_ALARMS
    """The chance of any false alarm in `nights` in a row."""
    nights: int = NIGHTS

    @property
    def worse(self) -> list[TaskChange]:
        """The tasks that are solved less often than they were."""
        return [one for one in self.changes if one.direction == "worse"]


def trend_of(store: Store, name: str, window: int) -> Trend:
    """The trend of a run, or of the runs whose names are a stem and a number.

    The series of a run are the runs before it of the same agent, with the same models, in the same
    domain. The last `window` of them that were played on the same tasks are what it is set against.
    """
    last, candidates = _series(store, name)
    if last.status == "running":
        raise InputError(f"'{last.name}' is under way: its trend can be told when it is over.")
    earlier: list[RunRecord] = []
    others: list[str] = []
    for run in candidates:
        if len(earlier) == window:
            break
        if run.status == "running":
            continue
        if how_they_differ(last, run):
            others.append(run.name)
        else:
            earlier.append(run)
    if not earlier:
        left = f" {len(others)} were played on other tasks." if others else ""
        raise InputError(f"There is no run before '{last.name}' to set it against.{left}")
    runs = [*reversed(earlier), last]
    pages = RunPages(store.engine)
    counts = pages.counts([run.id for run in runs])
    nights: list[Night] = [
        {index: (one.trials, one.successes) for index, one in counts[run.id].items()}
        for run in runs
    ]
    changes = find_changes(nights)
    fewest = min((trials for trials, _ in nights[-1].values()), default=0)
    return Trend(
        agent=last.agent_strategy,
        played_on=place_of(last),
        runs=[_nightly(run, night) for run, night in zip(runs, nights, strict=True)],
        other_tasks=others,
        changes=changes,
        instructions=pages.instructions(last.id, [one.task_index for one in changes]),
        nights_to_find=nights_to_find(fewest, len(nights[-1]), len(nights)) if fewest else None,
    )


def _nightly(run: RunRecord, night: Night) -> NightlyRun:
    rates = [successes / trials for trials, successes in night.values()]
    return NightlyRun(
        name=run.name,
        created_at=run.created_at,
        tasks=len(night),
        trials=sum(trials for trials, _ in night.values()),
        successes=sum(successes for _, successes in night.values()),
        pass_1=sum(rates) / len(rates) if rates else None,
    )


def _series(store: Store, name: str) -> tuple[RunRecord, Iterator[RunRecord]]:
    """The run that is asked about, and those before it that may stand beside it."""
    try:
        last = store.runs.find(name)
    except UnknownName:
        numbered = re.compile(re.escape(name) + r"-\d+")
        found = (
            one for one in _before(store, None, named_after(name)) if numbered.fullmatch(one.name)
        )
        last = next(found, None)
        if last is None:
            raise
        return last, found
    same = [last.config.get(option) for option in _SAME]
    runs = _before(store, last, played_by(last.agent_strategy, last.env))
    return last, (
        run
        for run in runs
        if run.task_split == last.task_split
        and [run.config.get(option) for option in _SAME] == same
    )


def _before(
    store: Store, last: RunRecord | None, where: ColumnElement[bool]
) -> Iterator[RunRecord]:
    """Runs from the newest on, or from the one before a run."""
    place = None if last is None else (last.created_at.isoformat(), last.id)
    while True:
        page = store.runs.pages.jobs(after=place, limit=_PAGE, where=where)
        yield from (one.job for one in page)
        if len(page) < _PAGE:
            return
        place = (page[-1].job.created_at.isoformat(), page[-1].job.id)
