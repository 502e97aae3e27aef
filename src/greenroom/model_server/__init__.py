"""An OpenAI-compatible server that answers from a script, for tests without a language model."""

from __future__ import annotations

from greenroom.model_server.faults import FAULTS, TimeRange, parse_faults, parse_time_range
from greenroom.model_server.serve import (
    RunningServer,
    running_server,
    scripted_server,
    serve_until_stopped,
)
from greenroom.model_server.server import FAULT_HEADER, ServerSettings, Stats

__all__ = [
    "FAULTS",
    "FAULT_HEADER",
    "RunningServer",
    "ServerSettings",
    "Stats",
    "TimeRange",
    "parse_faults",
    "parse_time_range",
    "running_server",
    "scripted_server",
    "serve_until_stopped",
]
