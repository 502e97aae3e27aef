"""Usage by purse as it is kept: JSON text."""

from __future__ import annotations

from typing import Any

import orjson

from greenroom.store.records import Usage


def usage_text(usage: dict[str, Usage]) -> str:
    """Usage by purse as JSON."""
    return orjson.dumps({purse: used.model_dump() for purse, used in usage.items()}).decode()


def usage_from(text: str) -> dict[str, Usage]:
    """Usage by purse, from its JSON."""
    found: dict[str, Any] = orjson.loads(text)
    return {purse: Usage.model_validate(used) for purse, used in found.items()}
