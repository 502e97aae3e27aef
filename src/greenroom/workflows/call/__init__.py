"""Finding and calling workflows: discovery, targets, clients, chat sessions.

Names are imported on first use: a client needs libraries that a local call does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from greenroom.util.imports import later

if TYPE_CHECKING:
    from greenroom.workflows.call.chat_session import ChatSession
    from greenroom.workflows.call.client import WorkflowClient
    from greenroom.workflows.call.discovery import discover
    from greenroom.workflows.call.loading import load_workflows
    from greenroom.workflows.call.local import LocalTarget
    from greenroom.workflows.call.opening import call_workflow, open_target

if not TYPE_CHECKING:
    __getattr__ = later(
        __name__,
        chat_session="ChatSession",
        client="WorkflowClient",
        discovery="discover",
        loading="load_workflows",
        local="LocalTarget",
        opening="call_workflow open_target",
    )

__all__ = [
    "ChatSession",
    "LocalTarget",
    "WorkflowClient",
    "call_workflow",
    "discover",
    "load_workflows",
    "open_target",
]
