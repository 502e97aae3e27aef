"""User strategies, and finding one by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from greenroom.domains.tasks import STOP
from greenroom.errors import InputError
from greenroom.options import Settings, check_settings
from greenroom.registry import Registry, maker
from greenroom.users.prompts import PERSONAS

if TYPE_CHECKING:
    from greenroom.domains.environment import SimulatedUser
    from greenroom.models import ChatMessage, Model
    from greenroom.users.conditions import Goal

ENTRY_POINTS = "greenroom.users"

Exchanges = Sequence[tuple[str, str]]
"""What the agent said, and what the user replied to it."""


@dataclass(frozen=True)
class UserContext:
    """The input for creating a simulated user for one episode."""

    model: Model | None = None
    """Only for strategies that need one."""
    seed: int = 0
    """A seed for the model, different for every episode of the run."""
    settings: Any = field(default_factory=Settings)
    """An instance of the strategy's model of settings."""
    stop_words: tuple[str, ...] = (STOP,)
    """The words that end a conversation in this domain."""
    greeting: str | None = None
    """What agents have said before the user's first message, if the domain says so."""
    persona: str | None = None
    """How a user that a model plays behaves: a name of `PERSONAS`."""
    past: Sequence[ChatMessage] = ()
    """What was said and done before, from the user's side; the agent's message comes last."""
    task_index: int | None = None
    """The task's place in its split, if there is a task."""
    task_id: str | None = None
    """Its own id."""
    row: Mapping[str, Any] | None = None
    """The row of a test set, if the conversation is about one."""
    columns: Collection[str] | None = None
    """The columns of that test set; told when a row is checked."""
    user_tools: Collection[str] = ()
    """The names of the tools that the user may call."""


@dataclass(frozen=True)
class UserStrategy:
    """Creates users of a kind; registered by entry point under its name."""

    name: str
    create: Callable[[UserContext], SimulatedUser]
    summary: str = ""
    """A one-line description."""
    settings: type[BaseModel] = Settings
    """The settings that its users take."""
    needs_model: bool = False
    """The user needs a language model."""
    interactive: bool = False
    """A person at the terminal plays: one episode at a time, without a progress bar."""
    check_case: Callable[[UserContext], None] | None = None
    """Raises InputError for a task or a row that its users cannot play; asked before the first."""
    named_tasks: Callable[[Any], Sequence[int | str]] | None = None
    """The tasks that settings name, by places and ids: the domain has to have them."""
    columns: Callable[[Any], frozenset[str]] | None = None
    """The columns of test sets that users with these settings need; no workflow gets them."""
    goals: Callable[[UserContext], Sequence[Goal]] | None = None
    """When the user has what they want, as far as that can be seen without a judge."""

    def check_persona(self, persona: str | None) -> str | None:
        """A persona for its users; raises InputError if there is none such, or they take none."""
        if persona is None:
            return None
        if persona not in PERSONAS:
            known = ", ".join(PERSONAS)
            raise InputError(f"Unknown --user-persona '{persona}'. Known: {known}.")
        if not self.needs_model:
            raise InputError(
                f"--user-persona is for users that a model plays: the {self.name} user has no "
                "manner of its own."
            )
        return persona

    def check(self, given: Mapping[str, Any] | BaseModel | None = None) -> BaseModel:
        """The settings for its users; raises InputError for what is wrong."""
        owner = f"the {self.name} user"
        return check_settings(owner, self.settings, given, option="--user-option ")


def wrap_user(found: Any, name: str) -> UserStrategy | None:
    """A strategy from a class with `open` and `reply`, or from a function of the agent's text.

    A class is made with the context if its constructor takes one. A function opens with the
    instruction of the task.
    """
    about = (inspect.getdoc(found) or "").partition("\n")[0]
    if inspect.isfunction(found):
        return UserStrategy(name, lambda context: _FunctionUser(found), about)
    if not inspect.isclass(found) or not callable(getattr(found, "reply", None)):
        return None
    return UserStrategy(
        name,
        maker(found),
        about,
        settings=getattr(found, "settings", Settings),
        needs_model=bool(getattr(found, "needs_model", False)),
    )


class _FunctionUser:
    """Opens with the instruction and answers by a function."""

    def __init__(self, function: Callable[[str], Any]) -> None:
        self._function = function

    async def open(self, instruction: str) -> str:
        return instruction

    async def reply(self, content: str) -> str:
        answer = self._function(content)
        return await answer if inspect.isawaitable(answer) else answer

    def take_over(self, instruction: str, opening: str, exchanges: Exchanges) -> None:
        """Go on: a function remembers nothing."""


_REGISTRY = Registry(ENTRY_POINTS, UserStrategy, "user strategy", wrap_user)

user_strategy_names = _REGISTRY.names
"""The names of all installed user strategies."""
name_of_user_strategy = _REGISTRY.name_of
"""Register a user object; return its name."""
find_user_strategy = _REGISTRY.load
"""The user strategy with a name, or the one at `file.py:name` or `module:name`."""


def required_model(context: UserContext, name: str) -> Model:
    """The context's model; raise InputError for a strategy without the model that it needs."""
    if context.model is None:
        raise InputError(f"The {name} user is played by a language model: say which.")
    return context.model
