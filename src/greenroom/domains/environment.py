"""The environment of an episode: reset, step until it is over, then read the reward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from greenroom.domains.packs import DEFAULT_SPLIT
from greenroom.domains.reward import Reward, score
from greenroom.domains.tasks import RESPOND, STOP, Action
from greenroom.domains.world import World
from greenroom.errors import EpisodeOver

if TYPE_CHECKING:
    from greenroom.domains.domain import Domain
    from greenroom.domains.tasks import Task

MAX_STEPS = 30


class SimulatedUser(Protocol):
    """The user that the agent talks to."""

    async def open(self, instruction: str) -> str:
        """Begin a conversation about the instruction; return the user's first message."""
        ...

    async def reply(self, content: str) -> str:
        """Answer what the agent said; STOP anywhere in the answer ends the conversation."""
        ...


@dataclass(frozen=True, slots=True)
class Step:
    """One action and its observation."""

    action: Action
    observation: str
    source: str
    """Who answered: "user", or the name of the tool."""
    done: bool
    invalid: str | None = None
    """Why the action was invalid, if it was: an unknown tool or unfit arguments."""


class Environment:
    """A domain with a simulated user, for one episode at a time.

    `step` reports an agent's mistakes in the observation, as Tau Bench does. When the episode is
    done, `reward` holds its score; an episode that runs out of steps has none and counts as 0.
    """

    def __init__(
        self,
        domain: Domain,
        user: SimulatedUser,
        *,
        split: str = DEFAULT_SPLIT,
        max_steps: int = MAX_STEPS,
    ) -> None:
        self.domain = domain
        self.user = user
        self.split = split
        self.max_steps = max_steps
        self.task_index = -1
        self.task: Task | None = None
        self.world = World(domain.pack.base)
        self.opening = ""
        self.steps: list[Step] = []
        self.done = False
        self.reward: Reward | None = None

    @property
    def over(self) -> bool:
        """No further step is possible: the conversation has ended or the steps have run out."""
        return self.done or len(self.steps) >= self.max_steps

    async def reset(self, task_index: int) -> str:
        """Begin an episode of a task; return the user's first message."""
        self.task = self.domain.task(task_index, self.split)
        self.task_index = task_index
        self.world = World(self.domain.pack.base)
        self.steps = []
        self.done = False
        self.reward = None
        self.opening = await self.user.open(self.task.instruction)
        return self.opening

    async def step(self, action: Action) -> Step:
        """Carry out one action of the agent."""
        if self.task is None:
            raise EpisodeOver("Reset the environment before its first step.")
        if self.over:
            reason = "it is done" if self.done else f"its {self.max_steps} steps are used up"
            raise EpisodeOver(f"The episode of task {self.task_index} is over: {reason}.")
        tool = self.domain.tools.get(action.name)
        if action.name == RESPOND:
            step = await self._respond(action)
        elif tool is None:
            text = f"Unknown action {action.name}"
            step = Step(action, text, action.name, done=False, invalid=text)
        else:
            result = tool.call(self.world, action.kwargs)
            step = Step(action, result.observation, action.name, tool.ends_episode, result.problem)
        self.steps.append(step)
        if step.done:
            self.done = True
            truth = self.domain.ground_truth(self.task_index, self.split)
            self.reward = score(self.task, truth, self.world, self._said())
        return step

    async def _respond(self, action: Action) -> Step:
        content = action.kwargs.get("content")
        if not isinstance(content, str):
            text = "Error: respond needs the argument 'content', a text."
            return Step(action, text, "user", done=False, invalid=text)
        reply = await self.user.reply(content)
        return Step(action, reply, "user", done=STOP in reply)

    def _said(self) -> list[str]:
        return [
            step.action.kwargs["content"]
            for step in self.steps
            if step.action.name == RESPOND and step.invalid is None
        ]
