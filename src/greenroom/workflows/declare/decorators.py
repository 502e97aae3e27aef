"""Declaring workflows: `@workflow` and `@chat_workflow`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import Any, TypedDict, Unpack, cast, overload

from greenroom.errors import InputError
from greenroom.workflows.calls import IS_CHAT, Schemas
from greenroom.workflows.declare.arguments import read_arguments
from greenroom.workflows.declare.configuration import Parameters, read_parameters
from greenroom.workflows.declare.contract import check_signature, place_of
from greenroom.workflows.declare.hints import function_of, is_model, signature_of, without_none
from greenroom.workflows.declare.outputs import NotJson, json_value
from greenroom.workflows.declare.schemas import inputs_schema, outputs_schema
from greenroom.workflows.declare.workflow import HandlerKind, Workflow

Handler = Callable[..., Any]
Declare = Callable[[Handler], Workflow]
SchemasGiven = Schemas | Mapping[str, Mapping[str, Any]]

_PARTS = ("inputs", "parameters", "outputs")


class Options(TypedDict, total=False):
    """What `workflow` and `chat_workflow` take beside the handler."""

    name: str | None
    flags: Mapping[str, Any] | None
    schemas: SchemasGiven | None
    parameters: Parameters | None
    description: str | None


@overload
def workflow(handler: Handler, /) -> Workflow: ...
@overload
def workflow(**options: Unpack[Options]) -> Declare: ...
def workflow(
    handler: Handler | None = None,
    /,
    *,
    name: str | None = None,
    flags: Mapping[str, Any] | None = None,
    schemas: SchemasGiven | None = None,
    parameters: Parameters | None = None,
    description: str | None = None,
) -> Workflow | Declare:
    """Declare a function or generator, sync or async, as a workflow.

    By default its name is the function's and its description the docstring's first paragraph.
    `flags={"is_chat": True}` makes it a chat workflow. Schemas come from the type hints;
    those given in `schemas` (inputs, parameters, outputs) replace them. `parameters` is a
    pydantic model, or a mapping of defaults.
    """
    names = _names_around(inspect.currentframe())
    declare = partial(
        _declared, _Declaration(names, name, flags or {}, schemas, parameters, description)
    )
    return declare if handler is None else declare(handler)


@overload
def chat_workflow(handler: Handler, /) -> Workflow: ...
@overload
def chat_workflow(**options: Unpack[Options]) -> Declare: ...
def chat_workflow(
    handler: Handler | None = None,
    /,
    *,
    name: str | None = None,
    flags: Mapping[str, Any] | None = None,
    schemas: SchemasGiven | None = None,
    parameters: Parameters | None = None,
    description: str | None = None,
) -> Workflow | Declare:
    """Declare a chat workflow: `workflow` with the flag `is_chat`."""
    names = _names_around(inspect.currentframe())
    chat = {**(flags or {}), IS_CHAT: True}
    declare = partial(_declared, _Declaration(names, name, chat, schemas, parameters, description))
    return declare if handler is None else declare(handler)


def _names_around(frame: FrameType | None) -> Mapping[str, Any]:
    """The local names where a decorator is used: types beside a nested function."""
    caller = frame.f_back if frame is not None else None
    return dict(caller.f_locals) if caller is not None else {}


@dataclass(frozen=True)
class _Declaration:
    names: Mapping[str, Any]
    name: str | None
    flags: Mapping[str, Any]
    schemas: SchemasGiven | None
    parameters: Parameters | None
    description: str | None


def _declared(given: _Declaration, handler: Handler) -> Workflow:
    if not callable(handler):
        raise InputError(f"A workflow is made of a function, not of {handler!r}.")
    name = given.name or getattr(handler, "__name__", type(handler).__name__)
    try:
        return _made(given, handler, name)
    except InputError as error:
        if name in str(error):
            raise
        raise InputError(f"The workflow '{name}'{place_of(handler)}: {error}") from error


def _made(given: _Declaration, handler: Handler, name: str) -> Workflow:
    signature, kind = signature_of(handler, given.names), _kind(handler)
    configuration = read_parameters(given.parameters, _parameters_hint(signature))
    arguments = read_arguments(signature, configuration.model)
    flags, schemas = _checked_flags(given.flags), _checked_schemas(given.schemas)
    is_chat, streams = flags.get(IS_CHAT) is True, "generator" in kind
    if is_chat:
        check_signature(name, handler, signature, arguments, streams=streams)
    returned = signature.return_annotation
    found = Workflow(
        name=name,
        handler=handler,
        kind=kind,
        arguments=arguments,
        configuration=configuration,
        flags=flags,
        schemas=Schemas(
            inputs=schemas.inputs or inputs_schema(arguments, is_chat=is_chat),
            parameters=schemas.parameters or configuration.schema(),
            outputs=schemas.outputs or outputs_schema(returned, is_chat=is_chat, streams=streams),
        ),
        description=given.description or _first_paragraph(handler),
    )
    if not found.slug:
        raise InputError("a name needs letters or digits, since it becomes part of an address.")
    return found


def _kind(handler: Handler) -> HandlerKind:
    code = function_of(handler)
    if inspect.isasyncgenfunction(code):
        return "async generator"
    if inspect.isgeneratorfunction(code):
        return "generator"
    return "coroutine" if inspect.iscoroutinefunction(code) else "function"


def _parameters_hint(signature: inspect.Signature) -> Any:
    found = signature.parameters.get("parameters")
    hint = without_none(found.annotation) if found is not None else None
    return hint if is_model(hint) else None


def _checked_flags(flags: Mapping[str, Any]) -> dict[str, Any]:
    try:
        checked: dict[str, Any] = json_value(flags)
    except NotJson as error:
        raise InputError(f"flags must be JSON: {error}") from error
    if not isinstance(checked.get(IS_CHAT, False), bool):
        raise InputError(f"the flag {IS_CHAT} is True or False, not {checked[IS_CHAT]!r}.")
    return checked


def _checked_schemas(schemas: SchemasGiven | None) -> Schemas:
    if schemas is None:
        return Schemas()
    if isinstance(schemas, Schemas):
        given: Mapping[str, Any] = {part: getattr(schemas, part) for part in _PARTS}
    else:
        given = schemas
    unknown = set(given) - set(_PARTS)
    if unknown:
        raise InputError(
            f"schemas are for {', '.join(_PARTS)}, not for {', '.join(sorted(unknown))}."
        )
    return Schemas(**{part: _checked_schema(part, given.get(part)) for part in _PARTS})


def _checked_schema(part: str, schema: Any) -> dict[str, Any] | None:
    if schema is None:
        return None
    from jsonschema import Draft202012Validator, SchemaError

    try:
        Draft202012Validator.check_schema(schema)
        return cast("dict[str, Any]", json_value(schema))
    except (SchemaError, NotJson) as error:
        reason = error.message if isinstance(error, SchemaError) else str(error)
        raise InputError(f"the schema of its {part} is not a JSON schema: {reason}") from error


def _first_paragraph(handler: Handler) -> str:
    text = inspect.getdoc(handler) if inspect.isroutine(handler) else None
    return " ".join((text or "").split("\n\n")[0].split())
