"""dspy's prompts, read as forms with given and wanted fields.

dspy's adapters describe the fields in the system message and give them in the last user message,
each under a heading. The answer has the same headings, or is a JSON object.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from greenroom.model_server.requests import ChatRequest
from greenroom.util.json_values import as_dict

REASONING: Final = "reasoning"
"""The field that dspy adds for a chain of thought."""

_INPUTS = "Your input fields are:\n"
_OUTPUTS = "Your output fields are:\n"
_END_OF_FIELDS = "\nAll interactions will be structured"
_FIELD = re.compile(r"^\d+\. `(?P<name>\w+)` \((?P<type>.*?)\):(?P<about>.*)$", re.MULTILINE)
_HEADING = re.compile(r"^\[\[ ## (\w+) ## \]\][ \t]*\n?", re.MULTILINE)
_REMINDER = re.compile(r"\n\nRespond with (?P<json>a JSON object)?[^\n]*\Z")


@dataclass(frozen=True, slots=True)
class Field:
    """A wanted field, as the prompt describes it."""

    type: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Form:
    """The given and wanted fields of a prompt."""

    before: str
    """The text of the system message before the fields."""
    inputs: frozenset[str]
    """The names of the described input fields."""
    given: Mapping[str, str]
    """The given texts by heading; a field with headings inside it is given in parts."""
    wanted: Mapping[str, Field]
    as_json: bool
    """The answer has to be a JSON object."""

    def filled(self, values: Mapping[str, Any]) -> str:
        """The answer with these values in the wanted fields; other values are left out."""
        chosen = {name: values[name] for name in self.wanted if name in values}
        if self.as_json:
            return orjson.dumps(chosen).decode()
        parts = [f"[[ ## {name} ## ]]\n{plain_text(value)}" for name, value in chosen.items()]
        return "\n\n".join([*parts, "[[ ## completed ## ]]"])


def read_form(request: ChatRequest) -> Form | None:
    """The form in a request, if there is one."""
    before, begins, described = request.system.partition(_INPUTS)
    inputs, goes_on, described = described.partition(_OUTPUTS)
    said = request.said_by("user")
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
        as_json=request.schema is not None
        or (reminder is not None and reminder["json"] is not None),
    )


def json_object(text: str) -> dict[str, Any]:
    """The JSON object in a text; empty if the text is something else."""
    try:
        return as_dict(orjson.loads(text))
    except orjson.JSONDecodeError:
        return {}


def _sections(body: str) -> dict[str, str]:
    parts = _HEADING.split(body)
    sections: dict[str, str] = {}
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        sections.setdefault(name, text.strip())
    return sections


def plain_text(value: Any) -> str:
    """A text as it is, another value as JSON."""
    return value if isinstance(value, str) else orjson.dumps(value).decode()
