"""How simulated users of a kind are made, and how a kind is found by its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from greenroom.errors import InputError
from greenroom.registry import Registry

if TYPE_CHECKING:
    from greenroom.domains.environment import SimulatedUser
    from greenroom.models import Model

ENTRY_POINTS = "greenroom.users"


@dataclass(frozen=True)
class UserContext:
    """What a simulated user is made from, for one episode."""

    model: Model | None = None
    """Only for strategies that need one."""
    seed: int = 0
    """A seed for the model, different for every episode of the run."""


@dataclass(frozen=True)
class UserStrategy:
    """How users of a kind are made; registered by entry point under its name."""

    name: str
    create: Callable[[UserContext], SimulatedUser]
    summary: str = ""
    """What it is, in a line."""
    needs_model: bool = False
    """It asks a language model."""
    interactive: bool = False
    """A person at the terminal takes part: play one episode at a time, without a progress bar."""


_REGISTRY = Registry(ENTRY_POINTS, UserStrategy, "user strategy")


def user_strategy_names() -> list[str]:
    """The names of all installed user strategies."""
    return _REGISTRY.names()


def find_user_strategy(name: str) -> UserStrategy:
    """The user strategy of that name."""
    return _REGISTRY.load(name)


def required_model(context: UserContext, name: str) -> Model:
    """The context's model, for the strategy of that name, which cannot do without."""
    if context.model is None:
        raise InputError(f"The {name} user is played by a language model: say which.")
    return context.model
