"""Values as JSON has words for them, and without what may be a secret."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any, cast

HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_SECRET = re.compile(r"api_?key|secret|password|authorization|(^|_)token$", re.IGNORECASE)


def plain(value: Any) -> Any:
    """JSON for what JSON has no word for: null for NaN, texts for all else."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in cast("dict[Any, Any]", value).items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in cast("Iterable[Any]", value)]
    return str(value)


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
