"""Declaring workflows: decorators, arguments, parameters, schemas."""

from __future__ import annotations

from greenroom.workflows.declare.decorators import (
    as_workflow,
    chat_workflow,
    takes_messages,
    workflow,
)
from greenroom.workflows.declare.workflow import Workflow

__all__ = ["Workflow", "as_workflow", "chat_workflow", "takes_messages", "workflow"]
