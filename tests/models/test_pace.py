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
            first, reserved = await slots.reserve("x", 5.0, count)
            leaving.extend(first + n / 5.0 for n in range(reserved))

    anyio.run(ask)
    assert all(b - a > 0.2 - 1e-9 for a, b in pairwise(leaving))


async def test_calls_leave_at_the_rate_and_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("greenroom.models.pace.MOST_LATE", 10.0)
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

    async def reserve(self, endpoint: str, rate: float, count: int) -> tuple[float, int]:
        self.reserved.append(count)
        await anyio.sleep(0.01)
        if len(self.reserved) == 1:
            raise InputError("no slots")
        return time.monotonic(), count

    async def overloaded(self, endpoint: str, seconds: float) -> float:
        return 0.0


async def test_calls_that_wait_together_share_a_reservation_and_not_an_error() -> None:
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
    assert told == ["no slots"]
    assert slots.reserved == [10, 9]


@dataclass
class Scarce:
    """Slots of a store that has none at first."""

    asked: int = 0

    async def reserve(self, endpoint: str, rate: float, count: int) -> tuple[float, int]:
        self.asked += 1
        return time.monotonic() + 0.02, 0 if self.asked < 3 else 1

    async def overloaded(self, endpoint: str, seconds: float) -> float:
        return 5.0


async def test_a_call_asks_again_where_there_is_no_slot_soon() -> None:
    slots = Scarce()
    pace = Pace("x", 10.0, slots)
    with anyio.fail_after(10):
        await pace.wait()
    assert slots.asked == 3


async def test_what_several_processes_are_told_at_once_is_one_sign() -> None:
    pace = Pace("x", None, Scarce())
    await pace.overloaded(0.0)  # at 5.0
    assert not pace.is_news(5.6)
    assert pace.is_news(6.1)
    assert not pace.is_news(6.1)


async def test_calls_that_come_late_do_not_leave_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("greenroom.models.pace.MOST_LATE", 0.02)
    pace, left = Pace("x", 200.0, OwnSlots()), list[float]()

    async def call() -> None:
        await pace.wait()
        left.append(time.monotonic())

    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(call)
        await anyio.sleep(0.01)
        time.sleep(0.15)  # noqa: ASYNC251  # the process is busy until all slots are over
    assert len(left) == 20
    first_after = next(n for n, when in enumerate(left) if when - left[0] > 0.1)
    assert left[-1] - left[first_after] >= (19 - first_after) / 200 - 0.02


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
        pool.slow_down(name, 5.9, 0.0)
        pool.slow_down("another", 6.0, 0.0)
        assert client.counters.limit == 4
