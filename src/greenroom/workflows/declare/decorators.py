"""Declaring workflows: `@workflow` and `@chat_workflow`."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from types import FrameType
from typing import Any, TypedDict, Unpack, cast, overload

from greenroom.errors import InputError
from greenroom.messages import Message
from greenroom.util.raw_json import storable
from greenroom.workflows.calls import IS_CHAT, MESSAGES, Schemas
from greenroom.workflows.declare.arguments import HandlerArguments, read_arguments
from greenroom.workflows.declare.configuration import Parameters, read_parameters
from greenroom.workflows.declare.hints import (
    alternatives,
    function_of,
    is_model,
    item_of,
    signature_of,
    without_none,
    yielded_by,
)
from greenroom.workflows.declare.outputs import MESSAGE_LINE, PIECE_LINE, NotJson, json_value
from greenroom.workflows.declare.schemas import inputs_schema, outputs_schema
from greenroom.workflows.declare.workflow import HandlerKind, Workflow

Handler = Callable[..., Any]
Declare = Callable[[Handler], Workflow]
SchemasGiven = Schemas | Mapping[str, Mapping[str, Any]]

_MESSAGE_FIELDS = frozenset({"role", "messages"})
"""A class whose objects are a message, or hold messages, has one of these fields."""


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
def workflow(handler: Handler | None = None, /, **options: Unpack[Options]) -> Workflow | Declare:
    """Declare a function or generator, sync or async, as a workflow.

    Options: `name`, by default the function's. `description`, by default the docstring's first
    paragraph. `flags`: `{"is_chat": True}` makes it a chat workflow. `schemas` (inputs, parameters,
    outputs), by default from the type hints. `parameters`: a pydantic model, or a mapping of
    defaults.
    """
    declare = partial(_declared, options, _names_around(inspect.currentframe()))
    return declare if handler is None else declare(handler)


@overload
def chat_workflow(handler: Handler, /) -> Workflow: ...
@overload
def chat_workflow(**options: Unpack[Options]) -> Declare: ...
def chat_workflow(
    handler: Handler | None = None, /, **options: Unpack[Options]
) -> Workflow | Declare:
    """Declare a chat workflow: `workflow` with the flag `is_chat`, and with the same options."""
    options["flags"] = {**(options.get("flags") or {}), IS_CHAT: True}
    declare = partial(_declared, options, _names_around(inspect.currentframe()))
    return declare if handler is None else declare(handler)


def as_workflow(handler: Handler | Workflow) -> Workflow:
    """A plain function as a workflow; it chats if its first parameter is `messages`."""
    if isinstance(handler, Workflow):
        return handler
    return chat_workflow(handler) if takes_messages(handler) else workflow(handler)


def takes_messages(handler: Any) -> bool:
    """Whether the first parameter of a function is `messages`."""
    return next(iter(inspect.signature(handler).parameters), "") == MESSAGES


def _names_around(frame: FrameType | None) -> Mapping[str, Any]:
    """The local names where a decorator is used: types beside a nested function."""
    caller = frame.f_back if frame is not None else None
    return dict(caller.f_locals) if caller is not None else {}


def _declared(options: Options, names: Mapping[str, Any], handler: Handler) -> Workflow:
    if unknown := set(options) - Options.__optional_keys__:
        raise TypeError(f"A workflow has no option {', '.join(sorted(unknown))}.")
    if not callable(handler):
        raise InputError(f"A workflow is made of a function, not of {handler!r}.")
    name = options.get("name") or getattr(handler, "__name__", type(handler).__name__)
    name = storable(name)
    try:
        return _made(options, names, handler, name)
    except InputError as error:
        if name in str(error):
            raise
        raise InputError(f"The workflow '{name}'{_place_of(handler)}: {error}") from error


def _made(options: Options, names: Mapping[str, Any], handler: Handler, name: str) -> Workflow:
    signature, kind = signature_of(handler, names), _kind(handler)
    configuration = read_parameters(options.get("parameters"), _parameters_hint(signature))
    arguments = read_arguments(signature, configuration.model)
    flags, schemas = _checked_flags(options.get("flags")), _checked_schemas(options.get("schemas"))
    is_chat, streams = flags.get(IS_CHAT) is True, "generator" in kind
    if is_chat:
        _check_signature(name, handler, signature, arguments, streams=streams)
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
        description=storable(options.get("description") or _first_paragraph(handler)),
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
        checked: dict[str, Any] = json_value(flags or {})
    except NotJson as error:
        raise InputError(f"flags must be JSON: {error}") from error
    if not isinstance(checked.get(IS_CHAT, False), bool):
        raise InputError(f"the flag {IS_CHAT} is True or False, not {checked[IS_CHAT]!r}.")
    return checked


def _checked_schemas(schemas: SchemasGiven | None) -> Schemas:
    given: Mapping[str, Any] = vars(schemas) if isinstance(schemas, Schemas) else schemas or {}
    parts = [one.name for one in fields(Schemas)]
    if unknown := sorted(set(given) - set(parts)):
        raise InputError(f"schemas are for {', '.join(parts)}, not for {', '.join(unknown)}.")
    return Schemas(**{part: _checked_schema(part, schema) for part, schema in given.items()})


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


# The signature of a chat workflow: it takes messages, and returns one or several ---------------


def _check_signature(
    name: str,
    handler: Callable[..., Any],
    signature: inspect.Signature,
    arguments: HandlerArguments,
    *,
    streams: bool,
) -> None:
    """Raise an InputError if the signature is not that of a chat workflow."""
    where = f"The chat workflow '{name}'{_place_of(handler)}"
    if not arguments.takes_messages:
        raise InputError(
            f"{where} takes no messages. Write:\n  {_with_messages(handler, signature)}"
        )
    returned = signature.return_annotation
    hint = yielded_by(returned) if streams else returned
    if any(_may_be_message(one, piece=streams) for one in alternatives(hint)):
        return
    verb, line = ("yields", PIECE_LINE) if streams else ("returns", MESSAGE_LINE)
    raise InputError(
        f"{where} {verb} {_name_of(hint)} by its hint, and not messages. Write:\n  {line}"
    )


def _place_of(handler: Callable[..., Any]) -> str:
    """The file and line of a handler, in brackets."""
    code = getattr(inspect.unwrap(function_of(handler)), "__code__", None)
    if code is None:
        return ""
    return f" ({code.co_filename.replace(chr(92), '/').rpartition('/')[2]}:{code.co_firstlineno})"


def _may_be_message(hint: Any, *, piece: bool) -> bool:
    if hint in (Any, object, inspect.Signature.empty) or isinstance(hint, typing.TypeVar):
        return True
    if hint is str:
        return piece
    held = item_of(hint)
    if held is not None:
        return any(_may_be_message(one, piece=False) for one in alternatives(held))
    if is_model(hint):
        return issubclass(hint, Message) or not _MESSAGE_FIELDS.isdisjoint(hint.model_fields)
    if isinstance(hint, type) and is_dataclass(hint):
        return not _MESSAGE_FIELDS.isdisjoint(one.name for one in fields(hint))
    origin = cast("Any", typing.get_origin(hint) or hint)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _with_messages(handler: Callable[..., Any], signature: inspect.Signature) -> str:
    is_async = inspect.iscoroutinefunction(handler) or inspect.isasyncgenfunction(handler)
    names = ", ".join(["messages", *signature.parameters])
    name = getattr(handler, "__name__", "")
    return f"{'async ' if is_async else ''}def {name if name.isidentifier() else 'chat'}({names}):"


def _name_of(hint: Any) -> str:
    if hint is type(None):
        return "None"
    return hint.__name__ if isinstance(hint, type) else str(hint)
