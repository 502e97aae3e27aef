"""The smallest value that fits a JSON schema, which is how the scripted judge answers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, cast

from greenroom.util.json_values import as_dict

Schema = dict[str, Any]

DEEPEST_ACTION: Final = 3
"""How many objects and choices may enclose an action."""

_DEEPEST = 40
_LONGEST = 100


def minimal_instance(schema: Schema, root: Schema | None = None) -> Any:
    """A value that fits: first choices, a dash for texts, least numbers, True.

    `root` resolves the references, if it is another schema.

    >>> minimal_instance({"type": "object", "properties": {"a": {"enum": ["x", "y"]}}})
    {'a': 'x'}
    """
    return _value(schema, schema if root is None else root, 0)


@dataclass(frozen=True)
class ActionPlace:
    """A place in a schema that describes an action, with a name and arguments."""

    schema: Schema
    around: tuple[tuple[str, Schema], ...] = ()
    """The enclosing objects from the outermost in, each with the key that leads on."""

    @property
    def arguments_are_text(self) -> bool:
        """Whether the schema wants the arguments as JSON text."""
        return self._property("arguments").get("type") == "string"

    def takes(self, name: str) -> bool:
        """Whether the action may have this name."""
        wanted = self._property("name")
        return wanted.get("const", name) == name and name in wanted.get("enum", [name])

    def _property(self, name: str) -> Schema:
        return as_dict(self.schema["properties"].get(name))


def action_places(schema: Schema) -> Iterator[ActionPlace]:
    """Every place in a schema where an action fits."""
    return _places(schema, schema, (), DEEPEST_ACTION)


def _places(
    schema: Schema, root: Schema, around: tuple[tuple[str, Schema], ...], depth: int
) -> Iterator[ActionPlace]:
    schema = _resolved(schema, root)
    properties: Schema = schema.get("properties", {})
    if {"name", "arguments"} <= properties.keys():
        yield ActionPlace(schema, around)
    elif depth > 0:
        for choice in _choices(schema):
            yield from _places(choice, root, around, depth - 1)
        for key, inner in properties.items():
            yield from _places(inner, root, (*around, (key, schema)), depth - 1)


def _value(schema: Schema, root: Schema, depth: int) -> Any:
    schema = _resolved(schema, root)
    for whole in ("const", "default"):
        if whole in schema:
            return schema[whole]
    if schema.get("enum"):
        return schema["enum"][0]
    choices = _choices(schema)
    if choices and depth < _DEEPEST:
        return _value(choices[0], root, depth + 1)
    return _of_type(schema, root, depth)


def _of_type(schema: Schema, root: Schema, depth: int) -> Any:
    kind: Any = schema.get("type", "object" if "properties" in schema else "string")
    if isinstance(kind, list):
        kind = cast("list[Any]", kind)[0]
    match kind:
        case "object":
            return _object(schema, root, depth) if depth < _DEEPEST else {}
        case "array":
            least = min(_LONGEST, schema.get("minItems", 0)) if depth < _DEEPEST else 0
            return [_value(schema.get("items", {}), root, depth + 1) for _ in range(least)]
        case "integer" | "number":
            return _number(schema, whole=kind == "integer")
        case "boolean":
            return True
        case "null":
            return None
        case _:
            return "-" * min(_LONGEST, max(1, schema.get("minLength", 1)))


def _object(schema: Schema, root: Schema, depth: int) -> Schema:
    properties: Schema = schema.get("properties") or {}
    required: list[str] = schema.get("required", list(properties))
    return {name: _value(properties.get(name) or {}, root, depth + 1) for name in required}


def _number(schema: Schema, *, whole: bool) -> float:
    least = schema.get("minimum", schema.get("exclusiveMinimum", 0))
    above = "exclusiveMinimum" in schema and "minimum" not in schema
    if whole:
        least = math.floor(least) + 1 if above else math.ceil(least)
    elif above:
        least = math.nextafter(least, math.inf)
    most = schema.get("maximum", math.inf)
    return min(least, most)


def _choices(schema: Schema) -> list[Schema]:
    return schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf") or []


def _resolved(schema: Any, root: Schema) -> Schema:
    for _ in range(_DEEPEST):
        if not isinstance(schema, dict):  # true: anything fits
            return {}
        found = cast("Schema", schema)
        reference = found.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#"):
            return found
        schema = root
        for part in reference.split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            schema = as_dict(schema).get(key)
    return {}
