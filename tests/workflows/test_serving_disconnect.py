"""Clients that leave: their calls are cancelled, and their places are free again."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Iterator, MutableMapping
from typing import Any

import anyio
import pytest

from greenroom import chat_workflow, workflow
from greenroom.workflows.serve.deadlines import cancel_on_disconnect
from greenroom.workflows.serve.exchange import ClientDisconnected
from tests.workflows.serving import HELLO, Server, serving, told

SECONDS = 30.0


def leave_after(
    server: Server, began: threading.Event, *, stream: bool = False, times: int = 1
) -> None:
    """Call so many times at once, wait until the handler runs, and go."""
    body = json.dumps({"messages": HELLO, "inputs": {}, "stream": stream}).encode()
    head = (
        f"POST /invoke HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    )
    with server.raw() as connection:
        connection.sendall((head + body) * times)
        assert began.wait(SECONDS)


@pytest.mark.parametrize("kind", ["coroutine", "async generator", "silent generator"])
def test_the_handler_is_cancelled_when_the_client_leaves(kind: str) -> None:
    began, cancelled = threading.Event(), threading.Event()

    async def wait() -> None:
        began.set()
        try:
            await anyio.sleep(SECONDS)
        except anyio.get_cancelled_exc_class():
            cancelled.set()
            raise

    async def coroutine(messages: Any) -> Any:
        if messages[-1]["content"] != "again":
            await wait()
        return {"role": "assistant", "content": "free"}

    async def generator(messages: Any) -> AsyncIterator[str]:
        if messages[-1]["content"] == "again":
            yield "free"
            return
        if kind == "async generator":
            yield "a piece"
        await wait()

    handler = coroutine if kind == "coroutine" else generator
    with serving(chat_workflow(handler), max_concurrent_calls=1) as server:
        leave_after(server, began, stream=True)
        assert cancelled.wait(SECONDS)
        again = {"messages": [{"role": "user", "content": "again"}]}
        assert until_free(server, again)["content"] == "free"


def test_the_first_of_several_requests_is_cancelled_when_the_client_leaves() -> None:
    began, cancelled = threading.Event(), threading.Event()
    calls = 0

    @workflow
    async def slow() -> None:
        nonlocal calls
        calls += 1
        began.set()
        try:
            await anyio.sleep(SECONDS)
        finally:
            cancelled.set()

    with serving(slow) as server:
        leave_after(server, began, times=3)
        assert cancelled.wait(SECONDS)
        assert server.get("/health").status == 200
        assert calls == 1, "the others are not begun"


def until_free(server: Server, body: Any) -> Any:
    """What a call gives as soon as there is a place for it."""
    deadline = time.monotonic() + SECONDS
    while server.post("/invoke", body).status == 503:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return told(server, body)


def test_a_thread_cannot_be_cancelled_and_keeps_its_place() -> None:
    began, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    @workflow
    def slow() -> str:
        began.set()
        go_on.wait(SECONDS)
        ended.set()
        return "done"

    with serving(slow, max_concurrent_calls=1) as server:
        leave_after(server, began)
        assert server.post("/invoke", {"inputs": {}}).status == 503
        go_on.set()
        assert ended.wait(SECONDS)
        assert until_free(server, {"inputs": {}}) == "done"


def test_a_plain_generator_is_closed_when_the_client_leaves() -> None:
    began, closed = threading.Event(), threading.Event()

    @chat_workflow
    def endless(messages: Any) -> Iterator[str]:
        try:
            while True:
                began.set()
                yield "more "
                time.sleep(0.005)
        finally:
            closed.set()

    with serving(endless) as server:
        leave_after(server, began, stream=True)
        assert closed.wait(SECONDS)
        assert server.get("/health").status == 200


def test_many_clients_that_leave_leave_nothing_behind() -> None:
    running = 0

    @workflow
    async def slow() -> None:
        nonlocal running
        running += 1
        try:
            await anyio.sleep(SECONDS)
        finally:
            running -= 1

    with serving(slow) as server:
        body = b'{"inputs": {}}'
        head = b"POST /invoke HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body)
        for _ in range(50):
            with server.raw() as connection:
                connection.sendall(head + body)
        deadline = time.monotonic() + SECONDS
        while running:
            assert time.monotonic() < deadline
            time.sleep(0.01)


Events = list[MutableMapping[str, Any]]


def disconnect_after(seconds: float) -> Any:
    async def receive() -> MutableMapping[str, Any]:
        await asyncio.sleep(seconds)
        return {"type": "http.disconnect"}

    return receive


def test_work_that_is_done_in_time_is_not_disturbed() -> None:
    async def work() -> int:
        await asyncio.sleep(0.05)
        return 3

    async def main() -> None:
        assert await cancel_on_disconnect(disconnect_after(SECONDS), work()) == 3
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0
        await asyncio.sleep(0)  # the watcher ends
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(main())


def test_work_for_a_client_that_left_is_cancelled_once() -> None:
    async def main() -> None:
        with pytest.raises(ClientDisconnected):
            await cancel_on_disconnect(disconnect_after(0.01), asyncio.sleep(SECONDS))
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0
        await asyncio.sleep(0)  # a cancellation that was left over would be raised here

    asyncio.run(main())


def test_a_cancellation_from_elsewhere_stays_one() -> None:
    async def main() -> None:
        work = asyncio.create_task(
            cancel_on_disconnect(disconnect_after(SECONDS), asyncio.sleep(SECONDS))  # pyright: ignore
        )
        await asyncio.sleep(0.05)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    asyncio.run(main())


def test_what_the_work_raises_is_raised() -> None:
    async def work() -> None:
        raise ValueError("no")

    async def main() -> None:
        with pytest.raises(ValueError, match="no"):
            await cancel_on_disconnect(disconnect_after(SECONDS), work())

    asyncio.run(main())
