"""Convert chat messages to actions and observations, and back.

Reads native tool calls and actions written as text (act, react), as Tau Bench records them.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar, cast

from greenroom.messages import Message

Call = TypeVar("Call")
Party = Literal["agent", "user"]
"""Who acts: both may have tools and a world of their own."""

Basis = Literal["database", "assertions", "actions", "outputs", "judged"]
"""A part of a reward: the databases of both parties, functions that look at them, calls that were
made, texts that the agent said, and sentences that a judge decides about."""

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
    user_calls: tuple[SpokenStep, ...] = ()
    """The tools that the user called before they answered."""
    aside: str = ""
    """What stands beside a call; the user does not see it."""
    joined: bool = False
    """The call stands in the same message as the one before it."""


@dataclass(frozen=True)
class Conversation:
    """The steps in a list of messages."""

    opening: str
    steps: tuple[SpokenStep, ...]
    opening_calls: tuple[SpokenStep, ...] = ()
    """The tools that the user called before their first message."""


def read_conversation(messages: Sequence[Message], *, native: bool | None = None) -> Conversation:
    """The user's first message and every step.

    With `native`, tools are called by `tool_calls` and all other text is said; None decides by the
    messages. Calls of the user are messages of the role "user" with `tool_calls`. What an agent
    says to greet the user is no step.
    """
    spoken = [message for message in messages if message.role not in ("system", "developer")]
    greeted = [message.role for message in spoken[:2]] == ["assistant", "user"]
    if greeted and not spoken[0].tool_calls:
        spoken = spoken[1:]
    calls, spoken = _user_calls(spoken)
    opened = bool(spoken) and spoken[0].role == "user"
    opening, rest = (spoken[0].text, spoken[1:]) if opened else ("", spoken)
    if native is None:
        native = any(message.tool_calls for message in rest) or not _has_text_actions(rest)
    steps = tuple(_native_steps(rest) if native else _text_steps(rest))
    return Conversation(opening, steps, calls)


def write_conversation(
    policy: str,
    opening: str,
    steps: Iterable[SpokenStep],
    *,
    opening_calls: Iterable[SpokenStep] = (),
) -> list[dict[str, Any]]:
    """The messages of a conversation with native tool calls, the user's among them."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": policy}]
    numbers = itertools.count(1)
    messages += _call_messages(numbers, opening_calls, "user")
    messages.append({"role": "user", "content": opening})
    for said, some in itertools.groupby(steps, key=_is_said):
        if not said:
            messages += _call_messages(numbers, some, "assistant")
            continue
        for step in some:
            messages.append({"role": "assistant", "content": step.kwargs["content"]})
            messages += _call_messages(numbers, step.user_calls, "user")
            if step.observation is not None:
                messages.append({"role": "user", "content": step.observation})
    return messages


def _is_said(step: SpokenStep) -> bool:
    said = step.name == RESPOND and isinstance(step.kwargs.get("content"), str)
    return said and len(step.kwargs) == 1


def made_at_once(calls: Iterable[Call], joined: Callable[[Call], bool]) -> Iterator[list[Call]]:
    """Calls by the message that they stand in; `joined` says which stand in that of the last."""
    some: list[Call] = []
    for call in calls:
        if some and not joined(call):
            yield some
            some = []
        some.append(call)
    if some:
        yield some


def _call_messages(
    numbers: Iterator[int], steps: Iterable[SpokenStep], role: str
) -> Iterator[dict[str, Any]]:
    """Calls and their answers, as far as there are any."""
    for some in made_at_once(steps, lambda step: step.joined):
        made = [(f"call_{next(numbers)}", step) for step in some]
        calls = [
            {
                "id": call_id,
                "type": "function",
                "function": {"name": step.name, "arguments": json.dumps(step.kwargs)},
            }
            for call_id, step in made
        ]
        yield {"role": role, "content": some[0].aside or None, "tool_calls": calls}
        for call_id, step in made:
            if step.observation is not None:
                answer = {"role": "tool", "tool_call_id": call_id, "name": step.name}
                yield {**answer, "content": step.observation}


def _native_steps(messages: Sequence[Message]) -> Iterator[SpokenStep]:
    for place, message in enumerate(messages):
        if message.role != "assistant":
            continue
        following = messages[place + 1 :]
        if message.tool_calls:
            yield from _called(message, following)
            continue
        calls, following = _user_calls(following)
        answer = following[0].text if following and following[0].role == "user" else None
        if not _is_notice(answer):
            yield SpokenStep(RESPOND, {"content": message.text}, answer, user_calls=calls)


def _user_calls(
    messages: Sequence[Message],
) -> tuple[tuple[SpokenStep, ...], Sequence[Message]]:
    """The calls of the user at the beginning of messages, and the messages behind them."""
    calls: list[SpokenStep] = []
    while messages and messages[0].role == "user" and messages[0].tool_calls:
        message, messages = messages[0], messages[1:]
        calls += _called(message, messages)
        messages = messages[len(list(_leading_tool_messages(messages))) :]
    return tuple(calls), messages


def _called(message: Message, following: Sequence[Message]) -> Iterator[SpokenStep]:
    # Tau Bench runs only the first of several calls. Calls with an answer did run.
    answers = [answer.text for answer in _leading_tool_messages(following)]
    calls = message.tool_calls or []
    for number, call in enumerate(calls[: max(1, len(answers))]):
        kwargs, problem = _arguments(call.function.arguments)
        yield SpokenStep(
            call.function.name,
            kwargs,
            answers[number] if number < len(answers) else None,
            problem,
            aside="" if number else message.text,
            joined=number > 0,
        )


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
