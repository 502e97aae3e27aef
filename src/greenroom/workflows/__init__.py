"""Chat workflows: declared, served, discovered and called."""

from __future__ import annotations

from greenroom.workflows.calls import (
    IS_CHAT,
    Answer,
    Call,
    CallError,
    Event,
    Profile,
    Schemas,
    Target,
    WorkflowUnavailable,
)
from greenroom.workflows.client import WorkflowClient
from greenroom.workflows.declare import chat_workflow, workflow
from greenroom.workflows.discovery import discover
from greenroom.workflows.loading import load_workflows
from greenroom.workflows.local import LocalTarget
from greenroom.workflows.opening import call_workflow, open_target
from greenroom.workflows.problems import InvalidCall
from greenroom.workflows.usage import report_usage
from greenroom.workflows.workflow import Workflow

__all__ = [
    "IS_CHAT",
    "Answer",
    "Call",
    "CallError",
    "Event",
    "InvalidCall",
    "LocalTarget",
    "Profile",
    "Schemas",
    "Target",
    "Workflow",
    "WorkflowClient",
    "WorkflowUnavailable",
    "call_workflow",
    "chat_workflow",
    "discover",
    "load_workflows",
    "open_target",
    "report_usage",
    "workflow",
]
