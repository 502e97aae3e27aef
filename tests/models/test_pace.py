"""How soon calls leave: evenly, together with others, and not while asked to wait."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import pairwise

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.errors import InputError
from greenroom.models import ModelPool, ModelSettings
from greenroom.models.pace import OwnSlots, Pace

pytestmark = pytest.mark.anyio


@dataclass
class Clock:
    now: float = 100.0

    def __call__(self) -> float:
        return self.now


@given(st.lists(st.tuples(st.floats(0, 2), st.integers(1, 9)), max_size=30))
def test_slots_are_never_closer_than_the_rate_allows(asked: list[tuple[float, int]]) -> None:
    clock, leaving = Clock(), list[float]()
    slots = OwnSlots(clock)

    async def ask() -> None:
        for pause, count in asked:
            clock.now += pause
            first = await slots.reserve("x", 5.0, count)
            leaving.extend(clock.now + first + n / 5.0 for n in range(count))

    anyio.run(ask)
    assert all(b - a > 0.2 - 1e-9 for a, b in pairwise(leaving))


async def test_calls_leave_at_the_rate_and_in_order() -> None:
    pace, left = Pace("x", 50.0, OwnSlots()), list[tuple[float, int]]()

    async def call(number: int) -> None:
        await pace.wait()
        left.append((time.monotonic(), number))

    start = time.monotonic()
    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(call, number)
    assert [number for _, number in left] == list(range(20))
    # No call leaves before its slot; a busy machine may be late.
    assert all(when - start >= number / 50 - 0.002 for when, number in left)


async def test_without_a_rate_nobody_waits_but_for_those_asked_to() -> None:
    pace = Pace("x", None, OwnSlots())
    with anyio.fail_after(5):
        for _ in range(1000):
            await pace.wait()
    pace.hold(0.2)
    start = time.monotonic()
    await pace.wait()
    assert time.monotonic() - start >= 0.19


@dataclass
class Failing:
    reserved: list[int] = field(default_factory=list[int])

    async def reserve(self, endpoint: str, rate: float, count: int) -> float:
        self.reserved.append(count)
        await anyio.sleep(0.05)
        raise InputError("no slots")

    async def overloaded(self, endpoint: str, seconds: float) -> float:
        return 0.0


async def test_calls_that_wait_together_share_a_reservation_and_its_error() -> None:
    slots = Failing()
    pace, told = Pace("x", 10.0, slots), list[str]()

    async def call() -> None:
        try:
            await pace.wait()
        except InputError as error:
            told.append(str(error))

    async with anyio.create_task_group() as group:
        for _ in range(10):
            group.start_soon(call)
    assert told == ["no slots"] * 10
    assert slots.reserved == [1, 9]


async def test_a_call_that_is_cancelled_keeps_nobody_else_waiting() -> None:
    pace, left = Pace("x", 20.0, OwnSlots()), list[int]()

    async def call(number: int) -> None:
        await pace.wait()
        left.append(number)

    async with anyio.create_task_group() as group:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as inner:
                inner.start_soon(call, 0)
                inner.start_soon(call, 1)
                await anyio.wait_all_tasks_blocked()
                scope.cancel()
        group.start_soon(call, 2)
    assert left[-1] == 2


def test_a_rate_is_more_than_nothing() -> None:
    with pytest.raises(InputError, match="more than 0"):
        Pace("x", 0.0, OwnSlots())


async def test_what_another_process_was_told_slows_this_one_down_once() -> None:
    async with ModelPool(max_concurrency=8) as pool:
        client = pool.client(ModelSettings(model="openai/x", api_base="http://127.0.0.1:9/v1"))
        name = client.endpoint.name
        assert client.counters.limit == 8
        pool.slow_down(name, 5.0, 0.0)
        assert client.counters.limit == 4
        pool.slow_down(name, 5.0, 0.0)
        pool.slow_down("another", 6.0, 0.0)
        assert client.counters.limit == 4
