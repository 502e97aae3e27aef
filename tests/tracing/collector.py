"""A collector: a real OTLP/HTTP server that decodes what it gets, and may behave badly."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True)
class SeenSpan:
    """A span as it arrived."""

    name: str
    trace: str
    id: str
    parent: str
    kind: int
    attributes: dict[str, Any]
    links: list[tuple[str, str]]
    status: int
    service: str
    schema: str
    began: int
    ended: int


@dataclass(frozen=True)
class SeenEvent:
    """An event as it arrived."""

    name: str
    trace: str
    span: str
    attributes: dict[str, Any]


@dataclass
class Collector:
    """What has arrived."""

    address: str = ""
    spans: list[SeenSpan] = field(default_factory=list[SeenSpan])
    events: list[SeenEvent] = field(default_factory=list[SeenEvent])
    headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    bodies: list[bytes] = field(default_factory=list[bytes])
    status: int = 200
    answer: bytes = b""
    before: Callable[[], object] = lambda: None
    """Called before each answer: a slow collector waits here."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def named(self, name: str) -> list[SeenSpan]:
        """The spans of a name, or those whose name begins with that word."""
        return [one for one in self.spans if one.name == name or one.name.startswith(f"{name} ")]

    def one(self, name: str) -> SeenSpan:
        """The only span of a name."""
        (found,) = self.named(name)
        return found

    def children(self, span: SeenSpan) -> list[SeenSpan]:
        """The spans right under one, in the order in which they began."""
        found = [one for one in self.spans if (one.trace, one.parent) == (span.trace, span.id)]
        return sorted(found, key=lambda one: one.began)

    def below(self, span: SeenSpan) -> list[SeenSpan]:
        """All spans under one."""
        found = self.children(span)
        return found + [deeper for one in found for deeper in self.below(one)]

    def tree(self, span: SeenSpan) -> list[Any]:
        """The names under a span, nested."""
        found: list[Any] = []
        for one in self.children(span):
            below = self.tree(one)
            found.append((one.name, below) if below else one.name)
        return found

    def take(self, path: str, body: bytes, headers: dict[str, str]) -> None:
        """Keep what a request brings."""
        with self._lock:
            self.headers.append(headers)
            self.bodies.append(body)
            if path.endswith("/v1/traces"):
                self.spans += _spans(body)
            elif path.endswith("/v1/logs"):
                self.events += _events(body)


def _spans(body: bytes) -> list[SeenSpan]:
    request = ExportTraceServiceRequest.FromString(body)
    return [
        SeenSpan(
            name=span.name,
            trace=span.trace_id.hex(),
            id=span.span_id.hex(),
            parent=span.parent_span_id.hex(),
            kind=span.kind,
            attributes=_values(span.attributes),
            links=[(link.trace_id.hex(), link.span_id.hex()) for link in span.links],
            status=span.status.code,
            service=_values(group.resource.attributes)["service.name"],
            schema=scope.schema_url,
            began=span.start_time_unix_nano,
            ended=span.end_time_unix_nano,
        )
        for group in request.resource_spans
        for scope in group.scope_spans
        for span in scope.spans
    ]


def _events(body: bytes) -> list[SeenEvent]:
    request = ExportLogsServiceRequest.FromString(body)
    return [
        SeenEvent(
            record.event_name,
            record.trace_id.hex(),
            record.span_id.hex(),
            _values(record.attributes),
        )
        for group in request.resource_logs
        for scope in group.scope_logs
        for record in scope.log_records
    ]


def _values(pairs: Any) -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(one) for one in value.array_value.values]
    return getattr(value, kind)


@contextmanager
def running_collector(port: int = 0) -> Generator[Collector]:
    """A collector on loopback."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            collector.before()
            if collector.status == 200:
                collector.take(self.path, body, dict(self.headers))
            self.send_response(collector.status)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", str(len(collector.answer)))
            self.end_headers()
            self.wfile.write(collector.answer)

        def log_message(self, *_: Any, **__: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        collector.address = f"http://127.0.0.1:{server.server_port}"
        yield collector
    finally:
        server.shutdown()
        server.server_close()
