"""Several workers on one job: shares, pauses, losses, and the end of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.errors import InputError
from greenroom.models import Budget, Ledger
from greenroom.models.limits import AdaptiveLimit
from greenroom.store import EpisodeRecord, LeaseOwner, Store, this_process
from greenroom.trials import Attempted, membership, run_job
from greenroom.trials.crew import Crew, share
from tests.store.samples import sample_run
from tests.trials.test_engine import PRICE, Work

pytestmark = pytest.mark.anyio

CELLS = 40


@pytest.fixture(autouse=True)
def quick_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(membership, "LOOK_SECONDS", 0.02)


def _work(cells: int = CELLS, max_concurrency: int = 4) -> Work:
    run = sample_run(task_indices=list(range(cells)), num_trials=1)
    return Work(run, {(index, 0): 0 for index in range(cells)}, 0, max_concurrency)


class SlowWork(Work):
    """Attempts that take a while, one after the other."""

    async def attempt(
        self, cell: EpisodeRecord, ledger: Ledger, number: int
    ) -> Attempted[EpisodeRecord]:
        await anyio.sleep(0.1)
        return await super().attempt(cell, ledger, number)


def _slow_work() -> SlowWork:
    work = _work(max_concurrency=1)
    return SlowWork(work.run, work.breaks, work.max_retries, work.max_concurrency)


def _worker(
    store: Store, work: Work, on_result: Callable[[EpisodeRecord], None] = lambda _: None
) -> Any:
    return partial(
        run_job,
        store.runs,
        work.run,
        work.order,
        work.open_plan,
        helps=True,
        on_result=on_result,
    )


@given(total=st.integers(0, 1000), workers=st.integers(1, 50))
def test_the_shares_of_all_workers_are_the_whole(total: int, workers: int) -> None:
    shares = [share(total, workers, place) for place in range(workers)]
    assert sum(shares) == total
    assert max(shares) - min(shares) <= 1


async def test_workers_share_the_cells_of_a_job(store: Store) -> None:
    work, by = _work(), list[int]()
    store.runs.create(work.run)
    async with anyio.create_task_group() as group:
        for number in range(4):
            group.start_soon(_worker(store, work, lambda _, n=number: by.append(n)))
    assert set(work.attempts.values()) == {1}, "nothing is attempted twice"
    assert len(store.runs.finished(work.run.id)) == len(by) == CELLS
    assert len(set(by)) > 1
    assert sum(used.cost or 0 for used in store.runs.usages(work.run.id)) == CELLS * PRICE
    assert store.runs.workers.standings(work.run.id) == []


@pytest.mark.slow
async def test_a_job_that_is_paused_begins_nothing_until_it_goes_on(store: Store) -> None:
    work, kept = _slow_work(), list[EpisodeRecord]()
    store.runs.create(work.run)
    told = anyio.Event()

    def note(record: EpisodeRecord) -> None:
        kept.append(record)
        if len(kept) == 5:
            store.runs.controls.change(work.run.id, paused=True)
            told.set()

    async with anyio.create_task_group() as group:
        group.start_soon(_worker(store, work, note))
        await told.wait()
        # Attempts that were under way have ended after a few looks.
        await anyio.sleep(1.0)
        paused_at = work.attempts.total()
        assert paused_at < CELLS
        await anyio.sleep(0.5)
        assert work.attempts.total() == paused_at
        store.runs.controls.change(work.run.id, paused=False)
    assert len(store.runs.finished(work.run.id)) == CELLS


async def test_a_paused_worker_ends_when_the_others_have_done_everything(store: Store) -> None:
    work = _work(cells=3)
    store.runs.create(work.run)
    store.runs.controls.change(work.run.id, paused=True)
    store.runs.workers.enqueue(work.run.id, work.run.name, work.order)
    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(_worker(store, work))
            await anyio.sleep(0.2)
            assert not work.attempts
            store.runs.workers.drop(work.run.id, list(work.breaks))


async def test_the_cells_of_a_worker_that_is_lost_are_attempted_by_others(store: Store) -> None:
    work = _work(cells=6)
    store.runs.create(work.run)
    here = this_process()
    lost = LeaseOwner(here.host, 2**22 - 1, "lost")
    run = work.run
    store.runs.workers.enqueue(run.id, run.name, work.order)
    store.runs.workers.join(run.id, run.name, here, work.order, helps=True)
    store.runs.workers.join(run.id, run.name, lost, work.order, helps=True)
    assert len(store.runs.workers.claim(run.id, lost, 4)) == 4
    store.runs.workers.leave(run.id, here)
    with anyio.fail_after(20):
        await _worker(store, work)()
    assert set(work.attempts.values()) == {1}
    assert len(store.runs.finished(run.id)) == 6


async def test_a_worker_that_others_thought_to_be_gone_comes_back(store: Store) -> None:
    work, kept = _work(), list[EpisodeRecord]()
    store.runs.create(work.run)

    def note(record: EpisodeRecord) -> None:
        kept.append(record)
        if len(kept) in (5, 20):
            with store.engine.begin() as connection:
                connection.exec_driver_sql("DELETE FROM workers")

    await _worker(store, work, note)()
    assert len(store.runs.finished(work.run.id)) == CELLS
    assert len(kept) == work.attempts.total()


async def test_one_that_works_alone_gives_way_to_another(store: Store) -> None:
    work, kept = _work(), list[EpisodeRecord]()
    store.runs.create(work.run)
    other = LeaseOwner("elsewhere", 1, "other")

    def note(record: EpisodeRecord) -> None:
        kept.append(record)
        if len(kept) == 5:
            with store.engine.begin() as connection:
                connection.exec_driver_sql("DELETE FROM workers")
            store.runs.workers.join(work.run.id, work.run.name, other, work.order)
            store.runs.controls.change(work.run.id, paused=True)

    job = run_job(store.runs, work.run, work.order, work.open_plan, on_result=note)
    with pytest.raises(InputError, match="Another process has taken over the run"):
        await job


async def test_a_crew_grows_and_shrinks() -> None:
    under_way, gate = list[anyio.Event](), [anyio.Event()]

    async def attempt() -> bool:
        end = gate[0]
        under_way.append(end)
        await end.wait()
        under_way.remove(end)
        return True

    async with anyio.create_task_group() as group:
        crew = Crew(group, attempt)
        for wanted in (2, 5, 0, 1):
            crew.resize(wanted)
            # Those that were under way end, and go on if they are still wanted.
            before, gate[0] = gate[0], anyio.Event()
            before.set()
            await anyio.wait_all_tasks_blocked()
            assert len(under_way) == wanted
        crew.end()
        crew.resize(9)
        gate[0].set()
    assert under_way == [], "nothing more was begun"


async def test_a_limit_that_is_resized_lets_as_many_in() -> None:
    limit = AdaptiveLimit(1)
    inside = 0

    async def enter() -> None:
        nonlocal inside
        async with limit:
            inside += 1
            await anyio.sleep_forever()

    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(enter)
        await anyio.wait_all_tasks_blocked()
        assert inside == 1
        limit.resize(3)
        await anyio.wait_all_tasks_blocked()
        assert inside == 3
        limit.overloaded()
        limit.resize(5)
        assert limit.current == 1, "what the endpoint can take still holds"
        group.cancel_scope.cancel()


async def test_a_larger_budget_lets_the_calls_go_on_that_wait() -> None:
    budget, under_way = Budget(max_cost=1.0), list[int]()
    both, end = anyio.Event(), anyio.Event()

    async def call(number: int) -> None:
        async with budget.reserve(cost=0.8, tokens=1):
            under_way.append(number)
            if len(under_way) == 2:
                both.set()
            await end.wait()

    async with anyio.create_task_group() as group:
        group.start_soon(call, 1)
        group.start_soon(call, 2)
        await anyio.wait_all_tasks_blocked()
        assert under_way == [1]
        budget.set(5.0, None)
        with anyio.fail_after(20):
            await both.wait()
        end.set()
