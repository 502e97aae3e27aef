"""A budget is not passed, by however many calls and cells at once."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any

import anyio
import pytest

from greenroom.models import (
    Budget,
    BudgetExhausted,
    Completion,
    FakeModel,
    Ledger,
    ModelClient,
    ModelRequest,
    ModelSettings,
    ModelUnavailable,
    RetryPolicy,
)
from tests.models.asking import QUESTION, client_for
from tests.models.stub_server import (
    Reply,
    StubServer,
    answers,
    fails,
    json_reply,
)

pytestmark = pytest.mark.anyio


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
