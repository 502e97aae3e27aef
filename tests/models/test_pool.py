"""All models of a job: what they share, and what each cell has of its own."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import anyio
import pytest
from aiohttp import web

from greenroom.config import WorkConfig
from greenroom.errors import InputError
from greenroom.models import (
    AnswerCache,
    Budget,
    BudgetExhausted,
    Ledger,
    ModelPool,
    ModelUnavailable,
    Purse,
    clear_answers,
)
from greenroom.models.cache import answer_cache
from greenroom.store import Usage
from greenroom.trials.pools import open_models
from tests.models.asking import QUESTION, settings_for
from tests.models.stub_server import StubServer, answers, fails, running_stub

pytestmark = pytest.mark.anyio

TOKENS = 110
"""What an answer of the stub takes: 100 tokens of prompt and 10 of completion."""


@asynccontextmanager
async def answering() -> AsyncGenerator[StubServer]:
    async with running_stub() as server:
        server.replies = [answers()]
        yield server


@pytest.fixture
async def stub() -> AsyncGenerator[StubServer]:
    async with answering() as server:
        yield server


@pytest.fixture
async def other() -> AsyncGenerator[StubServer]:
    async with answering() as server:
        yield server


async def test_the_same_settings_give_the_same_client(stub: StubServer) -> None:
    async with ModelPool(timeout=7.0) as pool:
        client = pool.client(settings_for(stub, timeout=None))
        assert pool.client(settings_for(stub, timeout=7.0)) is client
        assert pool.client(settings_for(stub, timeout=8.0)) is not client
        assert pool.client(settings_for(stub, model="n")) is not client
        assert len(pool.clients) == 3


async def test_all_models_spend_one_budget(stub: StubServer, other: StubServer) -> None:
    pool = ModelPool(budget=Budget(max_tokens=2 * TOKENS))
    ledger = Ledger()
    async with pool:
        agent = pool.model(settings_for(stub), "agent", ledger)
        user = pool.model(settings_for(other, model="n"), "user", ledger)
        await agent.complete(QUESTION)
        await user.complete(QUESTION)
        assert pool.budget.tokens == 2 * TOKENS
        for model in (agent, user):
            with pytest.raises(BudgetExhausted):
                await model.complete(QUESTION)
    assert {purse: usage.calls for purse, usage in ledger.usage().items()} == {
        "agent": 1,
        "user": 1,
    }


async def test_models_share_a_limit_where_they_share_an_endpoint(
    stub: StubServer, other: StubServer
) -> None:
    arrived, gate = anyio.Event(), anyio.Event()
    in_flight: list[int] = []

    async def when_open(request: web.Request) -> web.StreamResponse:
        if len(stub.asked) + len(other.asked) == 3:
            arrived.set()
        await gate.wait()
        return await answers()(request)

    stub.replies = other.replies = [when_open]
    async with ModelPool(max_concurrency=2, max_retries=0) as pool:
        models = [pool.model(settings_for(stub, model=name), "agent", Ledger()) for name in "abc"]
        models.append(pool.model(settings_for(other), "user", Ledger()))
        async with anyio.create_task_group() as asking:
            for model in models:
                asking.start_soon(model.complete, QUESTION)
            await arrived.wait()
            await anyio.sleep(0.02)  # for a fourth question, which must not come
            in_flight += [client.counters.in_flight for client in pool.clients]
            gate.set()
        assert (sum(in_flight[:3]), in_flight[3]) == (2, 1)
        assert [client.counters.calls for client in pool.clients] == [1, 1, 1, 1]
        assert [client.counters.limit for client in pool.clients] == [2, 2, 2, 2]


async def test_the_pool_says_how_often_is_retried(stub: StubServer) -> None:
    stub.replies = [fails(500)]
    async with ModelPool(max_retries=1) as pool:
        model = pool.model(settings_for(stub), "agent", Ledger())
        with pytest.raises(ModelUnavailable, match="after 1 retry"):
            await model.complete(QUESTION)
        assert pool.clients[0].counters.retries == 1
    assert len(stub.asked) == 2


@pytest.mark.slow
async def test_scope_and_purse_keep_cached_answers_apart(stub: StubServer, tmp_path: Path) -> None:
    pool = ModelPool(cache=AnswerCache(tmp_path / "answers.db"))
    ledger = Ledger()
    async with pool:
        cells: list[tuple[Purse, str]] = [
            ("agent", "1"),
            ("agent", "1"),
            ("agent", "2"),
            ("user", "1"),
        ]
        for purse, scope in cells:
            model = pool.model(settings_for(stub), purse, ledger, scope=scope, seed=3)
            await model.complete(QUESTION)
        assert pool.clients[0].counters.cache_hits == 1
    assert ledger.usage()["agent"].cached_calls == 1
    assert len(stub.asked) == 3
    assert stub.asked[0]["seed"] == 3
    await pool.close()  # again


async def test_a_pool_from_the_fields_of_a_configuration(stub: StubServer, tmp_path: Path) -> None:
    prices = tmp_path / "prices.json"
    price = {"input_cost_per_token": 0.01, "output_cost_per_token": 0.1}
    prices.write_text(json.dumps({"m": price}))
    config = WorkConfig(max_cost=4.0, prices=str(prices), cache=True, model_retries=0)
    pool = open_models(config, [Usage(calls=1, cost=1.5, prompt_tokens=7)])
    ledger = Ledger()
    async with pool:
        first, second = (
            pool.model(settings_for(stub), "agent", ledger, scope=scope) for scope in "ab"
        )
        await first.complete(QUESTION)
        assert (pool.budget.cost, pool.budget.tokens) == (pytest.approx(3.5), 7 + TOKENS)
        await first.complete(QUESTION)
        await second.complete(QUESTION)
        with pytest.raises(BudgetExhausted, match=r"\$4\.00 is spent"):
            await pool.model(settings_for(stub), "user", ledger).complete(QUESTION)
    assert (ledger.usage()["agent"].calls, ledger.usage()["agent"].cached_calls) == (2, 1)


async def test_a_pool_keeps_nothing_unless_asked(stub: StubServer) -> None:
    async with open_models(WorkConfig()) as pool:
        await pool.model(settings_for(stub), "agent", Ledger()).complete(QUESTION)
    assert not answer_cache().path.exists()


def test_answers_can_be_forgotten() -> None:
    async def ask() -> int:
        async with answering() as stub, open_models(WorkConfig(cache=True)) as pool:
            await pool.model(settings_for(stub), "agent", Ledger()).complete(QUESTION)
            return len(stub.asked)

    def kept() -> int:
        with closing(sqlite3.connect(answer_cache().path)) as database:
            return database.execute("SELECT count(*) FROM answers").fetchone()[0]

    assert (anyio.run(ask), kept()) == (1, 1)
    clear_answers()
    assert kept() == 0


async def test_a_wrong_number_of_places_is_refused(stub: StubServer) -> None:
    async with ModelPool(max_concurrency=0) as pool:
        with pytest.raises(InputError, match="At least one call"):
            pool.client(settings_for(stub))


async def test_latencies_are_kept_by_purse(stub: StubServer, tmp_path: Path) -> None:
    stub.replies = [answers(), fails(400), answers()]
    ledger = Ledger()
    async with ModelPool(cache=AnswerCache(tmp_path / "answers.db")) as pool:
        agent = pool.model(settings_for(stub), "agent", ledger, scope="a")
        other = pool.model(settings_for(stub), "agent", ledger, scope="b")
        first = await agent.complete(QUESTION)
        await agent.complete(QUESTION)  # from the cache
        with pytest.raises(InputError):
            await other.complete(QUESTION)
        assert ledger.latencies() == {"agent": [round(first.seconds, 4)]}
        await other.complete(QUESTION)
    assert len(ledger.latencies()["agent"]) == 2
    assert all(0 < seconds < 10 for seconds in ledger.latencies()["agent"])
