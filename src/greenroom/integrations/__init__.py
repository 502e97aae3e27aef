"""Integrations: Greenroom inside other people's software. Nothing is exported from here."""

from __future__ import annotations

__all__: list[str] = []
