"""The limit follows what an endpoint bears."""

from __future__ import annotations

import asyncio

import anyio
import pytest
from anyio.lowlevel import checkpoint
from hypothesis import given
from hypothesis import strategies as st

from greenroom.errors import InputError
from greenroom.models import AdaptiveLimit, Ledger, RetryPolicy
from tests.models.asking import QUESTION, client_for
from tests.models.stub_server import StubServer, answers, fails

pytestmark = pytest.mark.anyio


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_it_is_halved_once_per_second_and_recovers_step_by_step() -> None:
    clock = Clock()
    limit = AdaptiveLimit(16, successes_per_step=3, clock=clock)
    for _ in range(10):
        limit.overloaded()
    assert limit.current == 8
    clock.now = 1.0
    limit.overloaded()
    assert limit.current == 4
    for _ in range(3 * 2):
        limit.succeeded()
    assert limit.current == 6
    for _ in range(1000):
        limit.succeeded()
    assert limit.current == 16


@given(
    st.integers(1, 50), st.lists(st.sampled_from(["success", "overload", "second"]), max_size=200)
)
def test_it_stays_between_one_and_the_maximum(maximum: int, events: list[str]) -> None:
    clock = Clock()
    limit = AdaptiveLimit(maximum, successes_per_step=2, clock=clock)
    for event in events:
        if event == "success":
            limit.succeeded()
        elif event == "overload":
            limit.overloaded()
        else:
            clock.now += 1
        assert 1 <= limit.current <= maximum


async def test_no_more_than_allowed_and_first_come_first_served() -> None:
    limit = AdaptiveLimit(3)
    served: list[int] = []
    most = 0

    async def call(number: int) -> None:
        nonlocal most
        async with limit:
            served.append(number)
            most = max(most, limit.in_flight)
            await checkpoint()

    async with anyio.create_task_group() as tasks:
        for number in range(50):
            tasks.start_soon(call, number)
    assert served == list(range(50))
    assert most == 3
    assert (limit.in_flight, limit.waiting) == (0, 0)


async def test_after_a_cut_nobody_enters_until_enough_have_left() -> None:
    limit = AdaptiveLimit(4)
    entered: list[int] = []
    leave = [anyio.Event() for _ in range(6)]

    async def call(number: int) -> None:
        async with limit:
            entered.append(number)
            await leave[number].wait()

    async with anyio.create_task_group() as tasks:
        for number in range(6):
            tasks.start_soon(call, number)
        await anyio.wait_all_tasks_blocked()
        limit.overloaded()
        for number in (0, 1):
            leave[number].set()
            await anyio.wait_all_tasks_blocked()
        assert (entered, limit.in_flight, limit.current) == ([0, 1, 2, 3], 2, 2)
        leave[2].set()
        await anyio.wait_all_tasks_blocked()
        assert entered == [0, 1, 2, 3, 4]
        for event in leave:
            event.set()


async def test_a_place_is_not_lost_when_whoever_waits_for_it_gives_up() -> None:
    limit = AdaptiveLimit(1)
    served: list[str] = []

    async def want(name: str) -> None:
        async with limit:
            served.append(name)

    await limit.__aenter__()
    first, second, third = [asyncio.create_task(want(name)) for name in ("1", "2", "3")]
    await anyio.wait_all_tasks_blocked()
    first.cancel()
    await anyio.wait_all_tasks_blocked()
    assert limit.waiting == 2
    # The second is given the place, and called off before it can take it.
    await limit.__aexit__()
    assert (limit.in_flight, limit.waiting) == (1, 1)
    second.cancel()
    await asyncio.wait([first, second, third])
    assert served == ["3"]
    assert (limit.in_flight, limit.waiting) == (0, 0)


async def test_an_overloaded_endpoint_is_given_less(stub: StubServer) -> None:
    stub.replies = [fails(429), fails(503), answers()]
    limit = AdaptiveLimit(8, successes_per_step=1, clock=Clock())
    async with client_for(stub, limit=limit) as client:
        model = client.for_episode("agent", Ledger())
        await model.complete(QUESTION)
        assert client.counters.limit == 5
        for _ in range(10):
            await model.complete(QUESTION)
    assert limit.current == 8


async def test_while_a_call_waits_to_be_repeated_another_has_its_place(stub: StubServer) -> None:
    stub.replies = [fails(500), answers("second"), answers("first")]
    limit = AdaptiveLimit(1)
    asleep = anyio.Event()
    wake = anyio.Event()

    async def sleep(seconds: float) -> None:
        del seconds
        asleep.set()
        await wake.wait()

    texts: dict[str, str] = {}
    async with client_for(stub, limit=limit, retries=RetryPolicy(sleep=sleep)) as client:
        model = client.for_episode("agent", Ledger())

        async def ask(name: str) -> None:
            texts[name] = (await model.complete(QUESTION)).text

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, "first")
            await asleep.wait()
            await ask("second")
            wake.set()
    assert texts == {"first": "first", "second": "second"}


def test_a_limit_lets_at_least_one_call_through() -> None:
    with pytest.raises(InputError, match="At least one"):
        AdaptiveLimit(0)
