"""Agents as commands: a program of any kind plays."""

from __future__ import annotations

from greenroom.agents.command.agent import strategy

__all__ = ["strategy"]
