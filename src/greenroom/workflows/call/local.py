"""Calling a workflow in this process, as any other target is called."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import anyio

from greenroom.workflows.call.calls import Answer, Call, CallError, Event, Profile
from greenroom.workflows.declare import handling
from greenroom.workflows.declare.contract import SERVER_ERROR, check_output
from greenroom.workflows.declare.outputs import NotJson, json_value
from greenroom.workflows.declare.pieces import ChatPieces, OtherPieces
from greenroom.workflows.declare.usage import Usage, current_usage
from greenroom.workflows.declare.workflow import Workflow


class LocalTarget:
    """A workflow of this process as a Target.

    `threads` limits how many sync handlers run at once; by default anyio's own limit does.
    """

    def __init__(
        self,
        workflow: Workflow,
        *,
        address: str = "",
        threads: anyio.CapacityLimiter | None = None,
    ) -> None:
        self.workflow = workflow
        self._profile = workflow.profile(address)
        self._threads = threads

    @property
    def profile(self) -> Profile:
        """What is known of it."""
        return self._profile

    async def call(self, call: Call) -> Answer:
        """Its answer; raises a CallError where there is none."""
        if self.workflow.streams:
            async with aclosing(self.stream(call)) as events:
                async for event in events:
                    if event.kind == "end":
                        return event.data
        began, usage = time.perf_counter(), Usage()
        token = current_usage.set(usage)
        try:
            output = await handling.returned(self.workflow, call, self._threads)
        finally:
            current_usage.reset(token)
        return self._answer(call, self._outputs(output), usage, began)

    async def stream(self, call: Call) -> AsyncGenerator[Event]:
        """Its answer in pieces, the last of them the whole."""
        if not self.workflow.streams:
            answer = await self.call(call)
            if self.workflow.is_chat:
                for message in check_output(self.workflow.name, answer.outputs):
                    yield Event(kind="message", data=message)
            yield Event(kind="end", data=answer)
            return
        began, usage = time.perf_counter(), Usage()
        collected = (
            ChatPieces(self.workflow.name, usage) if self.workflow.is_chat else OtherPieces()
        )
        # The generator runs in the context of whoever asks for the next piece, so the usage is set
        # anew for each of them.
        async with aclosing(handling.pieces(self.workflow, call, self._threads)) as pieces:
            while True:
                token = current_usage.set(usage)
                try:
                    piece = await anext(pieces, _END)
                finally:
                    current_usage.reset(token)
                if piece is _END:
                    break
                for event in self._taken(collected, piece):
                    yield event
        for event in collected.end():
            yield event
        outputs = collected.outputs
        if self.workflow.is_chat:
            check_output(self.workflow.name, outputs)
        yield Event(kind="end", data=self._answer(call, outputs, usage, began))

    async def close(self) -> None:
        """Let go of what is open: nothing is."""

    def _taken(self, collected: ChatPieces | OtherPieces, piece: Any) -> list[Event]:
        try:
            return collected.take(piece)
        except NotJson as error:
            raise self._not_json(error) from error

    def _outputs(self, output: Any) -> Any:
        try:
            outputs = json_value(output)
        except NotJson as error:
            raise self._not_json(error) from error
        if self.workflow.is_chat:
            check_output(self.workflow.name, outputs)
        return outputs

    def _not_json(self, error: NotJson) -> CallError:
        return CallError(
            f"What the workflow '{self.workflow.name}' returned is not JSON: {error}",
            status=SERVER_ERROR,
            kind="NotJson",
        )

    def _answer(self, call: Call, outputs: Any, usage: Usage, began: float) -> Answer:
        return Answer(
            outputs=outputs,
            session_id=call.session_id,
            seconds=time.perf_counter() - began,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cost=usage.cost,
        )


_END: Any = object()

__all__ = ["LocalTarget"]
