"""Run synchronous agents: an agent that plays in its own thread.

    class MyAgent:
        async def play(self, stage: Stage) -> None:
            await play_in_thread(stage, self._model, self._converse)

        def _converse(self, stage: ThreadStage, model: ThreadModel) -> None:
            answer = model.complete(ModelRequest(messages=[...]))
            observation = stage.step(respond(answer.text))

`Interrupted` ends the thread when the episode is over or cancelled, or when the stage or the model
fails. A framework cannot swallow it by catching Exception. `play_in_thread` raises the original
error.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.to_thread
from anyio.abc import TaskStatus
from anyio.from_thread import BlockingPortal
from anyio.lowlevel import checkpoint_if_cancelled

from greenroom.tracing import spans
from greenroom.util.exits import no_exit

if TYPE_CHECKING:
    from greenroom.agents.strategies import Stage
    from greenroom.domains.tasks import Action
    from greenroom.domains.tools import ToolInfo
    from greenroom.models import Completion, Model, ModelRequest

T = TypeVar("T")


class Interrupted(BaseException):
    """Ends the agent's thread, because the episode has ended.

    It is a BaseException, because frameworks catch every Exception of a tool or a model.
    """


class ThreadStage:
    """The stage for a thread: `step` blocks until the observation is there."""

    def __init__(self, stage: Stage, line: _Line) -> None:
        self.greeting = stage.greeting
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
        """Take a step; return the observation. Raise Interrupted if the episode is over."""
        return self._line.call(self._stage.step, action)


class ThreadModel:
    """The model for a thread: `complete` blocks until the answer is there."""

    def __init__(self, model: Model | None, line: _Line) -> None:
        self._model = model
        self._line = line

    def complete(self, request: ModelRequest) -> Completion:
        """The answer; raise Interrupted if the episode is over or there is no answer."""
        assert self._model is not None, "an agent without a model asked one"
        return self._line.call(self._model.complete, request)


class _Line:
    """Passes calls from threads to the event loop of the episode until it ends."""

    def __init__(self, portal: BlockingPortal, stage: Stage) -> None:
        self._portal = portal
        self._stage = stage
        self._place = None if spans.active is None else spans.active.place()
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
                if spans.active is None:
                    return (await function(argument),)
                # A thread that a framework has started knows nothing of the span it works in.
                with spans.active.at(self._place):
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
    """Run `play` in a thread, with a stage and a model that it can use there.

    Errors of the model and the stage are raised here, even if the framework catches them. If the
    episode is cancelled, `play` ends at its next step or model call, and this function waits for
    it. Any thread that `play` starts may use the stage and the model.
    """
    portal = BlockingPortal()
    line = _Line(portal, stage)
    problem: Exception | None = None
    async with anyio.create_task_group() as watch:
        await watch.start(line.hang_up_when_cancelled)
        # Shielded: a task that is cancelled before it begins would leave the thread waiting
        # forever. The line ends its calls itself.
        with anyio.CancelScope(shield=True):
            async with portal:
                try:
                    # Use a separate limiter: there are as many threads as episodes.
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
    # An interrupted thread returns normally: raise the cancellation here.
    await checkpoint_if_cancelled()
    # Raise outside of the task group, which would wrap the error in an exception group.
    problem = line.problem or problem
    if problem is not None:
        raise problem


def _until_interrupted(
    play: Callable[[ThreadStage, ThreadModel], None], stage: ThreadStage, model: ThreadModel
) -> None:
    try:
        with no_exit():
            play(stage, model)
    except Interrupted:
        return


__all__ = ["Interrupted", "ThreadModel", "ThreadStage", "play_in_thread"]
