"""Sending spans and events: a collector that fails costs a warning and a short wait, no run."""

from __future__ import annotations

import atexit
import logging
import os
import queue
import threading
from collections.abc import Sequence
from typing import Any, Protocol

from opentelemetry.context import Context
from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk._logs.export import LogRecordExporter, LogRecordExportResult
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace import Span as SdkSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from greenroom.errors import redacted
from greenroom.tracing.spans import SECONDS_TO_FLUSH, endpoint

_log = logging.getLogger("greenroom.traces")
_SECONDS_IF_FAILING = 1.0
_NOISY = (
    "opentelemetry.exporter.otlp.proto.http.trace_exporter",
    "opentelemetry.exporter.otlp.proto.http._log_exporter",
    "opentelemetry.sdk._shared_internal",
)
_LONGEST = 200


class Sending:
    """How sending goes: what was lost is counted, and told once."""

    def __init__(self) -> None:
        self.ended = 0
        self.sent = 0
        self.failing = False
        self._said = ""
        self._warned = False
        self._told_lost = 0
        for name in _NOISY:
            logging.getLogger(name).addFilter(self._overhear)

    def counted(self, processor: SpanProcessor) -> SpanProcessor:
        """The same processor; what ends is counted."""
        return _Counted(processor, self)

    def succeeded(self, count: int) -> None:
        """A batch has arrived."""
        self.sent += count
        self.failing = False

    def failed(self, error: Exception | None = None) -> None:
        """A batch has not arrived."""
        self.failing = True
        if error is not None:
            self._said = f"{type(error).__name__}: {error}"
        if not self._warned:
            self._warned = True
            where = redacted(endpoint("TRACES") or "the collector")
            why = redacted(self._said or "it did not take them")[:_LONGEST]
            _log.warning("Traces do not arrive at %s. The work goes on without. %s", where, why)

    def tell_lost(self, ended: int) -> None:
        """Say how many of the spans that had ended have not arrived, though they had the time."""
        lost = ended - self.sent
        if lost > self._told_lost:
            self._told_lost = lost
            _log.warning("%s of %s spans did not arrive.", f"{lost:,}", f"{ended:,}")

    def _overhear(self, record: logging.LogRecord) -> bool:
        # It says the same thing for each batch: we say it once, and those who debug see it all.
        if "exporter" in record.name:
            self._said = record.getMessage()
            self.failing = True  # it may try again for a while, which the end need not wait for
        return logging.getLogger(record.name).isEnabledFor(logging.DEBUG)


class _Counted(SpanProcessor):
    def __init__(self, processor: SpanProcessor, sending: Sending) -> None:
        self._processor = processor
        self._sending = sending

    def on_start(self, span: SdkSpan, parent_context: Context | None = None) -> None:
        self._processor.on_start(span, parent_context)

    def on_end(self, span: ReadableSpan) -> None:
        if span.context is not None and span.context.trace_flags.sampled:
            self._sending.ended += 1
        self._processor.on_end(span)

    def shutdown(self) -> None:
        self._processor.shutdown()

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        return self._processor.force_flush(timeout_millis)


class SentSpans(SpanExporter):
    """An exporter that raises nothing and tells how it went."""

    def __init__(self, exporter: SpanExporter, sending: Sending) -> None:
        self._exporter = exporter
        self._sending = sending

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send a batch."""
        try:
            result = self._exporter.export(spans)
        except Exception as error:
            self._sending.failed(error)
            return SpanExportResult.FAILURE
        if result is SpanExportResult.SUCCESS:
            self._sending.succeeded(len(spans))
        else:
            self._sending.failed()
        return result

    def shutdown(self) -> None:
        """Send no more."""
        self._exporter.shutdown()


class SentLogs(LogRecordExporter):
    """The same for events."""

    def __init__(self, exporter: LogRecordExporter, sending: Sending) -> None:
        self._exporter = exporter
        self._sending = sending

    def export(self, batch: Sequence[ReadableLogRecord]) -> LogRecordExportResult:
        """Send a batch."""
        try:
            result = self._exporter.export(batch)
        except Exception as error:
            self._sending.failed(error)
            return LogRecordExportResult.FAILURE
        if result is not LogRecordExportResult.SUCCESS:
            self._sending.failed()
        return result

    def force_flush(self, timeout_millis: int = 10_000) -> bool:
        """Nothing waits here."""
        return True

    def shutdown(self) -> None:
        """Send no more."""
        self._exporter.shutdown()


class _Provider(Protocol):
    def force_flush(self, timeout_millis: int = ...) -> bool: ...

    def shutdown(self) -> Any: ...


class Flusher:
    """Flushes providers in a thread of its own: the SDK's flush waits for as long as it takes.

    The thread is there from the beginning, because none can be started while Python ends.
    """

    def __init__(self, providers: Sequence[_Provider], sending: Sending) -> None:
        self._providers = providers
        self._sending = sending
        self._asked: queue.SimpleQueue[threading.Event | None] = queue.SimpleQueue()
        self._process = os.getpid()
        threading.Thread(target=self._work, name="greenroom-traces", daemon=True).start()
        atexit.register(self._at_exit)

    def flush(self, seconds: float) -> None:
        """Send what has ended; give up after some seconds."""
        if self._process != os.getpid():
            return  # a fork has no such thread
        done, ended = threading.Event(), self._sending.ended
        self._asked.put(done)
        first = min(seconds, _SECONDS_IF_FAILING)
        if not done.wait(first) and (self._sending.failing or not done.wait(seconds - first)):
            self._sending.failed()
        self._sending.tell_lost(ended)

    def close(self) -> None:
        """Flush, and stop sending."""
        atexit.unregister(self._at_exit)
        self.flush(SECONDS_TO_FLUSH)
        self._asked.put(None)

    def _at_exit(self) -> None:
        self.flush(SECONDS_TO_FLUSH)

    def _work(self) -> None:
        while (done := self._asked.get()) is not None:
            for provider in self._providers:
                provider.force_flush()
            done.set()
        for provider in self._providers:
            provider.shutdown()
