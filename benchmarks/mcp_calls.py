"""What a call over MCP costs: 200 environments behind one address, asked over HTTP.

The server runs in a process of its own and says how much CPU it has used; the load comes from this
process.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from benchmarks.measures import Measure

ENVIRONMENTS = 200
CALLS = 20
MOST = 3.0
"""Milliseconds of CPU that a call may take on our side."""
ROUNDS = 3  # the quickest counts: whatever else the machine does only makes it slower

SERVER = f"""
import time
import anyio
from starlette.routing import Route, Router
from greenroom.agents import Stage
from greenroom.agents.mcp_environment import McpEnvironment
from greenroom.domains import load_domain
from greenroom.domains.environment import Environment
from greenroom.users import ScriptedUser
from greenroom.workflows.serve import serve_until_stopped
from greenroom.workflows.serve.runner import RouteApp

retail = load_domain("retail")

async def opened():
    environment = Environment(retail, ScriptedUser(), max_steps=10**9)
    await environment.reset(5)
    return RouteApp(McpEnvironment(Stage(environment)).handle)

async def used(exchange):
    await exchange.answer(200, time.process_time())

async def routes():
    return [Route(f"/{{number}}", await opened()) for number in range({ENVIRONMENTS})]

router = Router([Route("/used", RouteApp(used)), *anyio.run(routes)])
serve_until_stopped(router, host="127.0.0.1", port=0, announce=lambda url: print(url, flush=True))
"""

EARLIER, NEWEST = "2025-11-25", "2026-07-28"


def mcp_calls() -> Iterator[Measure]:
    """Calls of a tool in 200 environments at once, in the newest revision and the one before."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            for revision in (NEWEST, EARLIER):
                asyncio.run(_load(address, revision))  # leaves out what is done once
                rounds = [asyncio.run(_load(address, revision)) for _ in range(ROUNDS)]
                cpu, elapsed = min(rounds)
                yield Measure(
                    f"Calls over MCP {revision}, {ENVIRONMENTS} environments at once",
                    f"{ENVIRONMENTS * CALLS / elapsed:,.0f}/s",
                    "",
                    cpu,
                    " ms CPU",
                    at_most=MOST,
                )
        finally:
            process.terminate()


async def _load(address: str, revision: str) -> tuple[float, float]:
    """Milliseconds of the server's CPU for a call, and the seconds that all of them took."""
    from aiohttp import ClientSession, TCPConnector

    name = "get_order_details"
    params: dict[str, Any] = {"name": name, "arguments": {"order_id": "#W1000001"}}
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": revision,
        "Mcp-Method": "tools/call",
        "Mcp-Name": name,
    }
    if revision == NEWEST:
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": revision,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    connector = TCPConnector(limit=ENVIRONMENTS)
    async with ClientSession(connector=connector, headers=headers) as client:

        async def used() -> float:
            async with client.get(f"{address}/used") as answer:
                return await answer.json()

        async def play(number: int) -> None:
            for _ in range(CALLS):
                async with client.post(f"{address}/{number}", json=body) as answer:
                    assert "result" in await answer.json()

        before, began = await used(), time.perf_counter()
        await asyncio.gather(*(play(number) for number in range(ENVIRONMENTS)))
        elapsed = time.perf_counter() - began
        cpu = await used() - before
    return cpu / (ENVIRONMENTS * CALLS) * 1e3, elapsed
