"""Convert chat messages to actions and observations, and back.

Reads native tool calls and actions written as text (act, react), as Tau Bench records them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from greenroom.messages import Message

RESPOND: Final = "respond"
"""The name of the action that talks to the user; its one argument is `content`."""

STOP: Final = "###STOP###"
"""The user ends the conversation by saying this anywhere in a message."""

NOTICE: Final = "Your last reply could not be used: "
"""Begins the message that tells an agent, in the user's place, that its reply was not a step."""

_API_OUTPUT = "API output: "
_CALL = re.compile(r'\{\s*"name"\s*:\s*"([\w.-]+)"\s*,\s*"(?:arguments|parameters)"\s*:\s*[{"]')


def call_in_text(text: str) -> str | None:
    """The name of the tool that a text calls as JSON instead of speaking; None if it does not.

    >>> call_in_text('I will do it: {"name": "cancel", "arguments": {"order": "1"}}')
    'cancel'
    """
    found = _CALL.search(text)
    return found[1] if found else None


@dataclass(frozen=True)
class SpokenStep:
    """An action and its observation; None if the conversation ends before it."""

    name: str
    kwargs: dict[str, Any]
    observation: str | None
    problem: str | None = None
    """Why the arguments could not be used as written, if so."""


@dataclass(frozen=True)
class Conversation:
    """The steps in a list of messages."""

    opening: str
    steps: tuple[SpokenStep, ...]


def read_conversation(messages: Sequence[Message], *, native: bool | None = None) -> Conversation:
    """The user's first message and every step.

    With `native`, tools are called by `tool_calls` and all other text is said; None decides by the
    messages.
    """
    spoken = [message for message in messages if message.role not in ("system", "developer")]
    opened = bool(spoken) and spoken[0].role == "user"
    opening, rest = (spoken[0].text, spoken[1:]) if opened else ("", spoken)
    if native is None:
        native = any(message.tool_calls for message in rest) or not _has_text_actions(rest)
    return Conversation(opening, tuple(_native_steps(rest) if native else _text_steps(rest)))


def write_conversation(
    policy: str, opening: str, steps: Iterable[SpokenStep]
) -> list[dict[str, Any]]:
    """The messages of a conversation with native tool calls."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": policy},
        {"role": "user", "content": opening},
    ]
    calls = 0
    for step in steps:
        content: Any = step.kwargs.get("content")
        if step.name == RESPOND and isinstance(content, str) and len(step.kwargs) == 1:
            messages.append({"role": "assistant", "content": content})
            answer = {"role": "user", "content": step.observation}
        else:
            calls += 1
            call_id = f"call_{calls}"
            messages.append(_call_message(call_id, step))
            answer = {
                "role": "tool",
                "tool_call_id": call_id,
                "name": step.name,
                "content": step.observation,
            }
        if step.observation is not None:
            messages.append(answer)
    return messages


def _call_message(call_id: str, step: SpokenStep) -> dict[str, Any]:
    function = {"name": step.name, "arguments": json.dumps(step.kwargs)}
    call = {"id": call_id, "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _native_steps(messages: Sequence[Message]) -> Iterator[SpokenStep]:
    for place, message in enumerate(messages):
        if message.role != "assistant":
            continue
        following = messages[place + 1 :]
        if not message.tool_calls:
            answer = following[0].text if following and following[0].role == "user" else None
            if _is_notice(answer):
                continue
            yield SpokenStep(RESPOND, {"content": message.text}, answer)
            continue
        # Tau Bench runs only the first of several calls. Calls with an answer did run.
        answers = [answer.text for answer in _leading_tool_messages(following)]
        for number, call in enumerate(message.tool_calls[: max(1, len(answers))]):
            kwargs, problem = _arguments(call.function.arguments)
            observation = answers[number] if number < len(answers) else None
            yield SpokenStep(call.function.name, kwargs, observation, problem)


def _leading_tool_messages(messages: Sequence[Message]) -> Iterator[Message]:
    for message in messages:
        if message.role not in ("tool", "function"):
            return
        yield message


def _has_text_actions(messages: Sequence[Message]) -> bool:
    spoken = [message.text for message in messages if message.role == "assistant"]
    return any("Action:" in text or _written_action(text)[0] != RESPOND for text in spoken)


def _is_notice(answer: str | None) -> bool:
    return answer is not None and answer.startswith(NOTICE)


def _text_steps(messages: Sequence[Message]) -> Iterator[SpokenStep]:
    # The act and react agents write an action as JSON after "Action:"; other text is said.
    for place, message in enumerate(messages):
        if message.role != "assistant":
            continue
        text = message.text.split("Action:")[-1].strip()
        following = messages[place + 1] if place + 1 < len(messages) else None
        answer = following.text if following is not None and following.role == "user" else None
        if _is_notice(answer):
            continue
        name, kwargs = _written_action(text)
        if answer is not None and name != RESPOND:
            answer = answer.removeprefix(_API_OUTPUT)
        yield SpokenStep(name, kwargs, answer)


def _written_action(text: str) -> tuple[str, dict[str, Any]]:
    said: tuple[str, dict[str, Any]] = RESPOND, {"content": text}
    try:
        written: Any = json.loads(text)
        written = written.get("action", written)  # structured replies wrap the action
        name, kwargs = written["name"], written["arguments"]
    except (ValueError, KeyError, TypeError, AttributeError):
        return said
    if isinstance(name, str) and isinstance(kwargs, dict):
        return name, cast("dict[str, Any]", kwargs)
    return said


def _arguments(text: str) -> tuple[dict[str, Any], str | None]:
    try:
        value: Any = json.loads(text or "{}")
    except ValueError as error:
        return {}, f"The arguments are not JSON: {error}"
    if isinstance(value, dict):
        return cast("dict[str, Any]", value), None
    # Without arguments, the tool says which ones it needs.
    return {}, "The arguments are not a JSON object"
