"""Spans of calls of workflows, wherever they run."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractContextManager, aclosing
from urllib.parse import urlsplit

from greenroom.tracing import Attributes, Span, Tracer, names, spans
from greenroom.tracing.spans import Kind
from greenroom.workflows.calls import Answer, Call, Event

_PORTS = {"http": 80, "https": 443}


def workflow_span(
    name: str,
    call: Call,
    *,
    kind: Kind = "internal",
    ids: str | None = None,
    parent: str | None = None,
) -> AbstractContextManager[Span]:
    """The span of a call for the time of a block. `ids` is the traceparent that it shall have."""
    if spans.active is None:
        return spans.opened(name, {})
    _, trace_id, span_id, *_ = (ids or "---").split("-")
    return spans.opened(
        f"invoke_workflow {name}",
        _attributes(name, call),
        kind=kind,
        ids=(trace_id, span_id) if ids else None,
        parent=parent,
        apart=kind == "server" and parent is None,
    )


def start_workflow_span(
    tracer: Tracer, name: str, call: Call, *, address: str | None = None
) -> Span:
    """The span of a call that gives its answer in pieces; `address` is that of a server."""
    parts = urlsplit(address or "")
    return tracer.start(
        f"invoke_workflow {name}",
        {
            **_attributes(name, call),
            names.SERVER: parts.hostname,
            names.PORT: parts.port or _PORTS.get(parts.scheme),
        },
        kind="internal" if address is None else "client",
        parent=call.traceparent,
    )


async def in_span(span: Span, pieces: AsyncGenerator[Event]) -> AsyncGenerator[Event]:
    """The same pieces. Each is made in the span; what is done with it is not."""
    answered = False
    try:
        async with aclosing(pieces):
            while True:
                with span.entered():
                    piece = await anext(pieces, None)
                if piece is None:
                    break
                if piece.kind == "end":
                    span.set(answer_attributes(piece.data))
                    answered = True
                yield piece
    except BaseException as error:
        if not answered:  # whoever has the whole answer need not ask for more
            spans.note_failure(span, error)
        raise
    finally:
        span.end()


def answer_attributes(answer: Answer) -> Attributes:
    """What a workflow says that it took. Who pays for it is with the span around."""
    return {
        names.INPUT_TOKENS: answer.prompt_tokens,
        names.OUTPUT_TOKENS: answer.completion_tokens,
        names.COST: answer.cost,
    }


def _attributes(name: str, call: Call) -> Attributes:
    return {
        names.OPERATION: "invoke_workflow",
        names.WORKFLOW: name,
        # A session is a conversation, as far as its workflow knows.
        **({names.CONVERSATION: call.session_id} if call.session_id else {}),
    }
