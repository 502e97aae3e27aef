"""The command line. Commands only read what people type and print what comes of it."""

from __future__ import annotations

from greenroom.cli.app import main

__all__ = ["main"]
