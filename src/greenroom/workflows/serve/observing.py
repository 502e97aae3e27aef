"""Every request of a server is counted, and a line of the access log tells of it."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from greenroom.workflows.serve.metrics import OTHER, Metrics
from greenroom.workflows.serve.runner import RouteApp

ACCESS_LOG = "greenroom.access"
"""The logger of requests: a line for each, at the level INFO."""

_CLIENT_LEFT = 499
"""nginx's status for a client that left before the answer."""
_LONGEST_PATH = 200

log = logging.getLogger(ACCESS_LOG)


def write_access_log() -> None:
    """Have the lines written to standard error, with the time in UTC."""
    handler = logging.StreamHandler()
    formatter = logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%dT%H:%M:%SZ")
    formatter.converter = time.gmtime
    handler.setFormatter(formatter)
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False


@dataclass(frozen=True)
class ObservingMiddleware:
    """Tells how each request was answered; plain ASGI, because every request passes here."""

    app: ASGIApp
    metrics: Metrics
    access_log: bool = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and note what becomes of it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status, size = time.perf_counter(), 0, 0

        async def observed(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
            else:
                size += len(message.get("body", b""))
            await send(message)

        try:
            await self.app(scope, receive, observed)
        except Exception:
            status = status or 500
            raise
        finally:
            seconds = time.perf_counter() - began
            status = status or _CLIENT_LEFT
            self.metrics.request(scope["method"], _route(scope), status, seconds)
            if self.access_log:
                _tell(scope, status, seconds, size)


def _route(scope: Scope) -> str:
    """The route as it is declared: paths are made up by whoever asks."""
    endpoint: Any = scope.get("endpoint")
    return endpoint.path or OTHER if isinstance(endpoint, RouteApp) else OTHER


def _tell(scope: Scope, status: int, seconds: float, size: int) -> None:
    # Without the query, which may hold keys, and as it was sent: decoded, it may hold line breaks.
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    path = raw.partition(b"?")[0].decode("ascii", "backslashreplace")
    shown = "".join(one if one.isprintable() else "?" for one in path[:_LONGEST_PATH])
    cut = "..." if len(path) > _LONGEST_PATH else ""
    method = scope["method"]
    log.info("%s %s%s %d %.1f ms %d bytes", method, shown, cut, status, seconds * 1000, size)
