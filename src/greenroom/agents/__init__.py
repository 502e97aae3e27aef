"""Agents: one module per strategy, found by name."""

from __future__ import annotations

from greenroom.agents.strategies import (
    Agent,
    AgentContext,
    AgentStrategy,
    DomainView,
    Script,
    Stage,
    find_strategy,
    name_of_strategy,
    strategy_names,
    wrap_agent,
)

__all__ = [
    "Agent",
    "AgentContext",
    "AgentStrategy",
    "DomainView",
    "Script",
    "Stage",
    "find_strategy",
    "name_of_strategy",
    "strategy_names",
    "wrap_agent",
]
