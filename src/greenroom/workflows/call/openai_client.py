"""Calling models behind OpenAI's protocol as workflows: they chat by nature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from greenroom.errors import InputError
from greenroom.util.json_values import listing, mapping
from greenroom.workflows.call.calls import Call, CallError
from greenroom.workflows.call.usage_reading import usage_beside
from greenroom.workflows.call.wires import Reading


@dataclass(frozen=True)
class OpenAIWire:
    """`POST {base}/chat/completions`."""

    base: str
    """The address up to and including /v1."""
    model: str

    @property
    def url(self) -> str:
        """Where calls are posted."""
        return f"{self.base}/chat/completions"

    def body(self, call: Call, *, streamed: bool) -> dict[str, Any]:
        """A chat completion's request; parameters, such as the temperature, lie beside it."""
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

    def read(self, answer: Any) -> Reading:
        """The message of the first choice."""
        choices = listing(mapping(answer).get("choices"))
        message = mapping(mapping(choices[0]).get("message")) if choices else {}
        if not message:
            raise CallError("its answer holds no message")
        return Reading(outputs=message, usage=usage_beside(answer))
