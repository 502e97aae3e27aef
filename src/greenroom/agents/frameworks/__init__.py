"""Agents of other frameworks, unchanged: each is a chat workflow, and an agent to measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from greenroom.util.imports import later

if TYPE_CHECKING:
    from greenroom.agents.frameworks.agent import FrameworkAgent
    from greenroom.agents.frameworks.callables import from_callable
    from greenroom.agents.frameworks.dspy import from_dspy
    from greenroom.agents.frameworks.langgraph import from_langgraph
    from greenroom.agents.frameworks.offers import BlockingTool, ModelAddress, OfferedTool
    from greenroom.agents.frameworks.openai_agents import from_openai_agents
    from greenroom.agents.frameworks.pydantic_ai import from_pydantic_ai
else:
    __getattr__ = later(
        __name__,
        agent="FrameworkAgent",
        callables="from_callable",
        dspy="from_dspy",
        langgraph="from_langgraph",
        offers="BlockingTool ModelAddress OfferedTool",
        openai_agents="from_openai_agents",
        pydantic_ai="from_pydantic_ai",
    )

__all__ = [
    "BlockingTool",
    "FrameworkAgent",
    "ModelAddress",
    "OfferedTool",
    "from_callable",
    "from_dspy",
    "from_langgraph",
    "from_openai_agents",
    "from_pydantic_ai",
]
