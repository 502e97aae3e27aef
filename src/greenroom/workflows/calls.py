"""The vocabulary of calls: what goes in, what comes out, what is known beforehand, what fails.

A workflow in this process and one behind an address are called in the same way: both are a Target.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

import orjson

from greenroom.errors import GreenroomError
from greenroom.messages import messages_of
from greenroom.util.json_values import as_dict, as_list

if TYPE_CHECKING:
    from pydantic import ValidationError

IS_CHAT = "is_chat"
"""The flag that makes a workflow a chat workflow."""

MESSAGES = "messages"
"""The input that holds the message history."""

TOOLS = "tools"
"""The input that holds the caller's tools."""

SESSION_PATTERN = r"^[!-~]{1,256}$"
SESSION_TEXT = "A session id has 1 to 256 printable ASCII characters, and no spaces."

SERVER_ERROR = 500
UNPROCESSABLE = 422


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call of a workflow."""

    inputs: dict[str, Any] = field(default_factory=dict[str, Any])
    """The variables by name; for a chat workflow `messages` is among them."""
    parameters: dict[str, Any] | None = None
    """Configuration that differs from the workflow's defaults."""
    session_id: str | None = None
    new_session: bool = False
    """The server made the session id, because the caller gave none."""
    tools: list[dict[str, Any]] | None = None
    """Tools that the caller will run, for workflows that take them (OpenAI's shape)."""
    traceparent: str | None = None
    """The span of the call itself, for whatever it calls: W3C's trace context."""
    caller: str | None = None
    """The span that a client called from, in a served call."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a workflow returned, unchanged, and what it used."""

    outputs: Any
    tool_calls: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Calls that the workflow made itself and told as events; `outputs` does not have them."""
    session_id: str | None = None
    trace_id: str | None = None
    seconds: float = 0.0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    """US dollars; None if unknown."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """A piece of a streamed answer.

    `delta` carries text; `message` a whole message (the end of one that came in deltas, or one that
    was not streamed); `tool_call` and `tool_result` what the workflow does on the way; `usage`
    tokens; `end` the answer as a whole.
    """

    kind: Literal["delta", "message", "tool_call", "tool_result", "usage", "end"]
    text: str = ""
    data: Any = None
    """The message, the call, the result, the usage; for `end` the Answer."""


@dataclass(frozen=True, kw_only=True)
class Schemas:
    """JSON schemas of a workflow's inputs, parameters and outputs; None if unknown."""

    inputs: dict[str, Any] | None = None
    parameters: dict[str, Any] | None = None
    outputs: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Profile:
    """What is known of a workflow before it is called."""

    name: str
    is_chat: bool
    flags: dict[str, Any] = field(default_factory=dict[str, Any])
    schemas: Schemas = field(default_factory=Schemas)
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])
    """Default configuration."""
    description: str = ""
    address: str = ""
    """Where it was found: an address, or file.py:name."""
    interface: Literal["local", "invoke", "run", "test", "openai"] = "local"
    """How it is called."""
    decided_by: str = "its declaration"
    """What says whether it is a chat workflow, in words that follow "decided by"."""

    def seeded(self, parameters: dict[str, Any] | None, seed: int | None) -> dict[str, Any] | None:
        """The parameters with a seed, if its schema or interface says that it takes one."""
        declared: dict[str, Any] = (self.schemas.parameters or {}).get("properties") or {}
        if seed is None or (self.interface != "openai" and "seed" not in declared):
            return parameters
        return {"seed": seed, **(parameters or {})}

    @property
    def takes_tools(self) -> bool | None:
        """Whether it takes tools that the caller runs; None if it does not tell."""
        if self.interface == "openai" or self._declares_tools:
            return True
        inputs = as_dict(self.schemas.inputs)
        told = bool(inputs.get("properties")) and inputs.get("additionalProperties") is not True
        return False if told and self.interface in ("local", "invoke") else None

    @property
    def _declares_tools(self) -> bool:
        return TOOLS in as_dict(as_dict(self.schemas.inputs).get("properties"))

    def placed(self, call: Call) -> Call:
        """The call with its tools among the inputs, if that is where the workflow takes them."""
        if not call.tools or not self._declares_tools or TOOLS in call.inputs:
            return call
        return replace(call, inputs={**call.inputs, TOOLS: call.tools})


class Target(Protocol):
    """A workflow that can be called, wherever it runs."""

    @property
    def profile(self) -> Profile:
        """What is known of it."""
        ...

    async def call(self, call: Call) -> Answer:
        """Its answer; raises a CallError if there is none."""
        ...

    def stream(self, call: Call) -> AsyncIterator[Event]:
        """Its answer in pieces; the last one is the whole answer."""
        ...

    async def close(self) -> None:
        """Close its connections."""
        ...


_NOT_RUN = frozenset({*range(400, 500), 503, 529})


class CallError(GreenroomError):
    """A call gave no answer; the text says why, for people."""

    def __init__(
        self, message: str, *, status: int | None = None, kind: str = "", sent: bool = True
    ) -> None:
        super().__init__(message)
        self.status = status
        self.billable = sent and status not in _NOT_RUN
        """Whether the handler may have run, and bought something."""
        self.kind = kind
        """The name of the exception in the workflow, if known."""
        if status is not None and status != SERVER_ERROR:
            # The server refused the call or could not reach the workflow: its handler did not run.
            self.outcome = "infrastructure_error"


class WorkflowUnavailable(CallError):
    """The network or the server failed: worth another try."""

    outcome = "infrastructure_error"


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a call; `where` lists the keys and positions that lead there."""

    where: tuple[str | int, ...]
    text: str
    kind: str = "value_error"

    def __str__(self) -> str:
        return f"{'.'.join(map(str, self.where))}: {self.text}"


class InvalidCall(CallError):
    """A call with missing inputs or parameters, or with values of a wrong type."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(map(str, problems)), status=UNPROCESSABLE, kind="InvalidCall")
        self.problems = tuple(problems)

    @classmethod
    def of(cls, error: ValidationError, *where: str | int) -> Self:
        """What pydantic found wrong with the value at a place."""
        found = error.errors(include_url=False, include_context=False, include_input=False)
        return cls([Problem((*where, *one["loc"]), one["msg"], one["type"]) for one in found])


def tool_calls_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The well-formed tool calls of a message."""
    calls = map(as_dict, as_list(message.get("tool_calls")))
    return [one for one in calls if isinstance(one.get("function"), dict)]


def called_tools(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The tool calls of a message as events: id, name and input."""
    return [
        {
            "id": call.get("id"),
            "name": call["function"].get("name"),
            "input": _arguments(call["function"].get("arguments")),
        }
        for call in tool_calls_of(message)
    ]


def calls_beside(outputs: Any, told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The calls of `tool_call` events that no message of the outputs has."""
    kept = {
        call.get("id") for message in messages_of(outputs) or [] for call in called_tools(message)
    }
    return [call for call in told if call.get("id") is None or call["id"] not in kept]


def _arguments(text: Any) -> Any:
    try:
        return orjson.loads(text) if isinstance(text, str) and text else text or {}
    except orjson.JSONDecodeError:
        return text
