"""Agents whose model writes its actions as text: act, and react, which writes a thought before.

The model writes `Action:` and behind it a JSON object with `name` and `arguments`. As in Tau Bench,
a text without an action is said to the user as it stands, thoughts included. Where Tau Bench also
says an action that is broken, to a user who cannot know what to make of it, here the model is told
what is wrong.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Final, cast

from pydantic import Field

from greenroom.agents.conversation import (
    ModelAgent,
    ModelAgentSettings,
    Unreadable,
    read_object,
)
from greenroom.agents.strategies import AgentContext, AgentStrategy, Stage
from greenroom.domains.tasks import RESPOND, Action, respond
from greenroom.util.characters import writable

if TYPE_CHECKING:
    from greenroom.domains.tools import ToolInfo
    from greenroom.models import ChatMessage, Completion, ModelRequest

ACTION: Final = "Action:"
API_OUTPUT: Final = "API output: "
"""Begins a message with a tool's answer, to tell it from a user message."""

_TOOLS = """

# Tools

These are the tools that you can use, as JSON:

{tools}"""

_FORMAT = """

# How to write

You do everything by writing actions. Every message that you write has this form:

{form}

- To use a tool, put its name for NAME and its arguments, by name, into the braces.
- To speak to the user, write {{"name": "respond", "arguments": {{"content": "WORDS"}}}}. The user
  reads the WORDS and nothing else of your message.
- Write one action per message. The JSON comes last, without a code fence around it.
- What a tool gives back reaches you in a message that begins with "API output:". Any other message
  is from the user. Wait for them; never write them yourself.
"""

_ACTION_FORM = """Action:
{"name": "NAME", "arguments": {}}"""

_THOUGHT_FORM = """Thought:
In a sentence or two: what you know by now, what the rules ask for, and so what to do next.
"""


class TextAgent(ModelAgent):
    """Reads an action from every text that the model writes."""

    async def _follow(self, stage: Stage, completion: Completion) -> bool:
        text = writable(completion.text).strip()
        if not text:
            # Do not record the reply: providers refuse conversations with empty messages.
            return self._object_to("it was empty. Write an action.")
        self._record_reply(completion)
        try:
            action = _not_silent(self._read(text))
        except Unreadable as problem:
            return self._object_to(str(problem))
        observation = await stage.step(action)
        self._record_answer(observation if action.name == RESPOND else API_OUTPUT + observation)
        return True

    @abstractmethod
    def _read(self, text: str) -> Action:
        """The action that the model wants; raise Unreadable if there is none."""


class WrittenActionAgent(TextAgent):
    """Follows actions written after `Action:`, with a thought before them if asked for."""

    def __init__(self, context: AgentContext) -> None:
        super().__init__(context)
        self._use_reasoning = bool(context.settings.use_reasoning)

    def _system(self, stage: Stage) -> str:
        form = (_THOUGHT_FORM if self._use_reasoning else "") + _ACTION_FORM
        return stage.policy + describe_tools(stage.tool_infos) + _FORMAT.format(form=form)

    def _request(self, stage: Stage) -> ModelRequest:
        return self._question()

    def _read(self, text: str) -> Action:
        # The last one counts, as in Tau Bench; but a text for the user may contain the word.
        places = (text.rpartition(ACTION)[2], text.partition(ACTION)[2], text)
        problems: list[Unreadable] = []
        for written in places:
            try:
                return named_action(read_object(written))
            except Unreadable as problem:
                problems.append(problem)
        if ACTION not in text:
            return respond(text)
        raise Unreadable(
            f'what follows "{ACTION}" is not an action: {problems[0]}. Write one JSON object with '
            'the members "name" and "arguments", and nothing behind it.'
        )


def describe_tools(infos: list[ToolInfo]) -> str:
    """The part of a system message that lists the tools."""
    return _TOOLS.format(tools=json.dumps(infos, ensure_ascii=False))


def named_action(written: dict[str, Any]) -> Action:
    """The action of a JSON object with a name and arguments."""
    name, arguments = written.get("name"), written.get("arguments")
    if not isinstance(name, str) or not name:
        raise Unreadable('"name" is missing or is not a text')
    if not isinstance(arguments, dict):
        raise Unreadable('"arguments" is missing or is not an object')
    return Action(name, cast("dict[str, Any]", arguments))


def _not_silent(action: Action) -> Action:
    content = action.kwargs.get("content")
    if action.name == RESPOND and isinstance(content, str) and not content.strip():
        raise Unreadable("it says nothing to the user.")
    return action


def write_reply(action: Action) -> ChatMessage:
    """The reply that makes an act or react agent take an action."""
    written = {"name": action.name, "arguments": dict(action.kwargs)}
    return {"role": "assistant", "content": f"{ACTION}\n{json.dumps(written)}"}


class ActSettings(ModelAgentSettings):
    """The settings of the act agent."""

    use_reasoning: bool = Field(default=False, description="Write a thought before each action.")


class ReactSettings(ActSettings):
    """The settings of the react agent."""

    use_reasoning: bool = Field(default=True, description="Write a thought before each action.")


act = AgentStrategy(
    "act",
    WrittenActionAgent,
    "a language model that writes its actions as text",
    settings=ActSettings,
    needs_model=True,
    write_reply=write_reply,
)
react = AgentStrategy(
    "react",
    WrittenActionAgent,
    "a language model that writes a thought and then its action as text",
    settings=ReactSettings,
    needs_model=True,
    write_reply=write_reply,
)
