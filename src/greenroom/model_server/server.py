"""The scripted model server: OpenAI's protocol, answered from a script."""

from __future__ import annotations

import asyncio
import hmac
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import web

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
from greenroom.util.hosts import LOOPBACK, WRONG_HOST, accepts_host

FAULT_HEADER = "x-greenroom-fault"
"""The header that names an injected fault."""

_COMPLETIONS = "/v1/chat/completions"
_JSON = "application/json"


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

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request."""
        path = request.path
        if self.settings.token is None and not _accepts_host(request):
            return _error(403, WRONG_HOST, "wrong_host")
        document = self._documents.get(path)
        if document is None and path != _COMPLETIONS:
            return _error(404, f"There is nothing at {path}.", "not_found")
        method = "POST" if document is None else "GET"
        if request.method != method:
            response = _error(405, f"{path} takes {method}.", "method_not_allowed")
            response.headers["Allow"] = method
            return response
        if path != "/health" and not self._admits(request):
            return _error(401, "This server needs its token as a bearer token.", "invalid_api_key")
        if document is None:
            return await self._complete(request)
        return web.Response(body=orjson.dumps(document()), content_type=_JSON)

    def _admits(self, request: web.BaseRequest) -> bool:
        token = self.settings.token
        given = request.headers.get("Authorization", "")
        return token is None or hmac.compare_digest(given.encode(), f"Bearer {token}".encode())

    async def _complete(self, request: web.BaseRequest) -> web.StreamResponse:
        body = await request.read()
        self.stats.requests += 1
        number = self.stats.requests
        try:
            chat = read_request(body)
            role_reply = await self._router.route(chat)
        except BadRequest as error:
            self.stats.refused += 1
            return _error(error.status, str(error), error.code)
        self.stats.roles[role_reply.role] += 1
        fault = None
        if self._draws:
            draw = self._sampler.draw(body)
            if delay := self.settings.latency.at(draw.delay):
                await asyncio.sleep(delay)
            fault = self._fault(draw, role_reply)
            if fault is not None:
                self.stats.faults[fault] += 1
                failure = await self._failure(request, fault, draw)
                if failure is not None:
                    return failure
        reply = Reply("") if fault == "empty" else _limited(role_reply, chat, fault)
        answer = ChatResponse(number, chat, reply, choices=fault != "no-choices")
        return await self._send(request, answer, chat, fault)

    def _fault(self, draw: Draw, role_reply: RoleReply) -> str | None:
        if draw.happens >= self.settings.fault_rate:
            return None
        kinds = [
            kind
            for kind in self.settings.faults
            if role_reply.is_action or kind not in ACTION_FAULTS
        ]
        return kinds[int(draw.kind * len(kinds))] if kinds else None

    async def _failure(
        self, request: web.BaseRequest, fault: str, draw: Draw
    ) -> web.Response | None:
        """The response of a fault that leaves no answer; None for other faults."""
        match fault:
            case "429":
                wait = self.settings.retry_after.at(draw.wait)
                response = _error(429, "Too many requests.", "rate_limit_exceeded", fault)
                response.headers["Retry-After"] = f"{wait:.3g}"
                return response
            case "500":
                return _error(500, "The server had an error.", "server_error", fault)
            case "timeout" | "drop":
                if fault == "timeout":
                    await asyncio.sleep(self.settings.hang)
                return _close(request)
            case _:
                return None

    async def _send(
        self, request: web.BaseRequest, answer: ChatResponse, chat: ChatRequest, fault: str | None
    ) -> web.StreamResponse:
        headers = {FAULT_HEADER: fault} if fault else None
        if not chat.stream:
            body = _broken(answer.whole(), fault)
            return web.Response(body=body, content_type=_JSON, headers=headers)
        response = web.StreamResponse(headers=headers)
        response.content_type = "text/event-stream"
        response.headers["Cache-Control"] = "no-cache"
        await response.prepare(request)
        events = list(answer.events())
        if fault in ("truncated", "malformed"):
            events = [_broken(b"".join(events), fault)]
        for event in events:
            await response.write(event)
        await response.write_eof()
        return response


def _accepts_host(request: web.BaseRequest) -> bool:
    name = request.transport and request.transport.get_extra_info("sockname")
    return not name or accepts_host(request.headers.get("Host", ""), name[0])


def _limited(role_reply: RoleReply, chat: ChatRequest, fault: str | None) -> Reply:
    reply = role_reply.write(fault)
    return reply if chat.max_tokens is None and not chat.stop else reply.limited(chat)


def _broken(body: bytes, fault: str | None) -> bytes:
    if fault == "truncated":
        return body[: len(body) // 2]
    return body.replace(b'"choices":', b'"choices"') if fault == "malformed" else body


def _close(request: web.BaseRequest) -> web.Response:
    """Close the connection without an answer."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


def _model_list() -> dict[str, Any]:
    models = [
        {"id": name, "object": "model", "created": 0, "owned_by": "greenroom"} for name in MODELS
    ]
    return {"object": "list", "data": models}


def _error(status: int, message: str, code: str, fault: str = "") -> web.Response:
    kind = "server_error" if status >= 500 else "invalid_request_error"
    return web.Response(
        status=status,
        body=error_body(message, kind, code),
        content_type=_JSON,
        headers={FAULT_HEADER: fault} if fault else None,
    )
