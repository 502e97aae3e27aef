"""Chat workflows: declared, served, discovered and called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from greenroom.util.imports import later
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
from greenroom.workflows.declare import Workflow, chat_workflow, workflow
from greenroom.workflows.usage import report_usage

if TYPE_CHECKING:
    from greenroom.workflows.call.client import WorkflowClient
    from greenroom.workflows.call.discovery import discover
    from greenroom.workflows.call.local import LocalTarget
    from greenroom.workflows.call.opening import call_workflow, load_workflows, open_target

if not TYPE_CHECKING:
    # Declaring a workflow does not load the clients, nor a local call theirs.
    __getattr__ = later(
        f"{__name__}.call",
        client="WorkflowClient",
        discovery="discover",
        local="LocalTarget",
        opening="call_workflow load_workflows open_target",
    )

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
