"""The fastworkflow agent: adapter, bridge, tool map, workers and training."""

from __future__ import annotations

__all__: list[str] = []
