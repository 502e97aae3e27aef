"""How the parts of a call become a handler's arguments: by name, or else by type."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from inspect import Parameter
from typing import Any, Literal, cast

from pydantic import BaseModel, PydanticUserError, TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError

from greenroom.errors import InputError
from greenroom.messages import Message
from greenroom.workflows.calls import MESSAGES, TOOLS, Call, InvalidCall, Problem
from greenroom.workflows.declare.configuration import Configuration
from greenroom.workflows.declare.hints import is_model, item_of, without_none

Source = Literal["messages", "inputs", "parameters", "session_id", "call", "tools", "input", "rest"]

_BY_NAME: dict[str, Source] = {
    MESSAGES: "messages",
    "inputs": "inputs",
    "parameters": "parameters",
    "session_id": "session_id",
    "tools": "tools",
    "request": "call",
    "call": "call",
}
_ABSENT: Any = object()


@dataclass(frozen=True)
class Argument:
    """One argument of a handler, and the part of a call that it takes."""

    name: str
    source: Source
    hint: Any = Any
    default: Any = Parameter.empty
    positional: bool = False
    adapter: TypeAdapter[Any] | None = None
    """Checks and converts the value; None passes it on as it is."""
    model: type[BaseModel] | None = None
    """The model of the parameters; None passes them on as a dictionary."""

    @property
    def required(self) -> bool:
        """Whether the handler needs it."""
        return self.default is Parameter.empty


@dataclass(frozen=True)
class HandlerArguments:
    """The arguments of a handler."""

    items: tuple[Argument, ...]

    @property
    def inputs(self) -> tuple[Argument, ...]:
        """The arguments that take one input each."""
        return tuple(one for one in self.items if one.source == "input")

    @cached_property
    def _first(self) -> dict[Source, Argument]:
        return {one.source: one for one in reversed(self.items)}

    def first(self, source: Source) -> Argument | None:
        """The first argument that takes this part of a call."""
        return self._first.get(source)

    @property
    def takes_messages(self) -> bool:
        """Whether any argument holds the message history."""
        return not self._first.keys().isdisjoint(("messages", "inputs", "call", "rest"))

    @property
    def takes_anything(self) -> bool:
        """Whether the handler sees inputs that no argument names."""
        whole = self.first("inputs")
        open_inputs = whole is not None and whole.adapter is None
        return open_inputs or not self._first.keys().isdisjoint(("call", "rest"))

    @property
    def needs_messages(self) -> bool:
        """Whether every call must have a message history."""
        taken = self.first("messages")
        return taken is None or taken.required

    def bind(self, call: Call, configuration: Configuration) -> tuple[list[Any], dict[str, Any]]:
        """The positional and the named arguments for a call; raises InvalidCall."""
        positional: list[Any] = []
        named: dict[str, Any] = {}
        problems: list[Problem] = []
        for argument in self.items:
            try:
                value = self._value(argument, call, configuration)
            except InvalidCall as error:
                problems += error.problems
                continue
            if argument.source == "rest":
                named.update(value)
            elif argument.positional:
                positional.append(argument.default if value is _ABSENT else value)
            elif value is not _ABSENT:
                named[argument.name] = value
        if problems:
            raise InvalidCall(problems)
        return positional, named

    def _value(self, argument: Argument, call: Call, configuration: Configuration) -> Any:
        match argument.source:
            case "messages":
                return _converted(argument, _history(call, argument), MESSAGES)
            case "input":
                value = call.inputs.get(argument.name, _ABSENT)
                return _converted(argument, value, argument.name)
            case "parameters":
                if argument.model is None:
                    return configuration.values(call.parameters)
                return configuration.validated(call.parameters, argument.model)
            case "inputs":
                return self._inputs(argument, call)
            case "session_id":
                return call.session_id
            case "tools":
                tools = call.inputs.get("tools") if call.tools is None else call.tools
                return _ABSENT if tools is None and not argument.required else tools
            case "call":
                return call
            case "rest":
                taken = {one.name for one in self.items}
                taken |= {MESSAGES} if self.first("messages") else set()
                return {name: value for name, value in call.inputs.items() if name not in taken}

    def _inputs(self, argument: Argument, call: Call) -> Any:
        hidden = {TOOLS} if self.first("tools") else set[str]()
        if argument.adapter is not None and self.first("messages"):
            hidden.add(MESSAGES)
        visible = {name: value for name, value in call.inputs.items() if name not in hidden}
        return (
            visible if argument.adapter is None else _validated(argument.adapter, visible, "inputs")
        )


def _history(call: Call, argument: Argument) -> Any:
    messages: Any = call.inputs.get(MESSAGES)
    if messages is None:
        return _ABSENT
    check_messages(messages)
    # A copy: a handler may add to its list without changing the caller's.
    return list(messages) if argument.adapter is None else messages


def _converted(argument: Argument, value: Any, name: str) -> Any:
    if value is _ABSENT:
        if argument.required:
            raise InvalidCall([Problem(("inputs", name), "This input is missing.", "missing")])
        return value
    adapter = argument.adapter
    return value if adapter is None else _validated(adapter, value, "inputs", name)


def _validated(adapter: TypeAdapter[Any], value: Any, *where: str) -> Any:
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        raise InvalidCall.of(error, *where) from error


def check_messages(messages: Any) -> None:
    """Raise InvalidCall unless this is a list of objects with a role."""
    where = ("inputs", MESSAGES)
    if not isinstance(messages, list):
        raise InvalidCall([Problem(where, "Messages must be an array.", "list_type")])
    problems: list[Problem] = []
    for place, message in enumerate(cast("list[Any]", messages)):
        if isinstance(message, Message):
            continue
        role = cast("dict[str, Any]", message).get("role") if isinstance(message, dict) else None
        if not isinstance(role, str):
            problems.append(
                Problem((*where, place), "A message must be an object with a role.", "message")
            )
    if problems:
        raise InvalidCall(problems)


def check_any(messages: Any) -> None:
    """Raise InvalidCall if there is no message."""
    if messages == []:
        text = "There must be at least one message."
        raise InvalidCall([Problem(("inputs", MESSAGES), text, "too_short")])


def read_arguments(
    signature: inspect.Signature, parameters_model: type[BaseModel] | None
) -> HandlerArguments:
    """The arguments of a signature, each with the part of a call that it takes."""
    found: list[Argument] = []
    for parameter in signature.parameters.values():
        if parameter.kind is Parameter.VAR_POSITIONAL:
            continue
        source = _source(parameter, parameters_model)
        adapter = _adapter(parameter, source)
        if source == "input" and adapter is None and parameter.annotation not in (Any, object):
            continue  # a default that JSON cannot replace: a client, say, or a lock
        hint, model = without_none(parameter.annotation), None
        if source == "parameters":
            model = hint if is_model(hint) else parameters_model if hint is Any else None
        found.append(
            Argument(
                name=parameter.name,
                source=source,
                hint=parameter.annotation,
                default=parameter.default,
                positional=parameter.kind is Parameter.POSITIONAL_ONLY,
                adapter=adapter,
                model=model,
            )
        )
    return HandlerArguments(tuple(found))


def _source(parameter: Parameter, parameters_model: type[BaseModel] | None) -> Source:
    if parameter.kind is Parameter.VAR_KEYWORD:
        return "rest"
    hint = without_none(parameter.annotation)
    named = _BY_NAME.get(parameter.name)
    if named == "call" and hint not in (Any, Call):
        named = None  # an input that happens to have this name
    if named is not None:
        return named
    if hint is Call:
        return "call"
    if item_of(hint) is Message:
        return "messages"
    return "parameters" if is_model(hint) and hint is parameters_model else "input"


def _adapter(parameter: Parameter, source: Source) -> TypeAdapter[Any] | None:
    hint = parameter.annotation
    if source not in ("messages", "inputs", "input") or hint in (Any, object):
        return None
    if source == "inputs" and not is_model(without_none(hint)):
        return None
    if source == "messages" and item_of(without_none(hint)) in (Any, dict, dict[str, Any], Mapping):
        return None
    try:
        return TypeAdapter(hint)
    except (PydanticSchemaGenerationError, PydanticUserError) as error:
        if parameter.default is not Parameter.empty:
            return None
        name = getattr(hint, "__name__", hint)
        raise InputError(
            f"The argument '{parameter.name}' is a {name}, which JSON cannot "
            "express: use plain types or a pydantic model, or give the argument a default."
        ) from error
