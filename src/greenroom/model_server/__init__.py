"""Rehearsing without a language model: an OpenAI-compatible server that plays from a script."""

from __future__ import annotations

from greenroom.model_server.chance import FAULTS, Span, parse_faults, parse_span
from greenroom.model_server.running import (
    LOOPBACK,
    TOKEN_VARIABLE,
    RunningServer,
    running_server,
    scripted_server,
    serve_until_stopped,
)
from greenroom.model_server.server import FAULT_HEADER, ServerSettings, Stats

__all__ = [
    "FAULTS",
    "FAULT_HEADER",
    "LOOPBACK",
    "TOKEN_VARIABLE",
    "RunningServer",
    "ServerSettings",
    "Span",
    "Stats",
    "parse_faults",
    "parse_span",
    "running_server",
    "scripted_server",
    "serve_until_stopped",
]
