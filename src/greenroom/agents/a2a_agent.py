"""The A2A agent: an agent behind an address plays, by the Agent2Agent protocol.

The harness owns the user's turn (see `greenroom.agents.turns`): what the user says is an A2A
message, and the agent's final message is its reply. The first message tells the policy, the address
of the tools (MCP) and that of the run's model; the agent acts there and never sees the task.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import anyio
from pydantic import AfterValidator, Field

from greenroom.agents.a2a_client import A2aAgent, A2aConversation, A2aFailed, open_agent
from greenroom.agents.gateway import TURN_CALLS, EpisodeEndpoint, Gateway, open_gateway
from greenroom.agents.mcp_environment import McpEnvironment
from greenroom.agents.strategies import AgentContext, AgentStrategy, DomainView, Stage
from greenroom.agents.turns import Turns, TurnTimedOut
from greenroom.config import Seconds
from greenroom.options import Count, Settings
from greenroom.workflows.call.addresses import parse_address
from greenroom.workflows.serve.mcp_transport import check_mcp, mcp_shape
from greenroom.workflows.serve.runner import RouteApp

if TYPE_CHECKING:
    from a2a.types import Part

SETUP = "greenroom"
"""The key of the first message's data part."""


def _address(given: str) -> str:
    return parse_address(given).base


class A2aSettings(Settings):
    """The settings of the A2A agent."""

    url: Annotated[str, AfterValidator(_address)] = Field(
        description="Its address: the agent's card is at /.well-known/agent-card.json below it.",
        min_length=1,
    )
    turn_seconds: Seconds = Field(default=600.0, description="Time that a turn may take.")
    turn_calls: Count = Field(
        default=TURN_CALLS, description="Questions to the run's model that a turn may take."
    )
    policy: bool = Field(default=True, description="Tell it the domain's policy.")


@dataclass(frozen=True)
class OpenA2a:
    """What the agents of a run share."""

    agent: A2aAgent
    gateway: Gateway


@asynccontextmanager
async def prepare(
    domain: DomainView, settings: A2aSettings, max_steps: int
) -> AsyncGenerator[OpenA2a]:
    """Find the agent, and open the gateway of the run."""
    check_mcp()
    async with open_agent(settings.url) as agent, open_gateway() as gateway:
        yield OpenA2a(agent, gateway)


class A2aPlayer:
    """Plays an episode in a conversation with the agent."""

    def __init__(self, context: AgentContext) -> None:
        assert isinstance(context.shared, OpenA2a), "the strategy was not prepared"
        self.facts = dict(context.shared.agent.facts)
        self._shared = context.shared
        self._settings: A2aSettings = context.settings
        self._context = context

    async def play(self, stage: Stage) -> None:
        context, turns = self._context, Turns(stage)
        conversation = A2aConversation(self._shared.agent)
        opened = self._shared.gateway.episode(context.model, context.model_name, seed=context.seed)
        async with opened as endpoint:
            endpoint.facts |= self.facts
            self.facts = endpoint.facts
            endpoint.on_failure = turns.fail
            tools = RouteApp(McpEnvironment(turns).handle, mcp_shape)
            mcp_url = endpoint.mount("mcp", tools)
            setup = self._setup(turns, endpoint, mcp_url)

            async def take_turn(heard: str) -> str | None:
                endpoint.begin_turn(self._settings.turn_calls)
                parts = [*_told(setup), _text_part(heard)]
                setup.clear()
                try:
                    with anyio.fail_after(self._settings.turn_seconds):
                        return await conversation.say(parts)
                except TimeoutError:
                    seconds = f"{self._settings.turn_seconds:g}"
                    raise TurnTimedOut(f"A turn took more than {seconds} seconds.") from None
                except A2aFailed:
                    # An agent that fails over what its model answered has that outcome.
                    if endpoint.problem is not None:
                        raise endpoint.problem from None
                    raise

            await turns.play(take_turn)

    def _setup(self, turns: Turns, endpoint: EpisodeEndpoint, mcp_url: str) -> dict[str, Any]:
        told: dict[str, Any] = {"mcp_url": mcp_url}
        if self._settings.policy:
            told["policy"] = turns.policy
        if endpoint.model_base is not None:
            told["model_base"] = endpoint.model_base
            told["model"] = endpoint.model_name
            told["api_key"] = endpoint.token
        if len(turns.messages) > 1:
            told["messages"] = turns.messages[:-1]
        return told


def _told(setup: dict[str, Any]) -> list[Part]:
    """The parts that tell an agent about its episode: for models as text, for programs as data."""
    if not setup:
        return []
    from a2a.types import Part
    from google.protobuf.json_format import ParseDict
    from google.protobuf.struct_pb2 import Value

    lines = [f"Your tools are those of the MCP server at {setup['mcp_url']}."]
    if "model_base" in setup:
        lines.append(
            f"Your model is '{setup['model']}', at the OpenAI-compatible address "
            f"{setup['model_base']} with the key {setup['api_key']}."
        )
    lines.append("Whatever you answer goes to the user. This is what the user says:")
    policy = [setup["policy"]] if "policy" in setup else []
    text = "\n\n".join([*policy, "\n".join(lines)]) + "\n\n"
    data = Part(data=ParseDict({SETUP: setup}, Value()), media_type="application/json")
    return [data, _text_part(text)]


def _text_part(text: str) -> Part:
    from a2a.types import Part

    return Part(text=text)


strategy = AgentStrategy(
    "a2a",
    A2aPlayer,
    "an agent behind an address, by A2A; its tools and its model are at the episode's addresses",
    settings=A2aSettings,
    offers_model=True,
    prepare=prepare,
    takes_over="never",
)
