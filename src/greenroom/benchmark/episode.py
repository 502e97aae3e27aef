"""One episode: an agent in an environment with a user, until it is over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from greenroom.agents import AgentContext, AgentStrategy, Script, Stage
from greenroom.domains.environment import MAX_STEPS, Environment, Step
from greenroom.users import ScriptedUser

if TYPE_CHECKING:
    from greenroom.domains.domain import Domain
    from greenroom.domains.reward import Reward

Outcome = Literal["success", "failure", "max_steps"]


@dataclass(frozen=True)
class Episode:
    """What came of one trial of a task."""

    task_index: int
    trial: int
    outcome: Outcome
    opening: str
    steps: tuple[Step, ...]
    details: Reward | None = field(default=None, repr=False)
    """The parts of the reward; None where the episode never came to its end."""

    @property
    def reward(self) -> float:
        """Tau Bench's reward: 0 for an episode that did not end within its steps."""
        return self.details.value if self.details is not None else 0.0


async def play_episode(
    domain: Domain,
    strategy: AgentStrategy,
    task_index: int,
    *,
    split: str = "test",
    trial: int = 0,
    seed: int = 10,
    options: Mapping[str, str] | None = None,
    max_steps: int = MAX_STEPS,
) -> Episode:
    """Play one trial of a task with an agent of the strategy."""
    script = Script(domain, split, task_index) if strategy.reads_script else None
    context = AgentContext(task_index, trial, seed, options or {}, script)
    user = strategy.create_user(context) if strategy.create_user else ScriptedUser()
    environment = Environment(domain, user, split=split, max_steps=max_steps)
    await environment.reset(task_index)
    await strategy.create(context).play(Stage(environment))
    return Episode(
        task_index=task_index,
        trial=trial,
        outcome=_outcome(environment),
        opening=environment.opening,
        steps=tuple(environment.steps),
        details=environment.reward,
    )


def _outcome(environment: Environment) -> Outcome:
    if environment.reward is not None:
        return "success" if environment.reward.value == 1.0 else "failure"
    # An agent that gives up before its steps are used has failed; it has not run out of steps.
    return "max_steps" if environment.over else "failure"
