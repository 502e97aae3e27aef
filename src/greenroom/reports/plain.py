"""Configurations without what may be a secret."""

from __future__ import annotations

import re
from typing import Any, cast

_SECRET = re.compile(r"api_?key|secret|password|authorization|(^|_)token$", re.IGNORECASE)


def without_secrets(value: Any) -> Any:
    """A configuration without what may be a key, wherever in it that stands."""
    if isinstance(value, dict):
        entries = cast("dict[str, Any]", value)
        return {
            key: "(hidden)" if item and _SECRET.search(str(key)) else without_secrets(item)
            for key, item in entries.items()
        }
    if isinstance(value, list):
        return [without_secrets(item) for item in cast("list[Any]", value)]
    return value
