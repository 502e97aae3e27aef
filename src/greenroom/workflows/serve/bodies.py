"""Reading what was asked for out of a request's body, in each form that it may take."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from greenroom.workflows.call.calls import Call
from greenroom.workflows.serve.exchange import Exchange, Refusal, unprocessable
from greenroom.workflows.serve.traces import Trace

SESSION_PATTERN = r"[!-~]{1,256}"
"""What a session's id may be: it also stands in a header."""

_SESSION = re.compile(SESSION_PATTERN)
_PLAIN_KEYS = ("messages", "inputs", "parameters")
_OLD_KEYS = frozenset({"ag_config", "environment", "app", "inputs", "parameters", "session_id"})
_KINDS: dict[type, str] = {dict: "an object", list: "an array", str: "a string", bool: "a boolean"}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A call as it was asked for."""

    inputs: dict[str, Any]
    parameters: dict[str, Any] | None = None
    tools: list[dict[str, Any]] | None = None
    session_id: str | None = None
    stream: bool | None = None
    bare: bool = False
    """Whether the answer is the output itself, without an envelope."""
    place: tuple[str, ...] = field(default=("body",))
    """Where in the body the inputs and parameters lie, to tell what is wrong with them."""

    def call(self, session_id: str, trace: Trace) -> Call:
        """The call."""
        return Call(
            inputs=self.inputs,
            parameters=self.parameters,
            session_id=session_id,
            tools=self.tools,
            traceparent=trace.traceparent,
        )


def read_invocation(body: Mapping[str, Any]) -> Asked:
    """What a body of `/invoke` asks for.

    Agenta's envelope has its parts under `data`. A body with `messages`, `inputs` or `parameters`
    at its root and no `data` is a plain one, and answered as plainly.
    """
    session_id = value_of(body, "session_id", str)
    stream = value_of(value_of(body, "flags", dict) or {}, "stream", bool, "flags")
    bare = "data" not in body and any(key in body for key in _PLAIN_KEYS)
    place = () if bare else ("data",)
    parts: Mapping[str, Any] = body if bare else value_of(body, "data", dict) or {}
    inputs: dict[str, Any] = value_of(parts, "inputs", dict, *place) or {}
    messages = value_of(parts, "messages", list, *place)
    return Asked(
        inputs=inputs if messages is None else {**inputs, "messages": messages},
        parameters=value_of(parts, "parameters", dict, *place),
        tools=tools_of(parts, *place),
        session_id=session_id,
        stream=stream if stream is not None else _stream_of(body),
        bare=bare,
        place=("body", *place),
    )


def _stream_of(body: Mapping[str, Any]) -> bool | None:
    # Plain bodies have no flags: `stream` may stand at the root, as OpenAI's clients write it.
    return value_of(body, "stream", bool)


def read_old_call(body: Mapping[str, Any]) -> Asked:
    """What a body of `/run` or `/test` asks for: inputs may also lie at its root."""
    at_root = {name: value for name, value in body.items() if name not in _OLD_KEYS}
    inputs: dict[str, Any] = value_of(body, "inputs", dict) or {}
    config = value_of(body, "ag_config", dict)
    return Asked(
        inputs={**inputs, **at_root},
        parameters=value_of(body, "parameters", dict) if config is None else config,
        session_id=value_of(body, "session_id", str),
        bare=True,
    )


def value_of(parts: Mapping[str, Any], name: str, kind: type, *place: str) -> Any:
    """A part of a body; None where it is not there. Raises where it is something else."""
    value = parts.get(name)
    if value is None or isinstance(value, kind):
        return value
    raise _wrong(kind, *place, name)


def tools_of(parts: Mapping[str, Any], *place: str) -> list[dict[str, Any]] | None:
    """The tools that a body offers."""
    tools: list[Any] | None = value_of(parts, "tools", list, *place)
    for number, tool in enumerate(tools or ()):
        if not isinstance(tool, dict):
            raise _wrong(dict, *place, "tools", number)
    return tools


def _wrong(kind: type, *place: str | int) -> Refusal:
    problem = {
        "type": f"{kind.__name__}_type",
        "loc": ["body", *place],
        "msg": f"This is to be {_KINDS[kind]}.",
    }
    return unprocessable([problem])


def session_of(asked: Asked, exchange: Exchange) -> str:
    """The id of the session: the one that was given, in the body or a header, or a new one."""
    given = asked.session_id
    if given is None:
        header = exchange.header(b"x-ag-session-id")
        given = header.decode("latin-1") if header else None
    if given is None:
        return uuid4().hex
    if _SESSION.fullmatch(given):
        return given
    problem = {
        "type": "string_pattern_mismatch",
        "loc": ["body", "session_id"],
        "msg": "A session's id has 1 to 256 printable ASCII characters, and no spaces.",
    }
    raise unprocessable([problem])


__all__ = [
    "SESSION_PATTERN",
    "Asked",
    "read_invocation",
    "read_old_call",
    "session_of",
    "tools_of",
    "value_of",
]
