"""Local models: fetched once, and kept in the user's cache."""

from __future__ import annotations

from greenroom.local.pull import PulledModel, pull_smollm2

__all__ = ["PulledModel", "pull_smollm2"]
