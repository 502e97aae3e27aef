"""Several messages as the one that OpenAI's clients expect: whole, or as they come."""

from __future__ import annotations

from greenroom.messages import arguments_text, text_of
from greenroom.util.json_values import as_dict
from greenroom.workflows.calls import Event, tool_calls_of
from greenroom.workflows.serve.bodies import Json

_BETWEEN = "\n\n"
"""Stands between the texts of several messages that become one."""


def as_one_message(messages: list[Json]) -> Json:
    """One message with the assistant's texts joined, and the tool calls that await an answer."""
    own = [message for message in messages if message.get("role") == "assistant"]
    texts = [text for message in own if (text := text_of(message.get("content")))]
    answered = [message.get("tool_call_id") for message in messages if message["role"] == "tool"]
    calls = [_call(one) for m in own for one in tool_calls_of(m) if one.get("id") not in answered]
    one: Json = dict(own[-1]) if own else {"role": "assistant"}
    one["content"] = _BETWEEN.join(texts) if texts or not calls else None
    one.pop("tool_calls", None)
    return one | {"tool_calls": calls} if calls else one


def _call(call: Json) -> Json:
    """A tool call with its type and with its arguments as a text, as clients expect them."""
    function = as_dict(call["function"])
    arguments = arguments_text(function.get("arguments"))
    return {"type": "function", **call, "function": {**function, "arguments": arguments}}


class JoinedText:
    """The assistant's text as it comes, joined in the same way."""

    def __init__(self) -> None:
        self._open = False
        self._said = False

    def piece(self, event: Event) -> str:
        """What an event adds: the text of a message counts unless it came in pieces."""
        match event.kind:
            case "delta":
                return self._say(event.text)
            case "message":
                whole = not self._open and event.data.get("role") == "assistant"
                text = self._say(text_of(event.data.get("content"))) if whole else ""
                self._open = False
                return text
            case _:
                return ""  # the workflow runs its own tools

    def _say(self, text: str) -> str:
        if not text:
            return ""
        between = _BETWEEN if self._said and not self._open else ""
        self._open = self._said = True
        return between + text
