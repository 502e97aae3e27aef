"""Greenroom: where conversational workflows are rehearsed and measured before they go live."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from greenroom._version import __version__

if TYPE_CHECKING:
    from greenroom.workflows.declare.decorators import chat_workflow, workflow

_DECLARING = ("chat_workflow", "workflow")


def __getattr__(name: str) -> Any:
    # Imported when first asked for, so that `import greenroom` costs nothing.
    if name in _DECLARING:
        from greenroom.workflows.declare import decorators

        return getattr(decorators, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["__version__", "chat_workflow", "workflow"]
