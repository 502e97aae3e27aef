"""A server that answers as it is told, over real HTTP, and remembers what it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import web

Reply = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Asked:
    """A request that came."""

    method: str
    path: str
    body: Any
    headers: dict[str, str]


@dataclass
class Stub:
    """Replies by method and path, such as "POST /invoke"."""

    routes: dict[str, Reply] = field(default_factory=dict[str, Reply])
    asked: list[Asked] = field(default_factory=list[Asked])
    address: str = ""

    @property
    def bodies(self) -> list[Any]:
        return [one.body for one in self.asked]

    @property
    def lines(self) -> list[str]:
        return [f"{one.method} {one.path}" for one in self.asked]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        content = await request.read()
        body = orjson.loads(content) if content else None
        self.asked.append(Asked(request.method, request.path, body, dict(request.headers)))
        line = f"{request.method} {request.path}"
        return await self.routes.get(line, says({"detail": "Not Found"}, status=404))(request)


@asynccontextmanager
async def running_stub() -> AsyncGenerator[Stub]:
    stub = Stub()
    app = web.Application(client_max_size=2**26)
    app.router.add_route("*", "/{path:.*}", stub.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        stub.address = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield stub
    finally:
        await runner.cleanup()


def in_turn(*replies: Reply) -> Reply:
    """One after the other, the last for ever."""
    left = list(replies)

    async def reply(request: web.Request) -> web.StreamResponse:
        return await (left.pop(0) if len(left) > 1 else left[0])(request)

    return reply


def says(body: Any, *, status: int = 200, **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}

    async def reply(request: web.Request) -> web.StreamResponse:
        del request
        return web.json_response(body, status=status, headers=named)

    return reply


def writes(text: str, content_type: str = "text/plain", *, status: int = 200) -> Reply:
    async def reply(request: web.Request) -> web.StreamResponse:
        del request
        return web.Response(text=text, content_type=content_type, status=status)

    return reply


def streams(*chunks: bytes, content_type: str = "text/event-stream", cut: bool = False) -> Reply:
    """Chunks, one by one; `cut` ends the connection before the stream has ended."""

    async def reply(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": content_type})
        await response.prepare(request)
        for chunk in chunks:
            await response.write(chunk)
        if cut:
            assert request.transport is not None
            request.transport.abort()
        return response

    return reply


def sse(*events: Any) -> bytes:
    """Server-sent events, as Agenta frames them."""
    return b"".join(b"data: " + orjson.dumps(event) + b"\n\n" for event in events)


async def hangs(request: web.Request) -> web.StreamResponse:
    del request
    await asyncio.sleep(30)
    return web.Response()


async def hangs_up(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


def envelope(outputs: Any, **fields: Any) -> dict[str, Any]:
    status = {"code": 200, "message": "Success"}
    return {"version": "2025.07.14", "status": status, "data": {"outputs": outputs}, **fields}
