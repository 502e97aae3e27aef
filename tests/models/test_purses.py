"""Every call is counted, to the cent and in the right purse."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Generator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

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
    ModelClient,
    ModelRequest,
    ModelSettings,
    ModelUnavailable,
    Prices,
    RetryPolicy,
)
from greenroom.store.records import Usage
from tests.models.asking import QUESTION, client_for
from tests.models.stub_server import (
    Reply,
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


def test_a_budget_says_what_it_does_not_know() -> None:
    budget = Budget(max_cost=1.0, max_tokens=100, unpriced_calls=1)
    budget.spend(None, 40)
    budget.check()
    budget.spend(1.0, 10)
    with pytest.raises(BudgetExhausted, match="2 calls of unknown price come on top"):
        budget.check()
    tokens = Budget(max_tokens=100, tokens=60)
    tokens.check()
    tokens.spend(None, 40)
    with pytest.raises(BudgetExhausted, match=r"100 tokens is spent \(100\)"):
        tokens.check()


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


# Reserving: a budget is not passed by many calls at once.


class Asked:
    """A model that takes its time and its tokens; counts who asks at once."""

    def __init__(self, tokens: int = 1_000, cost: float | None = None) -> None:
        self.answer = Completion(message={}, prompt_tokens=tokens, cost=cost)
        self.calls = self.now = self.most = 0

    async def complete(self, request: ModelRequest) -> Completion:
        self.calls += 1
        self.now += 1
        self.most = max(self.most, self.now)
        await anyio.sleep(0.001)
        self.now -= 1
        return self.answer


async def fifty_times(ask: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async with anyio.create_task_group() as tasks:
        for _ in range(50):
            tasks.start_soon(ask)


async def spent_by_many(budget: Budget, model: Asked) -> str:
    """Ask fifty at a time until the budget ends it: what is said."""

    async def ask() -> None:
        counted = Ledger(budget).model("agent", model)
        while True:
            await counted.complete(QUESTION)

    with pytest.raises(BaseExceptionGroup) as raised:
        await fifty_times(ask)
    said = {str(error) for error in raised.value.exceptions}
    assert len(said) == 1
    return said.pop()


async def test_many_at_once_pass_a_budget_of_tokens_by_one_call_at_most() -> None:
    budget, model = Budget(max_tokens=100_500), Asked()
    said = await spent_by_many(budget, model)
    assert budget.tokens == model.calls * 1_000 == 101_000
    assert said == "The budget of 100,500 tokens is spent (101,000)."
    assert model.most == 50


async def test_many_at_once_pass_a_budget_of_money_by_one_call_at_most() -> None:
    budget, model = Budget(max_cost=0.0095), Asked(cost=0.001)
    said = await spent_by_many(budget, model)
    assert (model.calls, budget.cost) == (10, pytest.approx(0.01))
    assert said == "The budget of $0.01 is spent ($0.0100)."


async def test_a_client_reserves_what_a_question_may_take(stub: StubServer) -> None:
    stub.replies = [answers(usage={"prompt_tokens": 900, "completion_tokens": 100})]
    budget = Budget(max_tokens=20_500)
    async with client_for(stub, budget=budget) as client:

        async def ask() -> None:
            model = client.for_episode("agent", Ledger())
            while True:
                await model.complete(QUESTION)

        with pytest.raises(BaseExceptionGroup):
            await fifty_times(ask)
    assert budget.tokens == len(stub.asked) * 1_000 == 21_000


async def test_a_spent_budget_waits_for_the_calls_that_are_paid() -> None:
    budget, ledger = Budget(max_cost=1.0, cost=0.5), Ledger()
    slow = anyio.Event()

    class Slow:
        async def complete(self, request: ModelRequest) -> Completion:
            await slow.wait()
            return Completion(message={}, cost=0.7)

    async def stops() -> None:
        with pytest.raises(BudgetExhausted, match=r"\$1.2000"):
            await ledger.model("agent", FakeModel(["never asked"])).complete(QUESTION)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(Ledger(budget).model("agent", Slow()).complete, QUESTION)
        await anyio.wait_all_tasks_blocked()
        ledger = Ledger(budget)
        tasks.start_soon(stops)
        await anyio.wait_all_tasks_blocked()
        slow.set()
    assert ledger.usage() == {}


async def test_a_model_that_asks_another_does_not_wait_for_itself(stub: StubServer) -> None:
    stub.replies = [answers()]
    budget = Budget(max_tokens=150)
    async with client_for(stub, budget=budget) as client:
        inner = client.for_episode("agent", Ledger())
        with anyio.fail_after(5):
            assert (await Ledger(budget).model("agent", inner).complete(QUESTION)).text


@pytest.mark.parametrize(
    ("reply", "lost"),
    [(fails(500), 0), (fails(429), 0), (json_reply({"choices": []}), 4)],
)
async def test_a_failed_call_is_lost_only_if_it_may_be_billed(
    stub: StubServer, reply: Reply, lost: int
) -> None:
    stub.replies = [reply]
    ledger = Ledger()
    async with client_for(stub) as client:
        with pytest.raises(ModelUnavailable):
            await client.for_episode("agent", ledger).complete(QUESTION)
    usage = ledger.usage()["agent"]
    assert (usage.cost, usage.lost_calls, usage.retries) == (0.0, lost, 3)


async def test_a_question_that_never_left_is_not_lost() -> None:
    ledger = Ledger()
    settings = ModelSettings(model="m", api_base="http://127.0.0.1:9/v1")
    client = ModelClient(settings, retries=RetryPolicy(max_retries=0))
    with pytest.raises(ModelUnavailable):
        await client.for_episode("agent", ledger).complete(QUESTION)
    await client.close()
    assert ledger.usage()["agent"].lost_calls == 0


def test_what_was_paid_elsewhere_is_counted_and_passes_the_budget_by_one_report() -> None:
    budget = Budget(1.0)
    ledger = Ledger(budget)
    ledger.report("agent", prompt_tokens=10, completion_tokens=5, cost=0.75)
    ledger.report("agent", cost=0.5)
    with pytest.raises(BudgetExhausted):
        ledger.report("agent", cost=0.25)
    usage = ledger.usage()["agent"]
    assert (usage.calls, usage.tokens, usage.cost, budget.cost) == (3, 15, 1.5, 1.5)
    assert ledger.latencies() == {}
    ledger = Ledger()
    ledger.report("agent", prompt_tokens=10)
    assert ledger.usage()["agent"].cost is None


async def report_in_cells(budget: Budget, costs: Sequence[float]) -> list[float]:
    """Begin all cells at once; each reports its cost in two parts: those that were played."""
    played: list[float] = []

    async def play(cost: float) -> None:
        ledger = Ledger(budget)
        with suppress(BudgetExhausted):
            async with ledger.reserved():
                played.append(cost)
                for _ in range(2):
                    await anyio.sleep(0.001)
                    ledger.report("agent", cost=cost / 2)

    async with anyio.create_task_group() as tasks:
        for cost in costs:
            tasks.start_soon(play, cost)
    return played


async def test_cells_reserve_what_those_before_them_reported() -> None:
    budget = Budget(max_cost=1.0)
    first = await report_in_cells(budget, [0.05] * 8)
    assert len(first) == 8, "nobody knows what they will report"
    played = await report_in_cells(budget, [0.05] * 40)
    assert len(played) == 12
    assert budget.cost == pytest.approx(1.0)


async def test_a_cell_alone_begins_while_anything_is_left() -> None:
    budget = Budget(max_cost=1.0)
    await report_in_cells(budget, [0.9])
    assert len(await report_in_cells(budget, [0.05] * 10)) == 2
    assert budget.cost == pytest.approx(1.0)


async def test_cells_that_wait_begin_when_the_budget_grows() -> None:
    budget = Budget(max_cost=1.0)
    await report_in_cells(budget, [0.5])
    begun = anyio.Event()

    async def wait() -> None:
        async with Ledger(budget).reserved():
            begun.set()

    async with anyio.create_task_group() as tasks, Ledger(budget).reserved():
        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        assert not begun.is_set()
        budget.set(2.0, None)
        await begun.wait()


async def test_a_call_of_a_cell_does_not_wait_for_what_cells_reserve() -> None:
    budget, model = Budget(max_cost=1.0), Asked(cost=0.01)
    await report_in_cells(budget, [0.6])
    ledger = Ledger(budget)
    with anyio.fail_after(5):
        async with ledger.reserved():
            await ledger.model("user", model).complete(QUESTION)
    assert model.calls == 1
