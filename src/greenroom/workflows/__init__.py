"""Chat workflows: declared, served, discovered and called."""

from __future__ import annotations
