"""What the headers of a request ask for, and what those of an answer tell."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, Literal

from greenroom.workflows.calls import SESSION_PATTERN, SESSION_TEXT, Call, Problem
from greenroom.workflows.serve.exchange import Exchange, Headers, Refusal, invalid_body

AnswerFormat = Literal["json", "sse", "ndjson"]

CONTENT_TYPES: dict[str, AnswerFormat] = {
    "application/json": "json",
    "application/x-ndjson": "ndjson",
    "application/jsonl": "ndjson",
    "text/event-stream": "sse",
}
"""In the order that Agenta's servers prefer for clients that accept anything."""

WIRE_VERSION = "2025.07.14"
"""The version of Agenta's wire format."""

VERCEL = b"vercel"
MESSAGES_FORMAT = b"x-ag-messages-format"
SESSION_HEADER = b"x-ag-session-id"

_SESSION = re.compile(SESSION_PATTERN)
_TRACEPARENT = re.compile(rb"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_TRACE_BYTES = 16
_SPAN_BYTES = 8
_SESSION_BYTES = 16


@dataclass(frozen=True, slots=True)
class CallIds:
    """The ids of one call: its trace (W3C's trace context), its span, its session."""

    trace_id: str
    span_id: str
    session_id: str
    new_session: bool = False
    """The client gave no session id."""
    trace_flags: str = "01"
    caller: str | None = None
    """The span that the client called from, as its header names it."""

    @property
    def traceparent(self) -> str:
        """The header for whatever the call itself calls."""
        return f"00-{self.trace_id}-{self.span_id}-{self.trace_flags}"

    def call(
        self,
        inputs: dict[str, Any],
        *,
        parameters: dict[str, Any] | None = None,
        tools: list[dict[str, Any]] | None = None,
    ) -> Call:
        """A call with these ids."""
        return Call(
            inputs=inputs,
            parameters=parameters,
            session_id=self.session_id,
            new_session=self.new_session,
            tools=tools,
            traceparent=self.traceparent,
            caller=self.caller,
        )

    @property
    def headers(self) -> Headers:
        """The headers of the answer."""
        return [
            (b"x-ag-version", WIRE_VERSION.encode()),
            (b"x-ag-trace-id", self.trace_id.encode()),
            (b"x-ag-span-id", self.span_id.encode()),
            (SESSION_HEADER, self.session_id.encode()),
            (b"traceparent", self.traceparent.encode()),
        ]


def call_ids(exchange: Exchange, session_id: str | None) -> CallIds:
    """The ids of a call; the session id comes from the body, else a header, else it is new."""
    if session_id is None:
        header = exchange.header(SESSION_HEADER)
        session_id = header.decode("latin-1") if header else None
        if session_id is not None and not _SESSION.fullmatch(session_id):
            problem = Problem(("session_id",), SESSION_TEXT, "string_pattern_mismatch")
            raise invalid_body([problem])
    header = exchange.header(b"traceparent") or b""
    trace_id, trace_flags = trace_of(header)
    caller = header.decode("latin-1") if trace_id.encode() in header else None
    span_id, new = os.urandom(_SPAN_BYTES).hex(), session_id is None
    return CallIds(
        trace_id, span_id, session_id or os.urandom(_SESSION_BYTES).hex(), new, trace_flags, caller
    )


def trace_of(traceparent: bytes | None) -> tuple[str, str]:
    """The trace id and flags in a `traceparent` header; new ones if it is missing or wrong."""
    found = _TRACEPARENT.fullmatch(traceparent.strip()) if traceparent is not None else None
    if found is not None:
        version, trace_id, span_id, flags, more = found.groups()
        wrong_version = version == b"ff" or (version == b"00" and more)
        if not wrong_version and trace_id.strip(b"0") and span_id.strip(b"0"):
            return trace_id.decode(), flags.decode()
    return os.urandom(_TRACE_BYTES).hex(), "01"


def wanted_format(exchange: Exchange, *, stream: bool | None) -> AnswerFormat:
    """The form of the answer; `stream` in the body decides for clients that accept several.

    Raises a Refusal with status 406 if the client accepts no form that there is.
    """
    header = exchange.header(b"accept")
    if header is None:
        return "ndjson" if stream else "json"
    forms = _accepted(header)
    if not forms:
        accept = header.decode("latin-1")
        raise Refusal(
            406,
            {
                "detail": f"There is no answer in a form that '{accept}' accepts.",
                "requested": accept,
                "supported": list(CONTENT_TYPES),
            },
        )
    if stream is None or (forms[0] == "json") is not stream:
        return forms[0]
    fitting: list[AnswerFormat] = [form for form in forms if (form != "json") is stream]
    return fitting[0] if fitting else forms[0]


def wants_vercel(exchange: Exchange) -> bool | None:
    """Whether the client speaks the Vercel AI SDK's messages and streams; None if not told."""
    header = exchange.header(MESSAGES_FORMAT)
    return None if header is None else header.lower() == VERCEL


@lru_cache(maxsize=256)
def _accepted(header: bytes) -> tuple[AnswerFormat, ...]:
    """The forms that an Accept header takes, the preferred first."""
    ranges: list[tuple[float, str]] = []
    for part in header.decode("latin-1").lower().split(","):
        kind, *settings = (word.strip() for word in part.split(";"))
        if kind:
            ranges.append((_weight(settings), kind))
    ranges.sort(key=lambda one: -one[0])
    refused = {kind for weight, kind in ranges if weight == 0}
    found: dict[AnswerFormat, None] = {}
    for weight, kind in ranges:
        for content_type, form in CONTENT_TYPES.items():
            if weight > 0 and content_type not in refused and fnmatchcase(content_type, kind):
                found.setdefault(form)
    return tuple(found)


def _weight(settings: list[str]) -> float:
    given = next((word[2:] for word in settings if word.startswith("q=")), "1")
    try:
        return float(given)
    except ValueError:
        return 0.0
