"""A server that answers as it is told, over real HTTP, and remembers what it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Reply = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class StubServer:
    """Gives its replies in order, the last for ever."""

    replies: list[Reply] = field(default_factory=list[Reply])
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    api_base: str = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(await request.json())
        self.headers.append(dict(request.headers))
        reply = self.replies[min(len(self.asked), len(self.replies)) - 1]
        return await reply(request)


@asynccontextmanager
async def running_stub() -> AsyncGenerator[StubServer]:
    server = StubServer()
    app = web.Application(client_max_size=2**26)
    app.router.add_post("/v1/chat/completions", server.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        server.api_base = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        yield server
    finally:
        await runner.cleanup()


USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


def answer_body(
    content: str | None = "hello",
    *,
    finish: str = "stop",
    usage: dict[str, Any] | None = None,
    **message: Any,
) -> dict[str, Any]:
    said = {"role": "assistant", "content": content, **message}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": finish, "message": said}],
        "usage": USAGE if usage is None else usage,
    }


def answers(content: str | None = "hello", **options: Any) -> Reply:
    return json_reply(answer_body(content, **options))


def json_reply(body: Any, status: int = 200, **headers: str) -> Reply:
    async def reply(request: web.Request) -> web.StreamResponse:
        del request
        return web.json_response(body, status=status, headers=headers)

    return reply


def fails(status: int, message: str = "no", code: str | None = None, **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    error = {"message": message, "type": "some_error", "code": code}
    return json_reply({"error": error}, status, **named)


def text_reply(text: str) -> Reply:
    async def reply(request: web.Request) -> web.StreamResponse:
        del request
        return web.Response(text=text, content_type="application/json")

    return reply


async def hangs(request: web.Request) -> web.StreamResponse:
    del request
    await asyncio.sleep(30)
    return web.Response()


async def hangs_up(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.close()
    return web.Response()


async def stops_halfway(request: web.Request) -> web.StreamResponse:
    """A body that is shorter than its header says."""
    response = web.StreamResponse(headers={"Content-Length": "1000"})
    await response.prepare(request)
    await response.write(b'{"id": "chatcmpl-1", "choices": [')
    assert request.transport is not None
    request.transport.close()
    return response
