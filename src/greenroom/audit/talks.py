"""A stored conversation as checks read it: what the user said and did, and what came before."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from greenroom.audit.instructions import Instruction, read_instruction, with_persona
from greenroom.messages import text_of
from greenroom.store.records import EpisodeRecord
from greenroom.store.trajectory_records import StepRecord, UserCallRecord
from greenroom.trajectories import RESPOND
from greenroom.util.json_values import as_dict, as_list

STOP_SIGN: Final = re.compile(r"###[A-Z-]+###")


@dataclass(frozen=True, slots=True)
class UserCall:
    """A tool that the user called."""

    name: str
    kwargs: Mapping[str, Any]
    result: str
    writes: bool = False


@dataclass(frozen=True, slots=True)
class UserTurn:
    """A message of the user, with all that happened since their message before it."""

    number: int
    """From 1: the turn that the message begins."""
    raw: str
    heard: str = ""
    """What the agent said; empty before the opening."""
    results: tuple[str, ...] = ()
    """What the agent's tools answered."""
    calls: tuple[UserCall, ...] = ()
    """What the user did before they spoke."""
    agent_calls: int = 0

    @property
    def text(self) -> str:
        """What they said, without a stop sign."""
        return STOP_SIGN.sub(" ", self.raw).strip()

    @property
    def stops(self) -> bool:
        """Whether it ends the conversation."""
        return STOP_SIGN.search(self.raw) is not None


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation with the instruction of its user."""

    instruction: Instruction
    turns: tuple[UserTurn, ...]
    something_to_do: bool = True
    """Whether the task has the agent act."""
    user_tools: frozenset[str] = frozenset()
    """Tools of the user that occur in the task or in the conversation."""
    more_known: str = ""
    """What the user knows beside the instruction."""

    @property
    def is_recited(self) -> bool:
        """A scripted user said the instruction word for word: there is nothing to find."""
        return bool(self.turns) and self.turns[0].raw.strip() == self.instruction.text.strip()


def talk_of(episode: EpisodeRecord, persona: str | None = None) -> Talk:
    """An episode's conversation, whose user had this persona."""
    task = episode.task
    calls = [*episode.opening_calls, *(call for step in episode.steps for call in step.user_calls)]
    tools = {call.action.name for call in calls}
    tools |= {action.name for action in task.actions if action.party == "user"}
    return Talk(
        instruction=read_instruction(with_persona(task.instruction, persona)),
        turns=tuple(_turns(episode.opening, episode.opening_calls, episode.steps)),
        something_to_do=bool(task.actions),
        user_tools=frozenset(tools),
        more_known=task.user_id,
    )


def _turns(
    opening: str, opening_calls: Sequence[UserCallRecord], steps: Iterable[StepRecord]
) -> Iterable[UserTurn]:
    yield UserTurn(1, opening, calls=tuple(map(_user_call, opening_calls)))
    number, results, acted = 1, list[str](), 0
    for step in steps:
        if step.invalid is not None:
            continue
        if step.action.name != RESPOND:
            results.append(step.observation)
            acted += 1
            continue
        number += 1
        yield UserTurn(
            number,
            step.observation,
            heard=_said(step.action.kwargs.get("content")),
            results=tuple(results),
            calls=tuple(map(_user_call, step.user_calls)),
            agent_calls=acted,
        )
        results, acted = [], 0


def _said(content: Any) -> str:
    return content if isinstance(content, str) else ""


def _user_call(call: UserCallRecord) -> UserCall:
    return UserCall(call.action.name, call.action.kwargs, call.observation, call.action.writes)


@dataclass
class _Heard:
    """What came since the user's last message."""

    said: list[str] = field(default_factory=list[str])
    results: list[str] = field(default_factory=list[str])
    acted: int = 0


def talk_of_messages(
    instruction: str, messages: Iterable[Mapping[str, Any]], more_known: str = ""
) -> Talk:
    """A conversation of chat messages: what a simulated user and a workflow said.

    A workflow may have nothing to call, and the message that ends the conversation is not among
    the messages: nothing is said of how it ended.
    """
    turns: list[UserTurn] = []
    since = _Heard()
    for message in messages:
        role, text = message.get("role"), text_of(message.get("content"))
        calls = as_list(message.get("tool_calls"))
        if role == "user":
            heard, results = "\n".join(since.said), tuple(since.results)
            turns.append(UserTurn(len(turns) + 1, text, heard, results, agent_calls=since.acted))
            since = _Heard()
        elif role == "tool":
            since.results.append(text)
        elif role == "assistant":
            since.said += [text] if text else []
            since.acted += len(calls)
            # What a workflow calls with, it knows.
            since.results += [str(as_dict(as_dict(call).get("function"))) for call in calls]
    return Talk(read_instruction(instruction), tuple(turns), False, more_known=more_known)
