"""Agents: one module per strategy, found by name."""

from __future__ import annotations

from greenroom.agents.strategies import (
    Agent,
    AgentContext,
    AgentStrategy,
    Script,
    Setting,
    Stage,
    find_strategy,
    load_strategy,
    strategy_names,
)

__all__ = [
    "Agent",
    "AgentContext",
    "AgentStrategy",
    "Script",
    "Setting",
    "Stage",
    "find_strategy",
    "load_strategy",
    "strategy_names",
]
