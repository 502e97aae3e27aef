"""What is asked of a language model, what comes back, and what can go wrong.

ModelError
├── ModelUnavailable      no usable answer after all retries
├── ContextWindowExceeded the conversation no longer fits the model
├── ContentFiltered       the provider declined to answer
└── BudgetExhausted       the run may spend no more

A wrong key or an unknown model is an InputError: only the person can correct it. So is a
RequestRefused, unless a program that is not trusted wrote the request.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from greenroom.errors import GreenroomError, InputError

Purse = Literal["agent", "user", "judge"]
"""Who pays: money is counted apart for each."""

DEFAULT_TIMEOUT = 120.0
"""Seconds for one attempt at an answer."""
DEFAULT_RETRIES = 3
"""Attempts after the first."""

ChatMessage = dict[str, Any]
"""A chat-completion message as providers take it."""


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """A model and how it is asked, the same for every call."""

    model: str
    provider: str | None = None
    """A registered provider or one of litellm's; None where the name or an api_base says it."""
    api_base: str | None = None
    """The address of an OpenAI-compatible server, up to and including /v1."""
    temperature: float | None = 0.0
    max_tokens: int | None = None
    reasoning_effort: str | None = None
    timeout: float | None = None
    """Seconds for one attempt at an answer; None: the pool's, or DEFAULT_TIMEOUT without one."""


@dataclass(frozen=True, kw_only=True)
class ModelRequest:
    """One question: everything here shapes the answer."""

    messages: list[ChatMessage]
    tools: list[dict[str, Any]] | None = None
    response_format: dict[str, Any] | None = None
    seed: int | None = None
    stop: list[str] | None = None
    tool_choice: Any = None
    """Whether a tool has to be called, and which, as the chat-completion protocol says it."""
    parallel_tool_calls: bool | None = None
    max_tokens: int | None = None
    """The most tokens of this answer; the settings of the model may allow fewer."""


@dataclass(frozen=True, kw_only=True)
class Completion:
    """A model's answer and what it took."""

    message: ChatMessage
    """The assistant's message: role, content (text or None) and tool_calls if there are any."""
    finish_reason: str = "stop"
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_prompt_tokens: int = 0
    """Tokens of the prompt that the provider had in its own cache."""
    cost: float | None = None
    """US dollars; None where the price is not known. From our cache: what it cost then. A transport
    sets it only where the provider reports the cost itself."""
    from_cache: bool = False
    retries: int = 0
    seconds: float = 0.0

    @property
    def text(self) -> str:
        """The words of the answer; empty where there are none."""
        content = self.message.get("content")
        return content if isinstance(content, str) else ""

    @property
    def tool_calls(self) -> list[dict[str, Any]]:
        """The calls that the model wants made, in order."""
        return list(self.message.get("tool_calls") or [])


class Model(Protocol):
    """A model that is ready to be asked; who pays and how often it is retried is settled."""

    async def complete(self, request: ModelRequest) -> Completion:
        """The model's answer; raises a ModelError where there is none."""
        ...


class ModelError(GreenroomError):
    """A model gave no answer that can be used."""

    outcome = "infrastructure_error"


class ModelUnavailable(ModelError):
    """No usable answer after all retries."""

    def __init__(self, message: str, *, retries: int = 0, status: int | None = None) -> None:
        super().__init__(message)
        self.retries = retries
        self.status = status


class ContextWindowExceeded(ModelError):
    """The conversation no longer fits the model."""

    outcome = "context_window"


class ContentFiltered(ModelError):
    """The provider declined to answer."""

    outcome = "content_filter"


class RequestRefused(InputError):
    """The provider does not take the request: what was asked is wrong, or a setting of the run."""


class BudgetExhausted(ModelError):
    """The run may spend no more."""


@dataclass
class FakeModel:
    """A model that gives its answers in order, and then repeats the last one."""

    answers: list[Completion | ChatMessage | str | Exception]
    requests: list[ModelRequest] = field(default_factory=list[ModelRequest])

    async def complete(self, request: ModelRequest) -> Completion:
        """The next answer."""
        self.requests.append(request)
        answer = self.answers[min(len(self.requests), len(self.answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Completion):
            return answer
        if isinstance(answer, str):
            return Completion(message={"role": "assistant", "content": answer})
        return Completion(message=answer)
