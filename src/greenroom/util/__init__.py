"""Small tools at the bottom: files, JSON, caches, wheels, imports, loopback."""

from __future__ import annotations

__all__: list[str] = []
