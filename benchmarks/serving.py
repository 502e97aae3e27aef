"""How many calls per second a server of workflows answers.

The server runs in a process of its own, on one core; the load comes from this process, over
connections that are kept open, and is written for nothing but speed.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from benchmarks.measures import Measure
from greenroom.util.hosts import LOOPBACK

SECONDS = 2.0
ROUNDS = 3  # the quickest counts: whatever else the machine does only makes it slower
CONNECTIONS = 32
LEAST = 2500.0
"""Ten times what Agenta's SDK serves, and some more."""

ECHO = """
from greenroom import chat_workflow

@chat_workflow
async def chat(messages=None, parameters=None, session_id=None):
    return {"role": "assistant", "content": "echo: " + messages[-1]["content"]}
"""
CALL = {"data": {"inputs": {"messages": [{"role": "user", "content": "hi"}]}}}

_COMMAND = "from greenroom.cli import main; main()"
_OK = b"HTTP/1.1 200 "
_LENGTH = b"content-length:"


def served_calls() -> Iterator[Measure]:
    """Calls of an echo chat workflow, each with its envelope."""
    with echo_server() as address:
        rate = max(
            requests_per_second(f"{address}/invoke", CALL, SECONDS, CONNECTIONS)
            for _ in range(ROUNDS)
        )
    yield Measure(
        f"Calls of an echo chat workflow per second, {CONNECTIONS} connections",
        f"{rate:,.0f}/s",
        "",
        rate,
        "/s",
        at_least=LEAST,
    )


@contextmanager
def echo_server() -> Generator[str]:
    """`greenroom serve` with an echo chat workflow, in a process of its own: its address."""
    with tempfile.TemporaryDirectory() as folder:
        app = Path(folder) / "app.py"
        app.write_text(ECHO)
        with subprocess.Popen(
            [sys.executable, "-c", _COMMAND, "serve", str(app), "--port", "0", "--json"],
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                assert process.stdout is not None
                yield json.loads(process.stdout.readline())["address"]
            finally:
                process.terminate()


def requests_per_second(url: str, body: Any, seconds: float, connections: int) -> float:
    """How many times per second a server answers this POST, over so many connections at once.

    Every answer has to be a 200 with a content-length. The first half second does not count.
    """
    where = urlsplit(url)
    content = json.dumps(body).encode()
    request = (
        f"POST {where.path or '/'} HTTP/1.1\r\nHost: {where.netloc}\r\n"
        f"Content-Type: application/json\r\nAccept: application/json\r\n"
        f"Content-Length: {len(content)}\r\n\r\n"
    ).encode() + content

    async def load() -> float:
        loop = asyncio.get_running_loop()
        count = _Count()
        opened = [
            await loop.create_connection(
                lambda: _Caller(request, count), where.hostname or LOOPBACK, where.port or 80
            )
            for _ in range(connections)
        ]
        await asyncio.sleep(0.5)
        answered, began = count.answered, time.perf_counter()
        await asyncio.sleep(seconds)
        rate = (count.answered - answered) / (time.perf_counter() - began)
        for transport, _ in opened:
            transport.abort()
        assert count.wrong is None, f"not the answer that was expected: {count.wrong!r}"
        return rate

    return _run(load)


class _Count:
    answered = 0
    wrong: bytes | None = None


class _Caller(asyncio.Protocol):
    """Sends a request again as soon as it is answered."""

    def __init__(self, request: bytes, count: _Count) -> None:
        self._request = request
        self._count = count
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's has other ancestors
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        received = self._received + data if self._received else data
        end = received.find(b"\r\n\r\n")
        if end < 0 or len(received) < end + 4 + self._length(received[:end]):
            self._received = received
            return
        self._received = b""
        self._count.answered += 1
        self._transport.write(self._request)

    def _length(self, head: bytes) -> int:
        lowered = head.lower()
        found = lowered.find(_LENGTH)
        if not head.startswith(_OK) or found < 0:
            self._count.wrong = head
            self._transport.abort()
            return sys.maxsize
        return int(lowered[found + len(_LENGTH) :].split(b"\r\n", 1)[0])


def _run(load: Any) -> float:
    try:
        from uvloop import new_event_loop
    except ImportError:
        new_event_loop = None
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(load())


if __name__ == "__main__":
    for measure in served_calls():
        print(measure.name, measure.ours)
