"""A provider of a language model that counts every call, and breaks in any way a test wants."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.chaos.waiting import wait_for

CALLS = 3
"""Every episode takes so many answers: tool calls, and a goodbye."""
PROMPT, COMPLETION = 100, 10
"""The tokens of every answer."""


@dataclass(frozen=True)
class Seen:
    """One request, and what became of it."""

    seed: int
    """The seed of the cell that asked."""
    step: int
    fate: str
    """`answered`: a whole answer was sent, which is billed. `refused`: an error, which is not.
    `broken`: no whole answer was sent, and who asked cannot know whether it is billed."""


class Connection:
    """The connection of one request, for behaviours that do not answer as they should."""

    def __init__(self, provider: Provider, seed: int, handler: BaseHTTPRequestHandler) -> None:
        self.provider = provider
        self.seed = seed
        self.socket: socket.socket = handler.connection

    def send(self, status: int, body: bytes, *, length: int | None = None, **headers: str) -> None:
        """Send a response; `length` is what its header claims."""
        said = {"Content-Type": "application/json", **headers}
        said["Content-Length"] = str(len(body) if length is None else length)
        lines = [f"HTTP/1.1 {status} x", *(f"{k.replace('_', '-')}: {v}" for k, v in said.items())]
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode() + body)

    def stall(self) -> None:
        """Keep the connection open and say nothing, until the other side or the test ends it."""
        self.socket.settimeout(0.1)
        while not self.provider.closed:
            with suppress(TimeoutError):
                if not self.socket.recv(1):
                    return

    def reset(self) -> None:
        """End the connection with a reset."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


Behaviour = Callable[[Connection, bytes], str]
"""Answers a request, given the right answer; returns its fate. It may raise OSError: broken."""


def answers(connection: Connection, answer: bytes) -> str:
    connection.send(200, answer)
    return "answered"


def unavailable(connection: Connection, answer: bytes) -> str:
    connection.send(503, b'{"error": {"message": "down for maintenance"}}')
    return "refused"


@dataclass
class Provider:
    """A server on a port of its own; `behaviour` can be changed at any moment."""

    behaviour: Behaviour = answers
    seen: list[Seen] = field(default_factory=list[Seen])
    delay: float = 0.02
    """Seconds before each answer, so that calls are under way when something happens."""
    port: int = 0
    closed: bool = False
    under_way: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    _server: ThreadingHTTPServer | None = None
    _paused: threading.Event = field(default_factory=threading.Event)

    @property
    def api_base(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        """Accept connections, on the same port as before."""
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                provider.handle(self)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, request: Any, client_address: Any) -> None:
                pass  # the other side has gone

        self._server = Server(("127.0.0.1", self.port), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def refuse_connections(self) -> None:
        """Stop listening: new connections are refused, open ones end after their answer."""
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()
        self._server = None

    def stop(self) -> None:
        self.closed = True
        self._paused.set()
        if self._server is not None:
            self.refuse_connections()

    def fates(self) -> Counter[str]:
        """How many requests had which fate."""
        with self.lock:
            return Counter(one.fate for one in self.seen)

    def wait_for_answers(self, count: int, more: Callable[[], None] = lambda: None) -> None:
        """Wait until so many answers were sent."""
        wait_for(lambda: more() or self.fates()["answered"] >= count, f"{count} answers")

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        step = sum(message["role"] == "assistant" for message in body["messages"])
        seed, fate = body.get("seed", -1), "broken"
        with self.lock:
            self.under_way += 1
        try:
            if self.delay:
                self._paused.wait(self.delay)
            fate = self.behaviour(Connection(self, seed, handler), _answer(step))
        except OSError:
            pass
        finally:
            with self.lock:
                self.under_way -= 1
                self.seen.append(Seen(seed, step, fate))
        if fate == "broken" or self._server is None:
            handler.close_connection = True


def _answer(step: int) -> bytes:
    message: dict[str, Any] = {"role": "assistant", "content": "Goodbye."}
    if step < CALLS - 1:
        call = {"name": "calculate", "arguments": '{"expression": "1 + 1"}'}
        calls = [{"id": f"call_{step}", "type": "function", "function": call}]
        message = {"role": "assistant", "content": None, "tool_calls": calls}
    usage = {"prompt_tokens": PROMPT, "completion_tokens": COMPLETION}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    answer = {"id": "x", "object": "chat.completion", "choices": [choice], "usage": usage}
    return json.dumps(answer).encode()


@contextmanager
def running_provider() -> Generator[Provider]:
    provider = Provider()
    provider.start()
    try:
        yield provider
    finally:
        provider.stop()
