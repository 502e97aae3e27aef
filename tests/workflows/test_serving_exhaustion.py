"""Clients that are slow, silent or too many: others are answered, and memory stays bounded."""

from __future__ import annotations

import json
import logging
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from greenroom import chat_workflow
from greenroom.model_server import running_server
from greenroom.workflows.declare import pieces
from greenroom.workflows.serve import connections
from tests.domains.small import small_domain
from tests.workflows.serving import HELLO, Server, serving, told

pytestmark = pytest.mark.slow

APP = """
from greenroom import chat_workflow

@chat_workflow
async def echo(messages):
    return {"role": "assistant", "content": messages[-1]["content"]}

@chat_workflow
async def flood(messages):
    while True:
        yield "x" * 10_000
"""
BODY = json.dumps({"messages": HELLO, "stream": True}).encode()
HEAD = b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n"


@chat_workflow
async def echo(messages: list[dict[str, Any]]) -> Any:
    return {"role": "assistant", "content": messages[-1]["content"]}


@chat_workflow
async def flood(messages: Any) -> AsyncIterator[str]:
    while True:
        yield "x" * 10_000


def until_told(caplog: pytest.LogCaptureFixture, words: str) -> None:
    deadline = time.monotonic() + 20
    while words not in caplog.text:
        assert time.monotonic() < deadline, caplog.text
        time.sleep(0.05)


def answered(connection: socket.socket) -> bytes:
    """All that comes until the server closes the connection."""
    found = b""
    with suppress(ConnectionError):
        while data := connection.recv(65536):
            found += data
    return found


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (b"GET /health HTTP/1.1\r\nx: " + b"a" * 500_000, "is larger than 65,536 bytes"),
        (b"GET /health HTTP/1.1\r\n" + b"x: a\r\n" * 200, "has more than 100 headers"),
        (b"GET /" + b"a" * 500_000, "is larger than 65,536 bytes"),
        (
            b"POST /invoke HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"2\r\n{}\r\n0\r\n" + b"x: a\r\n" * 100_000,
            "is larger than 65,536 bytes",
        ),
    ],
)
def test_a_head_has_a_limit(
    sent: bytes, why: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As some libraries do that handlers import.
    monkeypatch.setattr(logging.getLogger(), "level", logging.ERROR)
    with serving(echo) as server, server.raw() as connection:
        with suppress(ConnectionError):  # it does not read the rest
            connection.sendall(sent)
        assert answered(connection)[:12] in (b"HTTP/1.1 431", b"")
        until_told(caplog, why)
        assert told(server, {"messages": HELLO})["content"] == "hello"


@pytest.mark.parametrize("sent", [b"", b"POST /inv", HEAD % (b"/invoke", 100) + b'{"messages"'])
def test_a_request_has_to_arrive_in_time(
    sent: bytes, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(connections, "SECONDS_TO_SEND", 0.3)
    with serving(echo) as server, server.raw() as connection:
        connection.sendall(sent)
        found = answered(connection)
        assert found.startswith(b"HTTP/1.1 408 ") if sent else not found
        until_told(caplog, "1 because no whole request came within 0.3 s")


def test_a_long_call_is_not_a_late_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "SECONDS_TO_SEND", 0.3)

    @chat_workflow
    def slow(messages: Any) -> Any:
        time.sleep(2.5)
        return {"role": "assistant", "content": "late"}

    with serving(slow) as server:
        assert told(server, {"messages": HELLO})["content"] == "late"


def test_clients_that_do_not_read_hold_no_slot(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(connections, "SECONDS_TO_TAKE", 2.0)
    with serving(echo, flood, max_concurrent_calls=4) as server, ExitStack() as opened:
        for _ in range(12):
            opened.enter_context(server.raw()).sendall(HEAD % (b"/flood/invoke", len(BODY)) + BODY)
            time.sleep(0.1)
        assert told(server, {"messages": HELLO})["content"] == "hello"
        until_told(caplog, "because the client took nothing of its answer for 2 s")


def test_the_longest_idle_connection_makes_room(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 5)
    with serving(echo) as server, ExitStack() as opened:
        half = [opened.enter_context(server.raw()) for _ in range(5)]
        for one in half:
            one.sendall(b"POST /inv")
            time.sleep(0.02)
        assert told(server, {"messages": HELLO})["content"] == "hello"
        assert answered(half[0]).startswith(b"HTTP/1.1 408 ")
        until_told(caplog, "1 because 5 connections are open, which is the limit")


def test_all_bodies_together_have_a_limit(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(connections, "MAX_HELD", 1_000_000)
    with serving(echo) as server, ExitStack() as opened:
        whole = json.dumps({"messages": [{"role": "user", "content": "x" * 2_000_000}]}).encode()
        assert server.post("/invoke", whole).status == 200, "one alone may be larger"
        for _ in range(4):
            connection = opened.enter_context(server.raw())
            connection.sendall(HEAD % (b"/invoke", 500_000) + b"x" * 400_000)
            time.sleep(0.1)
        until_told(caplog, "because all requests together are larger than 1,000,000 bytes")
        opened.close()
        assert told(server, {"messages": HELLO})["content"] == "hello"


def test_small_requests_pass_where_bodies_are_too_large(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(connections, "MAX_HELD", 1_000_000)
    with serving(echo) as server, ExitStack() as opened:
        for size in (400_000, 500_000, 99_990):
            connection = opened.enter_context(server.raw())
            connection.sendall(HEAD % (b"/invoke", 600_000) + b"x" * size)
            time.sleep(0.1)
        for _ in range(5):
            assert told(server, {"messages": HELLO})["content"] == "hello"
        until_told(caplog, "1 because all requests together are larger than 1,000,000 bytes")


def test_answers_that_are_not_taken_have_a_limit(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(connections, "MAX_HELD", 10_000_000)

    @chat_workflow
    async def large(messages: Any) -> Any:
        return {"role": "assistant", "content": "x" * 4_000_000}

    body = json.dumps({"messages": HELLO}).encode()
    with serving(echo, large) as server, ExitStack() as opened:
        for _ in range(6):
            opened.enter_context(server.raw()).sendall(HEAD % (b"/large/invoke", len(body)) + body)
            time.sleep(0.1)
        assert len(told(server, {"messages": HELLO}, "/large/invoke")["content"]) == 4_000_000
        until_told(caplog, "because answers that clients do not take are over 10,000,000 bytes")


def test_requests_on_one_connection_wait_up_to_a_limit(caplog: pytest.LogCaptureFixture) -> None:
    body = json.dumps({"messages": HELLO}).encode()
    request = HEAD % (b"/invoke", len(body)) + body
    with serving(echo) as server, server.raw() as connection:
        connection.sendall(request * 20)
        with server.raw() as other:
            other.sendall(request * 1000)
            assert answered(other).count(b"HTTP/1.1 200") < 100
        until_told(caplog, "1 because more than 32 requests of a client wait for their answers")
        found = b""
        while found.count(b"HTTP/1.1 200") < 20 and (data := connection.recv(65536)):
            found += data
        assert found.count(b"HTTP/1.1 200") == 20


def test_what_is_no_http_is_told_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    with serving(echo) as server:
        for sent in (b"nonsense\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"):
            with server.raw() as connection:
                connection.sendall(sent)
                assert answered(connection).startswith(b"HTTP/1.1 400 ")
        with server.raw() as connection:
            connection.sendall(
                b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, close\r\n"
                b"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n"
            )
            assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
        until_told(caplog, "because a request is not valid HTTP")
        assert {record.name for record in caplog.records} == {"greenroom.serve"}


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_a_generator_without_an_end_is_stopped(
    accept: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(pieces, "MAX_ANSWER", 1_000_000)
    with serving(flood, echo) as server, caplog.at_level(logging.ERROR):
        reply = server.post("/invoke", {"messages": HELLO}, accept=accept)
        assert "is larger than 1,000,000 bytes" in reply.text
        assert "AnswerTooLarge" in reply.text


def test_answers_under_way_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "MAX_UNDER_WAY", 1_000_000)
    monkeypatch.setattr(pieces, "SMALL_ANSWER", 100_000)
    collected, go_on = threading.Event(), threading.Event()

    @chat_workflow
    def writer(messages: Any) -> Iterator[str]:
        """As many characters as asked for."""
        yield "x" * int(messages[-1]["content"])
        if messages[-1]["content"] == "900000":
            collected.set()
            go_on.wait(20)

    def asked(size: int) -> Any:
        return server.post("/invoke", {"messages": [{"role": "user", "content": str(size)}]})

    with serving(writer) as server, ThreadPoolExecutor() as others:
        waiting = others.submit(asked, 900_000)
        assert collected.wait(20)
        refused = asked(200_000)
        assert "All answers under way of 'writer' are larger than 1,000,000 bytes" in refused.text
        assert asked(50_000).status == 200, "small answers go on"
        go_on.set()
        assert waiting.result().status == 200
        assert asked(900_000).status == 200


@contextmanager
def running(directory: Path, files: int) -> Generator[tuple[Server, subprocess.Popen[str]]]:
    """`greenroom serve` in a process that may open so many files."""
    app = directory / "app.py"
    app.write_text(APP)

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    start = "from greenroom.cli import main; main()"
    command = [sys.executable, "-c", start, "serve", str(app), "--port", "0", "--json"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=limited
    ) as process:
        try:
            assert process.stdout is not None
            yield Server(json.loads(process.stdout.readline())["address"]), process
        finally:
            process.kill()


def half_sent(server: Server, opened: ExitStack) -> None:
    for _ in range(1100):
        opened.enter_context(server.raw()).sendall(HEAD % (b"/echo/invoke", 100) + b"{")


def test_the_model_server_has_the_same_limits(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 5)
    with running_server(small_domain()) as address, ExitStack() as opened:
        server = Server(address.address)
        for _ in range(8):
            half = opened.enter_context(server.raw())
            half.sendall(HEAD % (b"/v1/chat/completions", 100) + b"{")
        assert server.get("/health").status == 200
        until_told(caplog, "because 5 connections are open, which is the limit")
        with server.raw() as connection, suppress(ConnectionError):
            connection.sendall(b"GET /health HTTP/1.1\r\n" + b"x: a\r\n" * 200)
            assert answered(connection)[:12] in (b"HTTP/1.1 431", b"")
        assert server.post("/v1/chat/completions", {}, origin="http://evil.example").status == 403


def not_read(server: Server, opened: ExitStack) -> None:
    for _ in range(300):
        opened.enter_context(server.raw()).sendall(HEAD % (b"/flood/invoke", len(BODY)) + BODY)


def large_head(server: Server, opened: ExitStack) -> None:
    connection = opened.enter_context(server.raw())
    connection.sendall(b"GET /health HTTP/1.1\r\nx: ")
    with pytest.raises(ConnectionError):
        connection.sendall(b"a" * (300 << 20))


@pytest.mark.slow
@pytest.mark.parametrize("attack", [half_sent, not_read, large_head])
def test_others_are_answered_within_a_second(attack: Any, tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2000:
        pytest.skip(f"only {hard} files may be opened here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2000), hard))
    with running(tmp_path, 1024) as (server, process), ExitStack() as opened:
        attack(server, opened)
        took: list[float] = []
        for _ in range(10):
            began = time.monotonic()
            assert told(server, {"messages": HELLO}, "/echo/invoke")["content"] == "hello"
            took.append(time.monotonic() - began)
        # The first waits until the server has accepted the others.
        assert sorted(took)[-2] < 1.0, took
        status = Path(f"/proc/{process.pid}/status").read_text()
        resident = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        assert int(resident.split()[1]) < 400 * 1024, resident
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        assert process.stderr is not None
        log = process.stderr.read()
        if attack is not not_read:  # those are closed after 30 s
            assert "Closed connections:" in log
