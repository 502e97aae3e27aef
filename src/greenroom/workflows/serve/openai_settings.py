"""OpenAI's settings of a call, such as temperature: checked, and given to workflows that ask.

A workflow asks by a parameter or an argument of the same name. Settings without which the answer
would not be what was asked for are refused otherwise; all others have no effect, and are named.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    ValidationError,
)

from greenroom.workflows.calls import Call
from greenroom.workflows.serve import bodies
from greenroom.workflows.serve.bodies import Json
from greenroom.workflows.serve.exchange import Headers, Refusal
from greenroom.workflows.serve.runner import CallRunner

IGNORED_HEADER = b"x-greenroom-ignored"
"""The header of an answer that names the settings that the workflow does not take."""

_NEEDED = frozenset(
    {
        "audio",
        "function_call",
        "functions",
        "modalities",
        "response_format",
        "stop",
        "tool_choice",
        "web_search_options",
    }
)
"""Settings that shape the answer: ignoring them would be half an answer."""
_NEVER = {
    "n": "One call gives one answer: leave 'n' out, or call several times.",
    "logprobs": "Workflows tell no probabilities of tokens: leave 'logprobs' out.",
    "top_logprobs": "Workflows tell no probabilities of tokens: leave 'top_logprobs' out.",
}
_USUAL: Json = {
    "function_call": "auto",
    "logprobs": False,
    "modalities": ["text"],
    "n": 1,
    "parallel_tool_calls": True,
    "response_format": {"type": "text"},
    "stop": [],
    "store": False,
    "tool_choice": "auto",
    "top_logprobs": 0,
}
"""What a request means without the setting."""
_ABSENT: Any = object()
_SAME = (("max_completion_tokens", "max_tokens"), ("max_tokens", "max_completion_tokens"))
_AS_THEY_ARE: Mapping[str, str] = {}
_NAME = re.compile(r"\w{1,64}", re.ASCII)
_NAMES_TOLD = 20


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Penalty = Annotated[Number, Field(ge=-2, le=2)]
Whole = Annotated[StrictInt, BeforeValidator(_whole)]
Count = Annotated[Whole, Field(ge=1)]


class OpenAISettings(BaseModel):
    """The types of the settings that are known; others may have any."""

    model_config = ConfigDict(extra="allow")

    temperature: Annotated[Number, Field(ge=0, le=2)] | None = None
    top_p: Annotated[Number, Field(ge=0, le=1)] | None = None
    max_tokens: Count | None = None
    max_completion_tokens: Count | None = None
    n: Annotated[Count, Field(le=128)] | None = None
    stop: StrictStr | Annotated[list[StrictStr], Field(max_length=4)] | None = None
    seed: Whole | None = None
    presence_penalty: Penalty | None = None
    frequency_penalty: Penalty | None = None
    logit_bias: Json | None = None
    logprobs: StrictBool | None = None
    top_logprobs: Annotated[Whole, Field(ge=0, le=20)] | None = None
    user: StrictStr | None = None
    tool_choice: Literal["none", "auto", "required"] | Json | None = None
    parallel_tool_calls: StrictBool | None = None
    response_format: Json | None = None
    reasoning_effort: StrictStr | None = None
    verbosity: StrictStr | None = None
    metadata: Json | None = None
    modalities: list[StrictStr] | None = None
    store: StrictBool | None = None
    functions: list[Json] | None = None


def with_settings(
    call: Call,
    given: Mapping[str, Any],
    runner: CallRunner,
    names: Mapping[str, str] = _AS_THEY_ARE,
) -> tuple[Call, Headers]:
    """The call with the settings that its workflow asks for, and a header that names the rest.

    `names` has what the client calls settings otherwise. Raises a Refusal for settings of a wrong
    type, and for those that are needed and not taken.
    """
    settings = _checked(given, names)
    workflow = runner.workflow
    parameters = (workflow.schemas.parameters or {}).get("properties", {})
    inputs = {one.name for one in workflow.arguments.inputs} - parameters.keys()
    taken = _taken(settings, {*parameters, *inputs})
    rest = settings.keys() - taken.keys() - {old for old, new in _SAME if new in taken}
    for name in sorted(rest & _NEEDED):
        if name == "tool_choice" and settings[name] == "none":
            call, rest = replace(call, tools=None), rest - {name}
            continue
        told = names.get(name, name)
        asks = "" if told == name else f" It would be called '{name}'."
        text = f"The workflow '{workflow.name}' has no parameter for '{told}'.{asks}"
        raise refused(text, param=told, code="unsupported_parameter")
    if call.tools and runner.takes_tools is False:
        rest = rest | {"tools"}
    told = {k: v for k, v in taken.items() if k in parameters}
    if told:
        call = replace(call, parameters=told | (call.parameters or {}))
    if told := {k: v for k, v in taken.items() if k in inputs}:
        call = replace(call, inputs=told | call.inputs)
    ignored = sorted(names.get(name, name) for name in rest if _NAME.fullmatch(name))
    listed = ", ".join(ignored[:_NAMES_TOLD]).encode()
    return call, [(IGNORED_HEADER, listed)] if ignored else []


def refused(
    text: str, *, param: str | None = None, code: str | None = None, status: int = 400
) -> Refusal:
    """A request that OpenAI would refuse, too."""
    return Refusal(status, openai_error(text, "invalid_request_error", param=param, code=code))


def openai_error(
    message: str, kind: str, *, param: str | None = None, code: str | None = None
) -> bodies.OpenAIError:
    """An error as OpenAI's clients read it."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def _checked(given: Mapping[str, Any], names: Mapping[str, str]) -> Json:
    """The settings that differ from what a request means without them."""
    try:
        OpenAISettings.model_validate(given)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)[0]
        name = names.get(str(found["loc"][0]), str(found["loc"][0]))
        raise refused(
            f"Invalid value for '{name}': {found['msg']}.", param=name, code="invalid_value"
        ) from error
    settings = {k: v for k, v in given.items() if v is not None and v != _USUAL.get(k, _ABSENT)}
    for name, text in _NEVER.items():
        if name in settings:
            raise refused(text, param=names.get(name, name), code="unsupported_value")
    if settings.keys() >= {"max_tokens", "max_completion_tokens"}:
        second = names.get("max_completion_tokens", "max_completion_tokens")
        text = f"Give 'max_tokens' or '{second}', not both."
        raise refused(text, param="max_tokens", code="invalid_parameter_combination")
    return settings


def _taken(settings: Json, known: set[str]) -> Json:
    """The settings that a workflow asks for; the limit of tokens has two names."""
    taken = {name: value for name, value in settings.items() if name in known}
    for given, asked in _SAME:
        if given in settings and given not in known and asked in known:
            taken[asked] = settings[given]
    return taken
