"""What a call costs that an agent elsewhere makes: 200 episodes at once, each at its own address.

Agents ask the metered endpoint and call tools by MCP in turn. The gateway runs in a process of its
own, in the event loop that runs have, and says how much CPU it has used. It asks the scripted
models, in another process, through the run's pool. The load comes from this process.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from benchmarks.measures import Measure

EPISODES = 200
CALLS = 20
MOST = 3.0
"""Milliseconds of CPU that a call may take on our side: the gateway, and what is behind it."""
ROUNDS = 3  # the quickest counts: whatever else the machine does only makes it slower

MCP_HEADERS = {
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2025-11-25",
}
TOOL_CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "get_order_details", "arguments": {"order_id": "#W1000001"}},
}

_MODELS = "from greenroom.cli import main; main()"
GATEWAY = f"""
import json, sys, time
from contextlib import AsyncExitStack
import anyio
from greenroom.agents import Stage
from greenroom.agents.gateway import open_gateway
from greenroom.agents.mcp_environment import McpEnvironment
from greenroom.domains import load_domain
from greenroom.domains.environment import Environment
from greenroom.models import Ledger, ModelPool, ModelSettings
from greenroom.users import ScriptedUser
from greenroom.workflows.serve.mcp_transport import mcp_shape
from greenroom.workflows.serve.runner import RouteApp

async def used(exchange):
    await exchange.answer(200, time.process_time())

async def main():
    settings, retail = ModelSettings(model="oracle", api_base=sys.argv[1]), load_domain("retail")
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(ModelPool(max_concurrency={EPISODES}))
        gateway = await stack.enter_async_context(open_gateway())
        opened = []
        for number in range({EPISODES}):
            model = pool.model(settings, "agent", Ledger(), scope=str(number), seed=number)
            episode = gateway.episode(model, "oracle", seed=number)
            endpoint = await stack.enter_async_context(episode)
            environment = Environment(retail, ScriptedUser(), max_steps=10**9)
            await environment.reset(5)
            tools = McpEnvironment(Stage(environment))
            mcp = endpoint.mount("mcp", RouteApp(tools.handle, mcp_shape))
            tells = endpoint.mount("used", RouteApp(used))
            opened.append((endpoint.model_base, endpoint.token, mcp, tells))
        print(json.dumps(opened), flush=True)
        await anyio.sleep_forever()

anyio.run(main)
"""


def metered_calls() -> Iterator[Measure]:
    """200 episodes at once: questions with a policy and the tools of retail, and calls by MCP."""
    serving = [sys.executable, "-c", _MODELS, "model-server", "--port", "0"]
    with subprocess.Popen(serving, stdout=subprocess.PIPE, text=True) as models:
        try:
            assert models.stdout is not None
            printed = models.stdout.readline()
            found = re.search(r"http://\S+/v1", printed)
            assert found, f"the model server does not run: {printed}"
            yield from _measured(found[0])
        finally:
            models.terminate()


def _measured(api_base: str) -> Iterator[Measure]:
    command = [sys.executable, "-c", GATEWAY, api_base]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as gateway:
        try:
            assert gateway.stdout is not None
            opened = json.loads(gateway.stdout.readline())
            asyncio.run(_load(opened))  # leaves out what is done once
            cpu, elapsed = min(asyncio.run(_load(opened)) for _ in range(ROUNDS))
        finally:
            gateway.terminate()
    yield Measure(
        f"Calls of the metered endpoint and by MCP, {EPISODES} episodes at once",
        f"{EPISODES * CALLS / elapsed:,.0f}/s",
        "",
        cpu,
        " ms CPU",
        at_most=MOST,
    )


async def _load(opened: list[list[str]]) -> tuple[float, float]:
    """Milliseconds of the gateway's CPU for a call, and the seconds that all of them took."""
    from aiohttp import ClientSession, TCPConnector

    from greenroom.domains.domain import load_domain

    retail = load_domain("retail")
    tasks = retail.tasks()
    bodies: list[dict[str, Any]] = [
        {
            "model": "oracle",
            "messages": [
                {"role": "system", "content": retail.policy},
                {"role": "user", "content": tasks[number % len(tasks)].instruction},
            ],
            "tools": retail.tool_infos,
        }
        for number in range(EPISODES)
    ]
    async with ClientSession(connector=TCPConnector(limit=EPISODES)) as client:

        async def used() -> float:
            async with client.get(opened[0][-1]) as answer:
                return await answer.json()

        async def play(number: int) -> None:
            base, token, mcp, _ = opened[number]
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            question = json.dumps(bodies[number]).encode()
            for _ in range(CALLS // 2):
                chat = f"{base}/chat/completions"
                async with client.post(chat, data=question, headers=headers) as answer:
                    assert "choices" in await answer.json()
                async with client.post(mcp, json=TOOL_CALL, headers=MCP_HEADERS) as answer:
                    assert "result" in await answer.json()

        before, began = await used(), time.perf_counter()
        await asyncio.gather(*(play(number) for number in range(EPISODES)))
        elapsed = time.perf_counter() - began
        cpu = await used() - before
    return cpu / (EPISODES * CALLS) * 1e3, elapsed


if __name__ == "__main__":
    for measure in metered_calls():
        print(measure.name, measure.ours, f"{measure.value:.2f}{measure.unit}")
