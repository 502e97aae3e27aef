"""A budget that several workers share: it holds over all of them."""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

import anyio
import pytest

from greenroom.config import WorkConfig
from greenroom.models import Budget, BudgetExhausted, Completion, Ledger
from greenroom.store import (
    CellKey,
    EpisodeRecord,
    LeaseOwner,
    RunRecord,
    Store,
    Usage,
    this_process,
)
from greenroom.store.allowances import Allowance
from greenroom.trials import Attempted, Plan, grants, membership, open_models, run_job
from greenroom.trials.work import JobWork
from tests.store.samples import sample_episode, sample_run

pytestmark = pytest.mark.anyio

CALL = 0.01
CALLS_PER_CELL = 3
CELLS = 200
WORKERS = 4


@pytest.fixture(autouse=True)
def quick_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(membership, "LOOK_SECONDS", 0.02)


@dataclass
class Spending:
    """Workers whose cells make calls of a known price."""

    store: Store
    run: RunRecord
    config: WorkConfig
    spent: float = 0.0
    """What all calls together cost: the truth."""
    half: anyio.Event = field(default_factory=anyio.Event)
    """Set once half a dollar is spent."""
    draw: random.Random = field(default_factory=lambda: random.Random(3))

    async def work(self, *, helps: bool = True) -> None:
        await run_job(self.store.runs, self.run, self._order, self._open_plan, helps=helps)

    def _order(self, finished: set[CellKey]) -> list[CellKey]:
        return [(n, 0) for n in range(CELLS) if (n, 0) not in finished]

    @asynccontextmanager
    async def _open_plan(
        self, used: Sequence[Usage]
    ) -> AsyncGenerator[Plan[EpisodeRecord, EpisodeRecord]]:
        async with open_models(self.config, used) as pool:
            yield Plan(
                load=lambda keys: [sample_episode(*key) for key in keys],
                attempt=self._attempt,
                pool=pool,
                max_concurrency=8,
            )

    async def _attempt(
        self, cell: EpisodeRecord, ledger: Ledger, number: int
    ) -> Attempted[EpisodeRecord]:
        for _ in range(CALLS_PER_CELL):
            async with ledger.call("agent") as count:
                await anyio.sleep(self.draw.uniform(0, 0.01))
                self.spent += CALL
                if self.spent >= 0.5:
                    self.half.set()
                count(
                    Completion(
                        message={"role": "assistant", "content": "x"}, cost=CALL, prompt_tokens=10
                    )
                )
        return Attempted(
            cell.model_copy(update={"usage": ledger.usage(), "started_at": datetime.now(UTC)})
        )


def _spending(store: Store, **config: object) -> Spending:
    run = store.runs.create(sample_run(task_indices=list(range(CELLS)), num_trials=1))
    return Spending(store, run, WorkConfig.model_validate(config))


@pytest.mark.slow
async def test_the_budget_holds_over_all_workers(store: Store) -> None:
    spending = _spending(store, max_cost=1.0)
    ended: list[str] = []

    async def work() -> None:
        try:
            await spending.work()
        except BudgetExhausted as error:
            ended.append(str(error))

    async with anyio.create_task_group() as group:
        for _ in range(WORKERS):
            group.start_soon(work)
    assert len(ended) == WORKERS
    assert all("The budget of $1.00 is spent" in one for one in ended)
    # Each worker may pass its part by one call, and leaves at most a few calls unused.
    assert spending.spent <= 1.0 + WORKERS * CALL
    assert spending.spent >= 0.9
    stored = sum(used.cost or 0.0 for used in store.runs.usages(spending.run.id))
    assert stored == pytest.approx(spending.spent)
    # Whoever goes on with it spends the rest, and with more it goes on to its end.
    with pytest.raises(BudgetExhausted):
        await spending.work(helps=False)
    store.runs.controls.change(spending.run.id, config={"max_cost": 100.0})
    await spending.work(helps=False)
    assert store.runs.find("sample").status == "complete"


async def test_tokens_are_shared_in_the_same_way(store: Store) -> None:
    spending = _spending(store, max_tokens_total=1000)

    async def work() -> None:
        with suppress(BudgetExhausted):
            await spending.work()

    async with anyio.create_task_group() as group:
        for _ in range(WORKERS):
            group.start_soon(work)
    tokens = sum(used.tokens for used in store.runs.usages(spending.run.id))
    assert 900 <= tokens <= 1000 + WORKERS * 10


@pytest.mark.slow
async def test_one_that_was_alone_makes_room_for_those_that_join(store: Store) -> None:
    spending, by = _spending(store, max_cost=5.9), list[str]()

    async def work(name: str) -> None:
        with suppress(BudgetExhausted):
            await spending.work()
        by.append(name)

    async with anyio.create_task_group() as group:
        group.start_soon(work, "first")
        await anyio.sleep(0.15)
        group.start_soon(work, "second")
    # $6.00 would be needed: the budget was used up, whoever had it.
    assert 5.5 <= spending.spent <= 5.9 + 2 * CALL


@pytest.mark.slow
async def test_a_budget_that_is_lowered_ends_what_was_handed_out(store: Store) -> None:
    spending = _spending(store, max_cost=100.0)

    async def work() -> None:
        with suppress(BudgetExhausted):
            await spending.work()

    async with anyio.create_task_group() as group:
        for _ in range(WORKERS):
            group.start_soon(work)
        await spending.half.wait()
        # Each of them has been given much more than that.
        store.runs.controls.change(spending.run.id, config={"max_cost": 0.4})
    # They see it at their next look; calls under way end.
    assert 0.5 <= spending.spent < 4.0, "$6.00 would be needed"
    assert store.runs.find("sample").status == "interrupted"


def test_what_workers_are_given_is_never_more_than_the_budget(store: Store) -> None:
    run = store.runs.create(sample_run())
    workers, allowances = store.runs.workers, store.runs.allowances
    owners = [this_process(), LeaseOwner("a", 1, "a"), LeaseOwner("b", 1, "b")]
    for owner in owners:
        workers.join(run.id, run.name, owner, lambda _: [(0, 0)], helps=True)
    draw = random.Random(1)
    given = dict.fromkeys(owners, Allowance())

    def take(owner: LeaseOwner, need: Allowance) -> Allowance:
        taken = allowances.take(run.id, owner, (1.0, 1000), need)
        assert taken is not None
        return taken

    for _ in range(200):
        owner = draw.choice(owners)
        given[owner] = take(owner, Allowance(draw.uniform(0, 0.2), draw.randrange(50)))
        assert sum(one.cost for one in given.values()) <= 1.0 + 1e-9
        assert sum(one.tokens for one in given.values()) <= 1000
    assert sum(one.cost for one in given.values()) > 0.99
    # What one gives back, another one gets; what one is lost with, nobody gets.
    back = Allowance(given[owners[0]].cost / 2, given[owners[0]].tokens // 2)
    allowances.give_back(run.id, owners[0], back)
    more = take(owners[1], Allowance(1.0, 1000))
    assert more.cost == pytest.approx(given[owners[1]].cost + back.cost)
    workers.leave(run.id, owners[2], Allowance(0.01, 1))
    rest = take(owners[1], Allowance(1.0, 1000))
    assert rest.cost == pytest.approx(more.cost + given[owners[2]].cost - 0.01)


async def test_a_worker_that_was_thought_to_be_gone_goes_on_spending(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grants, "LOOK_SECONDS", 0.02)
    run = store.runs.create(sample_run())
    work = JobWork(store.runs, run, lambda _: None)
    worker = membership.Membership(work, lambda _: [(0, 0)], helps=True)
    await worker.join()
    budget = Budget(max_cost=1.0)
    shared = grants.SharedBudget(work, worker, budget)
    assert await shared.more(0.1, 0)
    assert shared.cost == 1.0
    budget.spend(0.3, 0)
    with store.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM workers")

    async def come_back() -> None:
        await anyio.sleep(0.1)
        worker.owner = this_process()
        await worker.join()

    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(come_back)
            # It waits until it counts as a worker again: nothing says that the budget is spent.
            while shared.cost == 1.0:
                assert await shared.more(0.1, 0)
    # What it had before is with the worker that it was.
    assert shared.cost == 1.3
    assert shared.spent() == Allowance(0.0, 0)
    assert not shared.dry


async def test_what_was_spent_before_counts(store: Store) -> None:
    spending = _spending(store, max_cost=1.0)
    paid = {"usage": {"agent": Usage(calls=1, cost=0.97)}}
    store.runs.add(spending.run.id, [sample_episode(0, 0).model_copy(update=paid)])
    with anyio.fail_after(20), pytest.raises(BudgetExhausted):
        await spending.work()
    assert spending.spent <= 0.03 + 2 * CALL
