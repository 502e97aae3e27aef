"""A chat-completions server whose answers are a function of what it is asked, over real HTTP."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Answering = Callable[[dict[str, Any]], dict[str, Any]]
"""Makes an assistant's message of the body of a request."""

USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


class OutOfOrder(Exception):
    """Raised where there is no answer: the server answers with status 500."""


@dataclass
class ChatServer:
    """Answers at once or in pieces, and remembers what it was asked."""

    answering: Answering
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    api_base: str = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.asked.append(body)
        # Clients keep connections, and would be told off for those that they leave open.
        headers = {"Connection": "close"}
        try:
            message = {"role": "assistant", "content": None, **self.answering(body)}
        except OutOfOrder as problem:
            error = {"error": {"message": str(problem), "type": "server_error"}}
            return web.json_response(error, status=500, headers=headers)
        if not body.get("stream"):
            choice = {"index": 0, "finish_reason": _finish(message), "message": message}
            whole = _frame(body, "chat.completion", choices=[choice], usage=USAGE)
            return web.json_response(whole, headers=headers)
        response = web.StreamResponse(headers={**headers, "Content-Type": "text/event-stream"})
        await response.prepare(request)
        for chunk in _chunks(body, message):
            await response.write(f"data: {json.dumps(chunk)}\n\n".encode())
        await response.write(b"data: [DONE]\n\n")
        return response


@contextmanager
def running_chat_server(answering: Answering) -> Generator[ChatServer]:
    """The server, in a thread of its own."""
    server, started = ChatServer(answering), threading.Event()
    loop, end = asyncio.new_event_loop(), asyncio.Event()

    async def serve() -> None:
        app = web.Application(client_max_size=2**26)
        app.router.add_post("/v1/chat/completions", server.handle)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            server.api_base = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
            started.set()
            await end.wait()
        finally:
            started.set()
            await runner.cleanup()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    started.wait()
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(end.set)
        thread.join()
        loop.close()


def tool_call(name: str, **arguments: Any) -> dict[str, Any]:
    """A message that calls a tool."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"tool_calls": [{"id": f"call_{name}", "type": "function", "function": function}]}


def _chunks(body: dict[str, Any], message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": word} for word in (message["content"] or "").split(" ") if word]
    for index, delta in enumerate(deltas[2:], start=2):
        deltas[index] = {"content": f" {delta['content']}"}
    for index, call in enumerate(message.get("tool_calls") or []):
        function = call["function"]
        deltas.append(
            {"tool_calls": [{**call, "index": index, "function": {**function, "arguments": ""}}]}
        )
        for part in (function["arguments"][:5], function["arguments"][5:]):
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
    for delta in deltas:
        choice = {"index": 0, "delta": delta, "finish_reason": None}
        yield _frame(body, "chat.completion.chunk", choices=[choice])
    last: dict[str, Any] = {"index": 0, "delta": {}, "finish_reason": _finish(message)}
    yield _frame(body, "chat.completion.chunk", choices=[last])
    if "include_usage" in body.get("stream_options", {}):
        yield _frame(body, "chat.completion.chunk", choices=[], usage=USAGE)


def _frame(body: dict[str, Any], kind: str, **fields: Any) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": 1, "model": body["model"], **fields}


def _finish(message: dict[str, Any]) -> str:
    return "tool_calls" if message.get("tool_calls") else "stop"
