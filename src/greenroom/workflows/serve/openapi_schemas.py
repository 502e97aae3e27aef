"""JSON schemas of bodies and answers, for the OpenAPI document."""

from __future__ import annotations

import re
from typing import Any, cast

from greenroom.messages import ROLES
from greenroom.workflows.declare.binding import MESSAGES
from greenroom.workflows.declare.workflow import Workflow
from greenroom.workflows.serve.bodies import SESSION_PATTERN

Schema = dict[str, Any]

REFERENCE = "#/components/schemas/"

_LOCAL = "#/$defs/"
_OBJECT: Schema = {"type": "object"}
_TEXT: Schema = {"type": "string"}
_SESSION: Schema = {
    "anyOf": [{"type": "string", "pattern": f"^{SESSION_PATTERN}$"}, {"type": "null"}],
    "description": "Echoed, or made where none is given.",
}
_TOOLS: Schema = {
    "anyOf": [{"type": "array", "items": _OBJECT}, {"type": "null"}],
    "description": "Tools that the caller runs, in OpenAI's shape.",
}
_STATUS: Schema = {
    "type": "object",
    "required": ["code", "message"],
    "properties": {"code": {"type": "integer"}, "message": _TEXT, "type": _TEXT},
}
_IDENTITY: dict[str, Schema] = {
    "version": _TEXT,
    "session_id": _TEXT,
    "trace_id": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
    "span_id": {"type": "string", "pattern": "^[0-9a-f]{16}$"},
}

_TOOL_CALL: Schema = {
    "type": "object",
    "required": ["function"],
    "properties": {
        "id": _TEXT,
        "type": _TEXT,
        "function": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": _TEXT, "arguments": _TEXT},
        },
    },
}

SHARED: dict[str, Schema] = {
    "Message": {
        "type": "object",
        "description": "A chat-completion message.",
        "required": ["role"],
        "properties": {
            "role": {"enum": sorted(ROLES)},
            "content": {
                "anyOf": [_TEXT, {"type": "array", "items": _OBJECT}, {"type": "null"}],
                "description": "Text, parts, or null beside tool calls.",
            },
            "name": {"type": ["string", "null"]},
            "tool_calls": {"anyOf": [{"type": "array", "items": _TOOL_CALL}, {"type": "null"}]},
            "tool_call_id": {"type": ["string", "null"]},
        },
    },
    "Failure": {
        "type": "object",
        "description": "What the workflow raised.",
        "required": ["status"],
        "properties": {**_IDENTITY, "status": _STATUS},
    },
    "Refusal": {
        "type": "object",
        "required": ["detail"],
        "properties": {"detail": _TEXT},
    },
    "NotAcceptable": {
        "type": "object",
        "required": ["detail", "requested", "supported"],
        "properties": {
            "detail": _TEXT,
            "requested": _TEXT,
            "supported": {"type": "array", "items": _TEXT},
        },
    },
    "Problems": {
        "type": "object",
        "required": ["detail"],
        "properties": {
            "detail": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["type", "loc", "msg"],
                    "properties": {
                        "type": _TEXT,
                        "loc": {"type": "array", "items": {"type": ["string", "integer"]}},
                        "msg": _TEXT,
                    },
                },
            }
        },
    },
    "OpenAIError": {
        "type": "object",
        "required": ["error"],
        "properties": {
            "error": {
                "type": "object",
                "required": ["message", "type"],
                "properties": {
                    "message": _TEXT,
                    "type": _TEXT,
                    "code": {"type": ["string", "null"]},
                },
            }
        },
    },
    "ChatCompletion": {
        "type": "object",
        "required": ["id", "object", "created", "model", "choices"],
        "properties": {
            "id": _TEXT,
            "object": {"const": "chat.completion"},
            "created": {"type": "integer"},
            "model": _TEXT,
            "choices": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["index", "message", "finish_reason"],
                    "properties": {
                        "index": {"type": "integer"},
                        "message": {"$ref": f"{REFERENCE}Message"},
                        "finish_reason": {"enum": ["stop", "tool_calls"]},
                    },
                },
            },
            "usage": _OBJECT,
        },
    },
    "Models": {
        "type": "object",
        "required": ["object", "data"],
        "properties": {
            "object": {"const": "list"},
            "data": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["id", "object"],
                    "properties": {"id": _TEXT, "object": {"const": "model"}},
                },
            },
        },
    },
    "Inspection": {
        "type": "object",
        "required": ["version", "revision", "request"],
        "properties": {
            "version": _TEXT,
            "flags": _OBJECT,
            "revision": {
                "type": "object",
                "required": ["name", "slug", "data"],
                "properties": {"name": _TEXT, "slug": _TEXT, "data": _OBJECT},
            },
            "request": _OBJECT,
        },
    },
}


def reference(name: str) -> Schema:
    """A schema by its name."""
    return {"$ref": f"{REFERENCE}{name}"}


class BodySchemas:
    """The schemas of one workflow's bodies; `components` are those that they refer to."""

    def __init__(self, workflow: Workflow) -> None:
        self.prefix = re.sub(r"[^A-Za-z0-9._-]", "-", workflow.slug)
        self.components: dict[str, Schema] = {}
        self._is_chat = workflow.is_chat
        inputs = self._hoisted(workflow.schemas.inputs or _OBJECT)
        # A call gives only what it wants to be different, so no parameter is required.
        parameters = _without("required", self._hoisted(workflow.schemas.parameters or _OBJECT))
        self._parameters = {"anyOf": [self._named("parameters", parameters), {"type": "null"}]}
        self._inputs = self._named("inputs", _with_messages(inputs))
        self._variables = self._named("variables", _without_messages(inputs))
        self._needs_messages = MESSAGES in inputs.get("required", ())
        self.outputs = self._named("outputs", self._hoisted(workflow.schemas.outputs or {}))
        self._needs_inputs = bool(inputs.get("required"))
        self._needs_variables = bool(_without_messages(inputs).get("required"))

    def envelope(self) -> Schema:
        """Agenta's envelope around a call."""
        data: Schema = {
            "type": "object",
            "properties": {
                "inputs": self._inputs,
                "parameters": self._parameters,
                "tools": _TOOLS,
            },
        }
        if self._needs_inputs:
            data["required"] = ["inputs"]
        return {
            "type": "object",
            "title": "Envelope",
            "required": ["data"],
            "properties": {
                "data": data,
                "session_id": _SESSION,
                "flags": {
                    "type": "object",
                    "properties": {"stream": {"type": ["boolean", "null"]}},
                },
                "references": _OBJECT,
            },
        }

    def plain(self) -> Schema:
        """A call without an envelope."""
        properties: Schema = {
            "inputs": self._variables if self._is_chat else self._inputs,
            "parameters": self._parameters,
            "tools": _TOOLS,
            "session_id": _SESSION,
            "stream": {"type": ["boolean", "null"]},
        }
        required = ["inputs"] if self._needs_variables else []
        if self._is_chat:
            properties = {MESSAGES: _messages()} | properties
            required = [MESSAGES, *required] if self._needs_messages else required
        keys = [MESSAGES, "inputs"] if self._is_chat else ["inputs"]
        return {
            "type": "object",
            "title": "Plain",
            "properties": properties,
            "anyOf": [{"required": [key]} for key in (*keys, "parameters")],
            "not": {"required": ["data"]},
        } | ({"required": required} if required else {})

    def old(self) -> Schema:
        """A call of the old routes."""
        plain = self.plain()
        properties = {"ag_config": plain["properties"]["parameters"]}
        properties |= {k: plain["properties"][k] for k in ("inputs", "session_id")}
        if self._is_chat:
            properties[MESSAGES] = _messages()
        required = {"required": plain["required"]} if "required" in plain else {}
        return {"type": "object", "properties": properties} | required

    def completion(self) -> Schema:
        """A call of OpenAI's route."""
        plain = self.plain()
        properties = {
            k: plain["properties"][k] for k in (MESSAGES, "tools", "inputs", "session_id")
        }
        return {
            "type": "object",
            "required": ["model", *plain.get("required", ())],
            "properties": {
                "model": _TEXT,
                **properties,
                "parameters": plain["properties"]["parameters"],
                "stream": {"type": ["boolean", "null"]},
                "stream_options": {
                    "anyOf": [
                        {"type": "object", "properties": {"include_usage": {"type": "boolean"}}},
                        {"type": "null"},
                    ]
                },
            },
        }

    def answer(self) -> Schema:
        """Agenta's envelope around an answer."""
        return {
            "type": "object",
            "title": "Envelope",
            "required": ["version", "status", "data", "session_id", "trace_id", "span_id"],
            "properties": {
                **_IDENTITY,
                "status": _STATUS,
                "data": {
                    "type": "object",
                    "required": ["outputs"],
                    "properties": {"outputs": self.outputs},
                },
                "usage": _OBJECT,
            },
        }

    def old_answer(self) -> Schema:
        """What the old routes wrap around an answer."""
        return {
            "type": "object",
            "required": ["version", "data"],
            "properties": {
                "version": _TEXT,
                "data": self.outputs,
                "content_type": _TEXT,
                "trace_id": _IDENTITY["trace_id"],
                "span_id": _IDENTITY["span_id"],
            },
        }

    def _named(self, name: str, schema: Schema) -> Schema:
        key = f"{self.prefix}.{name}"
        self.components[key] = schema
        return reference(key)

    def _hoisted(self, schema: Schema) -> Schema:
        """The schema with its definitions put among the document's, where references find them."""
        definitions: dict[str, Any] = schema.get("$defs", {})
        for name, definition in definitions.items():
            self.components[self._key(name)] = self._moved(definition)
        return self._moved(_without("$defs", schema))

    def _moved(self, value: Any) -> Any:
        if isinstance(value, dict):
            fields = cast("dict[str, Any]", value)
            target = fields.get("$ref")
            if isinstance(target, str) and target.startswith(_LOCAL):
                return fields | reference(self._key(target.removeprefix(_LOCAL)))
            return {key: self._moved(item) for key, item in fields.items()}
        return (
            [self._moved(item) for item in cast("list[Any]", value)]
            if isinstance(value, list)
            else value
        )

    def _key(self, definition: str) -> str:
        return f"{self.prefix}.{re.sub(r'[^A-Za-z0-9._-]', '-', definition)}"


def _messages() -> Schema:
    return {
        "type": "array",
        "items": reference("Message"),
        "x-ag-type-ref": MESSAGES,
        "description": "The message history, oldest first.",
    }


def _without(key: str, schema: Schema) -> Schema:
    return {name: value for name, value in schema.items() if name != key}


def _with_messages(inputs: Schema) -> Schema:
    properties: dict[str, Schema] = inputs.get("properties", {})
    if properties.get(MESSAGES, {}).get("x-ag-type-ref") != MESSAGES:
        return inputs
    return inputs | {"properties": properties | {MESSAGES: _messages()}}


def _without_messages(inputs: Schema) -> Schema:
    properties = {k: v for k, v in inputs.get("properties", {}).items() if k != MESSAGES}
    required = [name for name in inputs.get("required", ()) if name != MESSAGES]
    rest = {k: v for k, v in inputs.items() if k not in ("properties", "required")}
    if properties:
        rest["properties"] = properties
    return rest | {"required": required} if required else rest


__all__ = ["REFERENCE", "SHARED", "BodySchemas", "Schema", "reference"]
