"""Places within JSON: `answer`, `items[0].name`, `["a key with . in it"]`, with or without `$.`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, cast

from pydantic import AfterValidator

Path = tuple[str | int, ...]

_PART = re.compile(
    r"""
    (?P<key>[^.\[\]"']+)
    | \[ \s* (?P<index>-?\d+) \s* \]
    | \[ \s* (?P<quoted>"(?:[^"\\]|\\.)*") \s* \]
    """,
    re.VERBOSE,
)


class NotThere(Exception):
    """A value has nothing at a path; the text says what is missing."""


def parse_path(text: str) -> Path:
    """The keys and indices of a path; ValueError if it is none."""
    parts: list[str | int] = []
    place = 2 if text.startswith("$.") else 1 if text.startswith("$") else 0
    while place < len(text):
        found = _PART.match(text, place)
        if found is None:
            raise ValueError(f"'{text}' is no path: write answer, items[0].name or [\"a key\"]")
        if found["key"] is not None:
            parts.append(found["key"])
        elif found["index"] is not None:
            parts.append(int(found["index"]))
        else:
            parts.append(json.loads(found["quoted"]))
        place = found.end()
        if text[place : place + 1] == "." and place + 1 < len(text):
            place += 1
    return tuple(parts)


def pick(value: Any, path: Path) -> Any:
    """What stands at a path; NotThere if nothing does."""
    for number, part in enumerate(path):
        try:
            value = _step(value, part)
        except LookupError as error:
            raise NotThere(f"there is no {path_text(path[: number + 1])}") from error
    return value


def path_text(path: Path) -> str:
    """A path as it is written."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif _PART.fullmatch(part) and not part.startswith(("[", "$")):
            text += f".{part}" if text else part
        else:
            text += f"[{json.dumps(part, ensure_ascii=False)}]"
    return text or "$"


def _step(value: Any, part: str | int) -> Any:
    if isinstance(part, str) and isinstance(value, Mapping):
        return cast("Mapping[str, Any]", value)[part]
    if isinstance(part, int) and isinstance(value, Sequence) and not isinstance(value, str):
        return cast("Sequence[Any]", value)[part]
    raise LookupError(part)


def _checked(text: str) -> str:
    parse_path(text)
    return text


PathText = Annotated[str, AfterValidator(_checked)]
"""A path as a setting."""
