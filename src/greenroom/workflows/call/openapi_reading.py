"""Reading OpenAPI documents of workflows: flags, the body of a call, and schemas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from greenroom.util.json_values import as_dict, as_list
from greenroom.workflows.call.addresses import Route
from greenroom.workflows.calls import Schemas
from greenroom.workflows.declare.schemas import properties_of

ROUTES: tuple[Route, ...] = ("invoke", "test", "run")
"""In order of preference: in apps of Agenta's SDK up to 0.95 /run needs a stored configuration."""

_CONFIGURATION = ("ag_config", "parameters")
_ENVELOPE = "data"
_NOT_INPUTS = frozenset({"inputs", "tools", "stream", "session_id", *_CONFIGURATION})


@dataclass(frozen=True)
class Operation:
    """`POST /invoke`, `/test` or `/run`, as a document describes it."""

    route: Route
    title: str
    description: str
    flags: dict[str, Any]
    body: dict[str, Any]
    """The JSON schema of the body, with all references resolved."""
    answer: dict[str, Any]

    @property
    def fields(self) -> frozenset[str]:
        """The fields at the top of the body."""
        return frozenset(properties_of(self.body))

    @property
    def is_envelope(self) -> bool:
        """Whether the body is an envelope with everything under `data`."""
        return _ENVELOPE in self.fields and "messages" not in self.fields

    @property
    def schemas(self) -> Schemas:
        """Inputs, parameters and outputs."""
        if self.is_envelope:
            data = properties_of(properties_of(self.body)[_ENVELOPE])
            return Schemas(inputs=data.get("inputs"), parameters=data.get("parameters"))
        top = properties_of(self.body)
        inputs = {name: schema for name, schema in top.items() if name not in _NOT_INPUTS}
        inputs |= properties_of(as_dict(top.get("inputs")))
        wrapped = {"data", "version"} <= set(properties_of(self.answer))
        return Schemas(
            inputs={"type": "object", "properties": inputs} if inputs else None,
            parameters=next((top[name] for name in _CONFIGURATION if name in top), None),
            outputs=None if wrapped else self.answer or None,
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """The configuration's defaults that the schema tells."""
        schema = as_dict(self.schemas.parameters)
        told = {
            name: one["default"] for name, one in properties_of(schema).items() if "default" in one
        }
        return told | as_dict(schema.get("default"))


def read_operations(document: Any, prefixes: tuple[str, ...]) -> list[Operation]:
    """The operations of a workflow that a document describes, under any of the prefixes."""
    fields = as_dict(document)
    info, paths = as_dict(fields.get("info")), as_dict(fields.get("paths"))
    found: list[Operation] = []
    for route in ROUTES:
        places = (as_dict(paths.get(f"{prefix}/{route}")) for prefix in prefixes)
        post = next((as_dict(place["post"]) for place in places if place.get("post")), None)
        if post is not None:
            found.append(
                Operation(
                    route=route,
                    title=str(info.get("title") or ""),
                    description=str(post.get("description") or info.get("description") or ""),
                    flags=as_dict(as_dict(post.get("x-agenta")).get("flags")),
                    body=_json_schema(fields, post.get("requestBody")),
                    answer=_json_schema(fields, as_dict(post.get("responses")).get("200")),
                )
            )
    return found


def _json_schema(document: dict[str, Any], holder: Any) -> dict[str, Any]:
    content = as_dict(as_dict(_inlined(document, holder, ())).get("content"))
    return as_dict(as_dict(content.get("application/json")).get("schema"))


def _inlined(document: dict[str, Any], value: Any, above: tuple[str, ...]) -> Any:
    """The value with its references resolved; a schema inside itself becomes {}."""
    if isinstance(value, list):
        return [_inlined(document, item, above) for item in as_list(value)]
    if not isinstance(value, dict):
        return value
    fields = as_dict(value)
    reference = fields.get("$ref")
    if isinstance(reference, str):
        if reference in above:
            return {}
        rest = {name: item for name, item in fields.items() if name != "$ref"}
        return as_dict(_inlined(document, _target(document, reference), (*above, reference))) | rest
    return {name: _inlined(document, item, above) for name, item in fields.items()}


def _target(document: dict[str, Any], reference: str) -> Any:
    place: Any = document
    for step in reference.removeprefix("#/").split("/"):
        place = as_dict(place).get(step.replace("~1", "/").replace("~0", "~"))
    return place
