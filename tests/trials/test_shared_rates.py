"""A provider's rate over several workers: kept, used, and slowed down by all at once."""

from __future__ import annotations

import random
import time
from collections.abc import AsyncGenerator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

import anyio
import pytest
from aiohttp import web

from greenroom.config import WorkConfig
from greenroom.models import Ledger, ModelRequest, ModelSettings
from greenroom.store import CellKey, EpisodeRecord, RunRecord, Store, Usage
from greenroom.store.endpoints import Endpoints
from greenroom.trials import Attempted, Plan, membership, open_models, run_job
from tests.store.samples import sample_episode, sample_run

pytestmark = pytest.mark.anyio

RATE = 50
WORKERS = 4
CELLS = 200
FEW = 60


@dataclass
class Provider:
    """A model that takes so many calls in any second, and refuses the others."""

    most: float
    arrived: list[float] = field(default_factory=list[float])
    refused: int = 0
    url: str = ""

    async def answer(self, _: web.Request) -> web.Response:
        now = time.monotonic()
        if sum(now - when < 1.0 for when in self.arrived[-2 * RATE :]) >= self.most:
            self.refused += 1
            return web.json_response({"error": {"message": "slow down"}}, status=429)
        self.arrived.append(now)
        await anyio.sleep(0.05)
        message = {"role": "assistant", "content": "ok"}
        return web.json_response(
            {
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1},
            }
        )


@asynccontextmanager
async def _served(provider: Provider) -> AsyncGenerator[Provider]:
    app = web.Application()
    app.router.add_post("/v1/chat/completions", provider.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        provider.url = f"http://{host}:{port}/v1"
        yield provider
    finally:
        await runner.cleanup()


@dataclass
class Asking:
    """Workers whose cells ask the provider once."""

    store: Store
    run: RunRecord
    provider: Provider
    rate: float | None
    cells: int = CELLS

    async def work(self) -> None:
        await run_job(self.store.runs, self.run, self._order, self._open_plan, helps=True)

    def _order(self, finished: set[CellKey]) -> list[CellKey]:
        return [(n, 0) for n in range(self.cells) if (n, 0) not in finished]

    @asynccontextmanager
    async def _open_plan(
        self, used: Sequence[Usage]
    ) -> AsyncGenerator[Plan[EpisodeRecord, EpisodeRecord]]:
        config = WorkConfig(max_calls_per_second=self.rate, max_concurrency=40, model_retries=8)
        async with open_models(config, used) as pool:
            settings = ModelSettings(model="any", api_base=self.provider.url)

            async def attempt(
                cell: EpisodeRecord, ledger: Ledger, number: int
            ) -> Attempted[EpisodeRecord]:
                model = pool.model(settings, "agent", ledger)
                await model.complete(ModelRequest(messages=[{"role": "user", "content": "hi"}]))
                changes = {"usage": ledger.usage(), "started_at": datetime.now(UTC)}
                return Attempted(cell.model_copy(update=changes))

            yield Plan(
                load=lambda keys: [sample_episode(*key) for key in keys],
                attempt=attempt,
                pool=pool,
                max_concurrency=40,
            )


@pytest.mark.slow
async def test_every_call_of_all_workers_waits_for_its_slot(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GREENROOM_API_KEY", "k")
    run = store.runs.create(sample_run(task_indices=list(range(CELLS)), num_trials=1))
    slots: list[float] = []
    reserve = Endpoints.reserve

    def noted(endpoints: Endpoints, name: str, rate: float, count: int) -> tuple[float, int]:
        before = time.monotonic()
        first, reserved = reserve(endpoints, name, rate, count)
        slots.extend(before + first + place / rate for place in range(reserved))
        return first, reserved

    monkeypatch.setattr(Endpoints, "reserve", noted)
    async with _served(Provider(most=10_000)) as provider:
        asking = Asking(store, run, provider, RATE)
        async with anyio.create_task_group() as group:
            for _ in range(WORKERS):
                group.start_soon(asking.work)
    assert len(store.runs.finished(run.id)) == CELLS
    assert len(provider.arrived) == CELLS
    # A busy machine may send a call late, or let its slot go by, and never early.
    assert all(a >= s - 0.005 for a, s in zip(provider.arrived, sorted(slots), strict=False))


def test_slots_of_all_processes_are_as_far_apart_as_the_rate_says(store: Store) -> None:
    draw, rate = random.Random(2), 1000.0
    counts = [draw.randint(1, 9) for _ in range(60)]
    start = time.monotonic()
    with ThreadPoolExecutor(4) as pool:
        reserved = list(pool.map(partial(store.runs.endpoints.reserve, "x", rate), counts))
    assert [count for _, count in reserved] == counts
    assert min(wait for wait, _ in reserved) >= 0.0
    # All slots before the next one take the time that the rate allows them.
    following, _ = store.runs.endpoints.reserve("x", rate, 1)
    assert time.monotonic() - start + following >= sum(counts) / rate - 0.005
    # An endpoint that asked to be left alone is left alone by all, and others are not.
    store.runs.endpoints.overloaded("x", 30.0)
    wait, count = store.runs.endpoints.reserve("x", rate, 1)
    assert wait > 25.0
    assert not count
    assert store.runs.endpoints.reserve("y", rate, 1) == (0.0, 1)


def test_slots_are_those_of_soon_and_a_rate_that_is_raised_holds_soon(store: Store) -> None:
    reserve = store.runs.endpoints.reserve
    first, count = reserve("x", 10.0, 40)
    assert first == 0.0
    assert 10 <= count <= 11, "those of a second"
    assert reserve("x", 10.0, 40)[1] <= 5
    assert reserve("y", 0.02, 5) == (0.0, 1)
    wait, count = reserve("y", 0.02, 1)
    assert wait > 40.0
    assert not count
    assert reserve("y", 100.0, 1)[0] < 1.1


@pytest.mark.slow
async def test_a_worker_slows_down_when_another_one_was_told_to(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GREENROOM_API_KEY", "k")
    monkeypatch.setattr(membership, "LOOK_SECONDS", 0.05)
    run = store.runs.create(sample_run(task_indices=list(range(FEW)), num_trials=1))
    slowed: list[str] = []
    from greenroom.models import ModelPool

    before = ModelPool.slow_down

    def slow_down(pool: ModelPool, endpoint: str, at: float, held: float) -> None:
        slowed.append(endpoint)
        before(pool, endpoint, at, held)

    monkeypatch.setattr(ModelPool, "slow_down", slow_down)
    async with _served(Provider(most=20)) as provider:
        asking = Asking(store, run, provider, None, FEW)
        async with anyio.create_task_group() as group:
            for _ in range(WORKERS):
                group.start_soon(asking.work)
    assert provider.refused
    assert slowed
    assert len(store.runs.finished(run.id)) == FEW
