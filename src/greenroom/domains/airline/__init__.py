"""The airline domain: travellers, reservations and flights."""

from __future__ import annotations

from greenroom.domains.airline.tools import tools
from greenroom.domains.plugins import DomainPlugin

plugin = DomainPlugin("airline", tools)

__all__ = ["plugin", "tools"]
