"""Declaring workflows: decorators, arguments, parameters, schemas."""

from __future__ import annotations

from greenroom.workflows.declare.decorators import chat_workflow, workflow
from greenroom.workflows.declare.workflow import Workflow

__all__ = ["Workflow", "chat_workflow", "workflow"]
