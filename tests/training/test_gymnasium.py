"""The environments in Gymnasium: its own checker, its wrappers and its vectors."""

from __future__ import annotations

import json
from typing import Any

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import RecordEpisodeStatistics, TimeLimit

from greenroom.domains.domain import Domain
from greenroom.errors import EpisodeOver
from greenroom.model_server import running_server
from greenroom.training import Training
from greenroom.training.gymnasium_env import ID, AnyText, GymnasiumEnv
from tests.training.played import natively_played

THINK = json.dumps({"name": "think", "arguments": {"thought": "Hm."}})


def test_gymnasiums_own_checker_finds_nothing() -> None:
    made: Any = gymnasium.make(ID, env="retail")
    check_env(made.unwrapped)
    made.close()


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_twenty_tasks_give_the_rewards_of_a_run(retail: Domain) -> None:
    with running_server(retail) as server:
        base = server.api_base
        options: dict[str, Any] = {"user_model": "user", "user_api_base": base}
        env: Any = gymnasium.make(ID, env="retail", **options)
        for played in natively_played(base):
            observation, _ = env.reset(options={"task": played.task, "trial": 0})
            seen, reward, over = [observation], 0.0, False
            for action in played.actions:
                assert not over
                # Words go as they are, and calls as JSON.
                content = action["arguments"].get("content")
                text = content if action["name"] == "respond" else json.dumps(action)
                observation, reward, terminated, truncated, _ = env.step(text)
                seen.append(observation)
                over = terminated or truncated
            assert over
            assert (seen, reward) == (played.observations, played.reward)
        env.close()


def test_wrappers_count_and_cut_off() -> None:
    env = RecordEpisodeStatistics(TimeLimit(GymnasiumEnv("retail"), 2))
    env.reset(seed=1)
    env.step(THINK)
    _, _, terminated, truncated, info = env.step(THINK)
    assert (terminated, truncated, info["episode"]["l"]) == (False, True, 2)
    env.close()


def test_a_vector_shares_a_training_and_begins_anew_after_an_end() -> None:
    with Training("retail") as training:
        envs = gymnasium.vector.SyncVectorEnv([lambda: GymnasiumEnv(training)] * 3)
        first, _ = envs.reset(seed=5)
        assert len(set(first)) == 3
        assert envs.reset(seed=5)[0] == first
        _, rewards, terminated, truncated, infos = envs.step(("Bye.", THINK, "Bye."))
        assert (terminated.tolist(), truncated.tolist()) == ([True, False, True], [False] * 3)
        assert rewards.tolist() == [0.0] * 3
        assert infos["outcome"].tolist() == ["failure", None, "failure"]
        again, _, terminated, _, _ = envs.step((THINK, THINK, THINK))
        assert not terminated.any()
        assert again[0] != "###STOP###"
        envs.close()


def test_a_vector_of_processes_is_told_to_share_no_memory() -> None:
    with pytest.raises(ValueError, match="shared_memory=False"):
        gymnasium.vector.AsyncVectorEnv([lambda: GymnasiumEnv("retail")] * 2)


def test_a_step_after_the_end_is_refused() -> None:
    env = GymnasiumEnv("retail")
    env.reset(seed=1)
    env.step("Bye.")
    with pytest.raises(EpisodeOver):
        env.step("Bye?")
    env.close()
    env.close()


def test_the_space_has_all_texts_that_can_be_written() -> None:
    space = AnyText()
    for text in ("", "grüß dich 😀", "\0", "a" * 100_000):
        assert text in space
    assert "\ud800" not in space
    assert 3 not in space
    space.seed(4)
    first = space.sample()
    space.seed(4)
    assert space.sample() == first
    assert first in space
