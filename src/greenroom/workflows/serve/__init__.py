"""Serving workflows over HTTP, as Agenta's tools, OpenAI's clients and the Vercel SDK call them."""

from __future__ import annotations

from greenroom.workflows.serve.app import WorkflowApp, create_app
from greenroom.workflows.serve.limits import MAX_BODY, MAX_CONCURRENT_CALLS
from greenroom.workflows.serve.observing import write_access_log
from greenroom.workflows.serve.reloading import ReloadingApp
from greenroom.workflows.serve.server import running_app, serve_until_stopped, served

__all__ = [
    "MAX_BODY",
    "MAX_CONCURRENT_CALLS",
    "ReloadingApp",
    "WorkflowApp",
    "create_app",
    "running_app",
    "serve_until_stopped",
    "served",
    "write_access_log",
]
