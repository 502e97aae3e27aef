"""Finding and calling workflows; `greenroom.workflows` has the public names."""

from __future__ import annotations

__all__: list[str] = []
