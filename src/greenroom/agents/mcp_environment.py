"""The environment of an episode as an MCP server: the agent's tools, and the policy.

There is nothing else: no task, no reward, no user. What the agent says at the end of its turn goes
to the user by whoever runs the episode, so there is no tool to respond with.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import anyio

from greenroom._version import __version__
from greenroom.agents.strategies import Stage
from greenroom.agents.tool_calls import usable_arguments
from greenroom.agents.turns import OutOfTurn, Turns
from greenroom.domains.tasks import RESPOND, Action
from greenroom.errors import EpisodeOver
from greenroom.util.characters import writable
from greenroom.workflows.serve.exchange import Exchange
from greenroom.workflows.serve.mcp_transport import answer_mcp

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server.lowlevel import Server

MAX_BODY = 1 << 20
"""The largest request, in bytes."""

POLICY_ADDRESS = "greenroom://policy"
"""The address of the policy among the resources."""
POLICY = "policy"
"""The name of the policy, as a resource and as a prompt."""

_ABOUT_POLICY = "The policy that you follow."
_INSTRUCTIONS = (
    f"Follow the policy: it is the resource {POLICY_ADDRESS} and the prompt '{POLICY}'. The tools "
    "are all that you can do. What you say at the end of your turn goes to the user, whose answer "
    "is your next input."
)
_OVER = "The conversation is over: no further call is possible."
_NO_RESPOND = (
    f"There is no tool '{RESPOND}': what you say at the end of your turn goes to the user."
)


class McpEnvironment:
    """One episode's environment for MCP clients. Calls are carried out one after the other."""

    def __init__(self, stage: Stage | Turns, *, max_body: int = MAX_BODY) -> None:
        self._stage = stage
        self._max_body = max_body
        self._lock = anyio.Lock()
        self._closed = False

    def close(self) -> None:
        """Refuse all further calls, in words."""
        self._closed = True

    async def handle(self, exchange: Exchange) -> None:
        """Answer a request: a handler for `RouteApp`."""
        await answer_mcp(self.server, exchange, max_body=self._max_body)

    async def call(self, name: str, arguments: dict[str, Any] | None) -> tuple[str, bool]:
        """Call a tool: what is observed, and whether it is an error."""
        if name == RESPOND:
            return _NO_RESPOND, True
        try:
            usable = usable_arguments(arguments or {})
        except (TypeError, ValueError) as problem:
            return f"The arguments cannot be used: {problem}.", True
        async with self._lock:
            if self._closed or self._stage.over:
                return _OVER, True
            try:
                observation = await self._stage.step(Action(writable(name), usable))
            except EpisodeOver:
                return _OVER, True
            except OutOfTurn as problem:
                return str(problem), True
            return observation, self._stage.last_failed

    @cached_property
    def server(self) -> Server[Any]:
        """The official package's server, for any of its transports."""
        import mcp_types as types
        from mcp.server.lowlevel import Server
        from mcp.shared.exceptions import MCPError

        stage = self._stage
        functions = [info["function"] for info in stage.tool_infos]
        tools = [
            types.Tool(
                name=one["name"],
                description=one.get("description"),
                input_schema=one["parameters"],
            )
            for one in functions
        ]

        async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
            return types.ListToolsResult(tools=tools)

        async def call_tool(
            _context: Any, params: types.CallToolRequestParams
        ) -> types.CallToolResult:
            text, is_error = await self.call(params.name, params.arguments)
            content = types.TextContent(type="text", text=text)
            return types.CallToolResult(content=[content], is_error=is_error)

        async def list_resources(_context: Any, _params: Any) -> types.ListResourcesResult:
            policy = types.Resource(
                name=POLICY, uri=POLICY_ADDRESS, description=_ABOUT_POLICY, mime_type="text/plain"
            )
            return types.ListResourcesResult(resources=[policy])

        async def read_resource(
            _context: Any, params: types.ReadResourceRequestParams
        ) -> types.ReadResourceResult:
            if params.uri != POLICY_ADDRESS:
                raise MCPError(
                    types.INVALID_PARAMS, f"There is no such resource: {POLICY_ADDRESS} is all."
                )
            policy = types.TextResourceContents(
                uri=POLICY_ADDRESS, mime_type="text/plain", text=stage.policy
            )
            return types.ReadResourceResult(contents=[policy])

        async def list_prompts(_context: Any, _params: Any) -> types.ListPromptsResult:
            policy = types.Prompt(name=POLICY, description=_ABOUT_POLICY)
            return types.ListPromptsResult(prompts=[policy])

        async def get_prompt(
            _context: Any, params: types.GetPromptRequestParams
        ) -> types.GetPromptResult:
            if params.name != POLICY:
                raise MCPError(types.INVALID_PARAMS, f"There is no such prompt: '{POLICY}' is all.")
            content = types.TextContent(type="text", text=stage.policy)
            message = types.PromptMessage(role="user", content=content)
            return types.GetPromptResult(description=_ABOUT_POLICY, messages=[message])

        return Server(
            "greenroom",
            version=__version__,
            instructions=_INSTRUCTIONS,
            get_tool_input_schema={one["name"]: one["parameters"] for one in functions}.get,
            on_list_tools=list_tools,
            on_call_tool=call_tool,
            on_list_resources=list_resources,
            on_read_resource=read_resource,
            on_list_prompts=list_prompts,
            on_get_prompt=get_prompt,
        )


__all__ = ["MAX_BODY", "POLICY", "POLICY_ADDRESS", "McpEnvironment"]
