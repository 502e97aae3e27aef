"""The domains of tau2-bench: retail, airline, telecom, banking and mock, at its present version."""

from __future__ import annotations

__all__: list[str] = []
