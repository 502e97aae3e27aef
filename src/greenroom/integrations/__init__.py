"""Integrations: Greenroom inside other people's software."""

from __future__ import annotations
