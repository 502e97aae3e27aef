"""A request of the Responses API, as chat messages and settings of chat completions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictStr, ValidationError

from greenroom.responses_wire.errors import WireError, missing, unsupported, wrong_type
from greenroom.responses_wire.items import FindItem, messages_of_items
from greenroom.responses_wire.tools import chat_tool_choice, chat_tools

Json = dict[str, Any]
Request = TypeVar("Request", bound="ResponsesRequest")

_REFUSED = {
    "background": "Responses are not made in the background: leave 'background' out.",
    "conversation": "There are no stored conversations: send previous_response_id or the items.",
    "prompt": "There are no stored prompts: send 'instructions' and 'input'.",
}
SETTING_NAMES: Final[Mapping[str, str]] = {
    "logprobs": "include",
    "max_completion_tokens": "max_output_tokens",
    "reasoning_effort": "reasoning.effort",
    "response_format": "text.format",
    "verbosity": "text.verbosity",
}
"""What settings are called in requests, where chat completions have another name for them."""
_LOGPROBS = "message.output_text.logprobs"
_EXPECTED = {
    "bool_type": "a boolean",
    "dict_type": "an object",
    "list_type": "an array",
    "string_type": "a string",
}


class ResponsesRequest(BaseModel):
    """A request; fields that are not named here are settings, as in chat completions."""

    model_config = ConfigDict(extra="allow")

    model: StrictStr | None = None
    input: Annotated[
        StrictStr | list[Any] | None,
        Field(description="A text of the user, or items: messages, calls, results of calls."),
    ] = None
    instructions: Annotated[
        StrictStr | None, Field(description="The system message of this response alone.")
    ] = None
    previous_response_id: Annotated[
        StrictStr | None, Field(description="The response that this one continues.")
    ] = None
    tools: Annotated[list[Any] | None, Field(description="Functions that the caller runs.")] = None
    tool_choice: Any = None
    text: Json | None = None
    reasoning: Json | None = None
    include: list[Any] | None = None
    max_output_tokens: Any = None
    store: StrictBool | None = None
    stream: StrictBool | None = None
    stream_options: Json | None = None
    truncation: Any = None

    def messages(self, history: Sequence[Json] = (), find: FindItem | None = None) -> list[Json]:
        """The chat messages: the instructions, what was said before, the input.

        `find` gives the item that a reference in the input means, by its id.
        """
        if self.input is None and not history:
            raise missing("input")
        first = [{"role": "system", "content": self.instructions}] if self.instructions else []
        new = [] if self.input is None else messages_of_items(self.input, find=find)
        return [*first, *history, *new]

    def chat_tools(self) -> list[Json] | None:
        """The tools in the form of chat completions; None if there are none."""
        return chat_tools(self.tools) if self.tools else None

    def settings(self) -> Json:
        """Temperature and the like, by their names and in their forms in chat completions.

        Raises a WireError for what has no such form.
        """
        found: Json = {k: v for k, v in (self.model_extra or {}).items() if v is not None}
        for name, text in _REFUSED.items():
            if found.pop(name, None):
                raise unsupported(name, text)
        if self.tool_choice is not None:
            found["tool_choice"] = chat_tool_choice(self.tool_choice)
        if self.max_output_tokens is not None:
            found["max_completion_tokens"] = self.max_output_tokens
        if self.truncation not in (None, "disabled"):
            found["truncation"] = self.truncation
        if (effort := (self.reasoning or {}).get("effort")) is not None:
            found["reasoning_effort"] = effort
        if _LOGPROBS in (self.include or ()):
            found["logprobs"] = True
        return found | _text_settings(self.text or {})


def read_request(body: Mapping[str, Any], model: type[Request] = ResponsesRequest) -> Request:
    """A body as a request, of this class or of one with more fields. Raises a WireError."""
    try:
        return model.model_validate(body)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_context=False, include_input=False)[0]
        name = str(problem["loc"][0]) if problem["loc"] else "body"
        if name == "input":
            raise wrong_type(name, "a string or an array of items") from error
        if (expected := _EXPECTED.get(problem["type"])) is not None:
            raise wrong_type(name, expected) from error
        raise WireError(f"'{name}': {problem['msg']}.", param=name) from error


def _text_settings(text: Json) -> Json:
    found: Json = {}
    if (verbosity := text.get("verbosity")) is not None:
        found["verbosity"] = verbosity
    form = text.get("format")
    if form is None:
        return found
    match form:
        case {"type": "text"}:
            pass
        case {"type": "json_object"}:
            found["response_format"] = {"type": "json_object"}
        case {"type": "json_schema", "name": str(), "schema": dict()}:
            kept = {k: v for k, v in form.items() if k != "type" and v is not None}
            found["response_format"] = {"type": "json_schema", "json_schema": kept}
        case _:
            expected = "of type text, json_object, or json_schema with a name and a schema"
            raise wrong_type("text.format", expected)
    return found
