"""The command agent: any program plays, by text or by JSON lines on its standard streams.

The harness owns the user's turn (see `greenroom.agents.turns`). The program acts on the environment
by MCP or, with JSON lines, by calls that it prints, and asks the run's model at the address of its
episode. It never sees the task.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import anyio

from greenroom.agents.command.places import RunPlaces, open_places
from greenroom.agents.command.processes import CommandCrashed, Printed
from greenroom.agents.command.settings import (
    CommandSettings,
    filled,
    passed_variables,
    words_of,
)
from greenroom.agents.command.talking import LinesTalk, Place, TextTalk
from greenroom.agents.command.watcher import VARIABLE
from greenroom.agents.gateway import EpisodeEndpoint, Gateway, open_gateway
from greenroom.agents.mcp_environment import McpEnvironment
from greenroom.agents.strategies import AgentContext, AgentStrategy, DomainView, Stage
from greenroom.agents.turns import Turns, TurnTimedOut
from greenroom.errors import SHORTEST_SECRET, InputError, redacted
from greenroom.workflows.serve.mcp_transport import check_mcp, mcp_shape
from greenroom.workflows.serve.runner import RouteApp

_MODEL_VARIABLES = ("OPENAI_API_KEY", "OPENAI_BASE_URL")
_TOLD_LINES = 8
_LOCAL = "127.0.0.1,localhost"
_NO_PROXY = ("NO_PROXY", "no_proxy")
_NOTHING_SENT = {"OPENAI_AGENTS_DISABLE_TRACING": "1"}
"""OpenAI's Agents SDK would send what is said to OpenAI, with the key of the episode."""


@dataclass(frozen=True)
class OpenCommand:
    """What the agents of a run share."""

    gateway: Gateway
    places: RunPlaces
    words: list[str]
    variables: dict[str, str]
    speaks_mcp: bool


@asynccontextmanager
async def prepare(
    domain: DomainView, settings: CommandSettings, max_steps: int
) -> AsyncGenerator[OpenCommand]:
    """Check the command, and open the gateway of the run."""
    words = words_of(settings.agent_command)
    variables = passed_variables(settings.agent_env)
    if "{mcp_url}" in settings.agent_command:
        check_mcp()
    speaks_mcp = find_spec("mcp_types") is not None  # importing it takes a while
    async with open_gateway() as gateway, open_places() as places:
        yield OpenCommand(gateway, places, words, variables, speaks_mcp)


class CommandAgent:
    """Plays an episode with processes of a command."""

    def __init__(self, context: AgentContext) -> None:
        assert isinstance(context.shared, OpenCommand), "the strategy was not prepared"
        self.facts: dict[str, str] = {}
        self._shared = context.shared
        self._settings: CommandSettings = context.settings
        _check_model(self._settings, has_model=context.model is not None)
        self._context = context
        self._printed = Printed()
        self._hidden: list[str] = []

    @property
    def printed(self) -> str:
        """What its processes printed beside what they said, without secrets."""
        return self._clean(self._printed.text)

    async def play(self, stage: Stage) -> None:
        context, turns = self._context, Turns(stage)
        opened = self._shared.gateway.episode(context.model, context.model_name, seed=context.seed)
        async with AsyncExitStack() as stack:
            endpoint = await stack.enter_async_context(opened)
            self.facts = endpoint.facts
            endpoint.on_failure = turns.fail
            folder, mark = await stack.enter_async_context(self._shared.places.episode())
            mcp_url: str | None = None
            if self._shared.speaks_mcp:
                tools = RouteApp(McpEnvironment(turns).handle, mcp_shape)
                mcp_url = endpoint.mount("mcp", tools)
            place = self._place(endpoint, mcp_url, folder, mark)
            passed = [self._shared.variables[name] for name in self._settings.agent_env]
            secret = [value for value in passed if len(value) >= SHORTEST_SECRET]
            addresses = [mcp_url or endpoint.address, endpoint.address]
            self._hidden = [endpoint.token, *addresses, place.mark, *secret]
            talk = TextTalk if self._settings.agent_protocol == "text" else LinesTalk
            talking = talk(turns, place, self._settings, self._printed)
            stack.push_async_callback(talking.close)

            async def take_turn(heard: str) -> str | None:
                endpoint.begin_turn(self._settings.turn_calls)
                try:
                    with anyio.fail_after(self._settings.turn_seconds):
                        said = await talking.take_turn(heard)
                except TimeoutError:
                    seconds = f"{self._settings.turn_seconds:g}"
                    raise TurnTimedOut(f"A turn took more than {seconds} seconds.") from None
                except CommandCrashed as error:
                    # A program that fails over what its model answered has that outcome.
                    raise endpoint.problem or self._with_last_lines(error) from None
                if said is None and endpoint.problem is not None:
                    raise endpoint.problem
                return said

            await turns.play(take_turn)

    def _place(
        self, endpoint: EpisodeEndpoint, mcp_url: str | None, folder: Path, mark: str
    ) -> Place:
        base = endpoint.model_base
        values = {"model": endpoint.model_name, "model_base": base or ""}
        if mcp_url is not None:
            values["mcp_url"] = mcp_url
        given = self._shared.variables
        variables = {"HOME": str(folder), "TMPDIR": str(folder), **_NOTHING_SENT} | given
        # The episode's own addresses are on this machine, where no proxy finds them.
        variables |= {name: ",".join(filter(None, (given.get(name), _LOCAL))) for name in _NO_PROXY}
        variables[VARIABLE] = mark
        if mcp_url is not None:
            variables["GREENROOM_MCP_URL"] = mcp_url
        if base is not None:
            variables |= {
                "OPENAI_BASE_URL": base,
                "OPENAI_API_KEY": endpoint.token,
                "GREENROOM_MODEL": endpoint.model_name,
            }
        return Place(filled(self._shared.words, values), folder, variables, mark, values)

    def _with_last_lines(self, error: CommandCrashed) -> CommandCrashed:
        lines = self._clean(self._printed.last_lines(_TOLD_LINES)).splitlines()
        if not lines:
            return CommandCrashed(str(error))
        # The last line says most: reports show the beginning of an error.
        return CommandCrashed("\n".join([f"{str(error).rstrip('.')}: {lines[-1]}", *lines[:-1]]))

    def _clean(self, text: str) -> str:
        for secret in self._hidden:
            text = text.replace(secret, "[hidden]")
        return redacted(text)


def _check_model(settings: CommandSettings, *, has_model: bool) -> None:
    wanted = re.search(r"\{(model|model_base)\}", settings.agent_command)
    if wanted and not has_model:
        raise InputError(f"The agent's command names {wanted[0]}: name its model by --model.")
    taken = [name for name in settings.agent_env if name in _MODEL_VARIABLES]
    if taken and has_model:
        raise InputError(
            f"agent_env names {taken[0]}, which leads to the run's model: leave out one of "
            "--agent-env and --model."
        )


strategy = AgentStrategy(
    "command",
    CommandAgent,
    "any program, by text or JSON lines; its model is metered at the episode's own address",
    settings=CommandSettings,
    offers_model=True,
    prepare=prepare,
    takes_over="never",
)
