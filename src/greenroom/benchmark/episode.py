"""One episode: an agent in an environment with a user, until it is over."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

import anyio

from greenroom.agents import AgentContext, AgentStrategy, Script, Stage
from greenroom.domains.domain import Domain
from greenroom.domains.environment import MAX_STEPS, Environment, Step
from greenroom.domains.reward import Reward
from greenroom.errors import EpisodeOver, InputError, redacted
from greenroom.store import Outcome
from greenroom.users import ScriptedUser


@dataclass(frozen=True)
class Episode:
    """What came of one trial of a task."""

    task_index: int
    trial: int
    outcome: Outcome
    opening: str
    steps: tuple[Step, ...]
    started_at: datetime
    seconds: float
    details: Reward | None = field(default=None, repr=False)
    """The parts of the reward; None where the episode never came to its end."""
    error: str | None = None
    """What broke, for an infrastructure error."""

    @property
    def reward(self) -> float | None:
        """Tau Bench's reward: 0 if the episode did not come to its end, None if it broke."""
        if self.outcome == "infrastructure_error":
            return None
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
    max_seconds: float | None = None,
) -> Episode:
    """Play one trial of a task with an agent of the strategy.

    Whatever breaks on the way becomes the episode's outcome; only what a person has to mend, an
    InputError, is raised.
    """
    script = Script(domain, split, task_index) if strategy.reads_script else None
    context = AgentContext(task_index, trial, seed, options or {}, script)
    user = strategy.create_user(context) if strategy.create_user else ScriptedUser()
    environment = Environment(domain, user, split=split, max_steps=max_steps)
    agent = strategy.create(context)
    started_at, start = datetime.now(UTC), time.monotonic()
    error: str | None = None
    with anyio.move_on_after(math.inf if max_seconds is None else max_seconds) as limit:
        try:
            await environment.reset(task_index)
            await agent.play(Stage(environment))
        except EpisodeOver:
            pass  # the agent went on after the end: the episode counts as it ended
        except InputError:
            raise
        except Exception as exception:
            error = redacted(f"{type(exception).__name__}: {exception}")
    return Episode(
        task_index=task_index,
        trial=trial,
        outcome=_outcome(environment, error=error, timed_out=limit.cancelled_caught),
        opening=environment.opening,
        steps=tuple(environment.steps),
        started_at=started_at,
        seconds=time.monotonic() - start,
        details=environment.reward,
        error=error if environment.reward is None else None,
    )


def _outcome(environment: Environment, *, error: str | None, timed_out: bool) -> Outcome:
    if environment.reward is not None:
        return "success" if environment.reward.value == 1.0 else "failure"
    if error is not None:
        return "infrastructure_error"
    if timed_out:
        return "max_time"
    return "max_steps" if environment.over else "invalid"
