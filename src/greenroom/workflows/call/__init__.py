"""Finding and calling workflows: discovery, targets, clients, chat sessions.

Names are imported on first use: a client needs libraries that a local call does not.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from greenroom.workflows.call.chat_session import ChatSession
    from greenroom.workflows.call.client import WorkflowClient
    from greenroom.workflows.call.discovery import discover
    from greenroom.workflows.call.loading import load_workflows
    from greenroom.workflows.call.local import LocalTarget
    from greenroom.workflows.call.opening import call_workflow, open_target

_MODULES = {
    "ChatSession": "chat_session",
    "LocalTarget": "local",
    "WorkflowClient": "client",
    "call_workflow": "opening",
    "discover": "discovery",
    "load_workflows": "loading",
    "open_target": "opening",
}


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "ChatSession",
    "LocalTarget",
    "WorkflowClient",
    "call_workflow",
    "discover",
    "load_workflows",
    "open_target",
]
