"""Tool results as tau2-bench writes them.

A text is given as it is. Anything else is JSON. Records keep their numbers, but a number or a
truth value outside a record becomes a text: {"charge": "4.0"}.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast


@dataclass(frozen=True, slots=True)
class Whole:
    """A record, whose numbers stay numbers."""

    record: Mapping[str, Any]


def whole(record: Mapping[str, Any]) -> Whole:
    """Mark a record within a result."""
    return Whole(record)


def tau2_text(value: Any) -> str:
    """The result of a tool as text.

    >>> tau2_text({"charge": 4.0, "line": whole({"data_used_gb": 8.7}), "note": None})
    '{"charge": "4.0", "line": {"data_used_gb": 8.7}, "note": null}'
    """
    return value if isinstance(value, str) else json.dumps(_processed(value), default=str)


def _processed(value: Any) -> Any:
    if isinstance(value, Whole):
        return value.record
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return {key: _processed(item) for key, item in items}
    if isinstance(value, Sequence):
        return [_processed(item) for item in cast("Sequence[Any]", value)]
    return str(value)
