"""Requests as plain HTTP, and what comes back before any client makes sense of it."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from typing import Any

import aiohttp
import anyio
import orjson

from greenroom.model_server import RunningServer
from tests.domains.small import TASKS, tools

INSTRUCTION = TASKS[1].instruction
"""Light the hall, and say 10."""

OPENING = [{"role": "system", "content": "Ask first."}, {"role": "user", "content": INSTRUCTION}]


def request(**changes: Any) -> dict[str, Any]:
    """An agent's first request, with changes; None leaves a field out."""
    asked = {"model": "oracle", "messages": OPENING, "tools": tools.infos} | changes
    return {name: value for name, value in asked.items() if value is not None}


@dataclass
class Answer:
    """A response as it was sent."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)

    @property
    def message(self) -> dict[str, Any]:
        return self.json["choices"][0]["message"]

    @property
    def events(self) -> list[Any]:
        """The events of a stream without the last, which has to be [DONE]."""
        lines = self.body.decode().split("\n\n")
        assert lines[-2:] == ["data: [DONE]", ""]
        return [orjson.loads(line.removeprefix("data: ")) for line in lines[:-2]]


def send(
    server: RunningServer,
    path: str = "/v1/chat/completions",
    body: Any = None,
    *,
    method: str | None = None,
    headers: dict[str, str] | None = None,
) -> Answer:
    """Send one request: a POST where there is something to send."""

    async def exchange() -> Answer:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(10)) as session,
            session.request(
                method or ("GET" if body is None else "POST"),
                server.address + path,
                data=None if body is None else io.BytesIO(_bytes(body)),
                headers=headers,
            ) as response,
        ):
            found = {name.lower(): value for name, value in response.headers.items()}
            return Answer(response.status, found, await response.read())

    return anyio.run(exchange)


def _bytes(body: Any) -> bytes:
    return body if isinstance(body, bytes) else json.dumps(body).encode()


def ask(server: RunningServer, **changes: Any) -> Answer:
    """Send an agent's first request, with changes."""
    return send(server, body=request(**changes))


def said(server: RunningServer, messages: list[dict[str, Any]], **changes: Any) -> str:
    """The words of the answer to messages, from one who has no tools."""
    answer = ask(server, messages=messages, tools=None, **changes)
    assert answer.status == 200, answer.body
    return answer.message["content"]
