"""Trace ids: W3C's trace context, taken over from whoever calls or made anew."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

_TRACEPARENT = re.compile(rb"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_TRACE_BYTES = 16
_SPAN_BYTES = 8


@dataclass(frozen=True, slots=True)
class Trace:
    """The ids of one call: those of the trace that it belongs to, and its own."""

    trace_id: str
    span_id: str
    sampled: str = "01"

    @property
    def traceparent(self) -> str:
        """What is passed on to whatever the call itself calls."""
        return f"00-{self.trace_id}-{self.span_id}-{self.sampled}"


def trace_of(traceparent: bytes | None) -> Trace:
    """The ids of a call that came with this header; a header that is wrong counts as none."""
    if traceparent is not None:
        parent = _parent(traceparent)
        if parent is not None:
            return Trace(parent[0], os.urandom(_SPAN_BYTES).hex(), parent[1])
    ids = os.urandom(_TRACE_BYTES + _SPAN_BYTES).hex()
    return Trace(ids[: _TRACE_BYTES * 2], ids[_TRACE_BYTES * 2 :])


def _parent(header: bytes) -> tuple[str, str] | None:
    found = _TRACEPARENT.fullmatch(header.strip())
    if found is None:
        return None
    version, trace_id, span_id, sampled, more = found.groups()
    if version == b"ff" or (version == b"00" and more):
        return None
    if not trace_id.strip(b"0") or not span_id.strip(b"0"):
        return None
    return trace_id.decode(), sampled.decode()


__all__ = ["Trace", "trace_of"]
