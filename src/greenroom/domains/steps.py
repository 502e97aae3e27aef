"""What happens in an episode: the agent's steps, and what the user does in between."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from greenroom.domains.tasks import RESPOND, Action


@dataclass(frozen=True, slots=True)
class UserCall:
    """A tool that the user called, before they answered."""

    action: Action
    observation: str
    invalid: str | None = None
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One action of the agent and its observation."""

    action: Action
    observation: str
    source: str
    """Who answered: "user", or the name of the tool."""
    done: bool
    invalid: str | None = None
    """Why the action was invalid, if it was: an unknown tool or unfit arguments."""
    failed: bool = False
    """The tool raised."""
    user_calls: tuple[UserCall, ...] = ()
    """What the user did between hearing the agent and answering."""


class Call(NamedTuple):
    """A tool that either party called."""

    action: Action
    observation: str
    failed: bool


@dataclass(frozen=True)
class Trajectory:
    """An episode as it was played."""

    opening: str = ""
    opening_calls: tuple[UserCall, ...] = ()
    """What the user did before their first message."""
    steps: tuple[Step, ...] = ()

    def calls(self) -> Iterator[Call]:
        """Every tool call of both parties, in order."""
        yield from (Call(c.action, c.observation, c.failed) for c in self.opening_calls)
        for step in self.steps:
            if step.action.name != RESPOND:
                yield Call(step.action, step.observation, step.failed)
            yield from (Call(c.action, c.observation, c.failed) for c in step.user_calls)

    @property
    def written(self) -> list[str]:
        """What the agent said, and what it wrote along with calls."""
        texts: list[str] = []
        for step in self.steps:
            if step.action.aside:
                texts.append(step.action.aside)
            if step.action.name == RESPOND and step.invalid is None:
                texts.append(step.action.kwargs["content"])
        return texts

    @property
    def said(self) -> list[str]:
        """What the agent said to the user."""
        return [
            step.action.kwargs["content"]
            for step in self.steps
            if step.action.name == RESPOND and step.invalid is None
        ]
