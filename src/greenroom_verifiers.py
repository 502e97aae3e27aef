"""Greenroom's environments by the name that verifiers finds them under: `greenroom-verifiers`."""

from __future__ import annotations

from greenroom.training.verifiers_env import GreenroomEnv, GreenroomHarness, GreenroomTaskset

__all__ = ["GreenroomEnv", "GreenroomHarness", "GreenroomTaskset"]
