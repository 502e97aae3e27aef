"""An environment with `reset` and `step`, as Gymnasium has them.

    with TrainingEnv("retail") as env:
        observation, info = env.reset(seed=7)
        observation, reward, terminated, truncated, info = env.step("How can I help?")

The user's turn is the environment's: what is said to the user gives the user's answer. The task and
its ground truth are in no observation and in no `info`.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import anyio

from greenroom.agents import Stage
from greenroom.agents.turns import SILENT_LIMIT
from greenroom.benchmark.episode import judged_reward
from greenroom.domains.environment import Environment
from greenroom.domains.tasks import task_places
from greenroom.errors import EpisodeOver, InputError
from greenroom.models import Ledger
from greenroom.store import outcome_of
from greenroom.training.actions import is_silent, read_action
from greenroom.training.shared import Training
from greenroom.trajectories import NOTICE
from greenroom.trials import outside_fault

if TYPE_CHECKING:
    from greenroom.benchmark import RunContext
    from greenroom.domains.tasks import Action
    from greenroom.domains.tools import ToolInfo

OPTIONS = ("task", "trial")
"""What `reset` takes as options."""
_SILENT = f"{NOTICE}it was empty. Call a tool, or write what the user should read."
_MOST_TRIALS = 2**31


class Transition(NamedTuple):
    """What a step gives, in Gymnasium's order."""

    observation: str
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]


class TrainingEnv:
    """One environment for any number of episodes, one after the other.

    It is made from a `Training`, which many may share, or from what makes one. `reset` and `step`
    block; `reset_async` and `step_async` are for code on an event loop, whichever it is.
    """

    def __init__(self, env: Any = "retail", **options: Any) -> None:
        self._own = not isinstance(env, Training)
        if isinstance(env, Training) and options:
            raise InputError("The environment is made from a training: give the options to that.")
        self.training: Training = env if isinstance(env, Training) else Training(env, **options)
        self._random = random.Random()  # noqa: S311
        self._episode: _Episode | None = None
        self._closed = False

    @property
    def policy(self) -> str:
        """The policy that the agent follows, which a task may change."""
        return self.training.context.domain.policy if self._episode is None else self._stage.policy

    @property
    def tools(self) -> list[ToolInfo]:
        """The schemas of the agent's tools, as OpenAI's API takes them."""
        return self.training.context.domain.tool_infos

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Begin an episode; return the user's first message and what there is to know.

        `seed` decides which tasks are drawn from now on, and what the chance of users depends on.
        The options `task` and `trial` name an episode instead: the same as in a run.
        """
        return self.training.call(self._reset, seed, options)

    async def reset_async(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """`reset` for code on an event loop."""
        return await self.training.call_async(self._reset, seed, options)

    def step(self, action: Any) -> Transition:
        """Say something to the user, or call a tool; see `read_action` for the forms.

        The reward is 0 until the episode is over. It is `terminated` if the conversation has come
        to its end, and `truncated` if its steps have run out. A further step raises EpisodeOver.
        """
        return self.training.call(self._step, action)

    async def step_async(self, action: Any) -> Transition:
        """`step` for code on an event loop."""
        return await self.training.call_async(self._step, action)

    def close(self) -> None:
        """Forget the episode, and close the training if it is this environment's own."""
        self._closed = True
        self._episode = None
        if self._own:
            self.training.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _stage(self) -> Stage:
        assert self._episode is not None
        return self._episode.stage

    async def _reset(
        self, seed: int | None, options: Mapping[str, Any] | None
    ) -> tuple[str, dict[str, Any]]:
        if self._closed:
            raise InputError("The environment is closed: make another one.")
        self._episode = None
        if seed is not None:
            self._random.seed(_whole("seed", seed))
        task, trial = self._drawn(options or {})
        self._episode = episode = await _Episode.begun(self.training.context, task, trial)
        info = {
            "task": task,
            "trial": trial,
            "seed": episode.seed,
            "messages": episode.stage.opening_messages,
        }
        return episode.stage.opening, info

    async def _step(self, action: Any) -> Transition:
        episode = self._episode
        if episode is None:
            raise EpisodeOver("There is no episode: reset the environment first.")
        wanted = read_action(action)
        try:
            return await episode.step(wanted)
        except EpisodeOver:
            raise
        except BaseException:
            # What broke in the middle of a step cannot be gone on with.
            if self._episode is episode:
                self._episode = None
            raise

    def _drawn(self, options: Mapping[str, Any]) -> tuple[int, int]:
        if unknown := sorted(set(options) - set(OPTIONS)):
            raise InputError(f"Unknown options: {', '.join(unknown)}. Known: {', '.join(OPTIONS)}.")
        context = self.training.context
        # Both are drawn each time, so that naming one leaves the draws that follow as they are.
        task = self._random.choice(self.training.tasks)
        trial = self._random.randrange(_MOST_TRIALS)
        if (named := options.get("task")) is not None:
            tasks = context.domain.tasks(context.split)
            wanted = named if isinstance(named, str) else _whole("task", named)
            (task,) = task_places(tasks, [wanted])
            if not 0 <= task < len(tasks):
                raise InputError(f"There is no task {task}: there are 0 to {len(tasks) - 1}.")
        if (given := options.get("trial")) is not None:
            trial = _whole("trial", given)
        return task, trial


def _whole(name: str, given: Any) -> int:
    try:
        return index(given)  # numpy's numbers are none of Python's
    except TypeError:
        raise InputError(f"'{name}' is a whole number, not {given!r:.80}.") from None


class _Episode:
    """One episode that is under way."""

    def __init__(
        self, context: RunContext, trial: int, environment: Environment, ledger: Ledger, seed: int
    ) -> None:
        self.seed = seed
        self.stage = Stage(environment)
        self._context = context
        self._trial = trial
        self._environment = environment
        self._ledger = ledger
        self._silent = 0
        self._over = environment.over
        self._lock = anyio.Lock()

    @classmethod
    async def begun(cls, context: RunContext, task: int, trial: int) -> _Episode:
        ledger = Ledger()
        about = context.agent_context(task, trial, ledger)
        with outside_fault("The simulated user"):
            environment = Environment(
                context.domain,
                context.create_user(about, ledger),
                split=context.split,
                max_steps=context.max_steps,
            )
            await environment.reset(task)
        return cls(context, trial, environment, ledger, about.seed)

    async def step(self, action: Action) -> Transition:
        async with self._lock:  # one after the other, whoever calls
            if self._over:
                raise EpisodeOver("The episode is over: reset the environment.")
            if is_silent(action):
                return self._unheard()
            self._silent = 0
            with outside_fault("The simulated user"):
                step = await self._environment.step(action)
            info: dict[str, Any] = {"source": step.source, "failed": step.failed}
            if not self._environment.over:
                return Transition(step.observation, 0.0, False, False, info)
            self._over = True
            return await self._ended(step.observation, info)

    async def _ended(self, observation: str, info: dict[str, Any]) -> Transition:
        environment = self._environment
        reward = await judged_reward(self._context, environment, self._trial, self._ledger)
        value = None if reward is None else reward.value
        failed = environment.too_many_errors
        outcome = outcome_of(value, over=True, too_many_errors=failed)
        terminated = environment.done or failed
        return Transition(
            observation, value or 0.0, terminated, not terminated, info | self._facts(outcome)
        )

    def _unheard(self) -> Transition:
        """What becomes of a message without a word: no step, and too many of them are the end."""
        self._silent += 1
        self._over = self._silent >= SILENT_LIMIT
        info: dict[str, Any] = {"source": "environment", "failed": True}
        if self._over:
            info |= self._facts(outcome_of(None))
        return Transition(_SILENT, 0.0, self._over, False, info)

    def _facts(self, outcome: str) -> dict[str, Any]:
        usage = {purse: one.model_dump() for purse, one in self._ledger.usage().items()}
        return {"outcome": outcome, "steps": len(self._environment.steps), "usage": usage}


__all__ = ["OPTIONS", "TrainingEnv", "Transition"]
