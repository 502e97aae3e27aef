"""Workflows as MCP tools at `/mcp`: one tool each, by the name that addresses have."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from greenroom._version import __version__
from greenroom.errors import redacted
from greenroom.messages import messages_of, text_of
from greenroom.util.json_values import as_dict, check_depth, encoded
from greenroom.workflows.calls import (
    MESSAGES,
    SESSION_PATTERN,
    SESSION_TEXT,
    Answer,
    Call,
    CallError,
    Event,
)
from greenroom.workflows.declare.workflow import Workflow
from greenroom.workflows.serve.exchange import Exchange, Refusal, reason_of
from greenroom.workflows.serve.headers import call_ids
from greenroom.workflows.serve.mcp_transport import McpMissing, answer_mcp, check_mcp
from greenroom.workflows.serve.runner import CallRunner, error_text

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server.lowlevel import Server

TEXT = "text"
SESSION = "session_id"

_LONGEST_NAME = 128
_SESSION = re.compile(SESSION_PATTERN)
_TEXT_SCHEMA = {"type": "string", "description": "What the user says, in the place of messages."}
_SESSION_SCHEMA = {
    "type": "string",
    "description": "The conversation that this goes on, for workflows that keep sessions.",
}


async def answer_workflows(
    runners: Sequence[CallRunner], max_body: int, exchange: Exchange
) -> None:
    """`/mcp`: list the workflows as tools, and call them."""
    try:
        await to_thread.run_sync(check_mcp)  # the first import takes half a second
    except McpMissing as error:
        raise Refusal(501, {"detail": str(error)}) from error
    await answer_mcp(_server(runners, exchange), exchange, max_body=max_body, streams=True)


def tool_name(workflow: Workflow) -> str:
    """The name of a workflow as a tool: that of addresses, in the letters that MCP allows."""
    return workflow.slug.replace("~", "-")[:_LONGEST_NAME]


def _server(runners: Sequence[CallRunner], exchange: Exchange) -> Server[Any]:
    """A server for one request."""
    import mcp_types as types
    from mcp.server.lowlevel import Server
    from mcp.shared.exceptions import MCPError

    found = {tool_name(one.workflow): one for one in runners}
    schemas = {name: _input_schema(runner.workflow) for name, runner in found.items()}

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        tools = [
            types.Tool(
                name=name,
                description=runner.workflow.description or None,
                input_schema=schemas[name],
            )
            for name, runner in found.items()
        ]
        return types.ListToolsResult(tools=tools)

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        runner = found.get(params.name)
        if runner is None:
            raise MCPError(types.INVALID_PARAMS, f"There is no tool '{params.name[:100]}'.")
        told = 0

        async def tell(event: Event) -> None:
            nonlocal told
            if event.kind == "end":
                return
            told += 1
            await context.session.report_progress(told, message=_progress(event))

        try:
            call = _call(runner.workflow, params.arguments or {}, exchange)
            answer = await runner.follow(exchange, call, tell)
        except Refusal as refusal:
            return _result(reason_of(refusal), is_error=True)
        except CallError as error:
            return _result(error_text(error), is_error=True)
        except ValueError as error:
            return _result(redacted(str(error)), is_error=True)
        outputs: Any = answer.outputs
        structured = as_dict(outputs) if isinstance(outputs, dict) else {"outputs": outputs}
        return _result(_shown(runner.workflow, answer), structured=structured)

    def _result(
        text: str, *, structured: Any = None, is_error: bool = False
    ) -> types.CallToolResult:
        content = types.TextContent(type="text", text=text)
        return types.CallToolResult(
            content=[content], structured_content=structured, is_error=is_error
        )

    return Server(
        "greenroom",
        version=__version__,
        get_tool_input_schema=schemas.get,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _input_schema(workflow: Workflow) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"} | (workflow.schemas.inputs or {})
    if not workflow.is_chat:
        return schema
    own = as_dict(schema.get("properties"))
    required = [name for name in schema.get("required", ()) if name != MESSAGES]
    properties = {TEXT: _TEXT_SCHEMA, SESSION: _SESSION_SCHEMA} | own
    return schema | {"properties": properties, "required": required}


def _call(workflow: Workflow, arguments: dict[str, Any], exchange: Exchange) -> Call:
    """The call that a tool's arguments ask for; raises a ValueError if they cannot be meant."""
    check_depth(arguments)
    if not workflow.is_chat:
        return call_ids(exchange, None).call(arguments)
    own = as_dict((workflow.schemas.inputs or {}).get("properties"))
    inputs, session = dict(arguments), None
    if SESSION not in own:
        session = inputs.pop(SESSION, None)
    if TEXT not in own and TEXT in inputs:
        if MESSAGES in inputs:
            raise ValueError("Give 'messages' or 'text', not both.")
        inputs[MESSAGES] = [{"role": "user", "content": inputs.pop(TEXT)}]
    if session is not None and not (isinstance(session, str) and _SESSION.fullmatch(session)):
        raise ValueError(SESSION_TEXT)
    return call_ids(exchange, session).call(inputs)


def _shown(workflow: Workflow, answer: Answer) -> str:
    """The outputs as a text: what was said, for a chat workflow."""
    outputs = answer.outputs
    if isinstance(outputs, str):
        return outputs
    messages = messages_of(outputs) if workflow.is_chat else None
    said = [text_of(one.get("content")) for one in messages or () if one.get("role") == "assistant"]
    return "\n\n".join(filter(None, said)) or encoded(outputs).decode()


def _progress(event: Event) -> str | None:
    if event.kind in ("tool_call", "tool_result"):
        return encoded({"type": event.kind, "data": event.data}).decode()
    return event.text or None
