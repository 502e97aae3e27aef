"""Traces: nothing without a collector, and bounded with one, whatever it does."""

from __future__ import annotations

import asyncio
import os
import timeit
import tracemalloc
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from benchmarks.measures import Measure, cpu_seconds, retail_domain
from greenroom.agents import find_strategy
from greenroom.benchmark import RunContext, play_episode
from greenroom.tracing import names, spans

_EPISODES = 200
_CHECKS = 1_000_000
_NOBODY = "http://127.0.0.1:9"
_MANY = 100_000


def traced_episodes() -> Iterator[Measure]:
    """What an episode pays for traces: off, and on."""
    domain, about = retail_domain()
    context = RunContext(domain, find_strategy("oracle"))
    count = min(_EPISODES, len(domain.tasks()))

    def play() -> int:
        async def episodes() -> int:
            return sum([len((await play_episode(context, i)).steps) for i in range(count)])

        return asyncio.run(episodes())

    steps = play() / count  # the ground truths are worked out before the clock runs
    off = min(cpu_seconds(play) for _ in range(3)) / count
    check = timeit.timeit("spans.active is None", globals={"spans": spans}, number=_CHECKS)
    # One for the episode, one for each call of a tool.
    share = 100 * (check / _CHECKS) * (1 + steps) / off
    yield Measure(
        f"Traces off: share of an episode ({about})",
        f"{check / _CHECKS * 1e9:.0f} ns a check",
        f"{off * 1e6:,.0f} µs an episode",
        share,
        "%",
        at_most=1,
    )
    with _collector() as address, _tracing(address):
        on = min(cpu_seconds(play) for _ in range(3)) / count
    yield Measure(
        "Traces on: CPU for a span, sent and received",
        f"{on * 1e6:,.0f} µs an episode",
        f"{off * 1e6:,.0f} µs",
        1e6 * (on - off) / (2 + steps),
        " µs",
    )


def spans_that_wait() -> Iterator[Measure]:
    """The memory of 100,000 episodes whose collector is away."""
    with _tracing(_NOBODY):
        tracemalloc.start()
        for number in range(_MANY):
            with spans.opened("episode", {names.TASK: number}, apart=True):
                pass
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    yield Measure(
        "Traces of 100,000 episodes without a collector: memory",
        f"{held / 1e6:.0f} MB",
        "all of them",
        held / 1e6,
        " MB",
        at_most=60,
    )


@contextmanager
def _tracing(address: str) -> Generator[None]:
    variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": address, "OTEL_LOGS_EXPORTER": "none"}
    os.environ.update(variables)
    spans.begin()
    try:
        yield
    finally:
        spans.end()
        for name in variables:
            del os.environ[name]


@contextmanager
def _collector() -> Generator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any, **__: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
