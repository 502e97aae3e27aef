"""Answers that are JSON objects: asked for by a schema, and found in a model's words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, cast

from greenroom.errors import redacted
from greenroom.models.types import ChatMessage, Model, ModelRequest

RETRIES = 2
"""How often an answer that cannot be used is asked for again."""

_MOST_CANDIDATES = 200

Answer = TypeVar("Answer")


class Unusable(Exception):
    """An answer that is not what was asked for; the text says why, for the model to read."""


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


def object_format(name: str, properties: dict[str, Any]) -> dict[str, Any]:
    """The response format of a JSON object with these properties, as providers take it."""
    schema = object_schema(properties)
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}


def object_schema(properties: dict[str, Any]) -> dict[str, Any]:
    """The schema of an object that has all these properties, and no other."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


async def ask_for(
    read: Callable[[str], Answer],
    model: Model,
    messages: Sequence[ChatMessage],
    response_format: dict[str, Any],
) -> Answer:
    """What `read` finds in the answer; the model is asked again while that is Unusable."""
    asked, problem = list(messages), Unusable("it was not asked")
    for _ in range(RETRIES + 1):
        completion = await model.complete(
            ModelRequest(messages=asked, response_format=response_format)
        )
        text = redacted(completion.text)
        try:
            return read(text)
        except Unusable as error:
            problem = error
        # Only the latest unusable answer is shown: a model must not learn from several.
        cut = " It was cut off: be brief." if completion.finish_reason == "length" else ""
        complaint = (
            f"This answer cannot be used: {problem}.{cut} Answer the question again, with the "
            "JSON object that was asked for and nothing else."
        )
        asked = [
            *messages,
            {"role": "assistant", "content": text[:1_000] or "(nothing)"},
            {"role": "user", "content": complaint},
        ]
    raise problem
