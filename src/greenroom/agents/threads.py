"""Frameworks that are not asynchronous: an agent that plays in a thread of its own.

    class MyAgent:
        async def play(self, stage: Stage) -> None:
            await play_in_thread(stage, self._model, self._converse)

        def _converse(self, stage: ThreadStage, model: ThreadModel) -> None:
            answer = model.complete(ModelRequest(messages=[...]))
            observation = stage.step(respond(answer.text))

The thread is led out by `Interrupted` as soon as there is nothing left to do in it: the episode is
over or was called off, or something broke on the other side. A framework cannot swallow that by
catching Exception, and what broke is raised by `play_in_thread` as it was.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.to_thread
from anyio.abc import TaskStatus
from anyio.from_thread import BlockingPortal
from anyio.lowlevel import checkpoint_if_cancelled

if TYPE_CHECKING:
    from greenroom.agents.strategies import Stage
    from greenroom.domains.tasks import Action
    from greenroom.domains.tools import ToolInfo
    from greenroom.models import Completion, Model, ModelRequest

T = TypeVar("T")


class Interrupted(BaseException):
    """Leads the agent's thread out: nothing is left to do in this episode.

    It is no Exception, as frameworks go on after whatever Exception a tool or a model raises.
    """


class ThreadStage:
    """The stage as a thread steps it: `step` blocks until the observation is there."""

    def __init__(self, stage: Stage, line: _Line) -> None:
        self.opening = stage.opening
        self.policy = stage.policy
        self.tool_infos: list[ToolInfo] = stage.tool_infos
        self._stage = stage
        self._line = line

    @property
    def over(self) -> bool:
        """No further step is possible."""
        return self._stage.over

    def step(self, action: Action) -> str:
        """Do something: the observation; raises Interrupted if the episode is over."""
        return self._line.call(self._stage.step, action)


class ThreadModel:
    """The model as a thread asks it: `complete` blocks until the answer is there."""

    def __init__(self, model: Model | None, line: _Line) -> None:
        self._model = model
        self._line = line

    def complete(self, request: ModelRequest) -> Completion:
        """The answer; raises Interrupted if the episode is over or there is no answer."""
        assert self._model is not None, "an agent without a model asked one"
        return self._line.call(self._model.complete, request)


class _Line:
    """From threads to the event loop of the episode, for as long as there is something to do."""

    def __init__(self, portal: BlockingPortal, stage: Stage) -> None:
        self._portal = portal
        self._stage = stage
        self._calls: set[anyio.CancelScope] = set()
        self._hung_up = False
        self.problem: Exception | None = None

    def call(self, function: Callable[..., Awaitable[T]], argument: object) -> T:
        if self._stage.over or self._hung_up:
            raise Interrupted
        try:
            answer = self._portal.call(self._answer, function, argument)
        except Exception as problem:
            self._hung_up = True
            self.problem = self.problem or problem
            raise Interrupted from problem
        if answer is None:
            raise Interrupted
        return answer[0]

    async def _answer(
        self, function: Callable[..., Awaitable[T]], argument: object
    ) -> tuple[T] | None:
        if self._hung_up:
            return None
        with anyio.CancelScope() as call:
            self._calls.add(call)
            try:
                return (await function(argument),)
            finally:
                self._calls.remove(call)
        return None

    async def hang_up_when_cancelled(self, *, task_status: TaskStatus[None]) -> None:
        task_status.started()
        try:
            await anyio.sleep_forever()
        finally:
            self.hang_up()

    def hang_up(self) -> None:
        self._hung_up = True
        for call in self._calls:
            call.cancel()


async def play_in_thread(
    stage: Stage, model: Model | None, play: Callable[[ThreadStage, ThreadModel], None]
) -> None:
    """Have `play` run in a thread, with a stage and a model that it can use from there.

    Whatever the model or the stage raises comes out of here, whatever the framework made of it. If
    the episode is called off, `play` is led out at its next step or question; an episode has not
    ended before its thread has. The two may be used from any thread that `play` starts.
    """
    portal = BlockingPortal()
    line = _Line(portal, stage)
    problem: Exception | None = None
    async with anyio.create_task_group() as watch:
        await watch.start(line.hang_up_when_cancelled)
        # Shielded, as a task that is cancelled before it begins would leave the thread waiting for
        # ever: the line ends its calls itself.
        with anyio.CancelScope(shield=True):
            async with portal:
                try:
                    # A limiter of its own: there are as many threads as there are episodes.
                    await anyio.to_thread.run_sync(
                        _until_interrupted,
                        play,
                        ThreadStage(stage, line),
                        ThreadModel(model, line),
                        limiter=anyio.CapacityLimiter(1),
                    )
                except Exception as error:
                    problem = error
                finally:
                    line.hang_up()  # on threads that the framework has left behind
        watch.cancel_scope.cancel()
    # A thread that was led out returns like any other: only this says that it was called off.
    await checkpoint_if_cancelled()
    # Out here, as what is raised within a task group comes out wrapped in another.
    problem = line.problem or problem
    if problem is not None:
        raise problem


def _until_interrupted(
    play: Callable[[ThreadStage, ThreadModel], None], stage: ThreadStage, model: ThreadModel
) -> None:
    try:
        play(stage, model)
    except Interrupted:
        return


__all__ = ["Interrupted", "ThreadModel", "ThreadStage", "play_in_thread"]
