"""What a framework's agent is offered for one conversation: instructions, tools and a model.

In a run they are the policy, the tools of the environment and the metered model of the episode. A
caller of the workflow may offer tools as well: calls of these are left to the caller.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

from greenroom.agents.tool_calls import NOT_MADE, usable_arguments
from greenroom.agents.turns import OutOfTurn, Turns
from greenroom.domains.tasks import Action
from greenroom.errors import EpisodeOver, InputError
from greenroom.util.characters import writable
from greenroom.workflows.usage import report_usage

if TYPE_CHECKING:
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient, DefaultHttpxClient

    from greenroom.models import ChatMessage

Step = Callable[[str, dict[str, Any]], Awaitable[str]]
"""Calls a tool by its name and arguments; gives what is observed."""


@dataclass(frozen=True)
class ToolCard:
    """A tool that an agent may call, with the JSON schema of its parameters."""

    name: str
    description: str
    parameters: dict[str, Any]

    @property
    def schema(self) -> dict[str, Any]:
        """The tool as chat completions describe it."""
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
        }
        return {"type": "function", "function": function}


@dataclass(frozen=True)
class OfferedTool(ToolCard):
    """A tool for code that awaits its answer."""

    step: Step | None = field(default=None, repr=False)
    """None leaves calls to whoever offers the tool."""

    async def __call__(self, /, **arguments: Any) -> str:
        """Call it; returns what the model should read."""
        assert self.step is not None, "a call that is the caller's"
        return await self.step(self.name, arguments)


@dataclass(frozen=True)
class BlockingTool(ToolCard):
    """A tool for code in a thread, which blocks until the answer is there."""

    call: Callable[..., str] = field(repr=False)

    def __call__(self, /, **arguments: Any) -> str:
        """Call it; returns what the model should read."""
        return self.call(**arguments)


class HttpClients:
    """Connections that all conversations of a run share: making them takes longer than a call.

    They are of the HTTP library that OpenAI's package brings along, which is not always the same.
    """

    @cached_property
    def awaited(self) -> DefaultAsyncHttpxClient:
        """For code that awaits its answers."""
        return _openai().DefaultAsyncHttpxClient(**_http_options())

    @cached_property
    def blocking(self) -> DefaultHttpxClient:
        """For code that blocks, in threads."""
        return _openai().DefaultHttpxClient(**_http_options())

    async def close(self) -> None:
        """Close the connections that were made."""
        if "awaited" in self.__dict__:
            await self.awaited.aclose()
        if "blocking" in self.__dict__:
            self.blocking.close()


@dataclass(frozen=True)
class ModelAddress:
    """Where the run's model is asked, in OpenAI's protocol: what is asked there is metered."""

    base_url: str
    api_key: str = field(repr=False)
    name: str
    clients: HttpClients = field(default_factory=HttpClients, repr=False, compare=False)

    def client(self) -> AsyncOpenAI:
        """OpenAI's client for it. The run itself tries again where that helps."""
        return _openai().AsyncOpenAI(
            base_url=self.base_url,
            api_key=self.api_key,
            http_client=self.clients.awaited,
            max_retries=0,
        )


@dataclass(frozen=True)
class Offer:
    """What an agent is offered for one conversation."""

    in_run: bool = False
    """Whether it plays an episode: its limits are the run's then, and nobody reads its stream."""
    instructions: str = ""
    tools: tuple[OfferedTool, ...] = ()
    model: ModelAddress | None = None
    """None leaves it to the model that it has itself."""
    session_id: str = field(default_factory=lambda: uuid4().hex)
    refuse_model: Callable[[], None] = lambda: None
    """Ends what is asked of the model, for code in threads that cannot be cancelled."""

    @property
    def left_to_caller(self) -> frozenset[str]:
        """The names of the tools whose calls are the caller's."""
        return frozenset(tool.name for tool in self.tools if tool.step is None)

    def check_names(self, own: Iterable[str]) -> None:
        """Raise InputError if a tool of the agent's own has the name of one on offer."""
        if both := sorted({tool.name for tool in self.tools}.intersection(own)):
            raise InputError(
                f"The agent has a tool '{both[0]}' of its own, and is offered another one of this "
                "name: give its own another name, or leave it out."
            )

    def report(self, prompt_tokens: int | None, completion_tokens: int | None) -> None:
        """Report what the agent's own model used; the run's model is metered by itself."""
        if self.model is None:
            report_usage(prompt_tokens=prompt_tokens, completion_tokens=completion_tokens)


class Conversation(Protocol):
    """A conversation with an agent, which keeps its history in the framework's own form."""

    def take_turn(self, messages: list[ChatMessage]) -> AsyncGenerator[Any]:
        """Hear new messages; yield words as they come, and whole messages as chat completions."""
        ...


Open = Callable[[Offer], Conversation]
"""Begins a conversation."""


def tools_of(infos: list[dict[str, Any]], step: Step | None = None) -> tuple[OfferedTool, ...]:
    """The tools that chat completions describe."""
    functions = [info["function"] for info in infos]
    nothing: dict[str, Any] = {"type": "object", "properties": {}}
    return tuple(
        OfferedTool(
            one["name"], one.get("description") or "", one.get("parameters") or nothing, step
        )
        for one in functions
    )


def step_of(turns: Turns) -> Step:
    """Steps within a turn: whatever goes wrong is told to the model, as a step that failed is."""

    async def step(name: str, arguments: dict[str, Any]) -> str:
        try:
            action = Action(writable(name), usable_arguments(arguments))
        except (TypeError, ValueError) as problem:
            return f"Error: the arguments cannot be used: {problem}."
        try:
            return await turns.step(action)
        except EpisodeOver:
            return NOT_MADE
        except OutOfTurn as problem:
            return f"Error: {problem}"

    return step


def need(module: str, packages: str, function: str) -> Any:
    """A module of a framework; raises InputError if it is not installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise
        raise InputError(f"{function} needs {packages}: pip install {packages}.") from error


def _openai() -> Any:
    return need("openai", "openai", "The model's client")


def _http_options() -> dict[str, Any]:
    """The run has the limits: of time, and of calls at once. The address is on this machine."""
    limits = _openai().DEFAULT_CONNECTION_LIMITS.__class__
    return {
        "timeout": None,
        "limits": limits(max_connections=None, max_keepalive_connections=None),
        "trust_env": False,
        "follow_redirects": False,
    }
