"""Two hundred episodes at once through the metered endpoint and MCP: nothing is crossed."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest
from aiohttp import ClientSession, TCPConnector

import greenroom
from greenroom.agents import AgentContext, AgentStrategy, Stage
from greenroom.agents.gateway import EpisodeEndpoint, Gateway, open_gateway
from greenroom.agents.mcp_environment import McpEnvironment
from greenroom.agents.turns import Turns
from greenroom.domains.domain import Domain
from greenroom.model_server import running_server
from greenroom.store import open_store
from greenroom.workflows.serve.mcp_transport import mcp_shape
from greenroom.workflows.serve.runner import RouteApp
from tests.agents.test_command_agent import seen

pytestmark = pytest.mark.slow

Json = dict[str, Any]
EPISODES = 200
MCP_HEADERS = {
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2025-06-18",
}


@dataclass
class Shared:
    gateway: Gateway
    client: ClientSession
    playing: int = 0
    all_there: anyio.Event = field(default_factory=anyio.Event)


@asynccontextmanager
async def prepare(*_: object) -> AsyncGenerator[Shared]:
    async with (
        open_gateway() as gateway,
        ClientSession(connector=TCPConnector(limit=0)) as client,
    ):
        yield Shared(gateway, client)


class Remote:
    """An agent that knows nothing but two addresses, as if it were elsewhere."""

    def __init__(self, context: AgentContext) -> None:
        self._context = context
        self._shared: Shared = context.shared

    async def play(self, stage: Stage) -> None:
        context, shared, turns = self._context, self._shared, Turns(stage)
        shared.playing += 1
        if shared.playing == EPISODES:
            shared.all_there.set()
        await shared.all_there.wait()
        async with shared.gateway.episode(
            context.model, context.model_name, seed=context.seed
        ) as endpoint:
            endpoint.on_failure = turns.fail
            tools = endpoint.mount("mcp", RouteApp(McpEnvironment(turns).handle, mcp_shape))
            talk = _Talk(shared.client, endpoint, tools, stage.policy)
            await turns.play(talk.take_turn)


class _Talk:
    def __init__(
        self, client: ClientSession, endpoint: EpisodeEndpoint, tools: str, policy: str
    ) -> None:
        self._client, self._endpoint, self._tools = client, endpoint, tools
        self._messages: list[Json] = [{"role": "system", "content": policy}]

    async def take_turn(self, heard: str) -> str:
        listed = await self._rpc("tools/list")
        tools = [
            {
                "type": "function",
                "function": {
                    "name": one["name"],
                    "description": one["description"],
                    "parameters": one["inputSchema"],
                },
            }
            for one in listed["tools"]
        ]
        self._messages.append({"role": "user", "content": heard})
        while (reply := await self._ask(tools)).get("tool_calls"):
            self._messages.append(reply)
            for call in reply["tool_calls"]:
                name = call["function"]["name"]
                arguments = json.loads(call["function"]["arguments"])
                result = await self._rpc("tools/call", name=name, arguments=arguments)
                content = result["content"][0]["text"]
                self._messages.append(
                    {"role": "tool", "tool_call_id": call["id"], "name": name, "content": content}
                )
        self._messages.append(reply)
        return reply["content"]

    async def _ask(self, tools: list[Json]) -> Json:
        body = {"messages": self._messages, "tools": tools}
        headers = {"Authorization": f"Bearer {self._endpoint.token}"}
        address = f"{self._endpoint.model_base}/chat/completions"
        async with self._client.post(address, json=body, headers=headers) as answer:
            return (await answer.json())["choices"][0]["message"]

    async def _rpc(self, method: str, **params: Any) -> Json:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        async with self._client.post(self._tools, json=body, headers=MCP_HEADERS) as answer:
            return (await answer.json())["result"]


@pytest.mark.timeout(240)
def test_two_hundred_episodes_at_once_are_played_as_in_process(retail: Domain) -> None:
    remote = AgentStrategy("remote", Remote, prepare=prepare, needs_model=True)
    store = open_store()
    with running_server(retail) as server:
        options: dict[str, Any] = {
            "model": "synthetic-0.5",
            "api_base": server.api_base,
            "user_strategy": "llm",
            "user_model": "user",
            "user_api_base": server.api_base,
            "max_concurrency": EPISODES,
            "store": store,
            "show_progress": False,
            "trials": 5,
            "tasks": list(range(40)),
        }
        far = list(greenroom.run(agent=remote, **options).episodes())
        near = list(greenroom.run(agent="tool-calling", **options).episodes())
    assert len(far) == EPISODES
    for one, other in zip(seen(far), seen(near), strict=True):
        assert one == other
    store.close()
