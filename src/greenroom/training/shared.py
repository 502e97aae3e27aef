"""What the environments of a training share: a domain, its tasks, users, models and a budget."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, ParamSpec, Self, TypeVar

from greenroom.agents import AgentStrategy
from greenroom.agents.strategies import Agent, AgentContext
from greenroom.benchmark import RunContext, check_config, prepare_run
from greenroom.domains.plugins import name_of_plugin
from greenroom.errors import InputError
from greenroom.trials import open_models
from greenroom.users import name_of_user_strategy
from greenroom.util.event_loop import EventLoop

P = ParamSpec("P")
T = TypeVar("T")

_OF_AGENTS = frozenset(
    {
        "agent_options",
        "agent_strategy",
        "api_base",
        "max_episode_seconds",
        "max_tokens",
        "model",
        "model_provider",
        "num_trials",
        "reasoning_effort",
        "temperature",
    }
)


class Training:
    """Holds what any number of environments share; they run on one event loop in its own thread.

    `env` is a domain, `user` who the agent talks to, `tasks` which tasks there are: all as for
    `greenroom.run`, and so are `options`, but for those of the agent: whoever trains is the agent.
    `close`, or the end of a `with` block, frees it.
    """

    def __init__(
        self,
        env: Any = "retail",
        *,
        user: Any = None,
        tasks: Sequence[int | str] | None = None,
        **options: Any,
    ) -> None:
        if wrong := sorted(_OF_AGENTS & options.keys()):
            raise InputError(
                f"{', '.join(wrong)}: these options are of an agent. Here, whoever calls step is."
            )
        fields: dict[str, Any] = {"env": name_of_plugin(env), **options}
        if tasks is not None:
            fields["task_ids"] = list(tasks)
            if not fields["task_ids"]:
                raise InputError("There are no tasks to train on: `tasks` is empty.")
        if user is not None:
            fields["user_strategy"] = name_of_user_strategy(user)
        context = prepare_run(check_config(fields))
        if context.interactive:
            raise InputError(
                f"The {context.user_strategy.name} user is a person: nobody trains so."
            )
        strategy = AgentStrategy("trained", _nobody)
        pool = open_models(context.config)
        self.context: RunContext = replace(context, strategy=strategy, pool=pool)
        """What an episode is made from."""
        self._loop = EventLoop()

    @property
    def tasks(self) -> Sequence[int]:
        """The places of the tasks in their split."""
        return self.context.task_indices

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._loop.released

    def call(self, function: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run asynchronous work to its end, from any plain thread."""
        self._check_open()
        return self._loop.call(function, *args, **kwargs)

    async def call_async(
        self, function: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """The same from any event loop, without blocking it."""
        self._check_open()
        return await asyncio.wrap_future(self._loop.start(function, *args, **kwargs))

    def close(self) -> None:
        """Close the models, and let go of the event loop; may be called again."""
        if self.closed:
            return
        if not self._loop.forked:
            assert self.context.pool is not None
            self._loop.call(self.context.pool.close)
        self._loop.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_open(self) -> None:
        if self.closed:
            raise InputError("The training is closed: make another one.")


def _nobody(context: AgentContext) -> Agent:
    raise AssertionError("an environment for training has no agent of its own")


__all__ = ["Training"]
