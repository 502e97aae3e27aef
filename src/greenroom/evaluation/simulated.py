"""Simulated conversations: a user with a goal talks to a chat workflow."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from greenroom.domains.environment import SimulatedUser
from greenroom.domains.tasks import STOP
from greenroom.errors import InputError, OutsideFault
from greenroom.messages import last_assistant_message, messages_of, text_of
from greenroom.trials import outside_fault
from greenroom.util.raw_json import raw_text
from greenroom.workflows.call.chat_session import new_session
from greenroom.workflows.calls import Answer, Call


@dataclass(frozen=True)
class Brief:
    """A simulated user's goal, persona and number of turns."""

    goal: str
    persona: str = ""
    max_turns: int | None = None
    """None: as long as the evaluation allows."""

    @property
    def instruction(self) -> str:
        """The instruction for the simulated user."""
        return f"{self.goal}\n\nWho you are: {self.persona}" if self.persona else self.goal

    def columns(self) -> dict[str, Any]:
        """The columns that evaluators see among the inputs."""
        return {"goal": self.goal} | ({"persona": self.persona} if self.persona else {})


def read_brief(row: Mapping[str, Any], position: int) -> Brief:
    """The brief in a row's columns goal, persona and max_turns."""
    turns = row.get("max_turns")
    number = None
    if turns not in (None, ""):
        number = _whole_number(turns)
        if number is None:
            raise InputError(
                f"Row {position + 1}: max_turns is a whole number of 1 or more, not {turns!r}."
            )
    return Brief(str(row["goal"]), str(row.get("persona") or ""), number)


def _whole_number(value: Any) -> int | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return int(number) if number >= 1 and number.is_integer() else None


@dataclass
class Talk:
    """A conversation with a workflow."""

    ask: Callable[[Call], Awaitable[Answer]]
    inputs: dict[str, Any]
    """Inputs to send along with the messages."""
    parameters: dict[str, Any] | None = None
    messages: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    async def hold(self, user: SimulatedUser, instruction: str, max_turns: int) -> Answer:
        """Talk until the user stops or all turns are used; return the workflow's last answer.

        That answer tells the tool calls of all turns.

        The user's last message, which stops the conversation, is left out: it gets no answer.
        """
        session = new_session()
        said = await _from_user(user.open(instruction))
        words = said.replace(STOP, "").strip()
        if not words:
            raise OutsideFault("The simulated user stopped without saying anything.")
        answer = await self._asked(words, session)
        told, turns = [*answer.tool_calls], 1
        while STOP not in said and turns < max_turns:
            said = await _from_user(user.reply(_last_words(answer)))
            if STOP not in said:
                answer = await self._asked(said, session)
                told += answer.tool_calls
                turns += 1
        return replace(answer, tool_calls=told)

    async def _asked(self, words: str, session: str) -> Answer:
        sent = [*self.messages, {"role": "user", "content": words}]
        answer = await self.ask(
            Call(
                inputs={**self.inputs, "messages": sent},
                parameters=self.parameters,
                session_id=session,
            )
        )
        said = messages_of(answer.outputs)
        if said is None:
            said = [{"role": "assistant", "content": raw_text(answer.outputs)}]
        # Some workflows answer with the whole history instead of the new messages.
        self.messages = said if said[: len(sent)] == sent else [*sent, *said]
        return answer


def _last_words(answer: Answer) -> str:
    """What the workflow said last; empty if it only called tools."""
    message = last_assistant_message(answer.outputs)
    return text_of(message.get("content")) if message is not None else ""


async def _from_user(words: Awaitable[str]) -> str:
    with outside_fault("The simulated user"):
        return await words
