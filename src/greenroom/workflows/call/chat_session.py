"""Talking to a workflow turn by turn."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, cast
from uuid import uuid4

from greenroom.messages import messages_of
from greenroom.util.json_values import encoded
from greenroom.workflows.calls import Answer, Call, Event, Target


def new_session() -> str:
    """An id that no other session has."""
    return uuid4().hex


@dataclass(frozen=True)
class Turn:
    """The inputs of a call, messages included, and its answer."""

    inputs: dict[str, Any]
    answer: Answer


@dataclass
class ChatSession:
    """What was said so far. A turn that fails or is cancelled is not kept."""

    target: Target
    inputs: dict[str, Any] = field(default_factory=dict[str, Any])
    """Variables that are sent with the messages."""
    parameters: dict[str, Any] | None = None
    session_id: str = field(default_factory=new_session)
    messages: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    turns: list[Turn] = field(default_factory=list[Turn])

    async def say(self, text: str) -> AsyncGenerator[Event]:
        """Send a user message: the events of the answer."""
        sent = [*self.messages, {"role": "user", "content": text}]
        asked = self._asked({**self.inputs, "messages": sent})
        async with aclosing(without_history(asked, sent)) as events:
            async for event in events:
                if event.kind == "end":
                    self.messages = [*sent, *replies_of(sent, event.data.outputs)]
                yield event

    def ask(self, inputs: dict[str, Any]) -> AsyncGenerator[Event]:
        """Call a workflow that does not chat; the messages stay as they are."""
        return self._asked({**self.inputs, **inputs})

    def reset(self) -> None:
        """Forget everything and start another session."""
        self.messages, self.turns, self.session_id = [], [], new_session()

    async def _asked(self, inputs: dict[str, Any]) -> AsyncGenerator[Event]:
        call = Call(inputs=inputs, parameters=self.parameters, session_id=self.session_id)
        events = cast("AsyncGenerator[Event]", self.target.stream(call))
        async with aclosing(events):
            async for event in events:
                if event.kind == "end":
                    self.turns.append(Turn(inputs, event.data))
                yield event


async def without_history(
    events: AsyncGenerator[Event], sent: list[dict[str, Any]]
) -> AsyncGenerator[Event]:
    """The events of an answer without the messages that were sent: some workflows repeat them."""
    repeated = 0
    async with aclosing(events):
        async for event in events:
            if event.kind == "message" and event.data in sent[repeated : repeated + 1]:
                repeated += 1
            else:
                yield event


def replies_of(sent: list[dict[str, Any]], outputs: Any) -> list[dict[str, Any]]:
    """An answer as messages, without those that were sent; JSON that is none becomes a text."""
    said = messages_of(outputs)
    if said is None:
        return [{"role": "assistant", "content": encoded(outputs).decode()}]
    return said[len(sent) :] if said[: len(sent)] == sent else said
