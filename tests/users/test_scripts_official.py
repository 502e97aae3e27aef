"""Scripted users play tasks of the official data, and say the same each time."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import anyio
import orjson
import pytest

from greenroom.benchmark import check_config, play_run, start_run
from greenroom.store import EpisodeRecord, Store, open_store
from tests.conftest import OFFICIAL_DATA, TAU2_DATA

DESKS = Path(__file__).with_name("desks.py")
SCRIPTS = Path(__file__).with_name("scripts")

TASKS = {
    "retail": [5, 26, 48, 66, 69, 81, 83, 88, 90, 114],
    "airline": [1, 12, 13, 14, 16, 27, 30, 31, 45, 46],
    "telecom": [0, 1, 2, 3, 4, 5, 6, 7, 8, 10],
}
AGENTS = {"retail": "ShopDesk", "airline": "FlightDesk", "telecom": "PhoneDesk"}


def played(store: Store, env: str, **config: Any) -> list[EpisodeRecord]:
    fields = {
        "env": env,
        "data": str(TAU2_DATA if env == "telecom" else OFFICIAL_DATA),
        "agent_strategy": f"{DESKS}:{AGENTS[env]}",
        "user_options": {"script": str(SCRIPTS / f"{env}.toml")},
        "task_ids": TASKS[env],
    }
    run, context = start_run(store, check_config(fields | config))

    async def play() -> None:
        await play_run(store, run, context)

    anyio.run(play)
    return list(store.runs.results(run.id))


def conversations(records: list[EpisodeRecord]) -> dict[tuple[int, int], str]:
    """A hash of everything that was said and done in each episode."""
    return {
        (one.task_index, one.trial): hashlib.sha256(
            orjson.dumps(
                [one.opening, [step.model_dump(mode="json") for step in one.steps]],
                option=orjson.OPT_SORT_KEYS,
            )
        ).hexdigest()
        for one in records
    }


@pytest.mark.parametrize(
    "env",
    [
        pytest.param("retail", marks=pytest.mark.official),
        pytest.param("airline", marks=pytest.mark.official),
        pytest.param("telecom", marks=pytest.mark.tau2_data),
    ],
)
@pytest.mark.slow
def test_ten_tasks_are_played_the_same_each_time(env: str) -> None:
    store = open_store()
    alone = played(store, env, max_concurrency=1)
    told = {one.task_index: (one.outcome, one.reward, one.error) for one in alone}
    assert told == dict.fromkeys(TASKS[env], ("success", 1.0, None))
    turns = [sum(step.action.name == "respond" for step in one.steps) for one in alone]
    assert min(turns) >= 3
    at_once = played(store, env, max_concurrency=10, num_trials=4)
    assert len(at_once) == 40
    first, later = conversations(alone), conversations(at_once)
    assert later == {(task, trial): first[task, 0] for task in TASKS[env] for trial in range(4)}


@pytest.mark.official
@pytest.mark.slow
def test_a_user_who_knows_another_order_fails_the_task(tmp_path: Path) -> None:
    text = (SCRIPTS / "retail.toml").read_text()
    other = tmp_path / "other.toml"
    other.write_text(text.replace("#W8835847", "#W9284598"))
    found = played(open_store(), "retail", task_ids=[88], user_options={"script": str(other)})
    assert [(one.outcome, one.reward) for one in found] == [("failure", 0.0)]
