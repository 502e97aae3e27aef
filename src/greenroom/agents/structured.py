"""The structured agent: the model's replies follow a JSON schema of the possible actions.

For models that cannot call tools natively but whose server can make them write JSON of a given
form. A reply that is no such object is told to the model, never said to the user.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from greenroom.agents.conversation import ModelAgentSettings, Unreadable, read_object
from greenroom.agents.strategies import AgentStrategy, Stage
from greenroom.agents.text_protocol import TextAgent, describe_tools, named_action
from greenroom.domains.tasks import RESPOND, Action
from greenroom.models.json_answers import object_schema
from greenroom.util.json_values import as_dict

if TYPE_CHECKING:
    from greenroom.domains.tools import ToolInfo
    from greenroom.models import ChatMessage, ModelRequest

_FORMAT = """

# How to reply

Each reply is one JSON object that names a single action, and nothing else:

{"action": {"name": "NAME", "arguments": {}}}

NAME is a tool, and the braces hold its arguments by name. The tool's answer comes back in a message
that begins with "API output:". To speak to the user, the name is "respond" and the only argument
is "content": the words that the user reads. The next message is then the user's answer.
"""

_RESPOND_PARAMETERS = {
    "type": "object",
    "properties": {"content": {"type": "string", "description": "What the user reads."}},
    "required": ["content"],
}


class StructuredAgent(TextAgent):
    """Follows replies that a schema describes."""

    def _system(self, stage: Stage) -> str:
        return stage.policy + describe_tools(stage.tool_infos) + _FORMAT

    def _request(self, stage: Stage) -> ModelRequest:
        return self._question(response_format=response_format(stage.tool_infos))

    def _read(self, text: str) -> Action:
        try:
            reply = read_object(text)
            # A model that ignores the schema may leave out the outer object.
            return named_action(as_dict(reply.get("action")) or reply)
        except Unreadable as problem:
            form = json.dumps({"action": {"name": "NAME", "arguments": {}}})
            raise Unreadable(f"it is not an action: {problem}. Write {form}.") from None


def response_format(infos: list[ToolInfo]) -> dict[str, Any]:
    """The schema of a reply: a call of a tool, or a text for the user."""
    parameters = {
        info["function"]["name"]: info["function"].get("parameters") or {"type": "object"}
        for info in infos
    }
    actions = [
        object_schema({"name": {"type": "string", "const": name}, "arguments": arguments})
        for name, arguments in {**parameters, RESPOND: _RESPOND_PARAMETERS}.items()
    ]
    # The choice is one level down, because several providers need an object at the top.
    schema = object_schema({"action": {"anyOf": actions}})
    return {"type": "json_schema", "json_schema": {"name": "action", "schema": schema}}


def write_reply(action: Action) -> ChatMessage:
    """The reply that makes a structured agent take an action."""
    written = {"action": {"name": action.name, "arguments": dict(action.kwargs)}}
    return {"role": "assistant", "content": json.dumps(written)}


strategy = AgentStrategy(
    "structured",
    StructuredAgent,
    "a language model whose replies are held to a JSON schema of the actions",
    settings=ModelAgentSettings,
    needs_model=True,
    write_reply=write_reply,
)
