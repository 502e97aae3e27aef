"""The scripted model server: OpenAI's protocol, answered from a script."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from greenroom.domains.domain import Domain
from greenroom.errors import InputError
from greenroom.model_server.actions import Reply
from greenroom.model_server.faults import (
    ACTION_FAULTS,
    FAULTS,
    Draw,
    RequestSampler,
    TimeRange,
    check_faults,
)
from greenroom.model_server.requests import BadRequest, ChatRequest, read_request
from greenroom.model_server.responses import ChatResponse, error_body
from greenroom.model_server.roles import MODELS, RoleReply, RoleRouter
from greenroom.util.hosts import LOOPBACK
from greenroom.workflows.serve.deadlines import cancel_on_disconnect
from greenroom.workflows.serve.exchange import Exchange, Headers, Refusal, reason_of
from greenroom.workflows.serve.limits import AdmissionMiddleware
from greenroom.workflows.serve.runner import RouteApp

FAULT_HEADER = "x-greenroom-fault"
"""The header that names an injected fault."""

_COMPLETIONS = "/v1/chat/completions"
_LARGEST_REQUEST = 64 << 20
_UNAUTHORIZED = 401


@dataclass(frozen=True, kw_only=True)
class ServerSettings:
    """How the server behaves."""

    seed: int = 10
    """The seed of faults, latencies and the synthetic agent's outcomes."""
    latency: TimeRange = field(default_factory=TimeRange)
    fault_rate: float = 0.0
    """The share of requests that go wrong."""
    faults: tuple[str, ...] = FAULTS
    retry_after: TimeRange = field(default_factory=lambda: TimeRange(0.05, 0.05))
    """The `Retry-After` of a 429."""
    hang: float = 30.0
    """Seconds until a request that times out is closed."""
    token: str | None = field(default=None, repr=False)
    """The bearer token that requests need, if set."""
    host: str = LOOPBACK
    port: int = 0
    """0 takes any free port."""

    def __post_init__(self) -> None:
        check_faults(self.faults)
        if not 0 <= self.fault_rate <= 1:
            raise InputError(f"The fault rate is a share from 0 to 1, not {self.fault_rate}.")
        if self.hang < 0:
            raise InputError(f"A request hangs for 0 seconds or more, not {self.hang}.")


@dataclass
class Stats:
    """Counters of the requests so far."""

    requests: int = 0
    refused: int = 0
    """Invalid requests."""
    faults: Counter[str] = field(default_factory=Counter[str])
    roles: Counter[str] = field(default_factory=Counter[str])

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; only faults and roles that occurred."""
        return {
            "requests": self.requests,
            "refused": self.refused,
            "faults": dict(sorted(self.faults.items())),
            "roles": dict(sorted(self.roles.items())),
        }


class ScriptedModels:
    """The request handler, independent of sockets and ports."""

    def __init__(self, domain: Domain, split: str, settings: ServerSettings) -> None:
        self.settings = settings
        self.stats = Stats()
        self._router = RoleRouter(domain, split, settings.seed)
        self._sampler = RequestSampler(settings.seed)
        self._draws = settings.fault_rate > 0 or settings.latency.most > 0
        self._documents: dict[str, Callable[[], dict[str, Any]]] = {
            "/v1/models": _model_list,
            "/stats": self.stats.to_json,
            "/health": lambda: {"status": "ok"},
        }
        self.app = AdmissionMiddleware(RouteApp(self._handle), settings.token, shape=_shape)
        """The ASGI application."""

    async def _handle(self, exchange: Exchange) -> None:
        """Answer one request."""
        path = exchange.scope["path"]
        document = self._documents.get(path)
        if document is None and path != _COMPLETIONS:
            raise _error(404, f"There is nothing at {path}.", "not_found")
        method = "POST" if document is None else "GET"
        if exchange.method != method:
            allowed = [(b"allow", method.encode())]
            raise _error(405, f"{path} takes {method}.", "method_not_allowed", allowed)
        if document is not None:
            await exchange.answer(200, document())
            return
        body = await exchange.body(_LARGEST_REQUEST)
        work = self._complete(exchange, body)
        # Without faults and latencies an answer takes no time.
        await (cancel_on_disconnect(exchange.receive, work) if self._draws else work)

    async def _complete(self, exchange: Exchange, body: bytes) -> None:
        self.stats.requests += 1
        number = self.stats.requests
        try:
            chat = read_request(body)
            role_reply = await self._router.route(chat)
        except BadRequest as error:
            self.stats.refused += 1
            raise _error(error.status, str(error), error.code) from error
        self.stats.roles[role_reply.role] += 1
        fault = None
        if self._draws:
            draw = self._sampler.draw(body)
            if delay := self.settings.latency.at(draw.delay):
                await asyncio.sleep(delay)
            fault = self._fault(draw, role_reply)
            if fault is not None:
                self.stats.faults[fault] += 1
                await self._fail(exchange, fault, draw)
        reply = Reply("") if fault == "empty" else _limited(role_reply, chat, fault)
        answer = ChatResponse(number, chat, reply, choices=fault != "no-choices")
        await _send(exchange, answer, chat, fault)

    def _fault(self, draw: Draw, role_reply: RoleReply) -> str | None:
        if draw.happens >= self.settings.fault_rate:
            return None
        kinds = [
            kind
            for kind in self.settings.faults
            if role_reply.is_action or kind not in ACTION_FAULTS
        ]
        return kinds[int(draw.kind * len(kinds))] if kinds else None

    async def _fail(self, exchange: Exchange, fault: str, draw: Draw) -> None:
        """Fail as a fault that leaves no answer does; nothing for other faults."""
        told = _fault_header(fault)
        match fault:
            case "429":
                wait = b"%.3g" % self.settings.retry_after.at(draw.wait)
                headers = [*told, (b"retry-after", wait)]
                raise _error(429, "Too many requests.", "rate_limit_exceeded", headers)
            case "500":
                raise _error(500, "The server had an error.", "server_error", told)
            case "timeout" | "drop":
                if fault == "timeout":
                    await asyncio.sleep(self.settings.hang)
                await exchange.drop()
            case _:
                return


async def _send(
    exchange: Exchange, answer: ChatResponse, chat: ChatRequest, fault: str | None
) -> None:
    headers = _fault_header(fault)
    if not chat.stream:
        await exchange.answer(200, _broken(answer.whole(), fault), headers)
        return
    await exchange.begin(b"text/event-stream", headers)
    events = list(answer.events())
    if fault in ("truncated", "malformed"):
        events = [_broken(b"".join(events), fault)]
    for event in events:
        await exchange.piece(event)
    await exchange.end()


def _limited(role_reply: RoleReply, chat: ChatRequest, fault: str | None) -> Reply:
    reply = role_reply.write(fault)
    return reply if chat.max_tokens is None and not chat.stop else reply.limited(chat)


def _broken(body: bytes, fault: str | None) -> bytes:
    if fault == "truncated":
        return body[: len(body) // 2]
    return body.replace(b'"choices":', b'"choices"') if fault == "malformed" else body


def _model_list() -> dict[str, Any]:
    models = [
        {"id": name, "object": "model", "created": 0, "owned_by": "greenroom"} for name in MODELS
    ]
    return {"object": "list", "data": models}


def _fault_header(fault: str | None) -> Headers:
    return [(FAULT_HEADER.encode(), fault.encode())] if fault else []


def _shape(refusal: Refusal) -> Refusal:
    """A refusal of the server itself in OpenAI's format."""
    code = "invalid_api_key" if refusal.status == _UNAUTHORIZED else "forbidden"
    return _error(refusal.status, reason_of(refusal), code, refusal.headers)


def _error(status: int, message: str, code: str, headers: Headers | None = None) -> Refusal:
    kind = "server_error" if status >= 500 else "invalid_request_error"
    return Refusal(status, error_body(message, kind, code), headers or ())
