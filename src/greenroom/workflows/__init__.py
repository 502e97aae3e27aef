"""Chat workflows: declared, served, discovered and called."""

from __future__ import annotations

from greenroom.workflows.call.client import WorkflowClient
from greenroom.workflows.call.discovery import discover
from greenroom.workflows.call.loading import load_workflows
from greenroom.workflows.call.local import LocalTarget
from greenroom.workflows.call.opening import call_workflow, open_target
from greenroom.workflows.calls import (
    IS_CHAT,
    Answer,
    Call,
    CallError,
    Event,
    InvalidCall,
    Profile,
    Schemas,
    Target,
    WorkflowUnavailable,
)
from greenroom.workflows.declare.decorators import chat_workflow, workflow
from greenroom.workflows.declare.workflow import Workflow
from greenroom.workflows.usage import report_usage

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
