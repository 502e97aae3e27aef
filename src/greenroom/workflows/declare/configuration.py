"""A workflow's parameters: configuration with defaults that calls may override."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic import BaseModel, TypeAdapter, ValidationError

from greenroom.errors import InputError
from greenroom.workflows.calls import InvalidCall
from greenroom.workflows.declare.outputs import json_value

Parameters = type[BaseModel] | BaseModel | Mapping[str, Any]
"""How parameters are declared: a model, a model with other defaults, or plain defaults."""


@dataclass(frozen=True)
class Configuration:
    """The parameters of a workflow, and their defaults."""

    defaults: dict[str, Any] = field(default_factory=dict[str, Any])
    model: type[BaseModel] | None = None

    def values(self, given: Mapping[str, Any] | None) -> dict[str, Any]:
        """The parameters of a call, as plain JSON; raises InvalidCall."""
        if self.model is None:
            return deepcopy(self.defaults) | dict(given or {})
        return self.validated(given, self.model).model_dump(mode="json", by_alias=True)

    def validated(self, given: Mapping[str, Any] | None, model: type[BaseModel]) -> BaseModel:
        """The parameters of a call as a model; raises InvalidCall."""
        try:
            return model.model_validate(self.defaults | dict(given or {}))
        except ValidationError as error:
            raise InvalidCall.of(error, "parameters") from error

    def schema(self) -> dict[str, Any]:
        """Their JSON schema."""
        if self.model is not None:
            schema = self.model.model_json_schema()
            properties = schema.get("properties", {})
            overridden = {k: v for k, v in self.defaults.items() if k in properties}
            return schema | {
                "properties": properties
                | {k: properties[k] | {"default": v} for k, v in overridden.items()}
            }
        if not self.defaults:
            return {}
        return {
            "type": "object",
            "properties": {
                name: _schema_of(value) | {"default": value}
                for name, value in self.defaults.items()
            },
        }


def read_parameters(declared: Parameters | None, hinted: type[BaseModel] | None) -> Configuration:
    """What was declared, or else what the handler's type hint says."""
    if declared is None:
        return _of_model(hinted) if hinted is not None else Configuration()
    if isinstance(declared, BaseModel):
        return Configuration(declared.model_dump(mode="json", by_alias=True), type(declared))
    if isinstance(declared, type):
        return _of_model(declared)
    defaults: dict[str, Any] = json_value(declared)
    if hinted is None:
        return Configuration(defaults)
    try:
        hinted.model_validate(defaults)
    except ValidationError as error:
        problem = InvalidCall.of(error, "parameters").problems[0]
        text = f"The default parameters do not fit {hinted.__name__}: {problem}."
        raise InputError(text) from error
    return Configuration(defaults, hinted)


def _of_model(model: type[BaseModel]) -> Configuration:
    try:
        return Configuration(model().model_dump(mode="json", by_alias=True), model)
    except ValidationError:  # parameters without a default: calls must give them
        known = {
            one.alias or name: json_value(
                one.get_default(call_default_factory=True, validated_data={})
            )
            for name, one in model.model_fields.items()
            if not one.is_required()
        }
        return Configuration(known, model)


def _schema_of(value: Any) -> dict[str, Any]:
    return {} if value is None else TypeAdapter(cast("type[Any]", type(value))).json_schema()
