"""As much of a value as a table shows: lists of results stay small, whatever workflows answer."""

from __future__ import annotations

from itertools import islice
from typing import Any, cast

from greenroom.util.json_values import cleaned, encoded

PREVIEW_BYTES = 4_000
"""Of one cell of a table."""

_LONGEST_TEXT = 400
_MOST_ITEMS = 20
_DEEPEST = 6


def preview(value: Any, most: int = PREVIEW_BYTES) -> tuple[Any, bool]:
    """The value, cut if it is large, and whether it was cut. Its shape stays while it can."""
    clean = cleaned(value)
    if isinstance(clean, str):
        # Without encoding a text of many megabytes to see how long it is.
        return (clean[:most], True) if len(clean) > most else (clean, False)
    text = encoded(clean)
    if len(text) <= most:
        return clean, False
    short = _shortened(clean, _DEEPEST)
    if len(encoded(short)) <= most:
        return short, True
    return text[:most].decode(errors="ignore"), True


def _shortened(value: Any, levels: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_TEXT else f"{value[:_LONGEST_TEXT]}…"
    if isinstance(value, (list, dict)) and levels == 0:
        return "…"
    if isinstance(value, list):
        # The last ones of a conversation say more than the first.
        items = cast("list[Any]", value)[-_MOST_ITEMS:]
        return [_shortened(item, levels - 1) for item in items]
    if isinstance(value, dict):
        pairs = islice(cast("dict[str, Any]", value).items(), _MOST_ITEMS)
        return {key[:_LONGEST_TEXT]: _shortened(item, levels - 1) for key, item in pairs}
    return value
