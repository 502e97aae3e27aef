"""What code that is traced calls: one attribute says whether it is, and spans do nothing if not.

if spans.active is None:
    return await self._answer(request)
with spans.opened("chat", {...}) as span:
    ...
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from types import TracebackType
from typing import Literal, Protocol, cast

from greenroom.errors import redacted
from greenroom.tracing import names
from greenroom.util.json_values import encoded

Attributes = Mapping[str, str | bool | int | float | Sequence[str] | None]
"""Attributes by name. None leaves one out."""
Kind = Literal["internal", "client", "server"]

TRACEPARENT = "TRACEPARENT"
"""The variable by which a process is told which span it works for."""
SECONDS_TO_FLUSH = 5.0
"""How long the end of a job or a server waits for a collector."""

_log = logging.getLogger("greenroom.traces")
# Some libraries that agents import raise the level of the root logger.
_log.setLevel(logging.WARNING)
_TRACES, _LOGS = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT"
_BOTH = "OTEL_EXPORTER_OTLP_ENDPOINT"
_PROTOCOL = "http/protobuf"


class Span(Protocol):
    """Something that is under way."""

    @property
    def traceparent(self) -> str | None:
        """It as W3C's header, for others to go on from; None if nothing is traced."""
        ...

    def set(self, attributes: Attributes) -> None:
        """Say more about it."""
        ...

    def event(self, name: str, attributes: Attributes) -> None:
        """Tell of something that happened in it."""
        ...

    def fail(self, kind: str) -> None:
        """It ended in an error of this kind."""
        ...

    def end(self) -> None:
        """It is over."""
        ...

    def entered(self) -> AbstractContextManager[object]:
        """Spans that begin in the block are parts of it."""
        ...


class Moving(Protocol):
    """A place for spans to begin under that moves, for all tasks and threads that begin in it."""

    def move(self, to: Span | object) -> None:
        """From now on, spans begin under this one, or in the span of a place."""
        ...

    def entered(self) -> AbstractContextManager[object]:
        """Spans that begin in the block begin where it stands."""
        ...


class Tracer(Protocol):
    """Makes spans and sends them."""

    @property
    def captures(self) -> bool:
        """Whether what was said is sent along."""
        ...

    def start(
        self,
        name: str,
        attributes: Attributes,
        *,
        kind: Kind = "internal",
        parent: str | None = None,
        apart: bool = False,
        inherited: Attributes | None = None,
        ids: tuple[str, str] | None = None,
        link: str | None = None,
    ) -> Span:
        """Begin a span; see `opened`."""
        ...

    def moving(self) -> Moving:
        """A place that stands where this code runs, until it is moved."""
        ...

    def traceparent(self) -> str | None:
        """The span that this code runs in, as W3C's header."""
        ...

    def within(self) -> bool:
        """Whether this code runs in a span."""
        ...

    def place(self) -> object:
        """The span that this code runs in, to be taken to a thread that does not know it."""
        ...

    def at(self, place: object) -> AbstractContextManager[object]:
        """Run the block in the span of a place, if it runs in none."""
        ...

    def under(self, traceparent: str) -> AbstractContextManager[object]:
        """Run the block in a span of somebody else; see `under`."""
        ...

    def flush(self, seconds: float) -> None:
        """Send what has ended; give up after some seconds."""
        ...

    def close(self) -> None:
        """Send what has ended, and stop."""
        ...


class _Nothing:
    """A span that is not recorded."""

    traceparent = None

    def set(self, attributes: Attributes) -> None:
        return

    def event(self, name: str, attributes: Attributes) -> None:
        return

    def fail(self, kind: str) -> None:
        return

    def end(self) -> None:
        return

    def entered(self) -> AbstractContextManager[object]:
        return nullcontext()


NOTHING: Span = _Nothing()
"""The span where nothing is traced."""

active: Tracer | None = None
"""What makes spans; None where nothing is traced."""


class _Opened:
    """A span for the time of a block; what the block raises is noted in it."""

    __slots__ = ("_entered", "_span")

    def __init__(self, span: Span) -> None:
        self._span = span
        self._entered = span.entered()

    def __enter__(self) -> Span:
        self._entered.__enter__()
        return self._span

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._entered.__exit__(None, None, None)
        if error is not None:
            note_failure(self._span, error)
        self._span.end()


def opened(
    name: str,
    attributes: Attributes,
    *,
    kind: Kind = "internal",
    parent: str | None = None,
    apart: bool = False,
    inherited: Attributes | None = None,
    ids: tuple[str, str] | None = None,
    link: str | None = None,
) -> AbstractContextManager[Span]:
    """A span for the time of a block, under the one that this code runs in.

    parent     begin under the span of this traceparent instead
    apart      begin a trace of its own, with a link to where it began
    inherited  attributes of this span and of all that begin in it
    ids        the trace id and the span id that it shall have; a trace that goes on keeps its id
    link       the traceparent of a span that it has to do with
    """
    if active is None:
        return nullcontext(NOTHING)
    return _Opened(
        active.start(
            name,
            attributes,
            kind=kind,
            parent=parent,
            apart=apart,
            inherited=inherited,
            ids=ids,
            link=link,
        )
    )


def content(value: object) -> str:
    """What was said or given, as JSON; whatever it is, this raises nothing."""
    try:
        return encoded(value).decode()
    except (TypeError, ValueError, RecursionError):
        return f"({type(value).__name__})"


def note_failure(span: Span, error: BaseException) -> None:
    """Note what ended a span: the kind of error. Its text may quote what was said."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    if isinstance(error, Exception):
        span.fail(type(error).__name__)
    else:
        span.set({names.ERROR: "cancelled"})


def traceparent() -> str | None:
    """The span that this code runs in, as W3C's header; None if nothing is traced."""
    return None if active is None else active.traceparent()


def under(traceparent: bytes | None) -> AbstractContextManager[object]:
    """Run the block in the span that a request names, if it is of the trace that this code runs in.

    So what an agent asks for is a part of what the agent does, and never of another trace.
    """
    if active is None or traceparent is None:
        return nullcontext()
    return active.under(traceparent.decode("latin-1"))


def environment() -> dict[str, str]:
    """The variables that tell a process which span it works for."""
    found = traceparent()
    return {} if found is None else {TRACEPARENT: found}


def parent_process() -> str | None:
    """The span that this process works for, if it was told one."""
    return os.environ.get(TRACEPARENT) or None


def begin() -> None:
    """Begin to trace if OpenTelemetry's variables name a collector; else do nothing.

    What is wrong with them is a warning. It never ends the work.
    """
    global active
    if active is not None or not wanted():
        return
    if protocol := _other_protocol():
        _warn_once(f"Traces are sent by {_PROTOCOL} alone, and not by {protocol}: none are sent.")
        return
    if find_spec("opentelemetry") is None or not _installed():
        _warn_once(
            "OpenTelemetry's variables name a collector, but its packages are not installed: "
            "pip install 'greenroom[otel]'. No traces are sent."
        )
        return
    try:
        from greenroom.tracing.otlp import open_tracer

        active = open_tracer(logs=endpoint("LOGS") is not None)
    except Exception as error:
        _warn_once(f"No traces are sent: {redacted(f'{type(error).__name__}: {error}')}")


async def flush() -> None:
    """Send what has ended, within some seconds."""
    if active is not None:
        import anyio
        import anyio.to_thread

        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(active.flush, SECONDS_TO_FLUSH)


def end() -> None:
    """Send what has ended, and trace no more."""
    global active
    tracer, active = active, None
    if tracer is not None:
        tracer.close()


def wanted() -> bool:
    """Whether OpenTelemetry's variables name a collector."""
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    return endpoint("TRACES") is not None


def endpoint(signal: Literal["TRACES", "LOGS"]) -> str | None:
    """Where spans or events go; None if nowhere."""
    exporter = os.environ.get(f"OTEL_{signal}_EXPORTER", "").strip() or "otlp"
    named = os.environ.get(_TRACES if signal == "TRACES" else _LOGS) or os.environ.get(_BOTH)
    return named.strip() or None if named and "otlp" in exporter.split(",") else None


def _other_protocol() -> str | None:
    for name in ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"):
        if found := os.environ.get(name, "").strip():
            return None if found == _PROTOCOL else found
    return None


def _installed() -> bool:
    found = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")
    try:
        return all(find_spec(name) is not None for name in found)
    except ModuleNotFoundError:  # a package above it is missing
        return False


_warned: set[str] = set()


def _warn_once(text: str) -> None:
    if text not in _warned:
        _warned.add(text)
        _log.warning("%s", text)
