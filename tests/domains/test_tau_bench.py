from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pydantic import BaseModel

from greenroom.domains.domain import Domain
from greenroom.domains.tasks import Action
from greenroom.domains.tau_bench import Env, EnvResponse, TauAction
from greenroom.errors import InputError
from greenroom.users import ScriptedUser
from tests.domains.small import small_domain


class ForeignAction(BaseModel):
    """An action of a class that is not ours."""

    name: str
    kwargs: dict[str, Any]


@pytest.mark.parametrize(
    "action",
    [
        ForeignAction(name="light", kwargs={"lamp": "hall"}),
        TauAction(name="light", kwargs={"lamp": "hall"}),
        Action("light", {"lamp": "hall"}),
        {"name": "light", "kwargs": {"lamp": "hall"}},
        {"name": "light", "arguments": {"lamp": "hall"}},
    ],
)
def test_a_synchronous_episode(action: object) -> None:
    env = Env(small_domain(), ScriptedUser(), task_index=1)
    reset = env.reset(task_index=0)
    assert reset.observation == "Light the hall."
    assert reset.info.source == "user"
    assert env.task.instruction == "Light the hall."
    response = env.step(action)
    assert (response.reward, response.done, response.info.source) == (0.0, False, "light")
    assert env.actions == [action]
    response = env.step({"name": "respond", "kwargs": {"content": "Done."}})
    assert (response.reward, response.done) == (1.0, True)
    info = response.info.model_dump()
    assert info["reward_info"]["reward"] == 1.0
    assert info["reward_info"]["info"]["r_actions"] == 1.0
    assert info["reward_info"]["info"]["gt_data_hash"] == env.get_data_hash()
    assert info["task"]["actions"] == [{"name": "light", "kwargs": {"lamp": "hall"}}]


def test_its_attributes_are_tau_benchs() -> None:
    env = Env(small_domain(), ScriptedUser(), task_index=0)
    assert [info["function"]["name"] for info in env.tools_info] == [
        "light",
        "transfer_to_human_agents",
    ]
    assert env.terminate_tools == ["transfer_to_human_agents"]
    assert (env.wiki, env.rules) == ("Ask first.", ["Be brief."])


def test_a_task_with_outputs_shows_them_in_its_reward() -> None:
    env = Env(small_domain(), ScriptedUser())
    env.reset(1)
    env.step(Action("light", {"lamp": "hall"}))
    response = env.step({"name": "respond", "kwargs": {"content": "There are 9."}})
    assert response.reward == 0.0
    assert response.info.reward_info is not None
    assert response.info.reward_info.info.model_dump() == {
        "r_outputs": 0.0,
        "outputs": {"10": False},
    }
    assert response.info.reward_info.parts["database"] is True


def test_any_task_is_one_that_exists() -> None:
    env = Env(small_domain(), ScriptedUser(), seed=4)
    indices = {env.task_index}
    for _ in range(60):
        env.reset()
        indices.add(env.task_index)
    assert indices == {0, 1, 2}
    with pytest.raises(InputError, match="no task 3"):
        env.reset(3)


@pytest.mark.parametrize("action", [None, {"kwargs": {}}, {"name": "light", "kwargs": 3}, "light"])
def test_what_is_no_action_is_refused(action: object) -> None:
    env = Env(small_domain(), ScriptedUser())
    env.reset(0)
    with pytest.raises(InputError, match="An action has a name and kwargs"):
        env.step(action)


def solve(env: Env, task_index: int, max_num_steps: int = 30) -> EnvResponse | None:
    """A loop as Tau Bench's agents have it, playing the ground truth."""
    env.reset(task_index=task_index)
    plan: list[Any] = [*env.task.actions]
    plan.append({"name": "respond", "kwargs": {"content": f"Done: {'; '.join(env.task.outputs)}"}})
    info: dict[str, Any] = {}
    for action, _ in zip(plan, range(max_num_steps), strict=False):
        response = env.step(action)
        info = {**info, **response.info.model_dump()}
        if response.done:
            assert isinstance(info["reward_info"], Mapping)
            return response
    return None


def test_many_threads_at_once(retail: Domain) -> None:
    tasks = range(24)

    def play(index: int) -> float:
        response = solve(Env(retail, ScriptedUser()), index)
        return response.reward if response else 0.0

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(play, tasks)) == [1.0] * len(tasks)
