"""JSON in the words of a model: alone, in a code block, or somewhere in a sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, cast

from greenroom.util.raw_json import raw_value

_BLOCK = re.compile(r"```(?:json)?[ \t]*\r?\n(.*?)```", re.DOTALL | re.IGNORECASE)
_MOST_CANDIDATES = 200


class NoJson(ValueError):
    """A text is not JSON, and has no code block that is."""


def json_of(text: str) -> Any:
    """The JSON that a text is, or that its only code block holds."""
    candidates = [text]
    blocks = _BLOCK.findall(text)
    if len(blocks) == 1:
        candidates.append(blocks[0])
    for candidate in candidates:
        try:
            return raw_value(candidate)
        except (ValueError, RecursionError):
            continue
    raise NoJson("it is not JSON")


def objects_in(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a text, one behind the other."""
    decoder = json.JSONDecoder()
    place = text.find("{")
    for _ in range(_MOST_CANDIDATES):
        if place < 0:
            return
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            yield cast("dict[str, Any]", value)
        place = text.find("{", end)
