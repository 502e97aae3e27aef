"""Prompts as dspy writes them: a form with the fields that are given and those that are wanted.

dspy's adapters describe the fields in the system message and give them in the last user message,
each under a heading. They want the answer in the same way, or as a JSON object.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import orjson

from greenroom.model_server.asking import Asked

REASONING: Final = "reasoning"
"""The field that dspy puts before the others where it wants a chain of thought."""

_INPUTS = "Your input fields are:\n"
_OUTPUTS = "Your output fields are:\n"
_END_OF_FIELDS = "\nAll interactions will be structured"
_FIELD = re.compile(r"^\d+\. `(?P<name>\w+)` \((?P<type>.*?)\):(?P<about>.*)$", re.MULTILINE)
_HEADING = re.compile(r"^\[\[ ## (\w+) ## \]\][ \t]*\n?", re.MULTILINE)
_REMINDER = re.compile(r"\n\nRespond with (?P<json>a JSON object)?[^\n]*\Z")


@dataclass(frozen=True, slots=True)
class Field:
    """A field that is wanted, as the prompt describes it."""

    type: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Form:
    """What a prompt gives and what it wants."""

    before: str
    """What stands in the system message before the fields."""
    inputs: frozenset[str]
    """The fields that the form is said to give."""
    given: Mapping[str, str]
    """What is given, by heading: a field that has headings of its own is given in parts."""
    wanted: Mapping[str, Field]
    as_json: bool
    """The answer is to be a JSON object."""

    def filled(self, values: Mapping[str, Any]) -> str:
        """The answer that gives these values to the wanted fields; others are not written."""
        chosen = {name: values[name] for name in self.wanted if name in values}
        if self.as_json:
            return orjson.dumps(chosen).decode()
        parts = [f"[[ ## {name} ## ]]\n{_text(value)}" for name, value in chosen.items()]
        return "\n\n".join([*parts, "[[ ## completed ## ]]"])


def read_form(asked: Asked) -> Form | None:
    """The form that a request consists of, if it is one."""
    before, begins, described = asked.system.partition(_INPUTS)
    inputs, goes_on, described = described.partition(_OUTPUTS)
    said = asked.said_by("user")
    if not begins or not goes_on or not said:
        return None
    outputs = described.partition(_END_OF_FIELDS)[0]
    reminder = _REMINDER.search(said[-1])
    return Form(
        before=before,
        inputs=frozenset(field["name"] for field in _FIELD.finditer(inputs)),
        given=_sections(said[-1][: reminder.start()] if reminder else said[-1]),
        wanted={
            field["name"]: Field(field["type"], field["about"].strip())
            for field in _FIELD.finditer(outputs)
        },
        as_json=asked.schema is not None or (reminder is not None and reminder["json"] is not None),
    )


def json_object(text: str) -> dict[str, Any]:
    """The JSON object in a text; an empty one where it is something else."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _sections(body: str) -> dict[str, str]:
    parts = _HEADING.split(body)
    sections: dict[str, str] = {}
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        sections.setdefault(name, text.strip())
    return sections


def _text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
