"""What the commands of a generated workflow have in common.

A command's file holds the schema of a tool's parameters and some utterances; the classes here make
a FastWorkflow command of it. FastWorkflow is imported when it is at work: this module can be read
without it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any, ClassVar, Union
from weakref import WeakKeyDictionary

import orjson
from pydantic import BaseModel, Field, create_model

from greenroom.agents.fastworkflow.commands import fastworkflow
from greenroom.agents.fastworkflow.fastworkflow_tool_map import plain_arguments
from greenroom.agents.fastworkflow.tool_values import (
    Schema,
    UnfitValue,
    enum_text,
    fitted,
    items_of,
    json_type,
    properties_of,
    without_null,
)
from greenroom.domains.domain import Domain, load_domain
from greenroom.domains.plugins import DATA_VARIABLE
from greenroom.domains.world import World
from greenroom.errors import InputError

NOT_FOUND = "NOT_FOUND"
"""What stands in the place of a value that was not given."""


class ToolSignature:
    """A command's `Signature`: its `Input` is made from the schema of the tool's parameters."""

    parameters: ClassVar[Schema]
    plain_utterances: ClassVar[list[str]]
    template_utterances: ClassVar[list[str]] = []
    Input: ClassVar[type[BaseModel]]

    def __init_subclass__(cls) -> None:
        """Make `Input`, under the name by which it can be imported."""
        required = cls.parameters.get("required") or ()
        fields: dict[str, Any] = {
            name: _field(name, schema, required=name in required)
            for name, schema in properties_of(cls.parameters).items()
        }
        cls.Input = create_model("Input", __module__=cls.__module__, **fields)
        cls.Input.__qualname__ = f"{cls.__qualname__}.Input"

    @staticmethod
    def generate_utterances(workflow: Any, command_name: str) -> list[str]:
        """The utterances to train with: the command's own, and those that a model makes of them."""
        definition = fastworkflow().RoutingRegistry.get_definition(workflow.folderpath)
        own = definition.get_command_utterances(command_name).plain_utterances
        generator = import_module("fastworkflow.train.generate_synthetic")
        return generator.generate_diverse_utterances(own, command_name)

    @classmethod
    def validate_extracted_parameters(
        cls, workflow: Any, command: str, cmd_parameters: BaseModel
    ) -> tuple[bool, str]:
        """Whether the values fit the tool's schema, and what is wrong with them.

        FastWorkflow does not look into lists and objects. They are read and checked here.
        """
        problems: list[str] = []
        for name, schema in properties_of(cls.parameters).items():
            value = getattr(cmd_parameters, name, None)
            if value is None or value == NOT_FOUND:
                continue
            try:
                setattr(cmd_parameters, name, fitted(value, schema))
            except UnfitValue as problem:
                problems += [f"{name}: {line}" for line in str(problem).splitlines()]
        return not problems, "\n".join(problems)


class ToolResponse:
    """A command's `ResponseGenerator`: calls the tool on the session's own world.

    It is only used where FastWorkflow runs the workflow by itself. In a benchmark the tool is
    called on the world of the episode's environment instead.
    """

    domain: ClassVar[str]
    tool: ClassVar[str]

    def __call__(
        self, workflow: Any, command: str, command_parameters: BaseModel | None = None
    ) -> Any:
        """Execute the command: FastWorkflow's `CommandOutput` with the tool's observation."""
        arguments = plain_arguments(command_parameters)
        try:
            tools, world = _domain(self.domain).tools, _world(self.domain, workflow)
            text, success = tools[self.tool].call(world, arguments).observation, True
        except InputError as error:
            text, success = str(error), False
        response = fastworkflow().CommandResponse(response=text, success=success)
        # The singular is 3.x's; 2.30 takes it as well.
        return fastworkflow().CommandOutput(command_response=response)


@cache
def _domain(name: str) -> Domain:
    return load_domain(name, os.environ.get(DATA_VARIABLE) or None)


_worlds: WeakKeyDictionary[Any, World] = WeakKeyDictionary()


def _world(domain: str, workflow: Any) -> World:
    # In memory, and gone with the session.
    if workflow not in _worlds:
        _worlds[workflow] = World(_domain(domain).pack.base)
    return _worlds[workflow]


# FastWorkflow recognizes a union by this spelling alone, and tries its types in order.
_TYPES: Mapping[str, Any] = {"integer": int, "number": Union[int, float], "boolean": bool}  # noqa: UP007
_ITEM_TYPES: Mapping[str, Any] = {**_TYPES, "object": dict, "array": list}


def _field(name: str, schema: Schema, *, required: bool) -> tuple[Any, Any]:
    """A parameter in the shape that FastWorkflow extracts: text, numbers, and lists.

    No field has examples: FastWorkflow takes a value that equals one for a copy, and has a model
    extract it again. A description begins with the name, because agents are shown nothing else.
    """
    schema = without_null(schema)
    kind = json_type(schema)
    about = [f"{name}:", schema.get("description") or ""]
    if kind in {"array", "object"}:
        about.append(f"As JSON: {orjson.dumps(_outline(schema)).decode()}")
    elif "enum" in schema:
        about.append(f"One of {enum_text(schema)}.")
    # An object is a text in JSON: FastWorkflow takes objects within lists only.
    hint: Any = _TYPES.get(kind, str)
    more: dict[str, Any] = {}
    if kind == "array":
        hint = list[_ITEM_TYPES.get(json_type(items_of(schema)), str)]
        more = {"default_factory": list}
    elif hint is str:
        more = {"default": NOT_FOUND}
    if not required:
        hint, more = Union[hint, None], {"default": None}  # noqa: UP007
        if kind != "array":
            about.append(f"Optional: {NOT_FOUND} leaves it out.")
    if kind == "string" and "enum" in schema:
        # Escaped only where it has to be: agents are shown the pattern.
        escaped = (re.sub(r"([^\w\s-])", r"\\\1", str(value)) for value in schema["enum"])
        more["pattern"] = f"^({'|'.join(escaped)})$"
    return hint, Field(description=" ".join(part for part in about if part), **more)


def _outline(schema: Schema) -> Any:
    """What JSON of a schema looks like, with words in the place of values."""
    schema = without_null(schema)
    kind = json_type(schema)
    if kind == "array":
        return [_outline(items_of(schema))]
    if kind == "object" and properties_of(schema):
        return {name: _outline(inner) for name, inner in properties_of(schema).items()}
    choice = f"one of {enum_text(schema)}" if "enum" in schema else ""
    return ": ".join(part for part in (kind, choice, schema.get("description")) if part)
