"""Chat workflows: declared, served, discovered and called."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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
    from greenroom.workflows.call import (
        LocalTarget,
        WorkflowClient,
        call_workflow,
        discover,
        load_workflows,
        open_target,
    )


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        # Declaring a workflow does not load the clients.
        if name in __all__:
            return getattr(import_module("greenroom.workflows.call"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


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
