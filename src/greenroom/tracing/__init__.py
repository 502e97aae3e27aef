"""Spans of jobs, episodes, turns and calls, for OpenTelemetry.

Code that tells what happens asks `spans.active` first. Without a collector it is None, and nothing
of OpenTelemetry is imported.
"""

from greenroom.tracing import names, spans
from greenroom.tracing.spans import Attributes, Span, Tracer

__all__ = ["Attributes", "Span", "Tracer", "names", "spans"]
