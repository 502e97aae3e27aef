"""MCP clients of the official package, connected to applications of this process."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.types import ASGIApp

ADDRESS = "http://127.0.0.1/mcp"
MODERN = "2026-07-28"
HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
ACCEPT = "application/json, text/event-stream"


@asynccontextmanager
async def connected(
    app: ASGIApp, mode: str = "auto", *, token: str | None = None
) -> AsyncGenerator[Client]:
    """The official client; its mode says which revisions it may speak."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    transport = httpx2.ASGITransport(app)
    async with (
        httpx2.AsyncClient(transport=transport, headers=headers) as http,
        Client(streamable_http_client(ADDRESS, http_client=http), mode=mode) as client,
    ):
        yield client


def request(method: str, params: dict[str, Any] | None = None, number: Any = 1) -> dict[str, Any]:
    """A JSON-RPC request."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}


async def post(app: ASGIApp, body: Any, *, method: str = "POST", **headers: str) -> tuple[int, Any]:
    """What a plain HTTP client gets; a body in bytes is sent as it is."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    given = {"content-type": "application/json", "accept": ACCEPT}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app)) as http:
        answer = await http.request(method, ADDRESS, content=content, headers=given)
    return answer.status_code, answer.json() if answer.content else None


def text_of(result: Any) -> str:
    """The text of a tool's result."""
    (content,) = result.content
    return content.text
