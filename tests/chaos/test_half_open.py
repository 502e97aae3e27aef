"""Connections that are neither alive nor dead: waits are bounded, and every attempt is counted."""

from __future__ import annotations

import itertools
import signal
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.chaos.jobs import Process, Scene
from tests.chaos.provider import Behaviour, Connection, answers
from tests.chaos.vanishing import network
from tests.chaos.waiting import free_port, is_open, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


def never_answers(connection: Connection, answer: bytes) -> str:
    connection.stall()
    return "broken"


def stalls_halfway(connection: Connection, answer: bytes) -> str:
    connection.send(200, answer[: len(answer) // 2], length=len(answer))
    connection.stall()
    return "broken"


def ends_halfway(connection: Connection, answer: bytes) -> str:
    connection.send(200, answer[: len(answer) // 2], length=len(answer))
    return "broken"


def sends_more_than_it_says(connection: Connection, answer: bytes) -> str:
    connection.send(200, answer + answer, length=len(answer) // 2)
    return "broken"


def resets_at_once(connection: Connection, answer: bytes) -> str:
    connection.reset()
    return "broken"


def resets_in_the_middle_of_a_stream(connection: Connection, answer: bytes) -> str:
    piece = answer[: len(answer) // 2]
    head = b"HTTP/1.1 200 x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    connection.socket.sendall(head + b"%x\r\n%b\r\n" % (len(piece), piece))
    connection.reset()
    return "broken"


@pytest.mark.parametrize(
    "broken",
    [
        never_answers,
        stalls_halfway,
        ends_halfway,
        sends_more_than_it_says,
        resets_at_once,
        resets_in_the_middle_of_a_stream,
    ],
)
def test_every_fifth_call_breaks(scene: Scene, broken: Behaviour) -> None:
    numbers = itertools.count(1)

    def sometimes(connection: Connection, answer: bytes) -> str:
        return (broken if next(numbers) % 5 == 0 else answers)(connection, answer)

    scene.provider.behaviour = sometimes
    process = scene.run("--model-timeout", 2, "--model-retries", 6)
    assert process.end() == 0, process.stderr
    assert scene.provider.fates()["broken"] >= 8
    scene.assert_nothing_is_lost_or_twice_or_unpaid()
    assert scene.used().lost_calls == scene.provider.fates()["broken"]


def test_a_provider_that_hangs_for_good(scene: Scene) -> None:
    """The run ends in bounded time, says what broke, and goes on when the provider is back."""
    process = scene.run("--model-timeout", 1, "--model-retries", 1, "--max-retries", 0)
    scene.wait_for_results(4, process)
    scene.provider.behaviour = never_answers
    assert process.end() == 0, process.stderr
    assert "it did not answer within 1 seconds" in process.stdout
    scene.provider.behaviour = answers
    before, since = scene.assert_it_goes_on()
    scene.assert_nothing_is_lost_or_twice_or_unpaid(before, since=since)


ENDLESS = """
import asyncio
from pathlib import Path
from greenroom import chat_workflow


async def endless(name, text, pause):
    Path(f"{name}-begun").touch()
    try:
        while True:
            yield text
            await asyncio.sleep(pause)
    finally:
        Path(f"{name}-closed").touch()


@chat_workflow
async def ticks(messages):
    async for piece in endless("ticks", "tick ", 0.1):
        yield piece


@chat_workflow
async def flood(messages):
    async for piece in endless("flood", "x" * 10_000, 0):
        yield piece


@chat_workflow
async def echo(messages):
    return {"role": "assistant", "content": messages[-1]["content"]}
"""


def test_clients_that_vanish_in_the_middle_of_a_stream(scene: Scene) -> None:
    """No goodbye comes from them. Their work ends in bounded time, and others are answered."""
    (scene.folder / "app.py").write_text(ENDLESS)
    scene.env["GREENROOM_TOKEN"] = token = "not-a-secret"
    with network() as made:
        if made is None:
            pytest.skip("a network of its own can be made by root alone")
        port = free_port(made.host)
        server = scene.start("serve", "app.py", "--host", made.host, "--port", port)
        wait_for(lambda: is_open(made.host, port) or not server.alive, "the server")
        for name in ("ticks", "flood"):
            path = f"/{name}/v1/chat/completions"
            made.start_client(port, path, token, scene.folder / f"{name}-seen")
        before = memory(server)
        made.cut()
        hello = b'{"messages": [{"role": "user", "content": "hello"}]}'
        asked = Request(f"http://{made.host}:{port}/echo/v1/chat/completions", hello)
        asked.add_header("Authorization", f"Bearer {token}")
        with urlopen(asked, timeout=20) as answer:
            assert b"hello" in answer.read(), "another client is answered"
        for name in ("ticks", "flood"):
            closed = scene.folder / f"{name}-closed"
            wait_for(closed.exists, f"the end of {name}", 100)
        assert memory(server) < before + 64 * 2**20
        server.signal(signal.SIGTERM)
        server.end()


def memory(process: Process) -> int:
    """The most bytes that a process has had in memory so far."""
    status = Path(f"/proc/{process.popen.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024
