"""What to do with an object of an agent framework: told to those who give it as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_FUNCTIONS = {
    ("agents", "Agent"): "from_openai_agents",
    ("dspy", "Module"): "from_dspy",
    ("langgraph", "Pregel"): "from_langgraph",
    ("langgraph", "StateGraph"): "from_langgraph",
    ("pydantic_ai", "AbstractAgent"): "from_pydantic_ai",
}


def advice(found: Mapping[str, Any]) -> str:
    """What to write for the first object of a framework among those of a module, if any."""
    for name, one in found.items():
        function = None if name.startswith("_") else _function_for(one)
        if function is not None:
            return f" Write:\n  from greenroom import {function}\n  wrapped = {function}({name})"
    return ""


def _function_for(found: Any) -> str | None:
    kinds = ((kind.__module__.partition(".")[0], kind.__name__) for kind in type(found).__mro__)
    return next((_FUNCTIONS[kind] for kind in kinds if kind in _FUNCTIONS), None)


__all__ = ["advice"]
