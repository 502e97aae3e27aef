"""The engine by itself: cells that break, stops in the middle, and what is kept of both."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import URL

from greenroom.config import WorkConfig
from greenroom.models import Ledger
from greenroom.store import (
    CellKey,
    EpisodeRecord,
    RunRecord,
    Store,
    Usage,
    open_engine,
    total_cost,
)
from greenroom.trials import Attempted, Plan, engine, open_models, run_job
from tests.store.samples import sample_episode, sample_run

PRICE = 0.25


@dataclass
class Work:
    """Cells that break so many times before they give a result; every attempt costs the same."""

    run: RunRecord
    breaks: dict[CellKey, int]
    max_retries: int
    max_concurrency: int
    attempts: Counter[CellKey] = field(default_factory=Counter[CellKey])

    @asynccontextmanager
    async def open_plan(
        self, used: Sequence[Usage]
    ) -> AsyncGenerator[Plan[EpisodeRecord, EpisodeRecord]]:
        async with open_models(WorkConfig(), used) as pool:
            yield Plan(
                load=lambda keys: [sample_episode(*key) for key in keys],
                attempt=self.attempt,
                pool=pool,
                max_concurrency=self.max_concurrency,
                max_retries=self.max_retries,
            )

    def order(self, finished: set[CellKey]) -> list[CellKey]:
        return [key for key in self.breaks if key not in finished]

    async def attempt(
        self, cell: EpisodeRecord, ledger: Ledger, number: int
    ) -> Attempted[EpisodeRecord]:
        self.attempts[cell.key] += 1
        ledger.add_failure("agent", retries=0, cost=PRICE)
        await anyio.lowlevel.checkpoint()
        broken = self.attempts[cell.key] <= self.breaks[cell.key]
        changes = {"outcome": "infrastructure_error", "reward": None} if broken else {}
        changes |= {"usage": ledger.usage(), "attempts": number, "started_at": datetime.now(UTC)}
        record = cell.model_copy(update=changes)
        return Attempted(record, replay=broken)


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_FIRST_WAIT_SECONDS", 0.0)


@pytest.mark.slow
@given(
    breaks=st.lists(st.integers(0, 3), min_size=1, max_size=8),
    stops=st.lists(st.integers(1, 4), max_size=3),
    max_retries=st.integers(0, 3),
    max_concurrency=st.integers(1, 4),
)
@settings(max_examples=25)
def test_every_cell_gets_one_result_and_every_attempt_is_paid_for_once(
    breaks: list[int], stops: list[int], max_retries: int, max_concurrency: int
) -> None:
    """Whenever a job is stopped, and however often its cells break."""
    run = sample_run(task_indices=list(range(len(breaks))), num_trials=1)
    work = Work(
        run,
        {(index, 0): count for index, count in enumerate(breaks)},
        max_retries,
        max_concurrency,
    )
    with TemporaryDirectory() as folder:
        store = Store(open_engine(URL.create("sqlite", database=str(Path(folder) / "runs.db"))))
        store.runs.create(run)
        for stop in [*stops, None]:
            before = dict(work.attempts), store.runs.finished(run.id)
            kept = _run(store, work, stop)
            attempts, finished = before
            for key in finished:
                assert work.attempts[key] == attempts[key], "a finished cell is left alone"
            assert {one.key for one in kept} <= set(work.breaks)
            assert total_cost(store.runs.usages(run.id)) == PRICE * work.attempts.total()
        results = list(store.runs.results(run.id))
        assert [one.key for one in results] == sorted(work.breaks)
        for one in results:
            assert one.has_result == (work.attempts[one.key] > work.breaks[one.key])
        solved = {one.key for one in results if one.has_result}
        assert store.runs.finished(run.id) == solved
        assert (store.runs.find(run.id).status == "complete") == (solved == set(work.breaks))
        store.close()


def _run(store: Store, work: Work, stop: int | None) -> list[EpisodeRecord]:
    """Run the job, and stop it once so many results were kept."""
    kept: list[EpisodeRecord] = []

    async def main() -> None:
        with anyio.CancelScope() as scope:

            def note(record: EpisodeRecord) -> None:
                kept.append(record)
                if len(kept) == stop:
                    scope.cancel()

            await run_job(store.runs, work.run, work.order, work.open_plan, on_result=note)

    anyio.run(main)
    return kept
