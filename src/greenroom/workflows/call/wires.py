"""How a call is written for a server, and how its answer is read: one class per form of the wire.

Outputs are passed on as they are: a message, a list of them, a string, any JSON.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from greenroom.util.json_values import mapping
from greenroom.workflows.call.calls import Call, CallError
from greenroom.workflows.call.usage_reading import usage_beside
from greenroom.workflows.declare.usage import Usage

_FIRST_ERROR = 400
_CONFIG = "ag_config"
"""Where old apps of Agenta take their configuration."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What an answer holds."""

    outputs: Any
    usage: Usage = field(default_factory=Usage)
    session_id: str | None = None
    trace_id: str | None = None


class Wire(Protocol):
    """One form of calling."""

    @property
    def url(self) -> str:
        """Where calls are posted."""
        ...

    def body(self, call: Call, *, streamed: bool) -> dict[str, Any]:
        """What is posted."""
        ...

    def read(self, answer: Any) -> Reading:
        """What the JSON of an answer holds; raises a CallError where it tells of a failure."""
        ...


@dataclass(frozen=True)
class EnvelopeWire:
    """Agenta's `POST /invoke`: inputs and outputs lie in an envelope, under `data`."""

    url: str
    defaults: dict[str, Any] = field(default_factory=dict[str, Any])
    """The workflow's configuration: Agenta takes what is sent instead of it, not on top of it."""

    def body(self, call: Call, *, streamed: bool) -> dict[str, Any]:
        """The envelope."""
        data: dict[str, Any] = {"inputs": call.inputs}
        if call.parameters:
            data["parameters"] = self.defaults | call.parameters
        if call.tools:
            data["tools"] = call.tools
        # Not by Accept: Agenta runs a workflow that cannot stream, and only then says so with 406.
        body: dict[str, Any] = {"data": data, "flags": {"stream": streamed}}
        if call.session_id is not None:
            body["session_id"] = call.session_id
        return body

    def read(self, answer: Any) -> Reading:
        """What is in the envelope; a bare output, as some servers answer, is one as well."""
        envelope = mapping(answer)
        data, status = mapping(envelope.get("data")), mapping(envelope.get("status"))
        if not status and "outputs" not in data:
            return Reading(outputs=answer, usage=usage_beside(answer))
        code = status.get("code")
        if isinstance(code, int) and code >= _FIRST_ERROR:
            said, kind = status.get("message") or f"status {code}", status.get("type")
            raise CallError(str(said), status=code, kind=kind if isinstance(kind, str) else "")
        outputs = data.get("outputs")
        return Reading(
            outputs=outputs,
            usage=usage_beside(envelope, data, outputs),
            session_id=_text(envelope.get("session_id")),
            trace_id=_text(envelope.get("trace_id")),
        )


@dataclass(frozen=True)
class PlainWire:
    """The bare form: `messages`, `inputs` and the configuration lie in the body itself."""

    url: str
    fields: frozenset[str] | None = None
    """What the body takes at its top; None: not known."""

    def body(self, call: Call, *, streamed: bool) -> dict[str, Any]:
        """Each input where the server looks for it: at the top if it is known there."""
        body: dict[str, Any] = {}
        nested: dict[str, Any] = {}
        for name, value in call.inputs.items():
            (body if self._at_the_top(name) else nested)[name] = value
        if nested:
            body["inputs"] = nested
        if self._takes(_CONFIG):
            body[_CONFIG] = call.parameters or {}
        elif call.parameters:
            body["parameters"] = call.parameters
        if call.tools:
            body["tools"] = call.tools
        if streamed and self._takes("stream"):
            body["stream"] = True
        return body

    def read(self, answer: Any) -> Reading:
        """The output, which old apps of Agenta wrap together with a version."""
        wrapped = mapping(answer)
        if "data" in wrapped and "version" in wrapped:
            return Reading(
                outputs=wrapped["data"],
                usage=usage_beside(wrapped, wrapped["data"]),
                trace_id=_text(wrapped.get("trace_id")),
            )
        return Reading(outputs=answer, usage=usage_beside(answer))

    def _at_the_top(self, name: str) -> bool:
        if self.fields is None:
            return name == "messages"
        return name in self.fields or "inputs" not in self.fields

    def _takes(self, name: str) -> bool:
        return self.fields is not None and name in self.fields


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
