"""Values and the JSON schemas of the tools' parameters: which type is wanted, and what fits."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, cast

import orjson

Schema = Mapping[str, Any]

SENTINELS: Final = frozenset({"NOT_FOUND", "INVALID"})
"""What FastWorkflow writes where it has no value."""

ANY: Final = "value"
"""The type of a schema that allows several, or names none."""


_TYPES: Final[Mapping[str, Any]] = {
    "string": str,
    "integer": int,
    "number": int | float,
    "boolean": bool,
    "array": list,
    "object": dict,
}


class UnfitValue(ValueError):
    """A value that does not fit its schema; the text says what is wrong with it."""


def properties_of(schema: Schema) -> dict[str, Schema]:
    """The schemas of an object's fields."""
    return dict(schema.get("properties") or {})


def items_of(schema: Schema) -> Schema:
    """The schema of a list's items."""
    return schema.get("items") or {}


def without_null(schema: Schema) -> Schema:
    """The schema of a value that is given: without the null that may stand for none."""
    variants = [
        one for one in schema.get("anyOf") or schema.get("oneOf") or () if one.get("type") != "null"
    ]
    found = {**schema, **variants[0]} if len(variants) == 1 else dict(schema)
    if isinstance(found.get("type"), list):
        kinds = [kind for kind in found["type"] if kind != "null"]
        found["type"] = kinds[0] if len(kinds) == 1 else ANY
    return found


def json_type(schema: Schema) -> str:
    """The JSON type that a schema wants."""
    return without_null(schema).get("type") or ANY


def typed(value: Any, schema: Schema) -> Any:
    """A value with texts read as what the schema wants, where they can be."""
    # What stands between XML tags is text, whatever the tool wants.
    schema = without_null(schema)
    kind = json_type(schema)
    if isinstance(value, str) and kind in {"integer", "number", "boolean", "array", "object"}:
        try:
            read = orjson.loads(value.lower() if kind == "boolean" else value)
        except orjson.JSONDecodeError:
            return value
        return read if _fits(read, kind) else value
    if kind == "array" and isinstance(value, list):
        return [typed(item, items_of(schema)) for item in cast("list[Any]", value)]
    if kind == "object" and isinstance(value, dict):
        fields = properties_of(schema)
        found = cast("dict[str, Any]", value)
        return {key: typed(item, fields.get(key, {})) for key, item in found.items()}
    return value


def fitted(value: Any, schema: Schema) -> Any:
    """A value as its schema wants it; raises UnfitValue where it cannot be made to fit."""
    schema = without_null(schema)
    kind = json_type(schema)
    read: Any = _literal(typed(value, schema), kind) if isinstance(value, str) else value
    if kind == "string" and isinstance(read, int | float) and not isinstance(read, bool):
        read = str(read)
    if not _fits(read, kind):
        raise UnfitValue(f"{read!r} is no {kind}.")
    if read not in schema.get("enum", (read,)):
        raise UnfitValue(f"{read!r} is not one of {enum_text(schema)}.")
    if kind == "array":
        return _fitted_items(cast("list[Any]", read), items_of(schema))
    if kind == "object" and properties_of(schema):
        return _fitted_fields(cast("dict[str, Any]", read), schema)
    return read


def enum_text(schema: Schema) -> str:
    """The values that a schema allows."""
    return ", ".join(str(value) for value in schema["enum"])


def _fitted_items(values: list[Any], schema: Schema) -> list[Any]:
    found: list[Any] = []
    problems: list[str] = []
    for place, value in enumerate(values, 1):
        try:
            found.append(fitted(value, schema))
        except UnfitValue as problem:
            problems += [f"item {place} {line}" for line in str(problem).splitlines()]
    if problems:
        raise UnfitValue("\n".join(problems))
    return found


def _fitted_fields(values: dict[str, Any], schema: Schema) -> dict[str, Any]:
    fields, required = properties_of(schema), schema.get("required") or ()
    # A field that the schema does not know is left out, unless the schema asks for more.
    found = dict(values) if schema.get("additionalProperties") else {}
    unusable: list[str] = []
    for name, inner in fields.items():
        value = values.get(name)
        if value is None or (isinstance(value, str) and value in SENTINELS):
            found.pop(name, None)
            if name in required:
                unusable.append(name)
            continue
        try:
            found[name] = fitted(value, inner)
        except UnfitValue:
            unusable.append(name)
    if unusable:
        raise UnfitValue(f"has no usable {', '.join(unusable)}.")
    return found


def _literal(value: Any, kind: str) -> Any:
    # A list or an object that a model wrote as Python does, in single quotes.
    if kind in {"array", "object"} and isinstance(value, str):
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            return ast.literal_eval(value)
    return value


def _fits(value: Any, kind: str) -> bool:
    if isinstance(value, bool) and kind in {"integer", "number"}:
        return False
    return isinstance(value, _TYPES.get(kind, object)) and (
        kind != "number" or math.isfinite(value)
    )
