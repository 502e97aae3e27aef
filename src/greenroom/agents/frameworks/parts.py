"""Messages of users that hold more than text: images, sounds and files reach the agent, too."""

from __future__ import annotations

from typing import Any

from greenroom.errors import InputError
from greenroom.messages import text_of
from greenroom.util.json_values import as_dict, as_list

Json = dict[str, Any]


def media_parts(content: Any) -> list[Json]:
    """All parts of a content that holds more than text; none of one that is text alone."""
    parts = [
        {"type": "text", "text": one} if isinstance(one, str) else as_dict(one)
        for one in as_list(content)
    ]
    return [] if all(map(is_text, parts)) else parts


def is_text(part: Json) -> bool:
    """Whether it is a part of text."""
    return part.get("type", "text") == "text" or bool(text_of([part]))


def unreadable(part: Json, reader: str) -> InputError:
    """What tells that a part cannot be handed on."""
    return InputError(f"{reader} cannot be told a part of type '{part.get('type')}' of a message.")
