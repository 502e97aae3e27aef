"""The plain face for training: reset, step, seeds, limits, faults and many at once."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Generator
from typing import Any

import pytest

from greenroom.domains.domain import Domain
from greenroom.domains.tasks import Action
from greenroom.errors import EpisodeOver, InputError, OutsideFault
from greenroom.model_server import RunningServer, running_server
from greenroom.training import Training, TrainingEnv
from greenroom.trials import cell_seed
from greenroom.users import ScriptedUser, UserContext, UserStrategy
from tests.domains.thermostats import PATH
from tests.training.played import natively_played

THINK = {"name": "think", "arguments": {"thought": "Hm."}}


@pytest.fixture(scope="module")
def server(retail: Domain) -> Generator[RunningServer]:
    with running_server(retail) as running:
        yield running


@pytest.fixture
def env() -> Generator[TrainingEnv]:
    with TrainingEnv("retail") as made:
        yield made


class BrokenUser(ScriptedUser):
    async def reply(self, content: str) -> str:
        raise ConnectionError("the line is dead")


broken = UserStrategy("unreachable", lambda _: BrokenUser())


class ChattyUser:
    """Says its own seed, again and again."""

    def __init__(self, context: UserContext) -> None:
        self.seed = context.seed

    async def open(self, instruction: str) -> str:
        return f"I am {self.seed}."

    async def reply(self, content: str) -> str:
        await asyncio.sleep(0)
        return f"I am {self.seed}, and heard {content}."


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_twenty_tasks_give_the_observations_and_rewards_of_a_run(server: RunningServer) -> None:
    base = server.api_base
    with Training("retail", user_model="user", user_api_base=base) as training:
        env = TrainingEnv(training)
        for played in natively_played(base):
            observation, info = env.reset(options={"task": played.task, "trial": 0})
            seen, ends, reward = [observation], [False], 0.0
            for action in played.actions:
                observation, reward, terminated, truncated, info = env.step(action)
                seen.append(observation)
                ends.append(terminated or truncated)
            assert seen == played.observations
            assert ends == [False] * len(played.actions) + [True]
            assert reward == played.reward
            assert info["usage"]["user"]["calls"] > 0


def test_a_seed_gives_the_same_tasks_and_users_again(env: TrainingEnv) -> None:
    def drawn(first: int | None) -> list[tuple[Any, ...]]:
        resets = [env.reset(seed=first), *(env.reset() for _ in range(4))]
        return [(text, info["task"], info["trial"], info["seed"]) for text, info in resets]

    assert drawn(7) == drawn(7)
    assert len({one[1] for one in drawn(7)}) > 1
    assert drawn(7) != drawn(8)
    assert drawn(7)[1:] != drawn(None)[1:]


def test_naming_a_task_does_not_change_what_is_drawn_after_it(env: TrainingEnv) -> None:
    env.reset(seed=3)
    after = env.reset()[1]["task"]
    env.reset(seed=3, options={"task": 5})
    assert env.reset()[1]["task"] == after


def test_an_episode_of_a_run_is_named_by_task_and_trial(env: TrainingEnv) -> None:
    _, info = env.reset(options={"task": 5, "trial": 2})
    assert (info["task"], info["trial"], info["seed"]) == (5, 2, cell_seed(10, 5, 2))


def test_actions_have_several_forms(env: TrainingEnv) -> None:
    env.reset(seed=1)
    sum_of = {"name": "calculate", "arguments": {"expression": "1 + 1"}}
    forms = [sum_of, json.dumps(sum_of), Action("calculate", {"expression": "1 + 1"})]
    assert [env.step(form).observation for form in forms] == ["2.0"] * 3
    step = env.step('{"name": "calculate", "arguments": {}, "more": 1}')  # words, as it is no call
    assert step.info["source"] == "user"


@pytest.mark.parametrize("wrong", [None, 3, ["hi"], {"tool": "think"}, {"name": 3}])
def test_what_is_no_action_is_told_and_takes_no_step(env: TrainingEnv, wrong: Any) -> None:
    env.reset(seed=1)
    with pytest.raises(InputError, match="An action is a text for the user"):
        env.step(wrong)
    assert env.step(THINK).observation == ""


def test_an_agents_mistakes_are_observations(env: TrainingEnv) -> None:
    env.reset(seed=1)
    unknown = env.step({"name": "fly", "arguments": {}})
    assert unknown.observation.startswith("Unknown action fly")
    half = env.step({"name": "calculate", "arguments": {"expression": "\ud800"}})
    assert half.observation.startswith("Error")
    assert (half.reward, half.terminated, half.truncated) == (0.0, False, False)


def test_words_that_are_missing_are_asked_for_and_end_it_in_the_end(env: TrainingEnv) -> None:
    env.reset(seed=1)
    steps = [env.step(" ") for _ in range(5)]
    assert all("it was empty" in step.observation for step in steps)
    assert [step.terminated for step in steps] == [False] * 4 + [True]
    assert steps[-1].info["outcome"] == "invalid"
    with pytest.raises(EpisodeOver, match="reset the environment"):
        env.step("Hello?")


def test_steps_that_run_out_truncate_without_a_reward() -> None:
    with TrainingEnv("retail", max_num_steps=3) as env:
        env.reset(seed=1)
        steps = [env.step(THINK) for _ in range(3)]
    assert [(step.terminated, step.truncated) for step in steps] == [(False, False)] * 2 + [
        (False, True)
    ]
    assert steps[-1].reward == 0.0
    assert steps[-1].info["outcome"] == "max_steps"


def test_a_step_needs_a_reset_first(env: TrainingEnv) -> None:
    with pytest.raises(EpisodeOver, match="reset the environment first"):
        env.step("Hello.")


def test_a_user_that_breaks_is_an_outside_fault_and_ends_the_episode() -> None:
    with TrainingEnv("retail", user=broken) as env:
        env.reset(seed=1)
        with pytest.raises(OutsideFault, match="The simulated user broke: ConnectionError"):
            env.step("Hello.")
        with pytest.raises(EpisodeOver):
            env.step("Hello?")
        assert env.reset(seed=1)[0]


def test_nothing_tells_of_the_ground_truth(retail: Domain, env: TrainingEnv) -> None:
    index = 5
    task = retail.task(index, "test")
    _, info = env.reset(options={"task": index})
    assert set(info) == {"task", "trial", "seed", "messages"}
    for action in task.actions:
        env.step({"name": action.name, "arguments": dict(action.kwargs)})
    last = env.step("It is cancelled. Your card now holds 518.19 dollars.")
    assert last.reward == 1.0
    assert set(last.info) == {"source", "failed", "outcome", "steps", "usage"}
    wrong = json.dumps([info, last.info])
    assert task.outputs
    assert not any(output in wrong for output in task.outputs)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"model": "gpt-4o"}, "model: these options are of an agent"),
        ({"tasks": []}, "no tasks to train on"),
        ({"user": "human"}, "is a person"),
        ({"nonsense": 1}, "nonsense"),
    ],
)
def test_wrong_options_are_refused(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Training("retail", **fields)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"task": 9999}, "There is no task 9999"),
        ({"tsk": 1}, "Unknown options: tsk. Known: task"),
        ({"task": 5.0}, "'task' is a whole number, not 5.0"),
        ({"trial": "first"}, "'trial' is a whole number, not 'first'"),
    ],
)
def test_wrong_options_of_a_reset_are_refused(
    env: TrainingEnv, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        env.reset(options=options)


def test_a_seed_is_a_whole_number(env: TrainingEnv) -> None:
    class Number:
        """As numpy has them."""

        def __index__(self) -> int:
            return 7

    number: Any = Number()
    assert env.reset(seed=number) == env.reset(seed=7)
    wrong: Any = "seven"
    with pytest.raises(InputError, match="'seed' is a whole number, not 'seven'"):
        env.reset(seed=wrong)


def test_many_at_once_do_not_cross() -> None:
    chatty = UserStrategy("chatty", ChattyUser)
    with Training("retail", user=chatty) as training:

        async def play(number: int) -> list[str]:
            env = TrainingEnv(training)
            opening, info = await env.reset_async(options={"task": number % 20, "trial": number})
            seed = info["seed"]
            said = [opening]
            for turn in range(3):
                said.append((await env.step_async(f"{number}-{turn}")).observation)
            assert said == [
                f"I am {seed}.",
                *(f"I am {seed}, and heard {number}-{turn}." for turn in range(3)),
            ]
            return said

        async def play_all() -> list[list[str]]:
            return await asyncio.gather(*(play(number) for number in range(200)))

        assert len({said[0] for said in asyncio.run(play_all())}) == 200


def test_threads_step_one_environment_in_turn(env: TrainingEnv) -> None:
    env.reset(seed=1)
    threads = [threading.Thread(target=env.step, args=(THINK,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert env.step("Bye.").info["steps"] == 9


def test_what_is_closed_says_so_and_frees_the_event_loop() -> None:
    training = Training("retail")
    env, other = TrainingEnv(training), TrainingEnv(training)
    env.close()
    env.close()
    with pytest.raises(InputError, match="The environment is closed"):
        env.reset()
    assert other.reset(seed=1)[0]
    training.close()
    training.close()
    with pytest.raises(InputError, match="The training is closed"):
        other.step("Hello.")
    with pytest.raises(InputError, match="give the options to that"):
        TrainingEnv(training, max_num_steps=3)


FORKED = """
import os, signal
from greenroom.errors import InputError
from greenroom.training import TrainingEnv

env = TrainingEnv("retail")
first, _ = env.reset(seed=7)
if (child := os.fork()) == 0:
    signal.alarm(60)
    try:
        env.reset(seed=7)
    except InputError as problem:
        print(problem, flush=True)
    env.close()
    with TrainingEnv("retail") as own:
        print(own.reset(seed=7)[0] == first, flush=True)
else:
    assert os.waitpid(child, 0)[1] == 0
    print(env.reset(seed=7)[0] == first)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_fork_makes_its_own_and_does_not_wait_for_its_parents() -> None:
    # Vectors of processes and loaders of data fork while an environment is open.
    command = [sys.executable, "-W", "ignore", "-c", FORKED]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100)
    assert told.stdout.splitlines() == [
        "This was made before the process was forked: make one in each.",
        "True",
        "True",
    ]


def test_a_domain_of_two_parties_gives_the_agents_side_alone() -> None:
    with TrainingEnv(f"{PATH}:plugin") as env:
        names = {info["function"]["name"] for info in env.tools}
        context = env.training.context
        infos = context.domain.user_tool_infos(context.domain.task(0, context.split))
        users = {info["function"]["name"] for info in infos}
        assert users
        assert not names & users
        env.reset(seed=1)
        for name in users:
            assert "Unknown action" in env.step({"name": name, "arguments": {}}).observation
