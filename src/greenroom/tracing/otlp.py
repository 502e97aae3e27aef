"""Spans by OpenTelemetry's SDK. This module is imported when a collector is named, and not before.

The providers are our own: those of a program around us stay as they are. Spans of other libraries
in this process nest with ours, because both use OpenTelemetry's context.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

from opentelemetry import context as otel
from opentelemetry import trace
from opentelemetry._logs import Logger, SeverityNumber
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import NonRecordingSpan, SpanContext, SpanKind, TraceFlags
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from greenroom._version import __version__
from greenroom.errors import redacted
from greenroom.tracing import names
from greenroom.tracing.sending import Flusher, Sending, SentLogs, SentSpans
from greenroom.tracing.spans import Attributes, Kind, Span, Tracer
from greenroom.util.characters import writable

_CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_CAPTURING = frozenset({"true", "span_only", "span_and_event"})
_QUEUE, _BATCH = 8192, 512
_QUEUE_OF_CONTENTS, _BATCH_OF_CONTENTS = 1024, 64
"""Spans that wait, and that are sent at once, unless OpenTelemetry's variables say otherwise."""
_LONGEST, _LONGEST_NAME = 200_000, 1_000
_LARGEST = 2**63 - 1
_INHERITED = otel.create_key("greenroom.inherited")
_KINDS = {"internal": SpanKind.INTERNAL, "client": SpanKind.CLIENT, "server": SpanKind.SERVER}
_W3C = TraceContextTextMapPropagator()

_given_ids: ContextVar[tuple[str, str] | None] = ContextVar("greenroom_given_ids", default=None)


def open_tracer(*, logs: bool) -> Tracer:
    """A tracer that sends spans and events as OpenTelemetry's variables say."""
    resource = _resource()
    sending = Sending()
    provider = TracerProvider(resource=resource, id_generator=_Ids(), shutdown_on_exit=False)
    captures = os.environ.get(_CAPTURE, "").strip().lower() in _CAPTURING
    queue, batch = (_QUEUE_OF_CONTENTS, _BATCH_OF_CONTENTS) if captures else (_QUEUE, _BATCH)
    if any(os.environ.get(f"OTEL_BSP_MAX_{name}_SIZE") for name in ("QUEUE", "EXPORT_BATCH")):
        queue = batch = None
    exporter = SentSpans(OTLPSpanExporter(), sending)
    processor = BatchSpanProcessor(exporter, queue, max_export_batch_size=batch)
    provider.add_span_processor(sending.counted(processor))
    log_provider = LoggerProvider(resource=resource, shutdown_on_exit=False)
    if logs:
        log_exporter = SentLogs(OTLPLogExporter(), sending)
        log_provider.add_log_record_processor(BatchLogRecordProcessor(log_exporter))
    return _Tracer(provider, log_provider if logs else None, sending, captures=captures)


def _resource() -> Resource:
    found = Resource.create({"service.version": __version__})
    unnamed = str(found.attributes.get(SERVICE_NAME, "")).startswith("unknown_service")
    return found.merge(Resource({SERVICE_NAME: "greenroom"})) if unnamed else found


class _Ids(RandomIdGenerator):
    """Random ids, unless they are given: those of a server's call are known before its span."""

    def generate_span_id(self) -> int:
        given = _given_ids.get()
        return super().generate_span_id() if given is None else int(given[1], 16)

    def generate_trace_id(self) -> int:
        given = _given_ids.get()
        return super().generate_trace_id() if given is None else int(given[0], 16)


class _Tracer:
    def __init__(
        self,
        provider: TracerProvider,
        logs: LoggerProvider | None,
        sending: Sending,
        *,
        captures: bool,
    ) -> None:
        named = ("greenroom", __version__)
        self._tracer = provider.get_tracer(*named, schema_url=names.SCHEMA_URL)
        self._logger = logs and logs.get_logger(*named, schema_url=names.SCHEMA_URL)
        self.captures = captures
        providers = [provider] if logs is None else [provider, logs]
        self._flusher = Flusher(providers, sending)

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
        here = otel.get_current()
        handed: dict[str, Any] = {**(otel.get_value(_INHERITED, here) or {}), **(inherited or {})}  # pyright: ignore[reportGeneralTypeIssues, reportUnknownVariableType]
        linked = [found for found in (_context_of(link),) if found is not None]
        within = here
        if apart:
            around = trace.get_current_span(here).get_span_context()
            linked += [around] if around.is_valid else []
            within = trace.set_span_in_context(trace.INVALID_SPAN, here)
        elif parent is not None and (remote := _context_of(parent)) is not None:
            within = trace.set_span_in_context(NonRecordingSpan(remote), here)
        token = _given_ids.set(ids)
        try:
            span = self._tracer.start_span(
                _clean_word(name),
                within,
                _KINDS[kind],
                self.kept({**handed, **attributes}),
                [trace.Link(one) for one in linked],
                record_exception=False,
                set_status_on_exception=False,
            )
        finally:
            _given_ids.reset(token)
        around_it = otel.set_value(_INHERITED, handed, here) if inherited else here
        return _Span(self, span, trace.set_span_in_context(span, around_it))

    def moving(self) -> _Moving:
        return _Moving()

    def traceparent(self) -> str | None:
        return _header(trace.get_current_span().get_span_context())

    def within(self) -> bool:
        return trace.get_current_span().get_span_context().is_valid

    def place(self) -> object:
        return otel.get_current()

    @contextmanager
    def at(self, place: object) -> Generator[None]:
        if self.within() or not isinstance(place, Context):
            yield
            return
        token = otel.attach(place)
        try:
            yield
        finally:
            otel.detach(token)

    @contextmanager
    def under(self, traceparent: str) -> Generator[None]:
        here = trace.get_current_span().get_span_context()
        named = _context_of(traceparent)
        if named is None or named.trace_id != here.trace_id:
            yield
            return
        # Whether it is sampled was decided here.
        parent = SpanContext(here.trace_id, named.span_id, True, here.trace_flags)
        token = otel.attach(trace.set_span_in_context(NonRecordingSpan(parent)))
        try:
            yield
        finally:
            otel.detach(token)

    def flush(self, seconds: float) -> None:
        self._flusher.flush(seconds)

    def close(self) -> None:
        self._flusher.close()

    def emit(self, context: Context, name: str, attributes: Attributes) -> None:
        if self._logger is not None:
            _emit(self._logger, context, name, self.kept(attributes))

    def kept(self, attributes: Attributes) -> dict[str, Any]:
        """What is sent: nothing of what was said unless it is asked for, and no secret."""
        return {
            name: _clean(value, name)
            for name, value in attributes.items()
            if value is not None and (self.captures or name not in names.CONTENTS)
        }


def _clean(value: Any, name: str) -> Any:
    """The value without secrets, and within what the wire takes: else a whole batch is lost."""
    if isinstance(value, str):
        return _clean_text(value)[:_LONGEST] if name in names.CONTENTS else _clean_word(value)
    if isinstance(value, int):
        return max(min(value, _LARGEST), -_LARGEST)
    return value


def _clean_text(text: str) -> str:
    return writable(redacted(text))


@lru_cache(maxsize=4096)
def _clean_word(text: str) -> str:
    # Names of models and tools come again and again.
    return _clean_text(text[:_LONGEST_NAME])


def _emit(logger: Logger, context: Context, name: str, attributes: dict[str, Any]) -> None:
    logger.emit(
        context=context,
        severity_number=SeverityNumber.INFO,
        attributes=attributes,
        event_name=name,
    )


class _Span:
    def __init__(self, tracer: _Tracer, span: trace.Span, context: Context) -> None:
        self._tracer = tracer
        self.span = span
        self._context = context

    @property
    def traceparent(self) -> str | None:
        return _header(self.span.get_span_context())

    def set(self, attributes: Attributes) -> None:
        if self.span.is_recording():
            self.span.set_attributes(self._tracer.kept(attributes))

    def event(self, name: str, attributes: Attributes) -> None:
        if self.span.is_recording():
            self._tracer.emit(self._context, name, attributes)

    def fail(self, kind: str) -> None:
        self.span.set_attribute(names.ERROR, kind)
        self.span.set_status(trace.StatusCode.ERROR)

    def end(self) -> None:
        self.span.end()

    @contextmanager
    def entered(self) -> Generator[None]:
        token = otel.attach(self._context)
        try:
            yield
        finally:
            otel.detach(token)


class _Moving(NonRecordingSpan):
    """The current span of tasks that outlive it: who asks for its ids gets those of another."""

    def __init__(self) -> None:
        self._stands_at = trace.get_current_span().get_span_context()
        super().__init__(self._stands_at)

    def move(self, to: Span | object) -> None:
        if isinstance(to, _Span):
            self._stands_at = to.span.get_span_context()
        elif isinstance(to, Context):
            self._stands_at = trace.get_current_span(to).get_span_context()

    def get_span_context(self) -> SpanContext:
        return self._stands_at

    @contextmanager
    def entered(self) -> Generator[None]:
        token = otel.attach(trace.set_span_in_context(self))
        try:
            yield
        finally:
            otel.detach(token)


def _context_of(traceparent: str | None) -> SpanContext | None:
    if traceparent is None:
        return None
    found = trace.get_current_span(
        _W3C.extract({"traceparent": traceparent}, Context())
    ).get_span_context()
    return found if found.is_valid else None


def _header(context: SpanContext) -> str | None:
    if not context.is_valid:
        return None
    flags = TraceFlags(context.trace_flags)
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{flags:02x}"
