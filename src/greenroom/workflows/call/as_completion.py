"""A chat workflow as a completion: a text goes in, a text comes out."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Any, cast

from greenroom.errors import InputError
from greenroom.messages import last_assistant_message, text_of
from greenroom.util.json_values import as_dict
from greenroom.workflows.calls import Answer, Call, Event, Target


class AsCompletion:
    """A chat workflow as a Target that does not chat.

    The one text input that the workflow does not declare becomes the user's message. The text of
    the last message becomes the output. An answer that has only tool calls is passed on unchanged.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self.profile = replace(
            target.profile,
            is_chat=False,
            decided_by=f"the caller, who asks for a completion ({target.profile.decided_by})",
        )

    async def call(self, call: Call) -> Answer:
        return _as_text(await self._target.call(self._as_chat(call)))

    async def stream(self, call: Call) -> AsyncGenerator[Event]:
        events = cast("AsyncGenerator[Event]", self._target.stream(self._as_chat(call)))
        async with aclosing(events):
            async for event in events:
                yield replace(event, data=_as_text(event.data)) if event.kind == "end" else event

    async def close(self) -> None:
        """Close its connections."""
        await self._target.close()

    def _as_chat(self, call: Call) -> Call:
        if "messages" in call.inputs:
            return call
        declared = as_dict(as_dict(self.profile.schemas.inputs).get("properties"))
        texts = [
            name
            for name, value in call.inputs.items()
            if isinstance(value, str) and name not in declared
        ]
        if len(texts) != 1:
            found = f"the inputs have {', '.join(texts)}" if texts else "the inputs have none"
            raise InputError(
                f"'{self.profile.name}' is a chat workflow. As a completion it takes one text as "
                f"the user's message, but {found}."
            )
        message = {"role": "user", "content": call.inputs[texts[0]]}
        others: dict[str, Any] = {n: v for n, v in call.inputs.items() if n != texts[0]}
        return replace(call, inputs={**others, "messages": [message]})


def _as_text(answer: Answer) -> Answer:
    message = last_assistant_message(answer.outputs)
    if message is None or (message.get("tool_calls") and not text_of(message.get("content"))):
        return answer
    return replace(answer, outputs=text_of(message.get("content")))
