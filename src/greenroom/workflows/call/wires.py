"""How a call is written for a server and its answer is read: one class per wire format.

Outputs are passed on unchanged: a message, a list of them, a string, any JSON.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from greenroom.errors import InputError
from greenroom.util.json_values import as_dict, as_list
from greenroom.workflows.calls import TOOLS, Answer, Call, CallError, calls_beside
from greenroom.workflows.usage import find_usage

_FIRST_ERROR = 400
_CONFIG = "ag_config"
"""Where Agenta's apps up to SDK 0.95 take their configuration."""


@dataclass(frozen=True)
class EnvelopeWire:
    """Agenta's `POST /invoke`: inputs and outputs are in an envelope, under `data`."""

    url: str
    defaults: dict[str, Any] = field(default_factory=dict[str, Any])
    """The workflow's configuration. Agenta does not merge it with what is sent, so we do."""

    def body(self, call: Call, *, streamed: bool) -> dict[str, Any]:
        """The envelope."""
        data: dict[str, Any] = {"inputs": call.inputs}
        if call.parameters:
            data["parameters"] = self.defaults | call.parameters
        if call.tools and TOOLS not in call.inputs:
            data[TOOLS] = call.tools  # ours takes them there; Agenta's servers drop them
        # Not by Accept: Agenta answers 406 for a workflow that cannot stream after running it.
        body: dict[str, Any] = {"data": data, "flags": {"stream": streamed}}
        if call.session_id is not None:
            body["session_id"] = call.session_id
        return body

    def read(self, answer: Any) -> Answer:
        """What is in the envelope, or the bare output that some servers send."""
        envelope = as_dict(answer)
        data, status = as_dict(envelope.get("data")), as_dict(envelope.get("status"))
        if not status and "outputs" not in data:
            return _answer(answer, answer)
        code = status.get("code")
        if isinstance(code, int) and code >= _FIRST_ERROR:
            text, kind = status.get("message") or f"status {code}", status.get("type")
            raise CallError(str(text), status=code, kind=kind if isinstance(kind, str) else "")
        outputs = data.get("outputs")
        ids = {"session_id": envelope.get("session_id"), "trace_id": envelope.get("trace_id")}
        answer = _answer(outputs, envelope, data, outputs, **ids)
        told = [call for call in map(as_dict, as_list(data.get("tool_calls"))) if call]
        return replace(answer, tool_calls=calls_beside(outputs, told))


@dataclass(frozen=True)
class PlainWire:
    """The plain format: `messages`, `inputs` and the configuration are at the top of the body."""

    url: str
    fields: frozenset[str] | None = None
    """What the body takes at its top; None if unknown."""

    def body(self, call: Call, *, streamed: bool) -> dict[str, Any]:
        """Each input where the server expects it: at the top, or under `inputs`."""
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
        if call.tools and TOOLS not in call.inputs:
            body[TOOLS] = call.tools
        if streamed and self._takes("stream"):
            body["stream"] = True
        return body

    def read(self, answer: Any) -> Answer:
        """The output; Agenta's apps up to SDK 0.95 wrap it together with a version."""
        wrapped = as_dict(answer)
        if "data" in wrapped and "version" in wrapped:
            outputs = wrapped["data"]
            return _answer(outputs, wrapped, outputs, trace_id=wrapped.get("trace_id"))
        return _answer(answer, answer)

    def _at_the_top(self, name: str) -> bool:
        if self.fields is None:
            return name == "messages"
        return name in self.fields or "inputs" not in self.fields

    def _takes(self, name: str) -> bool:
        return self.fields is not None and name in self.fields


@dataclass(frozen=True)
class OpenAIWire:
    """OpenAI's `POST {base}/chat/completions`: the models behind it always chat."""

    base: str
    """The address up to and including /v1."""
    model: str

    @property
    def url(self) -> str:
        """Where calls are posted."""
        return f"{self.base}/chat/completions"

    def body(self, call: Call, *, streamed: bool) -> dict[str, Any]:
        """The request of a chat completion; parameters such as temperature are at its top."""
        others = sorted(set(call.inputs) - {"messages"})
        if others or "messages" not in call.inputs:
            missing = f"not {', '.join(others)}" if others else "and there are none"
            raise InputError(f"The model {self.model} takes messages, {missing}.")
        body: dict[str, Any] = {
            **(call.parameters or {}),
            "model": self.model,
            "messages": call.inputs["messages"],
        }
        if call.tools:
            body["tools"] = call.tools
        if streamed:
            body["stream"] = True
            body["stream_options"] = {"include_usage": True}
        return body

    def read(self, answer: Any) -> Answer:
        """The message of the first choice."""
        choices = as_list(as_dict(answer).get("choices"))
        message = as_dict(as_dict(choices[0]).get("message")) if choices else {}
        if not message:
            raise CallError("its answer holds no message")
        return _answer(message, answer)


Wire = EnvelopeWire | PlainWire | OpenAIWire
"""A format: `url` is where calls are posted, `body` writes a call, `read` reads an answer.

`read` raises a CallError if the answer reports a failure.
"""


def _answer(outputs: Any, *places: Any, **ids: Any) -> Answer:
    """An answer with the usage that one of these places tells, and with the ids that are texts."""
    known: dict[str, Any] = {k: v for k, v in ids.items() if isinstance(v, str)}
    return Answer(outputs=outputs, **find_usage(*places).to_json(), **known)
