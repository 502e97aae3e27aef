"""Simulated users: who an agent talks to."""

from __future__ import annotations

from greenroom.users.scripted import ScriptedUser

__all__ = ["ScriptedUser"]
