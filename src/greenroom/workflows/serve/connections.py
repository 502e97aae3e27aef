"""The connections of a server: clients that are slow, silent or too many cannot exhaust it.

A request has to arrive in time, and its head has a limit. A client has to take its answer. Where
connections run short, the one that is idle for longest is closed; where bytes do, the client that
sends the largest body or that takes nothing for longest. A line in the log tells how many
connections were closed, and why.
"""

from __future__ import annotations

import heapq
import logging
import socket
from collections import Counter
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)
from uvicorn.server import ServerState

from greenroom.util.json_values import encoded

if TYPE_CHECKING:
    import asyncio

MAX_HEAD = 64 << 10
"""The largest head of a request, in bytes; also of what stands between the parts of its body."""
MAX_HEADERS = 100
MAX_PIPELINED = 32
"""Requests of a connection that wait for the answer to an earlier one."""
MAX_HELD = 256 << 20
"""Bytes of all requests that are being received or answered, and of answers not yet taken."""
MAX_CONNECTIONS = 4096
SECONDS_TO_SEND = 30.0
"""For a whole request; a body gets more by its size."""
SLOWEST_BODY = 16 << 10
"""Bytes that buy a body another second."""
SECONDS_TO_TAKE = 30.0
"""For a client to take any part of a waiting answer."""

TIMED_OUT = 408

log = logging.getLogger("greenroom.serve")
# Some libraries that handlers import raise the level of the root logger.
log.setLevel(logging.WARNING)


class Connections(ServerState):
    """All connections of a server, and their limits."""

    def __init__(self) -> None:
        super().__init__()
        self.limit = _connection_limit()
        self.held = 0
        """Bytes of bodies in memory."""
        self.untaken = 0
        """Bytes of answers that clients have not taken."""
        self.closed: Counter[str] = Counter()
        """Connections closed since the last line in the log, by the reason."""

    def make_room(self, new: GuardedProtocol) -> bool:
        """Close the connections that are idle for longest, if there are too many.

        Looking for them takes a while, so several are closed at once where there are many.
        """
        if len(self.connections) <= self.limit:
            return True
        idle = [
            (since, id(one), one)
            for one in self._all()
            if (since := one.idle_since) is not None and one is not new
        ]
        for _, _, longest in heapq.nsmallest(max(1, self.limit // 64), idle):
            longest.refuse(408, f"{self.limit:,} connections are open, which is the limit.")
        return bool(idle)

    def sweep(self, now: float) -> None:
        """Close connections that are out of time, and those that hold too much; log it."""
        for one in self._all():
            one.check_time(now)
        self.limit_untaken(now)
        if self.closed:
            reasons = "; ".join(f"{count:,} because {why}" for why, count in self.closed.items())
            log.warning("Closed connections: %s.", reasons)
            self.closed.clear()

    def limit_bodies(self) -> None:
        """Close the connection that sends the largest body, if all bodies are too large.

        A single body may be larger. Those that have arrived are left to their handlers.
        """
        sending = [one for one in self._all() if one.since is not None]
        largest = max(sending, key=lambda one: one.held, default=None)
        if largest is not None and self.held > max(MAX_HELD, largest.held):
            largest.refuse(503, f"All requests together are larger than {MAX_HELD:,} bytes.")

    def limit_untaken(self, now: float) -> None:
        """Close the connections that take nothing for longest, if answers are too large."""
        if self.untaken <= MAX_HELD:
            return
        blocked = [one for one in self._all() if (one.blocked_since or now) < now]
        for one in sorted(blocked, key=lambda one: one.blocked_since or now):
            if self.untaken <= MAX_HELD:
                return
            one.abort(f"answers that clients do not take are over {MAX_HELD:,} bytes")

    def close_idle(self) -> None:
        """Close connections whose clients neither send nor take anything: the server stops."""
        for one in self._all():
            if one.idle_since is not None:
                one.transport.abort()

    def _all(self) -> list[GuardedProtocol]:
        return [one for one in self.connections if isinstance(one, GuardedProtocol)]


class _ParsingEnds(Exception):
    """The connection is closed: the parser leaves the rest of what was received."""


class GuardedProtocol(HttpToolsProtocol):
    """uvicorn's protocol with limits."""

    server_state: Connections

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.since: float | None = self.loop.time()
        """When the wait for a whole request began; None while one is answered."""
        self.blocked_since: float | None = None
        """When the client last took a part of the answer that waits for it."""
        self.held = 0
        """Bytes of this connection's requests."""
        self._untaken = 0
        self._unparsed = 0
        self._running: RequestResponseCycle | None = None

    @property
    def idle_since(self) -> float | None:
        """Since when the client neither sends a request nor takes an answer; None if it does."""
        if self.blocked_since is not None:
            return self.blocked_since
        cycle = self.cycle
        answering = bool(cycle) and not (cycle.response_complete or cycle.more_body)
        return None if answering or self.pipeline else self.since

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        _notice_vanished_clients(transport)
        if not self.server_state.make_room(self):
            self.refuse(503, "All connections are busy. Try again soon.")

    def connection_lost(self, exc: Exception | None) -> None:
        self._release()
        self.pipeline.clear()
        if (running := self._running) is not None:  # uvicorn tells the last request alone
            running.disconnected = not running.response_complete
            running.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._unparsed += len(data)
        super().data_received(data)
        if self._unparsed:
            self._check_head()

    def on_message_begin(self) -> None:
        if len(self.pipeline) > MAX_PIPELINED:
            self.abort(f"more than {MAX_PIPELINED} requests of a client wait for their answers")
            raise _ParsingEnds
        self.since = self.loop.time()
        super().on_message_begin()
        self.scope.get("state", {})["abort"] = self.transport.abort

    def on_headers_complete(self) -> None:
        if len(self.headers) > MAX_HEADERS:
            self._check_head()
            raise _ParsingEnds
        self._unparsed = 0
        super().on_headers_complete()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def on_body(self, body: bytes) -> None:
        self._unparsed = 0
        size = len(body)
        if self.since is not None:
            self.since += size / SLOWEST_BODY
        if not self.cycle.response_complete:
            self.held += size
            self.server_state.held += size
            if self.server_state.held > MAX_HELD:
                self.server_state.limit_bodies()
                if self.transport.is_closing():
                    raise _ParsingEnds
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._unparsed = 0
        self.since = self.loop.time() if self.cycle.response_complete else None
        super().on_message_complete()

    def on_response_complete(self) -> None:
        self._release_body()
        if self.since is None and not self.pipeline:
            self.since = self.loop.time()
        super().on_response_complete()
        if self.pipeline:
            self.flow.pause_reading()

    def pause_writing(self) -> None:
        self.blocked_since = now = self.loop.time()
        self._count_untaken()
        self.server_state.limit_untaken(now)
        super().pause_writing()

    def resume_writing(self) -> None:
        self.blocked_since = None
        self._count_untaken()
        super().resume_writing()

    def check_time(self, now: float) -> None:
        """Close the connection if it is out of time."""
        if self.blocked_since is not None:
            before = self._untaken
            self._count_untaken()
            if self._untaken < before:
                self.blocked_since = now
            elif now - self.blocked_since > SECONDS_TO_TAKE:
                self.abort(f"the client took nothing of its answer for {SECONDS_TO_TAKE:g} s")
        elif (since := self.idle_since) is not None and now - since > SECONDS_TO_SEND:
            self.refuse(408, f"No whole request came within {SECONDS_TO_SEND:g} s.")

    def refuse(self, status: int, why: str) -> None:
        """Answer with an error, if part of a request is there, and close the connection."""
        begun = bool(self.cycle) and not self.cycle.response_complete
        answering = self.pipeline or (begun and self.cycle.response_started)
        if self.transport.is_closing() or self.blocked_since is not None or answering:
            self.abort(why)
            return
        if status != TIMED_OUT or self._unparsed or begun:
            body = encoded({"detail": why})
            head = b"content-type: application/json\r\ncontent-length: %d\r\n" % len(body)
            end = b"connection: close\r\n\r\n"
            self.transport.write(b"".join((STATUS_LINE[status], head, end, body)))
        self._count(why)
        self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP; uvicorn calls it also where a limit has ended the parsing."""
        if not self.transport.is_closing():
            self.refuse(400, "A request is not valid HTTP.")

    def abort(self, why: str) -> None:
        """Close the connection and drop what the client did not take."""
        self._count(why)
        self.transport.abort()

    def _check_head(self) -> None:
        if self._unparsed > MAX_HEAD:
            self.refuse(431, f"The head of a request is larger than {MAX_HEAD:,} bytes.")
        elif self.headers and len(self.headers) > MAX_HEADERS:
            self.refuse(431, f"A request has more than {MAX_HEADERS} headers.")

    def _count(self, why: str) -> None:
        if self in self.connections:
            self.server_state.closed[why[0].lower() + why[1:].rstrip(".")] += 1
            self.connections.discard(self)
        self._release()

    def _count_untaken(self) -> None:
        size = 0 if self.blocked_since is None else self.transport.get_write_buffer_size()
        self.server_state.untaken += size - self._untaken
        self._untaken = size

    def _release_body(self) -> None:
        self.server_state.held -= self.held
        self.held = 0

    def _release(self) -> None:
        self._release_body()
        self.server_state.untaken -= self._untaken
        self._untaken = 0


def _notice_vanished_clients(transport: asyncio.Transport) -> None:
    """Have the system end a connection whose client no longer confirms anything.

    A host that is switched off says no goodbye, and small pieces of an answer never fill a buffer.
    """
    connection = transport.get_extra_info("socket")
    if connection is None or connection.family not in (socket.AF_INET, socket.AF_INET6):
        return
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    seconds = int(SECONDS_TO_TAKE)
    timeouts = {"TCP_KEEPIDLE": seconds, "TCP_KEEPINTVL": 5, "TCP_USER_TIMEOUT": seconds * 1000}
    for name, value in timeouts.items():
        if (option := getattr(socket, name, None)) is not None:
            connection.setsockopt(socket.IPPROTO_TCP, option, value)


def _connection_limit() -> int:
    """Three quarters of the files that this process may open; handlers need the rest."""
    try:
        import resource
    except ImportError:  # Windows
        return MAX_CONNECTIONS
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = files == resource.RLIM_INFINITY
    return MAX_CONNECTIONS if unlimited else min(MAX_CONNECTIONS, files * 3 // 4)
