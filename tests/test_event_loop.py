"""The event loop of plain code: shared while anybody has it, and ended by the last one."""

from __future__ import annotations

import gc
import threading
from concurrent.futures import ThreadPoolExecutor

import anyio
import anyio.lowlevel
import pytest

from greenroom.util.event_loop import EventLoop


def loop_threads() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one.name == "greenroom event loop"]


async def doubled(number: int) -> int:
    await anyio.lowlevel.checkpoint()
    return 2 * number


def test_all_share_one_thread_which_ends_with_the_last() -> None:
    before = loop_threads()  # of what other tests have left
    first, second = EventLoop(), EventLoop()
    assert first.call(doubled, 2) == 4
    (thread,) = loop_threads()
    first.release()
    first.release()  # counts once
    assert second.call(doubled, 3) == 6
    second.release()
    assert thread.is_alive() == (thread in before)


@pytest.mark.slow
def test_what_nobody_holds_is_given_back() -> None:
    before = loop_threads()
    loop = EventLoop()
    assert loop.call(doubled, 1) == 2
    del loop
    gc.collect()
    assert set(loop_threads()) <= set(before)


def test_work_under_way_is_done_before_the_loop_ends() -> None:
    begun, done = threading.Event(), threading.Event()

    async def work() -> None:
        begun.set()
        await anyio.sleep(0.05)
        done.set()

    loop = EventLoop()
    loop.start(work)
    begun.wait()
    loop.release()
    assert done.is_set()


def test_many_threads_may_take_and_leave_it_at_once() -> None:
    before = loop_threads()

    def use(number: int) -> int:
        loop = EventLoop()
        try:
            return loop.call(doubled, number)
        finally:
            loop.release()

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(use, range(200))) == [2 * number for number in range(200)]
    assert set(loop_threads()) <= set(before)
