"""Greenroom: where conversational workflows are rehearsed and measured before they go live."""

from __future__ import annotations

from greenroom._version import __version__

__all__ = ["__version__"]
