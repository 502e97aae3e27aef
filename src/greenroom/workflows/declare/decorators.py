"""Declaring workflows: `@workflow` and `@chat_workflow`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any, cast, overload

from greenroom.errors import InputError
from greenroom.workflows.call.calls import IS_CHAT, Schemas
from greenroom.workflows.declare.binding import read_binding
from greenroom.workflows.declare.configuration import Parameters, read_parameters
from greenroom.workflows.declare.contract import check_declaration, place_of
from greenroom.workflows.declare.hints import function_of, is_model, signature_of, without_none
from greenroom.workflows.declare.inference import inputs_schema, outputs_schema
from greenroom.workflows.declare.outputs import NotJson, json_value
from greenroom.workflows.declare.workflow import HandlerKind, Workflow

Handler = Callable[..., Any]
Declare = Callable[[Handler], Workflow]
SchemasGiven = Schemas | Mapping[str, Mapping[str, Any]]

_PARTS = ("inputs", "parameters", "outputs")


@overload
def workflow(handler: Handler, /) -> Workflow: ...
@overload
def workflow(
    *,
    name: str | None = None,
    flags: Mapping[str, Any] | None = None,
    schemas: SchemasGiven | None = None,
    parameters: Parameters | None = None,
    description: str | None = None,
) -> Declare: ...
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

    Its name is the function's and its description the docstring's first paragraph, unless they are
    given. `flags={"is_chat": True}` makes it a chat workflow. Schemas come from the type hints;
    those given in `schemas` (inputs, parameters, outputs) take their place. `parameters` is a
    pydantic model, or a mapping of defaults.
    """
    names = _names_around(inspect.currentframe())

    def declare(handler: Handler) -> Workflow:
        return _declared(handler, names, name, flags, schemas, parameters, description)

    return declare if handler is None else declare(handler)


@overload
def chat_workflow(handler: Handler, /) -> Workflow: ...
@overload
def chat_workflow(
    *,
    name: str | None = None,
    flags: Mapping[str, Any] | None = None,
    schemas: SchemasGiven | None = None,
    parameters: Parameters | None = None,
    description: str | None = None,
) -> Declare: ...
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

    def declare(handler: Handler) -> Workflow:
        return _declared(handler, names, name, chat, schemas, parameters, description)

    return declare if handler is None else declare(handler)


def _names_around(frame: FrameType | None) -> Mapping[str, Any]:
    """The names that are known where a decorator is used: types beside a nested function."""
    caller = frame.f_back if frame is not None else None
    return dict(caller.f_locals) if caller is not None else {}


def _declared(
    handler: Handler,
    names: Mapping[str, Any],
    name: str | None,
    flags: Mapping[str, Any] | None,
    schemas: SchemasGiven | None,
    parameters: Parameters | None,
    description: str | None,
) -> Workflow:
    if not callable(handler):
        raise InputError(f"A workflow is made of a function, not of {handler!r}.")
    title = name or getattr(handler, "__name__", type(handler).__name__)
    try:
        return _made(handler, names, title, flags, schemas, parameters, description)
    except InputError as error:
        if title in str(error):
            raise
        raise InputError(f"The workflow '{title}'{place_of(handler)}: {error}") from error


def _made(
    handler: Handler,
    names: Mapping[str, Any],
    name: str,
    flags: Mapping[str, Any] | None,
    schemas: SchemasGiven | None,
    parameters: Parameters | None,
    description: str | None,
) -> Workflow:
    signature, kind = signature_of(handler, names), _kind(handler)
    hinted = _parameters_hint(signature)
    configuration = read_parameters(parameters, hinted)
    binding = read_binding(signature, configuration.model)
    checked = _checked_flags(flags)
    is_chat, streams = checked.get(IS_CHAT) is True, "generator" in kind
    if is_chat:
        check_declaration(name, handler, signature, binding, streams=streams)
    given = _checked_schemas(schemas)
    returned = signature.return_annotation
    found = Workflow(
        name=name,
        handler=handler,
        kind=kind,
        binding=binding,
        configuration=configuration,
        flags=checked,
        schemas=Schemas(
            inputs=given.inputs or inputs_schema(binding, is_chat=is_chat),
            parameters=given.parameters or configuration.schema(),
            outputs=given.outputs or outputs_schema(returned, is_chat=is_chat, streams=streams),
        ),
        description=description or _first_paragraph(handler),
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


def _checked_flags(flags: Mapping[str, Any] | None) -> dict[str, Any]:
    try:
        checked: dict[str, Any] = json_value(dict(flags or {}))
    except NotJson as error:
        raise InputError(f"flags have to be JSON: {error}") from error
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


__all__ = ["chat_workflow", "workflow"]
