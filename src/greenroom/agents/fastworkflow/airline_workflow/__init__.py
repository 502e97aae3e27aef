"""A FastWorkflow workflow for the airline domain: this folder, with a command for each tool."""

from __future__ import annotations

from pathlib import Path

WORKFLOW_PATH = Path(__file__).parent
"""The workflow's folder, as FastWorkflow takes it. Give it a copy: it writes into the folder."""

__all__ = ["WORKFLOW_PATH"]
