"""Every call is counted, to the cent and in the right purse."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path

import anyio
import pytest
from aiohttp import web

from greenroom.errors import InputError
from greenroom.models import (
    AnswerCache,
    Budget,
    BudgetExhausted,
    Completion,
    ContentFiltered,
    FakeModel,
    Ledger,
    ModelRequest,
    ModelUnavailable,
    Prices,
)
from greenroom.store.records import Usage
from tests.models.asking import QUESTION, client_for
from tests.models.stub_server import (
    StubServer,
    answer_body,
    answers,
    fails,
    hangs,
    json_reply,
)

pytestmark = pytest.mark.anyio

ONE = 100 * 0.01 + 10 * 0.05
"""What an answer of the stub costs: 100 tokens of prompt and 10 of completion."""


@pytest.fixture
def prices(tmp_path: Path) -> Prices:
    path = tmp_path / "prices.json"
    price = {
        "input_cost_per_token": 0.01,
        "output_cost_per_token": 0.05,
        "cache_read_input_token_cost": 0.001,
    }
    path.write_text(json.dumps({"m": price}))
    return Prices.load(path)


@pytest.fixture
def cache(tmp_path: Path) -> Generator[AnswerCache]:
    opened = AnswerCache(tmp_path / "answers.db")
    yield opened
    opened.close()


async def test_purses_are_kept_apart_and_to_the_cent(stub: StubServer, prices: Prices) -> None:
    cached = {
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "prompt_tokens_details": {"cached_tokens": 60},
    }
    stub.replies = [answers(), answers(), answers(usage=cached)]
    ledger = Ledger()
    async with client_for(stub, prices=prices) as client:
        agent, user = (client.for_episode(purse, ledger) for purse in ("agent", "user"))
        first = await agent.complete(QUESTION)
        await user.complete(QUESTION)
        await agent.complete(QUESTION)
    assert first.cost == pytest.approx(ONE)
    usage = ledger.usage()
    assert list(usage) == ["agent", "user"]
    cost = usage["agent"].cost
    assert cost == pytest.approx(ONE + 40 * 0.01 + 60 * 0.001 + 10 * 0.05)
    assert usage["agent"] == Usage(
        calls=2, prompt_tokens=200, completion_tokens=20, cost=cost, cached_cost=0.0
    )


async def test_an_answer_from_the_cache_is_counted_apart(
    stub: StubServer, prices: Prices, cache: AnswerCache
) -> None:
    stub.replies = [answers()]
    ledger = Ledger()
    async with client_for(stub, prices=prices, cache=cache) as client:
        bought, kept = [
            await client.for_episode("agent", ledger, "trial 0", 7).complete(QUESTION)
            for _ in range(2)
        ]
        other_trial = await client.for_episode("agent", Ledger(), "trial 1", 7).complete(QUESTION)
        other_purse = await client.for_episode("user", Ledger(), "trial 0", 7).complete(QUESTION)
        assert client.counters.cache_hits == 1
        assert client.counters.calls == 3
    assert (bought.from_cache, kept.from_cache) == (False, True)
    assert not other_trial.from_cache
    assert not other_purse.from_cache
    assert kept.cost == bought.cost
    assert ledger.usage()["agent"] == Usage(
        calls=1,
        prompt_tokens=100,
        completion_tokens=10,
        cost=ONE,
        cached_calls=1,
        cached_prompt_tokens=100,
        cached_completion_tokens=10,
        cached_cost=ONE,
    )


async def test_only_answers_from_the_cache_cost_nothing(
    stub: StubServer, prices: Prices, cache: AnswerCache
) -> None:
    stub.replies = [answers()]
    ledger = Ledger()
    async with client_for(stub, prices=prices, cache=cache) as client:
        await client.for_episode("agent", Ledger()).complete(QUESTION)
        await client.for_episode("agent", ledger).complete(QUESTION)
    usage = ledger.usage()["agent"]
    assert (usage.calls, usage.cost, usage.cached_cost) == (0, 0.0, pytest.approx(ONE))


async def test_retries_are_counted_and_what_they_used_is_paid(
    stub: StubServer, prices: Prices
) -> None:
    no_message = answer_body() | {"choices": [{"index": 0, "message": None}]}
    stub.replies = [fails(500), json_reply(no_message), answers()]
    ledger = Ledger()
    async with client_for(stub, prices=prices) as client:
        completion = await client.for_episode("agent", ledger).complete(QUESTION)
        assert client.counters.retries == 2
    assert completion.retries == 2
    assert ledger.usage()["agent"] == Usage(
        calls=1,
        prompt_tokens=200,
        completion_tokens=20,
        cost=completion.cost,
        retries=2,
        cached_cost=0.0,
    )
    assert completion.cost == pytest.approx(2 * ONE)


async def test_a_failed_call_is_counted_too(stub: StubServer, prices: Prices) -> None:
    stub.replies = [fails(500)]
    ledger = Ledger()
    budget = Budget()
    async with client_for(stub, prices=prices, budget=budget) as client:
        with pytest.raises(ModelUnavailable):
            await client.for_episode("agent", ledger).complete(QUESTION)
    assert ledger.usage()["agent"] == Usage(calls=1, retries=3, cost=0.0, cached_cost=0.0)
    stub.replies = [answers("", finish="content_filter")]
    async with client_for(stub, prices=prices, budget=budget) as client:
        with pytest.raises(ContentFiltered):
            await client.for_episode("user", ledger).complete(QUESTION)
    usage = ledger.usage()["user"]
    assert (usage.calls, usage.prompt_tokens, usage.cost) == (1, 100, pytest.approx(ONE))
    assert (budget.tokens, budget.cost) == (110, pytest.approx(ONE))


async def test_a_call_that_is_called_off_is_counted(stub: StubServer, prices: Prices) -> None:
    asked = anyio.Event()

    async def asked_and_hanging(request: web.Request) -> web.StreamResponse:
        asked.set()
        return await hangs(request)

    stub.replies = [fails(500), asked_and_hanging]
    ledger = Ledger()
    async with client_for(stub, prices=prices) as client:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.for_episode("agent", ledger).complete, QUESTION)
                await asked.wait()
                assert client.counters.in_flight == 1
                scope.cancel()
        assert client.counters.in_flight == 0
    usage = ledger.usage()["agent"]
    assert (usage.calls, usage.retries, usage.lost_calls) == (1, 1, 1)


async def test_one_unknown_price_makes_the_cost_unknown(stub: StubServer, prices: Prices) -> None:
    stub.replies = [answers(), answers(usage={}), answers()]
    ledger = Ledger()
    budget = Budget(max_cost=100.0)
    async with client_for(stub, prices=prices, budget=budget) as client:
        model = client.for_episode("agent", ledger)
        for _ in range(3):
            await model.complete(QUESTION)
    usage = ledger.usage()["agent"]
    assert (usage.calls, usage.cost, usage.prompt_tokens) == (3, None, 200)
    assert (budget.cost, budget.unpriced_calls) == (pytest.approx(2 * ONE), 1)
    async with client_for(stub) as unpriced:
        await unpriced.for_episode("user", ledger).complete(QUESTION)
    assert ledger.usage()["user"].cost is None


async def test_any_model_can_be_counted() -> None:
    answer = Completion(message={}, prompt_tokens=3, completion_tokens=1, cost=0.5, retries=1)
    ledger = Ledger()
    model = ledger.model(
        "judge",
        FakeModel(
            [
                answer,
                ModelUnavailable("gone", retries=3),
                ContentFiltered("no"),
                BudgetExhausted("spent"),
            ]
        ),
    )
    assert await model.complete(QUESTION) == answer
    for error in (ModelUnavailable, ContentFiltered, BudgetExhausted):
        with pytest.raises(error):
            await model.complete(QUESTION)
    assert ledger.usage() == {
        "judge": Usage(
            calls=3,
            prompt_tokens=3,
            completion_tokens=1,
            cost=0.5,
            retries=4,
            lost_calls=2,
            cached_cost=0.0,
        )
    }


async def test_a_purse_that_was_not_used_is_not_there(stub: StubServer) -> None:
    ledger = Ledger()
    async with client_for(stub) as client:
        client.for_episode("agent", ledger)
        spent = client_for(stub, budget=Budget(max_tokens=0))
        async with spent as broke:
            with pytest.raises(BudgetExhausted):
                await broke.for_episode("agent", ledger).complete(QUESTION)
    assert ledger.usage() == {}
    assert stub.asked == []


async def test_a_budget_ends_what_costs_but_not_what_is_free(
    stub: StubServer, prices: Prices, cache: AnswerCache
) -> None:
    stub.replies = [answers()]
    budget = Budget(max_cost=2.0, cost=0.6)
    other = ModelRequest(messages=[{"role": "user", "content": "something else"}])
    async with client_for(stub, prices=prices, cache=cache, budget=budget) as client:
        model = client.for_episode("agent", Ledger())
        await model.complete(QUESTION)
        with pytest.raises(BudgetExhausted, match=r"The budget of \$2.00 is spent \(\$2.1000\)"):
            await model.complete(other)
        assert (await model.complete(QUESTION)).from_cache
    assert len(stub.asked) == 1


async def test_a_seed_is_for_questions_without_one(stub: StubServer) -> None:
    stub.replies = [answers()]
    async with client_for(stub) as client:
        model = client.for_episode("agent", Ledger(), seed=2**40 + 5)
        await model.complete(QUESTION)
        await model.complete(ModelRequest(messages=[], seed=3))
        await client.for_episode("agent", Ledger()).complete(QUESTION)
    assert [asked.get("seed") for asked in stub.asked] == [5, 3, None]


async def test_a_refused_request_is_counted(stub: StubServer) -> None:
    stub.replies = [fails(404)]
    ledger = Ledger()
    async with client_for(stub) as client:
        with pytest.raises(InputError):
            await client.for_episode("agent", ledger).complete(QUESTION)
    assert ledger.usage()["agent"].calls == 1
