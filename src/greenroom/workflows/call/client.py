"""Calling a workflow behind an address, whatever its interface."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncGenerator, AsyncIterator, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from greenroom.errors import InputError
from greenroom.messages import messages_of
from greenroom.models.retries import RetryPolicy
from greenroom.tracing import spans
from greenroom.util.bodies import body_of, pieces_of
from greenroom.util.json_values import as_dict, decoded
from greenroom.workflows.call.connection import TIMEOUT, Connection, redirected
from greenroom.workflows.call.streams import STREAMS, StreamedAnswer, read_frames
from greenroom.workflows.call.traced import in_span, start_workflow_span
from greenroom.workflows.call.wires import EnvelopeWire, OpenAIWire, PlainWire, Wire
from greenroom.workflows.calls import (
    SESSION_PATTERN,
    SESSION_TEXT,
    Answer,
    Call,
    CallError,
    Event,
    Profile,
    WorkflowUnavailable,
)
from greenroom.workflows.usage import ReportedUsage

if TYPE_CHECKING:
    from aiohttp import ClientResponse

_FIRST_REDIRECT = 300
_FIRST_ERROR = 400
_REFUSED_BODIES = frozenset({400, 422})
_COST_HEADER = "x-litellm-response-cost"


class WorkflowClient:
    """A Target behind an address; it reuses its connections.

    A call is made again, as often as `retry` says, if it failed before the server could run it or
    if the server is too busy (429, 503). Any other failure is raised, because the workflow may
    already have started.
    """

    def __init__(
        self,
        profile: Profile,
        *,
        wire: Wire | None = None,
        token: str | None = None,
        timeout: float = TIMEOUT,
        retry: RetryPolicy | None = None,
        guarded: bool = False,
    ) -> None:
        self.profile = profile
        self._wire = wire or wire_for(profile)
        # Whether the server is known to take this format.
        self._settled = wire is not None
        self._connection = Connection(
            profile.address, token=token, timeout=timeout, retry=retry, guarded=guarded
        )

    async def call(self, call: Call) -> Answer:
        answer: Answer | None = None
        async for event in self._traced(call, streamed=False):
            if event.kind == "end":
                answer = event.data
        assert answer is not None  # an exchange ends with an answer, or raises
        return answer

    def stream(self, call: Call) -> AsyncIterator[Event]:
        return self._traced(call, streamed=True)

    async def close(self) -> None:
        await self._connection.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _traced(self, call: Call, *, streamed: bool) -> AsyncGenerator[Event]:
        if spans.active is None:
            return self._exchange(call, streamed=streamed)
        address = self.profile.address
        span = start_workflow_span(spans.active, self.profile.name, call, address=address)
        call = replace(call, traceparent=span.traceparent)
        return in_span(span, self._exchange(call, streamed=streamed))

    async def _exchange(self, call: Call, *, streamed: bool) -> AsyncGenerator[Event]:
        began = time.perf_counter()
        async with self._answered(call, streamed) as response:
            headers = response.headers
            if response.content_type in STREAMS:
                streamed_answer = StreamedAnswer(self.profile.is_chat)
                with self._named_failures():
                    frames = read_frames(pieces_of(response), response.content_type)
                    async for frame in frames:
                        for event in streamed_answer.take(frame):
                            yield event
                    for event in streamed_answer.close():
                        yield event
                answer = streamed_answer.answer
            else:
                content = await body_of(response)
                with self._named_failures():
                    answer = self._read(content, response.content_type)
                for event in self._whole(answer):
                    yield event
        answer = replace(
            answer,
            session_id=answer.session_id or headers.get("x-ag-session-id") or call.session_id,
            trace_id=answer.trace_id or headers.get("x-ag-trace-id"),
            seconds=time.perf_counter() - began,
            cost=_cost(answer.cost, headers.get(_COST_HEADER)),
        )
        yield Event(kind="end", data=answer)

    @asynccontextmanager
    async def _answered(self, call: Call, streamed: bool) -> AsyncGenerator[ClientResponse]:
        """A response that holds an answer; raises if it holds an error."""
        async with self._posted(self._wire, call, streamed) as response:
            if response.status < _FIRST_REDIRECT:
                self._settled = True
                yield response
                return
            status, headers, content = response.status, response.headers, await body_of(response)
        if status < _FIRST_ERROR:
            raise redirected(self._wire.url, headers.get("Location"))
        if other := self._other_wire(status, content):
            async with self._posted(other, call, streamed) as response:
                if response.status < _FIRST_REDIRECT:
                    self._wire, self._settled = other, True
                    yield response
                    return
        is_model = isinstance(self._wire, OpenAIWire)
        raise self._connection.error_of(status, content, of_model=is_model)

    def _posted(
        self, wire: Wire, call: Call, streamed: bool
    ) -> AbstractAsyncContextManager[ClientResponse]:
        if call.session_id is not None and not re.fullmatch(SESSION_PATTERN, call.session_id):
            raise InputError(f"{SESSION_TEXT} {call.session_id!r} is none.")
        headers = {"x-ag-session-id": call.session_id, "traceparent": call.traceparent}
        return self._connection.open(
            "POST",
            wire.url,
            wire.body(self.profile.placed(call), streamed=streamed),
            headers={name: value for name, value in headers.items() if value},
            streamed=streamed,
        )

    def _other_wire(self, status: int, content: bytes) -> Wire | None:
        """The plain format, if the server refused an envelope before running anything."""
        if self._settled or status not in _REFUSED_BODIES:
            return None
        if not isinstance(self._wire, EnvelopeWire) or _ran(content):
            return None
        return PlainWire(self._wire.url)

    def _read(self, content: bytes, content_type: str) -> Answer:
        if content_type == "text/plain":
            return Answer(outputs=content.decode("utf-8", "replace"))
        try:
            body = decoded(content)
        except ValueError:
            raise WorkflowUnavailable("its answer is not JSON, or incomplete") from None
        return self._wire.read(body)

    def _whole(self, answer: Answer) -> Generator[Event]:
        """The events of an answer that was not streamed."""
        if self.profile.is_chat:
            for message in messages_of(answer.outputs) or []:
                yield Event(kind="message", data=message)
        usage = ReportedUsage(answer.prompt_tokens, answer.completion_tokens, answer.cost)
        if usage != ReportedUsage():
            yield Event(kind="usage", data=usage.to_json())

    @contextmanager
    def _named_failures(self) -> Generator[None]:
        """Name the address in failures that an answer reports."""
        try:
            yield
        except CallError as error:
            text = f"{self.profile.address} gave no answer: {error}"
            raise type(error)(text, status=error.status, kind=error.kind) from None


def wire_for(profile: Profile) -> Wire:
    """The wire format for a workflow, by its profile."""
    address, _, model = profile.address.partition("#")
    match profile.interface:
        case "openai":
            return OpenAIWire(address, model or profile.name)
        case "run" | "test" as route:
            return PlainWire(f"{address}/{route}")
        case _:
            return EnvelopeWire(f"{address}/invoke", profile.parameters)


def _ran(content: bytes) -> bool:
    """Whether the workflow itself failed: Agenta puts its errors into an envelope."""
    try:
        return "status" in as_dict(decoded(content))
    except ValueError:
        return False


def _cost(cost: float | None, header: str | None) -> float | None:
    if cost is not None or not header:
        return cost
    try:
        return float(header)
    except ValueError:
        return None
