"""Greenroom: where conversational workflows are rehearsed and measured before they go live."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from greenroom._version import __version__

if TYPE_CHECKING:
    from greenroom.agents.frameworks import (
        from_callable,
        from_dspy,
        from_langgraph,
        from_openai_agents,
        from_pydantic_ai,
    )
    from greenroom.api import evaluate, evaluate_async, run, run_async
    from greenroom.workflows.declare import chat_workflow, workflow
    from greenroom.workflows.usage import report_usage

_MODULES = {
    "chat_workflow": "greenroom.workflows.declare",
    "evaluate": "greenroom.api",
    "evaluate_async": "greenroom.api",
    "from_callable": "greenroom.agents.frameworks",
    "from_dspy": "greenroom.agents.frameworks",
    "from_langgraph": "greenroom.agents.frameworks",
    "from_openai_agents": "greenroom.agents.frameworks",
    "from_pydantic_ai": "greenroom.agents.frameworks",
    "report_usage": "greenroom.workflows.usage",
    "run": "greenroom.api",
    "run_async": "greenroom.api",
    "workflow": "greenroom.workflows.declare",
}


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        # Imported when first used, so that `import greenroom` costs nothing.
        if name in _MODULES:
            return getattr(import_module(_MODULES[name]), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "__version__",
    "chat_workflow",
    "evaluate",
    "evaluate_async",
    "from_callable",
    "from_dspy",
    "from_langgraph",
    "from_openai_agents",
    "from_pydantic_ai",
    "report_usage",
    "run",
    "run_async",
    "workflow",
]
