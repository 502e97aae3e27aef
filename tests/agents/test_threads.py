"""Synchronous agent code in a thread: steps, questions, and every way in which an episode ends."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.to_thread
import pytest

from greenroom.agents import AgentContext, AgentStrategy, Stage
from greenroom.agents.threads import Interrupted, ThreadModel, ThreadStage, play_in_thread
from greenroom.benchmark import Episode, RunConfig, RunContext, play_episode
from greenroom.domains.domain import Domain
from greenroom.domains.environment import Environment
from greenroom.domains.tasks import Action, respond
from greenroom.models import (
    Completion,
    ContextWindowExceeded,
    FakeModel,
    Model,
    ModelRequest,
    ModelUnavailable,
)
from greenroom.users import ScriptedUser
from greenroom.util.exits import CalledExit
from tests.domains.small import small_domain

pytestmark = pytest.mark.anyio

Play = Callable[[ThreadStage, ThreadModel], None]
QUESTION = ModelRequest(messages=[{"role": "user", "content": "What now?"}])


@dataclass
class ThreadAgent:
    """An agent that is nothing but a function."""

    converse: Play
    model: Model | None = None

    async def play(self, stage: Stage) -> None:
        await play_in_thread(stage, self.model, self.converse)


async def played(
    play: Play,
    model: Model | None = None,
    *,
    domain: Domain | None = None,
    max_steps: int = 30,
    max_seconds: float | None = None,
) -> Episode:
    def create(context: AgentContext) -> ThreadAgent:
        return ThreadAgent(play, model)

    config = RunConfig(max_num_steps=max_steps, max_episode_seconds=max_seconds)
    context = RunContext(domain or small_domain(), AgentStrategy("threaded", create), config)
    return await play_episode(context, 0)


@dataclass
class EndlessModel:
    """A model that never answers; `asked` is set once it was asked."""

    asked: asyncio.Event = field(default_factory=asyncio.Event)
    called_off: int = 0

    async def complete(self, request: ModelRequest) -> Completion:
        self.asked.set()
        try:
            await anyio.sleep_forever()
        except BaseException:
            self.called_off += 1
            raise
        raise AssertionError


@dataclass
class Swallowing:
    """What frameworks do: go on after any Exception. It counts how often something was raised."""

    raised: int = 0

    def __call__(self, attempt: Callable[[], Any]) -> None:
        for _ in range(3):
            try:
                attempt()
            except Exception:
                self.raised += 1


async def stage_of_a_new_episode() -> tuple[Environment, Stage]:
    environment = Environment(small_domain(), ScriptedUser())
    await environment.reset(0)
    return environment, Stage(environment)


async def test_a_thread_steps_the_stage_and_asks_the_model() -> None:
    model = FakeModel(["hall", "Done."])
    seen: list[Any] = []

    def play(stage: ThreadStage, model: ThreadModel) -> None:
        seen.extend([stage.opening, stage.policy, stage.tool_infos, stage.over])
        seen.append(threading.current_thread() is threading.main_thread())
        lamp = model.complete(QUESTION).text
        seen.append(stage.step(Action("light", {"lamp": lamp})))
        stage.step(respond(model.complete(QUESTION).text))
        seen.append(stage.over)

    domain = small_domain()
    episode = await played(play, model, domain=domain)
    assert episode.outcome == "success"
    assert [step.action.name for step in episode.steps] == ["light", "respond"]
    assert seen[:5] == [episode.opening, domain.policy, domain.tool_infos, False, False]
    assert seen[5:] == [episode.steps[0].observation, True]
    assert model.requests == [QUESTION, QUESTION]


async def test_nothing_is_asked_or_stepped_after_the_end_and_play_is_left() -> None:
    model = FakeModel(["Bye."])
    reached: list[str] = []

    def play(stage: ThreadStage, model: ThreadModel) -> None:
        stage.step(respond("Bye."))
        try:
            model.complete(QUESTION)
        except Exception:
            reached.append("caught")
        reached.append("went on")

    episode = await played(play, model)
    assert episode.outcome == "failure"
    assert len(episode.steps) == 1
    assert model.requests == []
    assert reached == []


async def test_the_limit_of_steps_ends_the_thread() -> None:
    def play(stage: ThreadStage, model: ThreadModel) -> None:
        while True:
            stage.step(Action("light", {"lamp": "nowhere"}))

    episode = await played(play, max_steps=4)
    assert episode.outcome == "max_steps"
    assert len(episode.steps) == 4


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (ModelUnavailable("No answer."), "infrastructure_error"),
        (ContextWindowExceeded("Too long."), "context_window"),
    ],
)
async def test_what_the_model_raises_comes_out_though_the_framework_swallows_it(
    error: Exception, outcome: str
) -> None:
    swallowing = Swallowing()
    model = FakeModel([error])

    def play(stage: ThreadStage, model: ThreadModel) -> None:
        swallowing(lambda: model.complete(QUESTION))

    episode = await played(play, model)
    assert episode.outcome == outcome
    assert len(model.requests) == 1
    assert swallowing.raised == 0


async def test_not_even_catching_everything_hides_what_broke() -> None:
    model = FakeModel([ModelUnavailable("No answer."), "an answer"])

    def play(stage: ThreadStage, model: ThreadModel) -> None:
        for _ in range(3):
            try:
                model.complete(QUESTION)
            except BaseException:
                continue

    _, stage = await stage_of_a_new_episode()
    with pytest.raises(ModelUnavailable, match="No answer"):
        await play_in_thread(stage, model, play)
    assert len(model.requests) == 1


async def test_an_agent_that_wants_to_end_the_process_has_failed() -> None:
    def play(stage: ThreadStage, model: ThreadModel) -> None:
        sys.exit("no key")

    _, stage = await stage_of_a_new_episode()
    with pytest.raises(CalledExit, match=r"sys\.exit\('no key'\) was called"):
        await play_in_thread(stage, None, play)


async def test_what_the_agent_itself_raises_comes_out_as_it_is() -> None:
    def play(stage: ThreadStage, model: ThreadModel) -> None:
        raise KeyError("mine")

    _, stage = await stage_of_a_new_episode()
    with pytest.raises(KeyError, match="mine"):
        await play_in_thread(stage, None, play)


@pytest.mark.slow
async def test_time_runs_out_while_the_thread_waits_for_the_model() -> None:
    model, ended = EndlessModel(), threading.Event()

    def play(stage: ThreadStage, model: ThreadModel) -> None:
        try:
            Swallowing()(lambda: model.complete(QUESTION))
        finally:
            ended.set()

    episode = await played(play, model, max_seconds=0.5)
    assert episode.outcome == "max_time"
    assert ended.is_set()
    assert model.called_off == 1


async def test_cancelling_ends_the_thread_and_no_step_is_taken_afterwards() -> None:
    environment, stage = await stage_of_a_new_episode()
    model, ended = EndlessModel(), threading.Event()
    raised: list[type[BaseException]] = []

    def play(stage: ThreadStage, model: ThreadModel) -> None:
        for attempt in (
            lambda: model.complete(QUESTION),
            lambda: stage.step(Action("light", {"lamp": "hall"})),
        ):
            try:
                attempt()
            except BaseException as error:
                raised.append(type(error))
        ended.set()

    async with anyio.create_task_group() as group:
        group.start_soon(play_in_thread, stage, model, play)
        await model.asked.wait()
        group.cancel_scope.cancel()
    assert ended.is_set()
    assert raised == [Interrupted, Interrupted]
    assert environment.steps == []


@pytest.mark.parametrize("attempt", range(20))  # what the thread meets depends on who is faster
async def test_a_busy_thread_is_led_out_at_its_next_step(attempt: int) -> None:
    environment, stage = await stage_of_a_new_episode()
    loop, started = asyncio.get_running_loop(), asyncio.Event()
    go_on = threading.Event()
    raised: list[type[BaseException]] = []

    def play(stage: ThreadStage, model: ThreadModel) -> None:
        loop.call_soon_threadsafe(started.set)
        go_on.wait()
        try:
            stage.step(Action("light", {"lamp": "hall"}))
        except BaseException as error:
            raised.append(type(error))
            raise

    async with anyio.create_task_group() as group:
        group.start_soon(play_in_thread, stage, None, play)
        await started.wait()
        group.cancel_scope.cancel()
        go_on.set()
    assert raised == [Interrupted]
    assert environment.steps == []


async def test_threads_of_the_framework_may_step_too() -> None:
    def play(stage: ThreadStage, model: ThreadModel) -> None:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(stage.step, Action("light", {"lamp": "hall"})).result()
            pool.submit(stage.step, respond("Done.")).result()

    assert (await played(play)).outcome == "success"


async def test_many_more_episodes_at_once_than_a_pool_of_threads_has() -> None:
    together = threading.Barrier(60)

    def play(stage: ThreadStage, model: ThreadModel) -> None:
        together.wait()
        stage.step(Action("light", {"lamp": "hall"}))
        stage.step(respond("Done."))

    episodes: list[Episode] = []

    async def one() -> None:
        episodes.append(await played(play))

    async with anyio.create_task_group() as group:
        for _ in range(60):
            group.start_soon(one)
    assert [episode.outcome for episode in episodes] == ["success"] * 60


async def test_a_thread_that_the_framework_leaves_behind_takes_no_step() -> None:
    environment, stage = await stage_of_a_new_episode()
    left_behind: list[ThreadStage] = []

    def play(stage: ThreadStage, model: ThreadModel) -> None:
        left_behind.append(stage)

    await play_in_thread(stage, None, play)
    with pytest.raises(Interrupted):
        await anyio.to_thread.run_sync(left_behind[0].step, Action("light", {"lamp": "hall"}))
    assert environment.steps == []
